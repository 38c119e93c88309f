/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: variables and where they lie, limits of a kernel, and text that is refused, in words that help. */
#include "sim_tests.h"

#include "ptx_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t lane_31(const struct ptx_operand *operand) {
    ck_assert_int_eq(operand->kind, PTX_OPERAND_IMMEDIATE);
    return (int64_t)((const uint64_t *)operand->row64)[31];
}

/* ---- variables ----------------------------------------------------------------------------------- */

START_TEST(shared_memory_is_laid_out_by_first_use) {
    struct ptx_module *module = ptx_text_parse(".extern .shared .align 1024 .b8 dynamic[];\n"
                                               ".shared .align 8 .b64 barrier;\n.shared .b32 unused[1000];\n",
                                               ".shared .align 16 .b8 tile[20];\n"
                                               "mov.u32 r0, dynamic; mov.u32 r1, tile; mov.u64 d0, barrier + 8;");
    const struct ptx_function *f = ptx_find_function(module, "k");
    ck_assert_int_eq(lane_31(&f->code[1].operand[1]), 1024);
    ck_assert_int_eq(lane_31(&f->code[2].operand[1]), 1024 + 24 + 8);
    ck_assert_int_eq(lane_31(&f->code[0].operand[1]), 2048);
    ck_assert_uint_eq(f->static_shared_bytes, 32);
    ck_assert_uint_eq(f->dynamic_shared_align, 1024);
    ck_assert_uint_eq(f->variable_count, 3);
    ptx_free(module);
}
END_TEST

START_TEST(local_memory_is_a_frame) {
    struct ptx_module *module = ptx_text_parse("", ".local .align 16 .b8 a[4]; .local .f64 b[2];\n"
                                                   "mov.b64 d0, a; mov.b64 d1, b;");
    const struct ptx_function *f = ptx_find_function(module, "k");
    ck_assert_int_eq(lane_31(&f->code[0].operand[1]), 0);
    ck_assert_int_eq(lane_31(&f->code[1].operand[1]), 8);
    ck_assert_uint_eq(f->local_bytes, 32);
    ptx_free(module);
}
END_TEST

START_TEST(global_variables_are_placed_later) {
    struct ptx_module *module = ptx_text_parse(".global .align 8 .u32 table[4] = {1, 0x2, {-1}};\n"
                                               ".const .f32 half = 0.5, open[] = {0f3F800000, 2.0};\n"
                                               ".global .b8 plain[100];\n",
                                               "mov.u64 d0, table; mov.u64 d1, table + 8; ld.param.u32 r0, [plain+4];\n"
                                               "mov.b32 {h0, h1}, r0;");
    struct ptx_function *f = ptx_find_function(module, "k");
    ck_assert_uint_eq(module->variable_count, 4);
    struct ptx_variable *table = &module->variables[0], *plain = &module->variables[3];
    ck_assert_uint_eq(table->bytes, 16);
    ck_assert_mem_eq(table->initial, ((const uint32_t[]){1, 2, UINT32_MAX, 0}), 16);
    ck_assert_mem_eq(module->variables[1].initial, (&(const float){0.5f}), 4);
    ck_assert_uint_eq(module->variables[2].bytes, 8);
    ck_assert_mem_eq(module->variables[2].initial, ((const float[]){1, 2}), 8);
    ck_assert_ptr_null(plain->initial);
    for (uint64_t address = 0x1000; address <= 0x2000; address += 0x1000) { /* a module may be loaded twice */
        ck_assert(ptx_place_variable(module, table, address) && ptx_place_variable(module, plain, address + 0x800));
        ck_assert_int_eq(lane_31(&f->code[0].operand[1]), (int64_t)address);
        ck_assert_int_eq(lane_31(&f->code[1].operand[1]), (int64_t)address + 8);
        ck_assert_int_eq(f->code[2].operand[1].value, (int64_t)address + 0x804);
    }
    ck_assert(!ptx_place_variable(module, f->variables, 0));
    ptx_free(module);
}
END_TEST

/* ---- limits -------------------------------------------------------------------------------------- */

