/* SPDX-License-Identifier: Apache-2.0 */
/* What wgmma's rules forbid is reported, with these words; what they allow is not. */
#include "sim_tests.h"
#include "wgmma_kernel.h"

#include <string.h>

static struct wgmma_numbers numbers;
static struct wgmma_memory memory;

static const struct wgmma_case small = {.n = 8,
                                        .d = WGMMA_F32,
                                        .a = {WGMMA_F16, GM_SWIZZLE_128B, false, 0, 16, 1024, 0},
                                        .b = {WGMMA_F16, GM_SWIZZLE_128B, false, 48 * 1024, 16, 1024, 0}};

#define FENCE    "wgmma.fence.sync.aligned;\n"
#define COMMIT   "wgmma.commit_group.sync.aligned;\n"
#define WAIT     "wgmma.wait_group.sync.aligned 0;\n"
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, a, b, 1, 1, 1, 0, 0;\n"
#define FROM_REGISTERS                                                                                                 \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, {f0, f1, f2, f3}, b, 1, 1, 1, 0;\n"
#define WIDER                                                                                                          \
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {c0, c1, c2, c3, c4, c5, c6, c7}, a, b, 1, 1, 1, 0, 0;\n"

static void check_body(const char *body, uint32_t threads, uint32_t stale, bool no_proxy_fence,
                       enum gm_sim_report_kind kind, const char *words) {
    const struct wgmma_launch launch = {
        .test = &small, .body = body, .threads = threads, .stale = stale, .no_proxy_fence = no_proxy_fence};
    wgmma_fill(&small, &numbers, &memory);
    struct run_ptx run = wgmma_launch(&launch, &memory);
    run_ptx(&run);
    ck_assert_msg(run.message[0] == '\0', "%s", run.message);
    if (kind == SIM_REPORT_NONE) {
        ck_assert_msg(run.reports == 0 && run.result == 0, "%s: %s", body, run.report[0].sentence);
        return;
    }
    ck_assert_msg(run.reports > 0, "%s: no report", body);
    ck_assert_msg(run.report[0].kind == kind && strstr(run.report[0].sentence, words), "%s: %s: %s", body,
                  gm_sim_report_kind_name(run.report[0].kind), run.report[0].sentence);
}

struct rule {
    const char *body;
    enum gm_sim_report_kind kind;
    const char *words;
};

/* ---- registers --------------------------------------------------------------------------------------------------- */

static const struct rule registers[] = {
    {MULTIPLY COMMIT WAIT, SIM_REPORT_ACCUMULATOR, "no wgmma.fence before the warp's first"},
    {FENCE MULTIPLY COMMIT WAIT "mov.b32 c1, 0;\n" MULTIPLY COMMIT WAIT, SIM_REPORT_ACCUMULATOR, "c1 was accessed"},
    {FENCE MULTIPLY COMMIT WAIT "mov.b32 x, c2;\n" MULTIPLY COMMIT WAIT, SIM_REPORT_ACCUMULATOR, "c2 was accessed"},
    {FENCE MULTIPLY COMMIT WAIT "mov.b32 c1, 0;\n" FENCE MULTIPLY COMMIT WAIT, SIM_REPORT_NONE, ""},
    {FENCE MULTIPLY COMMIT WAIT MULTIPLY COMMIT WAIT, SIM_REPORT_NONE, ""},
    {FENCE MULTIPLY COMMIT "mov.b32 x, c3;\n" WAIT, SIM_REPORT_ACCUMULATOR, "c3 is read while it belongs"},
    {FENCE MULTIPLY "mov.b32 c3, x;\n" COMMIT WAIT, SIM_REPORT_ACCUMULATOR, "c3 is written while it belongs"},
    {FENCE MULTIPLY COMMIT "wgmma.wait_group.sync.aligned 1;\nmov.b32 x, c0;\n" WAIT, SIM_REPORT_ACCUMULATOR,
     "c0 is read"},
    {FENCE MULTIPLY COMMIT "mov.b32 c9, 0; mov.b32 x, c10;\n" WAIT, SIM_REPORT_NONE, ""},
    {FENCE FROM_REGISTERS COMMIT "mov.b32 f2, 0;\n" WAIT, SIM_REPORT_ACCUMULATOR, "f2 is written"},
    {FENCE FROM_REGISTERS COMMIT WAIT "mov.b32 f2, 0;\n" FROM_REGISTERS COMMIT WAIT, SIM_REPORT_ACCUMULATOR,
     "f2 was accessed"},
    {FENCE FROM_REGISTERS FROM_REGISTERS COMMIT WAIT, SIM_REPORT_NONE, ""},
    {FENCE MULTIPLY COMMIT WIDER COMMIT WAIT, SIM_REPORT_ACCUMULATOR, "of another shape or use"},
    {FENCE MULTIPLY COMMIT WAIT WIDER COMMIT WAIT, SIM_REPORT_NONE, ""},
};

