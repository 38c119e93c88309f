/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of functions, which are parsed in their places; and printf. */
#include "sim_tests.h"

#include "buffer_kernel.h"
#include "ptx/ptx_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A call of f with the value of a in its argument, whose result is b. */
#define CALL(f)                                                                                                        \
    "{ .param .b32 x; st.param.b32 [x+0], a; .param .b32 y; call.uni (y), " f ", (x); ld.param.b32 b, [y+0]; }\n"
#define FUNCTION(name, body)                                                                                           \
    ".func (.param .b32 result) " name "(.param .b32 x)\n{ .reg .b32 v, w; .reg .pred p;\n" body "}\n"

/* ---- calls -------------------------------------------------------------------------------------------------------- */

START_TEST(a_function_has_registers_of_its_own) {
    buffer_kernel_runs(FUNCTION("twice", "ld.param.b32 v, [x]; add.u32 v, v, v; st.param.b32 [result], v; ret;\n"),
                       "mov.u32 a, lane; mov.u32 c, 5;" CALL("twice") "add.u32 b, b, c; st.global.u32 [mine], b;", 32,
                       1);
    for (uint64_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq((uint32_t)buffer_word(4 * lane), 2 * lane + 5);
}
END_TEST

START_TEST(some_lanes_return_early) {
    buffer_kernel_runs(FUNCTION("f", "ld.param.b32 v, [x]; setp.lt.u32 p, v, 10; st.param.b32 [result], 1; @p ret;\n"
                                     "{ and.b32 w, v, 1; setp.eq.u32 p, w, 0; st.param.b32 [result], 2; @p ret.uni; }\n"
                                     "st.param.b32 [result], 3;\n"),
                       "mov.u32 a, lane;" CALL("f") "st.global.u32 [mine], b;", 32, 1);
    for (uint64_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq((uint32_t)buffer_word(4 * lane), lane < 10 ? 1 : lane % 2 ? 3 : 2);
}
END_TEST

START_TEST(functions_call_functions_and_some_lanes_call) {
    buffer_kernel_runs(".func (.param .b32 result) inner(.param .b32 x);\n" FUNCTION(
                           "outer", "{ .param .b32 z; ld.param.b32 v, [x]; st.param.b32 [z], v; .param .b32 r;\n"
                                    "call (r), inner, (z); ld.param.b32 v, [r]; add.u32 v, v, 100; }\n"
                                    "st.param.b32 [result], v; ret;\n")
                           FUNCTION("inner", "ld.param.b32 v, [x]; shl.b32 v, v, 1; st.param.b32 [result], v; ret;\n"),
                       "mov.u32 a, lane; mov.u32 b, 7; setp.gt.u32 p, a, 20;\n"
                       "{ .param .b32 x; st.param.b32 [x], a; .param .b32 y; st.param.b32 [y], 7;\n"
                       "@p call (y), outer, (x); ld.param.b32 b, [y]; }" CALL(
                           "inner") "st.global.u32 [mine+4], b;\n"
                                    "{ .param .b32 x; st.param.b32 [x], a; .param .b32 y; st.param.b32 [y], 7;\n"
                                    "@!p call (y), outer, (x); ld.param.b32 b, [y]; } st.global.u32 [mine], b;",
                       32, 1);
    for (uint64_t lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq((uint32_t)buffer_word(4 * lane), lane > 20 ? 7 : 2 * lane + 100);
        ck_assert_uint_eq(buffer_word(4 * lane) >> 32, 2 * lane);
    }
}
END_TEST

START_TEST(vectors_arrays_and_nothing_at_all) {
    buffer_kernel_runs(
        ".visible .func nothing() .noreturn { .loc 1 2 3\nret; }\n.global .b32 sum;\n"
        ".func add(.param .align 8 .b8 x[16]) { .reg .b32 v, w; ld.param.v2.b32 {v, w}, [x+8];\n"
        "add.u32 v, v, w; st.global.b32 [sum], v; }\n",
        "{ .param .align 8 .b8 x[16]; st.param.v2.b32 [x+8], {lane, 40}; call add, (x); call nothing, (); "
        "call nothing; } ld.global.b32 a, [sum]; st.global.b32 [to], a;",
        1, 1);
    ck_assert_uint_eq((uint32_t)buffer_word(0), 40);
}
END_TEST

START_TEST(an_assertion_is_a_trap) {
    buffer_kernel_reports("{ .param .b64 x; call.uni __assertfail, (x); }", 1, SIM_REPORT_TRAP, "ran a trap");
}
END_TEST

static const struct {
    const char *before, *body, *words;
} refused[] = {
    {"", "call.uni (r0), f, (r1);", "unsupported: an argument that is no .param variable: call.uni at line 8"},
    {"", "call f;", "unsupported: call of f at line 8"},
    {"", "{ .param .b64 x; call malloc, (x); }", "unsupported: call of malloc at line 8"},
    {"", "call %f, ();", "unsupported: through a pointer: call at line 8"},
    {"", "call 1;", "a function's name"},
    {"", "call f, x;", "'x' where '(' is expected"},
    {"", "call (", "unsupported: an argument"},
    {"", "{ .param .b64 x; call vprintf, (x); }", "vprintf has one result and two arguments"},
    {".func f();", "call f;", "unsupported: call of f"},
    {".func f() { call f; }", "call f;", "f calls itself: there is no stack"},
    {".func f() { call g; } .func g() { call f; }", "call f;", "f calls itself"},
    {".func f(.param .b32 a) { }", "call f;", "a call of f has 0 results and 0 arguments instead of 0 and 1"},
    {".func f() { }", "{ .param .b32 a; call f, (a); }", "has 0 results and 1 arguments instead of 0 and 0"},
    {".func f(.reg .b32 a) { }", "call f;", "'.reg' where .param is expected"},
    {".func f() { .reg .b64 p; .reg .b32 v; ld.param.b32 v, [p]; }", "call f;",
     "unsupported: a function's parameter by its address: ld.param.b32"},
    {".func f() { frob; }", "call f;", "unsupported: frob at line 4"},
    {".func f() { bra elsewhere; }", "call f;", "label elsewhere is not declared"},
    {".func f() { ", "", "the end of a function"},
};

START_TEST(what_cannot_be_called) {
    ptx_text_refused(refused[_i].before, refused[_i].body, refused[_i].words);
}
END_TEST

START_TEST(bodies_do_not_grow_without_end) {
    enum { LEVELS = 18, PADDING = 4096 };
    static char before[LEVELS * 80 + PADDING];
    size_t used = (size_t)snprintf(before, sizeof before, ".func f0() {%*s}\n", PADDING, "");
    for (int n = 1; n < LEVELS; n++)
        used += (size_t)snprintf(before + used, sizeof before - used, ".func f%d() { call f%d; call f%d; }\n", n, n - 1,
                                 n - 1);
    ptx_text_refused(before, "call f17;", "the functions that are called have more than");
}
END_TEST

/* ---- printf ------------------------------------------------------------------------------------------------------- */

/* Runs the body with `text` as the format; what stands in `values` of local memory are the values. */
static void prints(const char *format, const char *values, uint32_t threads, const char *expected) {
    char before[1024] = ".global .align 1 .b8 word[5] = {119, 111, 114, 100};\n.global .align 1 .b8 text[256] = {",
         body[2048];
    for (const char *at = format; *at; at++)
        sprintf(before + strlen(before), "%d%s", *at, at[1] ? "," : "};\n");
    snprintf(body, sizeof body,
             ".local .align 8 .b8 values[64]; %s\ncvta.global.u64 s, text; cvta.local.u64 t, values;\n"
             "{ .param .b64 x; st.param.b64 [x], s; .param .b64 y; st.param.b64 [y], t; .param .b32 r;\n"
             "call.uni (r), vprintf, (x, y); ld.param.b32 a, [r]; st.global.u32 [mine], a; }",
             values);
    char path[] = "/tmp/sim-tests-XXXXXX", got[1024] = "";
    const int file = mkstemp(path), out = dup(STDOUT_FILENO);
    ck_assert(file >= 0 && out >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    buffer_kernel_runs(before, body, threads, 1);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    const ssize_t bytes = pread(file, got, sizeof got - 1, 0);
    close(file);
    unlink(path);
    ck_assert_int_ge(bytes, 0);
    ck_assert_str_eq(got, expected);
}

START_TEST(values_lie_aligned) {
    prints(
        "%d %i|%u|%x %o %c|%5.1f %e %g|%s %p%%\n",
        "st.local.u32 [values], -3; st.local.u32 [values+4], lane; st.local.u32 [values+8], -1; st.local.u32 "
        "[values+12], "
        "255; st.local.u32 [values+16], 8; st.local.u32 [values+20], 65; mov.f64 g, 0d3FF8000000000000; st.local.f64 "
        "[values+24], g; st.local.f64 [values+32], g; st.local.f64 [values+40], g; cvta.global.u64 u, word; "
        "st.local.u64 "
        "[values+48], u; st.local.u64 [values+56], 16;",
        1, "-3 0|4294967295|ff 10 A|  1.5 1.500000e+00 1.5|word 0x10%\n");
    ck_assert_uint_eq((uint32_t)buffer_word(0), 11);
}
END_TEST

START_TEST(long_values_and_widths) {
    prints("%ld %lld %lu %llu|%-*d|%.*f|%hd|%y %",
           "st.local.u64 [values], -1; st.local.u64 [values+8], -2; st.local.u64 [values+16], -1; st.local.u64 "
           "[values+24], 7; "
           "st.local.u32 [values+32], 4; st.local.u32 [values+36], 9; st.local.u32 [values+40], 2; mov.f64 g, "
           "0d3FF8000000000000; "
           "st.local.f64 [values+48], g; st.local.u32 [values+56], 70;",
           1, "-1 -2 18446744073709551615 7|9   |1.50|70|%y ");
}
END_TEST

START_TEST(lanes_print_in_their_order) {
    prints("%d,", "st.local.u32 [values], lane;", 40,
           "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,"
           "39,");
}
END_TEST

START_TEST(a_format_that_lies_nowhere) {
    const char *body = "{ .param .b64 x; st.param.b64 [x], %s; .param .b64 y; st.param.b64 [y], to; .param .b32 r;\n"
                       "call.uni (r), vprintf, (x, y); }";
    char text[512];
    snprintf(text, sizeof text, body, "16");
    buffer_kernel_reports(text, 1, SIM_REPORT_OUT_OF_BOUNDS, "reads 1 bytes");
    snprintf(text, sizeof text, body, "0xB000000000000400");
    buffer_kernel_reports(text, 1, SIM_REPORT_OUT_OF_BOUNDS,
                          "printf reads 1 bytes that lie in no global and no local memory");
}
END_TEST

Suite *calls_suite(void) {
    Suite *suite = suite_create("calls");
    TCase *tests = tcase_create("calls");
    tcase_add_test(tests, a_function_has_registers_of_its_own);
    tcase_add_test(tests, some_lanes_return_early);
    tcase_add_test(tests, functions_call_functions_and_some_lanes_call);
    tcase_add_test(tests, vectors_arrays_and_nothing_at_all);
    tcase_add_test(tests, an_assertion_is_a_trap);
    tcase_add_loop_test(tests, what_cannot_be_called, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, bodies_do_not_grow_without_end);
    tcase_add_test(tests, values_lie_aligned);
    tcase_add_test(tests, long_values_and_widths);
    tcase_add_test(tests, lanes_print_in_their_order);
    tcase_add_test(tests, a_format_that_lies_nowhere);
    suite_add_tcase(suite, tests);
    return suite;
}