START_TEST(limits_are_kept) {
    static const char text[] = ".version 7.8\n.target sm_90, debug\n.address_size 64\n.file 1 \"a.cu\"\n"
                               ".weak .entry a(.param .u64 .ptr .global .align 16 x) .maxntid 384, 2 .minnctapersm 1\n"
                               ".reqnctapercluster 2, 1, 1 .explicitcluster .maxnreg 128\n"
                               "{ .loc 1 2 3\n .pragma \"nounroll\"; ret; }\n"
                               ".entry b() .reqntid 64 .maxclusterrank 8 { }\n"
                               ".section .debug_str { .b8 1, 2\n .b8 3 }\n";
    char message[100] = "";
    struct ptx_module *module = ptx_parse(text, sizeof text, message, sizeof message); /* the NUL included */
    ck_assert_msg(module != NULL, "%s", message);
    ck_assert_uint_eq(module->version, 78);
    ck_assert_uint_eq(module->target, 90);
    ck_assert(!module->target_accelerated);
    const struct ptx_function *a = ptx_find_function(module, "a"), *b = ptx_find_function(module, "b");
    ck_assert_mem_eq(a->max_threads, ((const uint32_t[]){384, 2, 1}), sizeof a->max_threads);
    ck_assert_mem_eq(a->required_cluster, ((const uint32_t[]){2, 1, 1}), sizeof a->required_cluster);
    ck_assert(a->min_ctas == 1 && a->max_registers == 128 && a->explicit_cluster && !a->threads_required);
    ck_assert(b->threads_required && b->max_threads[0] == 64 && b->max_cluster == 8);
    ck_assert_uint_eq(b->count, 1); /* the ret that nobody wrote */
    ck_assert_ptr_null(ptx_find_function(module, "c"));
    ck_assert_int_eq(strncmp(module->lines[8], ".entry b", 8), 0);
    ptx_free(module);
}
END_TEST

/* ---- refusals ------------------------------------------------------------------------------------ */

static const struct {
    const char *before, *body, *words;
} refusals[] = {
    {"", "mov.b32 r0, 0;\nfrob.b32 r0, r1;", "unsupported: frob.b32 at line 9"},
    {"", ".callprototype _ ();", "unsupported: .callprototype"},
    {".extern .global .u32 x;", "", "line 4: x is .extern"},
    {"", "add.s32 r0, r9, r1;", "line 8: r9 is not declared"},
    {"", "add.s32 %r0, r1, r1;", "line 8: %r0 is not declared"},
    {"", "@r0 ret;", "r0 is no predicate"},
    {"", "@p9 ret;", "p9 is not declared"},
    {"", "bra L;", "label L is not declared"},
    {"", "bra L; { L: ret; }", "label L is not declared"},
    {"", "L: ret; L: ret;", "L is declared twice"},
    {"", ".reg .b32 r<3>;", "r is declared twice"},
    {"", "T: .branchtargets T; brx.idx r0, T;", "T is no label"},
    {"", "L: brx.idx r0, L;", "L is no list of labels"},
    {"", "add.s32 r0, d1, r1;", "d1 has 64 bits where add.s32 takes 32"},
    {"", "add.s64 d0, d1, r1;", "r1 has 32 bits where add.s64 takes 64"},
    {"", "ld.param.u64 r0, [p];", "r0 has 32 bits where ld.param.u64 takes 64"},
    {"", "mul.wide.u32 r0, r1, r2;", "r0 has 32 bits where mul.wide.u32 takes 64"},
    {"", "setp.lt.s32 r0, r1, r2;", "does not take these operands"},
    {"", "add.s32 r0, r1;", "does not take these operands"},
    {"", "add.s32 r0, r1, %clock;", "does not take these operands"},
    {"", "add.s32 5, r1, r1;", "does not take these operands"},
    {"", "add.s32 r0, r1 + 4, r1;", "does not take these operands"},
    {"", "ld.param.u32 r0, [h1];", "h1 cannot be an address"},
    {"", "ld.param.v2.u32 {r0, r1, r2}, [p];", "a vector of 3"},
    {"", "mov.b32 {h0, h1, h2}, r0;", "3 parts do not make up 32 bits"},
    {"", "mov.b64 {h0, h1}, d0;", "h0 has 16 bits where mov.b64 takes 32"},
    {"", "mov.b32 r0, 0x1ffffffffffffffff;", "'0x1ffffffffffffffff' where an operand is expected"},
    {"", ".reg .b32 %x<4000000000>;", "line 8: 4000000000 as the number of registers: there may be 262144 at most"},
    {"", ".reg .b32 %x<262144>;", "the kernel declares more than 262144 registers"},
    {"", ".reg .b8 x;", "unsupported: .reg .b8"},
    {"", ".reg .quad x;", "unsupported: type .quad"},
    {"", ".shared .b8 x[100000000];", "x has 100000000 bytes; there may be 16777216"},
    {"", ".shared .b8 x[10000000], y[10000000]; mov.u32 r0, x; mov.u32 r0, y;", "too many bytes of shared memory"},
    {"", ".local .b8 x[600000];", "x has 600000 bytes"},
    {".global .u32 x[2] = {1, 2, 3};", "", "x has 8 bytes, its initialiser 12"},
    {".global .u64 x = y;", "", "unsupported: an initialiser with the address of y"},
    {".global .b8 x[99999999999999];", "", "as an array's length"},
    {".global .align 3 .b8 x;", "", "an alignment of 3 bytes"},
    {"", "ret", "'}' where an operand is expected"},
    {"", "mov.b32 r0, 0 0;", "'0' where ';' is expected"},
    {"", "}", "'}' where a directive is expected"},
    {"", "{ ret;", "the text ends where"},
    {"", "/* ret;", "a comment does not end"},
    {"", "mov.b32 r0, \x01;", "byte 0x01"},
};