START_TEST(test_registers) {
    check_body(registers[_i].body, 0, 0, false, registers[_i].kind, registers[_i].words);
}
END_TEST

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

static const struct rule shared[] = {
    {"mov.b32 x, 0x7fff; cvt.u64.u32 a, x;\n" FENCE MULTIPLY COMMIT WAIT, SIM_REPORT_DESCRIPTOR, "operand A: 0x"},
    {"or.b64 b, b, 0x3fff;\n" FENCE MULTIPLY COMMIT WAIT, SIM_REPORT_OUT_OF_BOUNDS, "operand B is read from"},
    {"and.b64 b, b, 0xffffffffffffc000;\n" FENCE MULTIPLY COMMIT WAIT, SIM_REPORT_OUT_OF_BOUNDS, "operand B"},
    {"and.b64 a, a, 0xffffc000ffffffff; or.b64 a, a, 0x100000000;\n" FENCE MULTIPLY COMMIT WAIT, SIM_REPORT_DESCRIPTOR,
     "SBO 16"},
    {"cvt.u64.u32 offset, warp; add.u64 a, a, offset;\n" FENCE MULTIPLY COMMIT WAIT, SIM_REPORT_DESCRIPTOR,
     "the descriptor of A is"},
    {"cvt.u64.u32 offset, thread; add.u64 b, b, offset;\n" FENCE MULTIPLY COMMIT WAIT, SIM_REPORT_DESCRIPTOR,
     "in lane 0"},
    {FENCE MULTIPLY COMMIT "bar.sync 0; setp.eq.u32 p, thread, 0; mov.b32 x, image; @p st.shared.b32 [x], 0;\n" WAIT,
     SIM_REPORT_WRITE_BEFORE_READ, ""},
    {FENCE MULTIPLY COMMIT WAIT "bar.sync 0; setp.eq.u32 p, thread, 0; mov.b32 x, image; @p st.shared.b32 [x], 0;\n",
     SIM_REPORT_NONE, ""},
    {"bar.sync 0; setp.eq.u32 p, thread, 0; mov.b32 x, image; @p st.shared.b32 [x], 0;\n" FENCE MULTIPLY COMMIT WAIT,
     SIM_REPORT_READ_BEFORE_WRITTEN, ""},
    {"bar.sync 0; setp.eq.u32 p, thread, 0; mov.b32 x, image; @p st.shared.b32 [x], 0; bar.sync 0;\n" FENCE MULTIPLY
         COMMIT WAIT,
     SIM_REPORT_PROXY, ""},
};

START_TEST(test_shared) {
    check_body(shared[_i].body, 0, 0, false, shared[_i].kind, shared[_i].words);
}
END_TEST

/* Any warp's wait is enough for the whole warpgroup: here warp 0 hands the operand over. */
START_TEST(test_one_waits_for_all) {
    check_body(
        "setp.ne.u32 p, warp, 0;\n" FENCE MULTIPLY COMMIT "@p bra others;\n" WAIT "bar.arrive 1, 64; bra together;\n"
        "others: setp.ne.u32 q, warp, 3; @q bra later;\nbar.sync 1, 64; mov.b32 x, image; setp.eq.u32 q, thread, 96;\n"
        "@q st.shared.b32 [x], 0;\nlater:\n" WAIT "together:\n",
        0, 0, false, SIM_REPORT_NONE, "");
}
END_TEST

START_TEST(test_no_proxy_fence) {
    check_body(FENCE MULTIPLY COMMIT WAIT, 0, 0, true, SIM_REPORT_PROXY, "");
}
END_TEST

