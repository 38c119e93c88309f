/* SPDX-License-Identifier: Apache-2.0 */
/* Where diverged lanes meet again, on shapes made by hand. */
#include "sim_tests.h"

#include "ptx_text.h"

#include <string.h>

/* Each mov carries the number of a place: "mov.b32 r1, 5". Branches are listed in order with the place they rejoin at;
 * NONE: at the end only. */
enum { NONE = -1, BRANCHES = 4 };

static const struct {
    const char *name, *body;
    int meet[BRANCHES];
} shapes[] = {
    {"if", "@p0 bra J; mov.b32 r0, 1; J: mov.b32 r0, 2; ret;", {2}},
    {"if else", "@p0 bra E; mov.b32 r0, 1; bra J; E: mov.b32 r0, 2; J: mov.b32 r0, 3; ret;", {3, 3}},
    {"nested", "@p0 bra J; @p1 bra K; mov.b32 r0, 1; K: mov.b32 r0, 2; J: mov.b32 r0, 3; ret;", {3, 2}},
    {"loop", "L: mov.b32 r0, 1; @p0 bra L; mov.b32 r0, 2; ret;", {2}},
    {"loop with break",
     "L: mov.b32 r0, 1; @p0 bra B; mov.b32 r0, 2; @p1 bra L; mov.b32 r0, 3; B: mov.b32 r0, 4; ret;",
     {4, 4}},
    {"loop with continue",
     "L: mov.b32 r0, 1; @p0 bra C; mov.b32 r0, 2; C: mov.b32 r0, 3; @p1 bra L; mov.b32 r0, 4; ret;",
     {3, 4}},
    {"loop tested at its head", "L: mov.b32 r0, 0; @p0 bra B; mov.b32 r0, 1; bra L; B: mov.b32 r0, 2; ret;", {2, 0}},
    {"two exits", "@p0 bra E; mov.b32 r0, 1; ret; E: mov.b32 r0, 2; exit;", {NONE}},
    {"guarded exit", "@p0 bra J; @p1 exit; mov.b32 r0, 1; J: mov.b32 r0, 2; ret;", {NONE}},
    {"a trap does not count", "@p0 bra J; trap; J: mov.b32 r0, 2; ret;", {2}},
    {"an endless loop does not count", "@p0 bra J; L: bra L; J: mov.b32 r0, 2; ret;", {2, NONE}},
    {"endless for all", "L: mov.b32 r0, 1; @p0 bra M; mov.b32 r0, 2; M: bra L;", {NONE, NONE}},
    {"code that nobody reaches",
     "@p0 bra J; bra K; mov.b32 r0, 1; bra J; K: mov.b32 r0, 2; J: mov.b32 r0, 3; ret;",
     {3, 2, 3}},
    {"runs off the end", "@p0 bra J; mov.b32 r0, 1; J:", {-2}},
    {"a branch to itself", "L: @p0 bra L; mov.b32 r0, 1; ret;", {1}},
    {"indexed",
     "T: .branchtargets A, B, C; brx.idx r1, T; A: mov.b32 r0, 1; bra J; B: mov.b32 r0, 2; bra J; "
     "C: mov.b32 r0, 3; J: mov.b32 r0, 4; ret;",
     {4, 4, 4}},
    {"indexed, one way falls through",
     "T: .branchtargets A, B; brx.idx r1, T; A: mov.b32 r0, 1; B: mov.b32 r0, 2; ret;",
     {2}},
    {"indexed, one way leaves", "T: .branchtargets A, B; brx.idx r1, T; A: mov.b32 r0, 1; ret; B: exit;", {NONE}},
    {"irreducible",
     "@p0 bra B; A: mov.b32 r0, 1; @p1 bra B; bra C; B: mov.b32 r0, 2; @p2 bra A; C: mov.b32 r0, 3; ret;",
     {3, 3, 3, 3}},
};

static bool is_branch(const struct ptx_instruction *i) {
    return strncmp(i->operation->opcode, "br", 2) == 0;
}

START_TEST(lanes_meet_at_the_post_dominator) {
    const struct ptx_function *function = ptx_text_kernel(shapes[_i].body);
    int branch = 0;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const struct ptx_instruction *i = &function->code[pc];
        if (!is_branch(i))
            continue;
        ck_assert_int_lt(branch, BRANCHES);
        const int meet = shapes[_i].meet[branch++];
        if (meet == -2) /* the ret that the parser adds */
            ck_assert_int_eq(i->rejoin, (int)function->count - 1);
        else if (meet == NONE)
            ck_assert_msg(i->rejoin == PTX_NONE, "%s, branch %d: %d", shapes[_i].name, branch, i->rejoin);
        else
            ck_assert_msg(i->rejoin >= 0 && function->code[i->rejoin].operand[1].value == meet, "%s, branch %d: %d",
                          shapes[_i].name, branch, i->rejoin);
    }
    ck_assert_int_gt(branch, 0);
    ptx_free(function->module);
}
END_TEST

Suite *ptx_flow_suite(void) {
    Suite *suite = suite_create("ptx_flow");
    TCase *tests = tcase_create("ptx_flow");
    tcase_add_loop_test(tests, lanes_meet_at_the_post_dominator, 0, sizeof shapes / sizeof *shapes);
    suite_add_tcase(suite, tests);
    return suite;
}
