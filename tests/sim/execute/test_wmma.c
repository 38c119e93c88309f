/* SPDX-License-Identifier: Apache-2.0 */
/* wmma: strides, spaces, what is reported. tests/launch_check.py has the products. */
#include "sim_tests.h"

#include "buffer_kernel.h"
#include "ptx/ptx_text.h"

#include <string.h>

#define REGISTERS ".reg .b32 r<8>; "
#define ALL       "{r0, r1, r2, r3, r4, r5, r6, r7}"
#define SHAPE     ".sync.aligned.row.m16n16k16"

START_TEST(a_matrix_comes_and_goes) {
    for (size_t n = 0; n < 512; n++)
        buffer_set(n, 1000 + n);
    buffer_kernel_runs("",
                       REGISTERS "wmma.load.c" SHAPE ".f32 " ALL ", [to]; "
                                 "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [to+2048], " ALL ", 24;",
                       32, 1);
    const uint32_t *from = (const uint32_t *)(const void *)buffer, *turned = from + 512;
    for (size_t row = 0; row < 16; row++)
        for (size_t column = 0; column < 16; column++)
            ck_assert_uint_eq(turned[column * 24 + row], from[row * 16 + column]);
}
END_TEST

static const struct {
    const char *body;
    enum gm_sim_report_kind kind;
    const char *words;
} reported[] = {
    {"wmma.load.a" SHAPE ".global.f16 " ALL ", [to+1];", SIM_REPORT_MISALIGNED, ""},
    {"wmma.load.a" SHAPE ".global.f16 " ALL ", [to], 8000;", SIM_REPORT_OUT_OF_BOUNDS, ""},
    {"wmma.load.c" SHAPE ".f32 " ALL ", [to], 8000;", SIM_REPORT_OUT_OF_BOUNDS, ""},
    {"wmma.store.d" SHAPE ".global.f32 [to+4], {0, 0, 0, 0, 0, 0, 0, 0}, 8000;", SIM_REPORT_OUT_OF_BOUNDS, ""},
    {".shared .align 4 .b8 box[512]; wmma.load.a" SHAPE ".shared.f16 " ALL ", [box+2];", SIM_REPORT_OUT_OF_BOUNDS, ""},
    {".shared .align 4 .b8 box[512]; wmma.load.a" SHAPE ".shared.f16 " ALL
     ", [box]; wmma.mma.sync.aligned.row.col.m16n16k16"
     ".f32.f32 " ALL ", " ALL ", " ALL ", {0, 0, 0, 0, 0, 0, 0, 0}; st.global.b32 [mine], r0;",
     SIM_REPORT_UNINITIALISED, "the stored value"},
    {".shared .align 4 .b8 box[512]; wmma.load.a" SHAPE ".shared.f16 " ALL ", [box]; wmma.store.d" SHAPE
     ".f32 [to], " ALL ";",
     SIM_REPORT_UNINITIALISED, "the stored value"},
};

START_TEST(what_is_wrong_is_reported) {
    char body[1024] = REGISTERS;
    strcat(body, reported[_i].body);
    buffer_kernel_reports(body, 32, reported[_i].kind, reported[_i].words);
}
END_TEST

static const char *const refused[][2] = {
    {"wmma.load.a" SHAPE ".f16 {r0, r1}, [d0];", "a vector of 2 where"},
    {"wmma.load.a" SHAPE ".bf16 {r0, r1, r2, r3, r4, r5, r6, r7}, [d0];", "takes 4"},
    {"wmma.load.a.sync.aligned.row.m8n32k16.bf16 {r0, r1, r2, r3}, [d0];", "takes 2"},
    {"wmma.load.c" SHAPE ".f16 {r0, r1, r2, r3, r4, r5, r6, r7}, [d0];", "takes 4"},
    {"wmma.store.d" SHAPE ".f32 [d0], {r0, r1};", "takes 8"},
    {"wmma.load.a" SHAPE ".f16 {h0, h1, h2, h3, h4, h5, h6, h7}, [d0];", "has 16 bits where a fragment takes 32"},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {r0, r1, r2, r3, r4, r5, r6, r7}, {r0, r1, r2, r3, r4, r5, r6, "
     "r7}, "
     "{r0, r1, r2, r3, r4, r5, r6, r7}, {r0, r1, r2, r3, r4, r5, r6, r7};",
     "takes 4"},
    {"wmma.load.a.sync.aligned.row.m16n16k8.tf32 {r0, r1, r2, r3}, [d0];", "unsupported: wmma.load.a"},
};

START_TEST(what_does_not_fit) {
    ptx_text_refused("", refused[_i][0], refused[_i][1]);
}
END_TEST

Suite *wmma_suite(void) {
    Suite *suite = suite_create("wmma");
    TCase *tests = tcase_create("wmma");
    tcase_add_test(tests, a_matrix_comes_and_goes);
    tcase_add_loop_test(tests, what_is_wrong_is_reported, 0, sizeof reported / sizeof *reported);
    tcase_add_loop_test(tests, what_does_not_fit, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(suite, tests);
    return suite;
}