/* Row 63 of A and column 7 of B were never written: what they spoil may not be stored, the rest may. */
START_TEST(test_uninitialised) {
    struct wgmma_case last = small;
    last.a.start = WGMMA_IMAGE - 8192; /* 64 rows of 128 bytes at the end */
    const char *const keep =
        FENCE MULTIPLY COMMIT WAIT "setp.gt.u32 p, thread, 123; @p mov.b32 c2, 0; @p mov.b32 c3, 0;\n";
    for (int store_all = 0; store_all < 2; store_all++) {
        wgmma_fill(&last, &numbers, &memory);
        const struct wgmma_launch launch = {
            .test = &last, .body = store_all ? FENCE MULTIPLY COMMIT WAIT : keep, .stale = 128};
        struct run_ptx run = wgmma_launch(&launch, &memory);
        run_ptx(&run);
        ck_assert_uint_eq(run.reports, store_all ? 2 : 0);
        ck_assert(!store_all || run.report[0].kind == SIM_REPORT_UNINITIALISED);
        ck_assert(!store_all || (run.report[0].warp == 3 && run.report[0].lane == 28));
    }
    last = small;
    last.b.start = WGMMA_IMAGE - 1024;
    const char *const columns = FENCE MULTIPLY COMMIT WAIT "and.b32 x, thread, 3; setp.eq.u32 p, x, 3;\n"
                                                           "@p mov.b32 c1, 0; @p mov.b32 c3, 0;\n";
    wgmma_fill(&last, &numbers, &memory);
    struct run_ptx run = wgmma_launch(&(struct wgmma_launch){.test = &last, .body = columns, .stale = 128}, &memory);
    run_ptx_clean(&run);
}
END_TEST

/* ---- warps ------------------------------------------------------------------------------------------------------- */

START_TEST(test_warps) {
    check_body(FENCE MULTIPLY COMMIT WAIT, 96, 0, false, SIM_REPORT_ILLEGAL, "belongs to no warpgroup");
    check_body(FENCE "setp.ne.u32 p, thread, 5;\n@p " MULTIPLY COMMIT WAIT, 0, 0, false, SIM_REPORT_DIVERGED, "lane 5");
    check_body(FENCE "setp.ne.u32 p, warp, 2;\n@p bra issue;\nbra after;\nissue:\n" MULTIPLY "after:\n" COMMIT WAIT, 0,
               0, false, SIM_REPORT_DIVERGED, "only 3 of the warpgroup's four warps");
    check_body(FENCE "setp.eq.u32 p, warp, 2;\n@p bra other;\n" MULTIPLY "bra after;\nother:\n" MULTIPLY
                     "after:\n" COMMIT WAIT,
               0, 0, false, SIM_REPORT_DIVERGED, "different operations");
    check_body(FENCE
               "setp.eq.u32 p, warp, 1;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, a, b, p, "
               "1, 1, 0, 0;\n" COMMIT WAIT,
               0, 0, false, SIM_REPORT_DESCRIPTOR, "scale-d");
    check_body(FENCE "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, a, b, 1, 2, 1, 0, 0;\n", 0, 0,
               false, SIM_REPORT_ILLEGAL, "operand 5");
}
END_TEST

START_TEST(test_exit_in_flight) {
    check_body(FENCE MULTIPLY COMMIT "bra leave;", 0, 0, false, SIM_REPORT_EXIT_IN_FLIGHT, "wgmma of line");
}
END_TEST

/* One warp never commits: the others wait for ever. */
START_TEST(test_stuck) {
    check_body(FENCE "setp.eq.u32 p, warp, 1;\n@p bra leave;\n" MULTIPLY COMMIT WAIT, 0, 0, false, SIM_REPORT_DEADLOCK,
               "");
}
END_TEST

Suite *wgmma_reports_suite(void) {
    Suite *suite = suite_create("sim wgmma reports");
    TCase *tests = tcase_create("wgmma reports");
    tcase_add_loop_test(tests, test_registers, 0, sizeof registers / sizeof *registers);
    tcase_add_loop_test(tests, test_shared, 0, sizeof shared / sizeof *shared);
    tcase_add_test(tests, test_one_waits_for_all);
    tcase_add_test(tests, test_no_proxy_fence);
    tcase_add_test(tests, test_uninitialised);
    tcase_add_test(tests, test_warps);
    tcase_add_test(tests, test_exit_in_flight);
    tcase_add_test(tests, test_stuck);
    suite_add_tcase(suite, tests);
    return suite;
}
