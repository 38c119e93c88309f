/* SPDX-License-Identifier: Apache-2.0 */
/* Values of uninitialised shared memory, brought into registers by ldmatrix: they may be computed with, and are
 * reported where they come to matter. */
#include "run_ptx.h"
#include "sim_tests.h"

#include <string.h>

/* Lanes 0 to 15 hold rows of a matrix that was stored, lanes 16 to 31 rows of one that was not: %r1 is tainted in the
 * lanes whose row (lane / 4) is 4 or more. */
#define STALE                                                                                                          \
    PTX_HEAD                                                                                                           \
    ".shared .align 16 .b8 tile[128];\n.shared .align 8 .b32 pairs[64];\n" PTX_KERNEL                                  \
    ".reg .b64 %a<4>; .reg .b32 %r<16>, %t; .reg .f32 %f<4>; .reg .b16 %h<4>; .reg .pred %p<4>;\n"                     \
    "ld.param.u64 %a0, [buffer]; mov.u32 %t, %tid.x; mul.wide.u32 %a1, %t, 4; add.u64 %a1, %a0, %a1;\n"                \
    "mov.u32 %r9, tile; mad.lo.u32 %r8, %t, 4, %r9; setp.lt.u32 %p0, %t, 16;\n"                                        \
    "@%p0 st.shared.u32 [%r8], %t; bar.warp.sync -1;\n"                                                                \
    "and.b32 %r7, %t, 7; mad.lo.u32 %r7, %r7, 16, %r9; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r7];\n"       \
    "mov.u32 %r2, 5;\n"
#define END " ret;\n}\n"

static uint32_t result[32];

static void run_warp(struct run_ptx *run, const char *text) {
    *run = (struct run_ptx){.text = text, .block = {32}, .buffer = result, .bytes = sizeof result};
    run_ptx(run);
    ck_assert_str_eq(run->message, "");
}

static void check_clean(const char *text) {
    struct run_ptx run;
    run_warp(&run, text);
    ck_assert_msg(run.reports == 0, "%s", run.report[0].sentence);
}

static void check_reported(const char *text, int lane, const char *words) {
    struct run_ptx run;
    run_warp(&run, text);
    ck_assert_uint_eq(run.reports, 1);
    ck_assert_int_eq(run.report[0].kind, SIM_REPORT_UNINITIALISED);
    ck_assert_int_eq(run.report[0].lane, lane);
    ck_assert_msg(strstr(run.report[0].sentence, words) != NULL, "%s", run.report[0].sentence);
}

START_TEST(what_nobody_stores_does_not_matter) {
    check_clean(STALE "add.u32 %r3, %r1, 1; mul.lo.u32 %r3, %r3, %r3; st.global.u32 [%a1], %r2;" END);
    check_clean(STALE "add.u32 %r3, %r1, 1; @%p0 st.global.u32 [%a1], %r3;" END);            /* lanes 16 to 31 do not */
    check_clean(STALE "add.u32 %r3, %r1, 1; mov.u32 %r3, 1; st.global.u32 [%a1], %r3;" END); /* overwritten */
}
END_TEST

START_TEST(stores_are_reported) {
    check_reported(STALE "st.global.u32 [%a1], %r1;" END, 16, "stored value");
    check_reported(STALE "add.u32 %r3, %r2, %r1; xor.b32 %r4, %r3, 3; st.global.u32 [%a1], %r4;" END, 16,
                   "stored value");
    check_reported(STALE "shfl.sync.bfly.b32 %r3, %r1, 31, 31, -1; st.global.u32 [%a1], %r3;" END, 0, "stored value");
    check_reported(STALE "setp.gt.u32 %p1, %r1, 0; selp.u32 %r3, 1, 2, %p1; st.global.u32 [%a1], %r3;" END, 16,
                   "stored value");
}
END_TEST

START_TEST(addresses_and_branches_are_reported) {
    check_reported(STALE
                   "cvt.u64.u32 %a2, %r1; and.b64 %a2, %a2, 4; add.u64 %a2, %a0, %a2; ld.global.u32 %r3, [%a2];" END,
                   16, "address");
    check_reported(STALE "setp.gt.u32 %p1, %r1, 100; @%p1 bra OUT; add.u32 %r2, %r2, 1; OUT:" END, 16, "guard");
    check_reported(STALE "and.b32 %r3, %r1, 1; L: .branchtargets OUT, OUT; brx.idx %r3, L; OUT:" END, 16, "index");
}
END_TEST

/* selp passes on what it selects; a pack counts as stale only when all of it is; a guard that is stale spoils what it
 * lets through. */
START_TEST(selections_and_packs) {
    check_clean(STALE "selp.u32 %r3, %r1, %r2, %p0; st.global.u32 [%a1], %r3;" END);
    check_reported(STALE "selp.u32 %r3, %r2, %r1, %p0; st.global.u32 [%a1], %r3;" END, 16, "stored value");
    check_clean(STALE "cvt.u16.u32 %h0, %r1; cvt.u16.u32 %h1, %r2; mov.b32 %r3, {%h1, %h0}; cvt.u16.u32 %h2, %r3;\n"
                      "st.global.b16 [%a1], %h2;" END);
    check_reported(STALE
                   "setp.gt.u32 %p1, %r1, 100; mov.u32 %r3, 1; @%p1 mov.u32 %r3, 2; st.global.u32 [%a1], %r3;" END,
                   16, "stored value");
}
END_TEST

/* Through shared memory, element by element. */
START_TEST(shared_memory_remembers) {
    check_clean(STALE "mov.u32 %r3, pairs; mad.lo.u32 %r3, %t, 8, %r3;\n"
                      "st.shared.v2.u32 [%r3], {%r2, %r1}; bar.warp.sync -1;\n"
                      "ld.shared.v2.u32 {%r4, %r5}, [%r3]; st.global.u32 [%a1], %r4;" END);
    check_reported(STALE "mov.u32 %r3, pairs; mad.lo.u32 %r3, %t, 8, %r3;\n"
                         "st.shared.v2.u32 [%r3], {%r2, %r1}; bar.warp.sync -1;\n"
                         "ld.shared.v2.u32 {%r4, %r5}, [%r3]; st.global.u32 [%a1], %r5;" END,
                   16, "stored value");
}
END_TEST

Suite *taint_suite(void) {
    Suite *suite = suite_create("taint");
    TCase *tests = tcase_create("taint");
    tcase_add_test(tests, what_nobody_stores_does_not_matter);
    tcase_add_test(tests, stores_are_reported);
    tcase_add_test(tests, addresses_and_branches_are_reported);
    tcase_add_test(tests, selections_and_packs);
    tcase_add_test(tests, shared_memory_remembers);
    suite_add_tcase(suite, tests);
    return suite;
}
