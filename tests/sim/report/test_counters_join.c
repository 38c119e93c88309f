/* SPDX-License-Identifier: Apache-2.0 */
/* Which loads of PTX are one load in machine code: as ptxas was seen to join them, and what keeps it from that. */
#include "sim_tests.h"

#include <stdio.h>
#include <string.h>

#include "sim/report/counters_state.h"

static struct ptx_module *module;
static struct sim_joins *joins;

/* A kernel with this body, after %r1 = a tile of 4 KB, %r2 = a multiple of 16 that nobody knows, %r3 = any number. */
static const struct ptx_function *parse(const char *body) {
    static const char before[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry k(.param .u32 n)\n{\n"
                                 ".reg .b32 %r<20>; .reg .f32 %f<20>; .reg .pred %p<4>; .reg .b16 %h<4>;\n"
                                 ".shared .align 4 .b8 tile[4096];\n"
                                 "mov.u32 %r1, tile;\nmov.u32 %r3, %tid.x;\nshl.b32 %r2, %r3, 4;\n";
    char text[4096], message[256];
    const int length = snprintf(text, sizeof text, "%s%s\nret;\n}\n", before, body);
    ck_assert(length > 0 && (size_t)length < sizeof text);
    sim_joins_free(joins);
    ptx_free(module);
    module = ptx_parse(text, (size_t)length, message, sizeof message);
    ck_assert_msg(module, "%s", message);
    joins = sim_joins_find(&module->functions[0]);
    ck_assert_ptr_nonnull(joins);
    return &module->functions[0];
}

static void forget(void) {
    sim_joins_free(joins);
    ptx_free(module);
    joins = NULL;
    module = NULL;
}

/* Words that each load of shared memory stands for, in the code's order: "4000". */
static const char *words(const char *body) {
    static char text[64];
    const struct ptx_function *function = parse(body);
    size_t length = 0;
    for (uint32_t pc = 0; pc < function->count; pc++) {
        if (function->code[pc].operation->class == SIM_CLASS_SHARED_LOAD)
            text[length++] = (char)('0' + sim_join_at(joins, pc).words);
    }
    text[length] = 0;
    return text;
}

#define LOAD(to, from) "ld.shared.f32 %f" #to ", [" from "];\n"
#define FOUR           LOAD(1, "%r1") LOAD(2, "%r1+4") LOAD(3, "%r1+8") LOAD(4, "%r1+12")

START_TEST(neighbours_are_joined) {
    ck_assert_str_eq(words(FOUR), "4000");
    ck_assert_str_eq(
        words("add.s32 %r4, %r1, %r2;\n" LOAD(1, "%r4") LOAD(2, "%r4+4") LOAD(3, "%r4+8") LOAD(4, "%r4+12")), "4000");
    ck_assert_str_eq(words(LOAD(1, "%r1+64") LOAD(2, "%r1") LOAD(3, "%r1+68") LOAD(4, "%r1+128")), "2101");
    ck_assert_str_eq(words(LOAD(1, "%r1") LOAD(2, "%r1+4") LOAD(3, "%r1+8")), "201");
    ck_assert_str_eq(words(FOUR LOAD(5, "%r1+16") LOAD(6, "%r1+20")), "400020");
}
END_TEST

/* Whatever their order: the first stays, and says how far below it the joined load begins. */
START_TEST(the_first_in_the_code_stays) {
    const struct ptx_function *function =
        parse(LOAD(1, "%r1+8") "fma.rn.f32 %f9, %f1, %f1, %f1;\n" LOAD(2, "%r1+12") LOAD(3, "%r1") LOAD(4, "%r1+4"));
    for (uint32_t pc = 0; pc < function->count; pc++) {
        const struct sim_join join = sim_join_at(joins, pc);
        if (join.words == 4)
            ck_assert_uint_eq(join.before, 8);
    }
    ck_assert_str_eq(words(LOAD(1, "%r1+8") LOAD(2, "%r1+12") LOAD(3, "%r1") LOAD(4, "%r1+4")), "4000");
    ck_assert_uint_eq(sim_join_at(joins, 1u << 30).words, 1);
}
END_TEST

START_TEST(what_keeps_them_apart) {
    static const char *const bodies[] = {
        "add.s32 %r4, %r1, %r3;\n" LOAD(1, "%r4") LOAD(2, "%r4+4"),    /* any address */
        LOAD(1, "%r1+4") LOAD(2, "%r1+8"),                             /* not on 8 bytes */
        LOAD(1, "%r1") "st.shared.f32 [%r2], %f1;\n" LOAD(2, "%r1+4"), /* it may change the word */
        LOAD(1, "%r1") "bar.sync 0;\n" LOAD(2, "%r1+4"),
        LOAD(1, "%r1") "add.s32 %r1, %r1, 16;\n" LOAD(2, "%r1+4"),                     /* another base */
        LOAD(1, "%r1") "setp.eq.s32 %p1, %r3, 0;\n@%p1 bra L;\nL:\n" LOAD(2, "%r1+4"), /* another block */
        LOAD(1, "%r1") "@%p1 ld.shared.f32 %f2, [%r1+4];\n",                           /* not for all lanes */
        LOAD(1, "%r1") "ld.volatile.shared.f32 %f2, [%r1+4];\n",
        "ld.shared.u8 %r5, [%r1];\nld.shared.u8 %r6, [%r1+4];\n",
        "ld.shared.v2.f32 {%f1, %f2}, [%r1];\nld.shared.v2.f32 {%f3, %f4}, [%r1+8];\n",
    };
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++)
        ck_assert_msg(strcmp(words(bodies[k]), "11") == 0, "%s: %s", words(bodies[k]), bodies[k]);
}
END_TEST

/* A base that a loop moves on keeps the alignment of its steps. */
START_TEST(loops) {
#define LOOP(step)                                                                                                     \
    "mov.u32 %r4, %r1;\nL:\n" LOAD(1, "%r4") LOAD(2, "%r4+4") "add.s32 %r4, %r4, " step ";\n"                          \
                                                              "setp.lt.s32 %p1, %r4, %r2;\n@%p1 bra L;\n"
    ck_assert_str_eq(words(LOOP("8")), "20");
    ck_assert_str_eq(words(LOOP("4")), "11");
}
END_TEST

START_TEST(how_alignments_follow) {
    static const struct {
        const char *address, *words;
    } cases[] = {{"mul.lo.s32 %r4, %r3, 24;", "20"},     {"mad.lo.s32 %r4, %r3, 32, %r1;", "20"},
                 {"mad.lo.s32 %r4, %r3, 6, %r1;", "11"}, {"and.b32 %r4, %r3, -8;", "20"},
                 {"or.b32 %r4, %r2, 8;", "20"},          {"or.b32 %r4, %r2, 4;", "11"},
                 {"shr.u32 %r4, %r2, 1;", "11"},         {"selp.b32 %r4, %r2, %r1, %p1;", "20"},
                 {"mul.hi.u32 %r4, %r2, %r2;", "11"},    {"ld.param.u32 %r4, [n];", "11"},
                 {"mov.u32 %r4, 4096;", "20"},           {"mov.u32 %r4, 4100;", "11"},
                 {"shl.b32 %r4, %r3, %r2;", "11"},       {"sub.s32 %r4, %r1, %r2;", "20"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[256];
        snprintf(body, sizeof body, "%s\n%s", cases[k].address, LOAD(1, "%r4") LOAD(2, "%r4+4"));
        ck_assert_msg(strcmp(words(body), cases[k].words) == 0, "%s: %s", cases[k].address, words(body));
    }
}
END_TEST

Suite *counters_join_suite(void) {
    Suite *suite = suite_create("joined loads");
    TCase *tests = tcase_create("joined loads");
    tcase_add_checked_fixture(tests, NULL, forget);
    tcase_add_test(tests, neighbours_are_joined);
    tcase_add_test(tests, the_first_in_the_code_stays);
    tcase_add_test(tests, what_keeps_them_apart);
    tcase_add_test(tests, loops);
    tcase_add_test(tests, how_alignments_follow);
    suite_add_tcase(suite, tests);
    return suite;
}