START_TEST(refusals_say_why) {
    ptx_text_refused(refusals[_i].before, refusals[_i].body, refusals[_i].words);
}
END_TEST

/* `piece` many times over, and what is said then. */
static void refuse_many(const char *piece, size_t times, const char *words) {
    const size_t length = strlen(piece);
    char *body = malloc(times * length + 1);
    ck_assert_ptr_nonnull(body);
    for (size_t i = 0; i < times; i++)
        memcpy(body + i * length, piece, length);
    body[times * length] = '\0';
    ptx_text_refused("", body, words);
    free(body);
}

START_TEST(hostile_text_ends_soon) {
    refuse_many("{", 100000, "more than 64 nested blocks");
    refuse_many("- ", 100000, "where an instruction is expected");
    refuse_many("bra L;", 100000, "label L is not declared");
    refuse_many(".reg .pred a; ", 2, "a is declared twice");
    refuse_many("mov.b32 {r0,", 1000, "where '}' is expected");
}
END_TEST

START_TEST(long_lists_of_targets_are_refused) {
    enum { LABELS = 3000 };
    static char body[LABELS * 40];
    size_t length = (size_t)snprintf(body, sizeof body, "T: .branchtargets L");
    for (int i = 1; i < LABELS; i++)
        length += (size_t)snprintf(body + length, sizeof body - length, ", L");
    length += (size_t)snprintf(body + length, sizeof body - length, "; L: ");
    for (int i = 0; i < LABELS; i++)
        length += (size_t)snprintf(body + length, sizeof body - length, "brx.idx r0, T;\n");
    ptx_text_refused("", body, "9000000 targets together");
}
END_TEST

START_TEST(no_text_is_refused) {
    char message[100] = "";
    ck_assert_ptr_null(ptx_parse(NULL, 0, message, sizeof message));
    ck_assert_str_eq(message, "line 1: the text has no .version");
    ck_assert_ptr_null(ptx_parse(".version 8.0 .target sm_20", 20, NULL, 0)); /* cut, and nobody to tell */
    ptx_free(NULL);
}
END_TEST

Suite *ptx_module_suite(void) {
    Suite *suite = suite_create("ptx_module");
    TCase *tests = tcase_create("ptx_module");
    tcase_add_test(tests, shared_memory_is_laid_out_by_first_use);
    tcase_add_test(tests, local_memory_is_a_frame);
    tcase_add_test(tests, global_variables_are_placed_later);
    tcase_add_test(tests, limits_are_kept);
    tcase_add_loop_test(tests, refusals_say_why, 0, sizeof refusals / sizeof *refusals);
    tcase_add_test(tests, hostile_text_ends_soon);
    tcase_add_test(tests, long_lists_of_targets_are_refused);
    tcase_add_test(tests, no_text_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
