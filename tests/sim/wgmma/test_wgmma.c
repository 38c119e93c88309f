/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma's results: every mode of every operand, every type, groups and their order. */
#include "sim_tests.h"
#include "wgmma_kernel.h"

#include <stdio.h>
#include <string.h>

static struct wgmma_numbers numbers;
static struct wgmma_memory memory;

static void run_case(const struct wgmma_case *test, const char *end, int c_factor, int product_factor) {
    char what[100];
    snprintf(what, sizeof what, "%.70s", wgmma_instruction(test));
    wgmma_fill(test, &numbers, &memory);
    struct run_ptx run = wgmma_launch(&(struct wgmma_launch){.test = test, .body = wgmma_once(test, end)}, &memory);
    run_ptx_clean(&run);
    wgmma_compare(test, &numbers, &memory, c_factor, product_factor, what);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

#define SIDE(mode, mn, ...) {WGMMA_F16, GM_SWIZZLE_##mode, mn, __VA_ARGS__}
static const struct wgmma_side layouts[] = {
    /* start, leading, stride, base offset */
    SIDE(NONE, false, 0, 128, 256, 0),     SIDE(NONE, false, 48, 8208, 560, 0),  SIDE(32B, false, 0, 16, 256, 0),
    SIDE(32B, false, 0, 0, 384, 0),        SIDE(32B, false, 128, 0, 256, 0),     SIDE(64B, false, 0, 16, 512, 0),
    SIDE(64B, false, 32, 0, 640, 0),       SIDE(128B, false, 0, 16, 1024, 0),    SIDE(128B, false, 96, 4096, 1024, 0),
    SIDE(128B, false, 16, 0, 1152, 0),     SIDE(128B, false, 256, 0, 1024, 2),   SIDE(64B, false, 128, 0, 512, 1),
    SIDE(NONE, true, 0, 4096, 128, 0),     SIDE(NONE, true, 0, 128, 256, 0),     SIDE(32B, true, 0, 512, 256, 0),
    SIDE(64B, true, 0, 1024, 512, 0),      SIDE(64B, true, 1024, 4096, 512, 0),  SIDE(128B, true, 0, 4096, 1024, 0),
    SIDE(128B, true, 2048, 4096, 1024, 0), SIDE(128B, true, 384, 4096, 1024, 3),
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, B_START = 48 * 1024 };

START_TEST(test_layouts) {
    char end[40];
    for (int a = 0; a < LAYOUTS; a++) {
        const int b = (a * 7 + _i) % LAYOUTS;
        struct wgmma_case test = {.n = _i == 0 ? 256 : 64, .d = WGMMA_F32, .a = layouts[a], .b = layouts[b]};
        test.b.start += B_START;
        snprintf(end, sizeof end, ", 1, 1, 1, %d, %d", test.a.mn_major, test.b.mn_major);
        run_case(&test, end, 1, 1);
    }
}
END_TEST

/* ---- types ------------------------------------------------------------------------------------------------------- */

static const struct wgmma_side dense = {WGMMA_F16, GM_SWIZZLE_128B, false, 0, 16, 1024, 0};

static struct wgmma_case case_of(uint32_t n, enum wgmma_type d, enum wgmma_type a, enum wgmma_type b) {
    struct wgmma_case test = {.n = n, .d = d, .a = dense, .b = dense};
    test.a.type = a;
    test.b.type = b;
    test.b.start = B_START;
    return test;
}

static const struct {
    enum wgmma_type d, a, b;
    const char *end;
    int c_factor, product_factor;
} types[] = {
    {WGMMA_F32, WGMMA_F16, WGMMA_F16, ", 1, 1, 1, 0, 0", 1, 1},
    {WGMMA_F32, WGMMA_F16, WGMMA_F16, ", 0, 1, 1, 0, 0", 0, 1},
    {WGMMA_F32, WGMMA_F16, WGMMA_F16, ", 1, -1, 1, 0, 0", 1, -1},
    {WGMMA_F32, WGMMA_F16, WGMMA_F16, ", 0, -1, -1, 0, 0", 0, 1},
    {WGMMA_F16, WGMMA_F16, WGMMA_F16, ", 1, 1, -1, 0, 0", 1, -1},
    {WGMMA_F16, WGMMA_F16, WGMMA_F16, ", 0, 1, 1, 0, 0", 0, 1},
    {WGMMA_F32, WGMMA_BF16, WGMMA_BF16, ", 1, 1, 1, 0, 0", 1, 1},
    {WGMMA_F32, WGMMA_TF32, WGMMA_TF32, ", 1, 1, 1", 1, 1},
    {WGMMA_F32, WGMMA_E4M3, WGMMA_E5M2, ", 1, 1, 1", 1, 1},
    {WGMMA_F16, WGMMA_E5M2, WGMMA_E4M3, ", 1, 1, 1", 1, 1},
    {WGMMA_S32, WGMMA_S8, WGMMA_U8, ", 1", 1, 1},
    {WGMMA_S32, WGMMA_U8, WGMMA_S8, ", 0", 0, 1},
};

START_TEST(test_types) {
    static const uint32_t sizes[] = {8, 16, 32, 96, 176, 256};
    for (int s = 0; s < 6; s++) {
        struct wgmma_case test = case_of(sizes[s], types[_i].d, types[_i].a, types[_i].b);
        run_case(&test, types[_i].end, types[_i].c_factor, types[_i].product_factor);
        char end[40];
        snprintf(end, sizeof end, "%s", types[_i].end);
        if (test.a.type <= WGMMA_BF16) /* one of the two bits is left */
            end[strlen(end) - 3] = '\0';
        test.a_in_registers = true;
        run_case(&test, end, types[_i].c_factor, types[_i].product_factor);
    }
}
END_TEST

START_TEST(test_every_n) {
    for (uint32_t n = 8; n <= 256; n += 8) {
        const struct wgmma_case test = case_of(n, WGMMA_F32, WGMMA_BF16, WGMMA_BF16);
        run_case(&test, ", 1, 1, 1, 0, 0", 1, 1);
    }
}
END_TEST

/* A predicate, and its negation; satfinite in both places. */
START_TEST(test_spellings) {
    const struct wgmma_case test = case_of(32, WGMMA_F32, WGMMA_F16, WGMMA_F16);
    char body[3000];
    for (int keep = 0; keep < 2; keep++) {
        wgmma_fill(&test, &numbers, &memory);
        snprintf(body, sizeof body, "setp.%s.u32 p, thread, 999; %s", keep ? "ne" : "eq",
                 wgmma_once(&test, ", p, 1, 1, 0, 0"));
        struct run_ptx run = wgmma_launch(&(struct wgmma_launch){.test = &test, .body = body}, &memory);
        run_ptx_clean(&run);
        wgmma_compare(&test, &numbers, &memory, keep, 1, body);
    }
    for (int front = 0; front < 2; front++) {
        struct wgmma_memory before;
        snprintf(
            body, sizeof body,
            "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k32%s.s32.u8.u8%s {c0, c1, c2, c3}, a, b, 1; "
            "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
            front ? ".satfinite" : "", front ? "" : ".satfinite");
        const struct wgmma_case bytes = case_of(8, WGMMA_S32, WGMMA_U8, WGMMA_U8);
        wgmma_fill(&bytes, &numbers, &memory);
        memset(memory.image, 1, sizeof memory.image);
        memory.c[0][0] = 0x7fffffff;
        memory.c[0][1] = 0x7fffff00;
        before = memory;
        struct run_ptx run = wgmma_launch(&(struct wgmma_launch){.test = &bytes, .body = body}, &memory);
        run_ptx_clean(&run);
        ck_assert_uint_eq(memory.d[0][0], 0x7fffffff);
        ck_assert_uint_eq(memory.d[0][1], before.c[0][1] + 32);
    }
}
END_TEST

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Eight products in four groups, two of them pending at a time; under several schedules. */
START_TEST(test_groups) {
    const struct wgmma_case test = case_of(64, WGMMA_F32, WGMMA_F16, WGMMA_F16);
    char body[12000] = "wgmma.fence.sync.aligned;\n";
    for (int group = 0; group < 4; group++) {
        const size_t length = strlen(body);
        snprintf(body + length, sizeof body - length,
                 "%s, 1, 1, 1, 0, 0;\n%s, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned %d;\n",
                 wgmma_instruction(&test), wgmma_instruction(&test), group == 3 ? 0 : 1);
    }
    wgmma_fill(&test, &numbers, &memory);
    struct run_ptx run =
        wgmma_launch(&(struct wgmma_launch){.test = &test, .body = body, .seed = (uint64_t)_i}, &memory);
    run_ptx_clean(&run);
    wgmma_compare(&test, &numbers, &memory, 1, 8, "groups");
}
END_TEST

/* Two sets of accumulators in two groups; the first is stored while the second may be in flight. */
START_TEST(test_two_sets) {
    const struct wgmma_case test = case_of(8, WGMMA_F32, WGMMA_F16, WGMMA_F16);
    const char *const body =
        "mov.b32 c10, 0; mov.b32 c11, 0; mov.b32 c12, 0; mov.b32 c13, 0;\nwgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, a, b, 1, 1, 1, 0, 0;\n"
        "wgmma.commit_group.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c10, c11, c12, c13}, a, b, 1, -1, 1, 0, 0;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"
        "mov.b32 x, c0; mov.b32 y, c1; mov.b32 z, c2; mov.b32 w0, c3;\nwgmma.wait_group.sync.aligned 0;\n"
        "add.f32 c0, x, c10; add.f32 c1, y, c11; add.f32 c2, z, c12; add.f32 c3, w0, c13;";
    wgmma_fill(&test, &numbers, &memory);
    struct run_ptx run =
        wgmma_launch(&(struct wgmma_launch){.test = &test, .body = body, .seed = (uint64_t)_i}, &memory);
    run_ptx_clean(&run);
    wgmma_compare(&test, &numbers, &memory, 1, 0, "two sets");
}
END_TEST

Suite *wgmma_suite(void) {
    Suite *suite = suite_create("sim wgmma");
    TCase *tests = tcase_create("wgmma");
    tcase_add_loop_test(tests, test_layouts, 0, 4);
    tcase_add_loop_test(tests, test_types, 0, sizeof types / sizeof *types);
    tcase_add_test(tests, test_every_n);
    tcase_add_test(tests, test_spellings);
    tcase_add_loop_test(tests, test_groups, 0, 9);
    tcase_add_loop_test(tests, test_two_sets, 0, 9);
    suite_add_tcase(suite, tests);
    return suite;
}
