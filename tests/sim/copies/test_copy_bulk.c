/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies without a map, their groups, and st.async and red.async. */
#include "sim_tests.h"

#include "copy_kernel.h"

#include <string.h>

enum { THREADS = 64, WORDS = 1024, BYTES = 4 * WORDS, SEEDS = 4, CTAS_MAX = 4 };

static uint32_t source[WORDS], out[CTAS_MAX][WORDS];

static void begin(void) {
    kernel_begin();
    for (uint32_t w = 0; w < WORDS; w++)
        source[w] = 0x10000 + w;
}

static const char parameters[] = ".param .u64 source, .param .u64 image";
/* CTA r's words of shared memory are 0x1000000 r + w; its barrier waits for `expected` bytes; its image is image_at. */
static const char set_up[] =
    "ld.param.u64 source_at, [source]; ld.param.u64 image_at, [image]; mul.wide.u32 to, rank, 4096;\n"
    "add.u64 image_at, image_at, to; shl.b32 at, thread, 2;\n"
    "FILL: setp.lt.u32 more, at, 4096; @!more bra FILLED;\n"
    "add.u32 b, base, at; shr.u32 a, at, 2; shl.b32 c, rank, 24; add.u32 a, a, c; st.shared.u32 [b], a;\n"
    "add.u32 at, at, step; bra FILL;\n"
    "FILLED: fence.proxy.async; @!leader bra READY; mbarrier.init.shared::cta.b64 [bar], 1;\n"
    "fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %u;\n"
    "READY: barrier.cluster.arrive; barrier.cluster.wait;\n";
static const char wait[] = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [bar], 0; @!done bra WAIT;\n";
static const char dump[] = "bar.sync 0; shl.b32 at, thread, 2;\n"
                           "DUMP: setp.lt.u32 more, at, 4096; @!more bra DUMPED;\n"
                           "add.u32 b, base, at; ld.shared.u32 a, [b]; cvt.u64.u32 to, at; add.u64 to, to, image_at;\n"
                           "st.global.u32 [to], a; add.u32 at, at, step; bra DUMP;\n"
                           "DUMPED: barrier.cluster.arrive; barrier.cluster.wait;\n";

static int run(const char *body, uint32_t ctas, uint64_t seed) {
    const uint64_t source_address = kernel_memory(source, BYTES);
    memset(out, 0xee, sizeof out);
    const uint64_t out_address = kernel_memory(out, sizeof out);
    const struct kernel_launch launch = {.body = body,
                                         .parameters = parameters,
                                         .arguments = {&source_address, &out_address},
                                         .threads = THREADS,
                                         .ctas = ctas,
                                         .shared_bytes = BYTES,
                                         .seed = seed};
    const int result = kernel_run(&launch);
    memcpy(out, kernel_view(out_address, sizeof out), sizeof out);
    return result;
}

/* The kernel that sets up, issues, waits for `expected` bytes and dumps; all is well. */
static void check_into_shared(const char *issue, uint32_t expected, uint32_t ctas, uint64_t seed) {
    const char *head = kernel_text(set_up, expected);
    ck_assert_int_eq(run(kernel_text("%s%s%s%s", head, issue, expected ? wait : "", dump), ctas, seed), 0);
    kernel_clean();
}

static uint32_t before(uint32_t cta, uint32_t word) {
    return (cta << 24) + word;
}

START_TEST(loads_arrive) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        check_into_shared("@leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                          " [base + 64], [source_at + 16], 256, [bar];\n",
                          256, 1, seed);
        for (uint32_t w = 0; w < WORDS; w++)
            ck_assert_uint_eq(out[0][w], w >= 16 && w < 80 ? source[w - 16 + 4] : before(0, w));
    }
}
END_TEST

START_TEST(loads_reach_several_ctas) {
    check_into_shared("setp.eq.u32 more, rank, 1; and.pred more, more, leader; mov.b16 h0, 7;\n"
                      "@more cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                      ".L2::cache_hint [base], [source_at], 128, [bar], h0, policy;\n",
                      128, 3, 1);
    for (uint32_t cta = 0; cta < 3; cta++)
        for (uint32_t w = 0; w < WORDS; w++)
            ck_assert_uint_eq(out[cta][w], w < 32 ? source[w] : before(cta, w));
}
END_TEST

START_TEST(pushes_reach_the_neighbour) {
    const char *push = "xor.b32 a, rank, 1; mapa.shared::cluster.u32 b, base, a; mapa.shared::cluster.u32 c, bar, a;\n"
                       "@leader %s [b + 2048], [base], 512, [c];\n";
    const char *copies = kernel_text(push, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes");
    const char *sums =
        kernel_text(push, "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        check_into_shared(copies, 512, 2, seed);
        for (uint32_t w = 0; w < WORDS; w++)
            ck_assert_uint_eq(out[0][w], w >= 512 && w < 640 ? before(1, w - 512) : before(0, w));
        check_into_shared(sums, 512, 2, seed);
        for (uint32_t w = 0; w < WORDS; w++)
            ck_assert_uint_eq(out[0][w], w >= 512 && w < 640 ? before(1, w - 512) + w : w);
    }
}
END_TEST

/* ---- stores and their groups ------------------------------------------------------------------------------------ */

static int run_out(const char *issue, uint64_t seed) {
    return run(kernel_text("%s%s", kernel_text(set_up, 0), issue), 1, seed);
}

START_TEST(stores_arrive) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ck_assert_int_eq(run_out("@!leader bra OUT;\n"
                                 "cp.async.bulk.global.shared::cta.bulk_group [image_at + 32], [base + 16], 64;\n"
                                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\nOUT:\n",
                                 seed),
                         0);
        kernel_clean();
        for (uint32_t w = 0; w < WORDS; w++)
            ck_assert_uint_eq(out[0][w], w >= 8 && w < 24 ? w - 8 + 4 : 0xeeeeeeee);
    }
}
END_TEST

START_TEST(reductions_go_to_global_memory) {
    ck_assert_int_eq(
        run_out("@!leader bra OUT;\n"
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [image_at], [base], 64;\n"
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.and.b64 [image_at + 128],"
                " [base + 128], 64, policy;\n"
                "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nOUT:\n",
                0),
        0);
    kernel_clean();
    for (uint32_t w = 0; w < 16; w++) {
        ck_assert_uint_eq(out[0][w], 0xeeeeeeee + w);
        ck_assert_uint_eq(out[0][w + 32], 0xeeeeeeee & (w + 32));
    }
    ck_assert_int_eq(
        run_out("@leader cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [image_at], [base], 64;\n", 0),
        715);
    kernel_reported(SIM_REPORT_ILLEGAL, "no reduction");
}
END_TEST

#define STORE_64  "cp.async.bulk.global.shared::cta.bulk_group [image_at], [base], 64; cp.async.bulk.commit_group;\n"
#define OVERWRITE "mov.u32 a, 7; st.shared.u32 [base], a;\n"

START_TEST(sources_are_kept_until_they_are_read) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ck_assert_int_eq(
            run_out("@!leader bra OUT;\n" STORE_64 "cp.async.bulk.wait_group.read 0;\n" OVERWRITE "OUT:\n", seed), 0);
        kernel_clean();
        ck_assert_uint_eq(out[0][0], 0);
        run_out("@!leader bra OUT;\n" STORE_64 OVERWRITE "cp.async.bulk.wait_group.read 0;\nOUT:\n", seed);
        kernel_reported(SIM_REPORT_WRITE_BEFORE_READ, "");
        run_out("@!leader bra OUT;\n" STORE_64 STORE_64 "cp.async.bulk.wait_group.read 1;\n" OVERWRITE
                "cp.async.bulk.wait_group.read 0;\nOUT:\n",
                seed);
        kernel_reported(SIM_REPORT_WRITE_BEFORE_READ, "");
    }
}
END_TEST

/* Global memory is written when wait_group says so, not when .read does. */
START_TEST(written_is_more_than_read) {
    const char *body =
        "@!leader bra OUT;\n" STORE_64
        "cp.async.bulk.wait_group 0; ld.global.u32 a, [image_at + 4]; st.global.u32 [image_at + 256], a;\nOUT:\n";
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ck_assert_int_eq(run_out(body, seed), 0);
        kernel_clean();
        ck_assert_uint_eq(out[0][64], 1);
    }
}
END_TEST

START_TEST(misuse_of_bulk_copies_is_reported) {
    run_out("@leader cp.async.bulk.global.shared::cta.bulk_group [image_at], [base], 24;\n", 0);
    kernel_reported(SIM_REPORT_MISALIGNED, "multiple of 16");
    run_out("@leader cp.async.bulk.global.shared::cta.bulk_group [image_at + 8], [base], 32;\n", 0);
    kernel_reported(SIM_REPORT_MISALIGNED, "multiple of 16");
    run_out("@leader cp.async.bulk.global.shared::cta.bulk_group [image_at], [base + 8], 32;\n", 0);
    kernel_reported(SIM_REPORT_MISALIGNED, "");
    run_out("@leader cp.async.bulk.global.shared::cta.bulk_group [image_at], [base + 4080], 32;\n", 0);
    kernel_reported(SIM_REPORT_OUT_OF_BOUNDS, "");
    run_out("@leader cp.async.bulk.global.shared::cta.bulk_group [image_at], [base], 64;\n", 0);
    kernel_reported(SIM_REPORT_EXIT_IN_FLIGHT, "");
    run_out("@!leader bra OUT; " OVERWRITE STORE_64 "cp.async.bulk.wait_group.read 0;\nOUT:\n", 0);
    kernel_reported(SIM_REPORT_PROXY, "");
}
END_TEST

START_TEST(bytes_never_written_are_reported) {
    const char *body =
        "ld.param.u64 image_at, [image]; @!leader bra OUT;\n" STORE_64 "cp.async.bulk.wait_group.read 0;\nOUT:\n";
    run(body, 1, 0);
    kernel_reported(SIM_REPORT_UNINITIALISED, "never written");
}
END_TEST

/* ---- st.async and red.async ------------------------------------------------------------------------------------- */

START_TEST(registers_go_to_the_neighbour) {
    const char *peers = "xor.b32 a, rank, 1; mapa.shared::cluster.u32 b, base, a; mapa.shared::cluster.u32 c, bar, a;\n"
                        "shl.b32 at, thread, 4; add.u32 b, b, at; add.u32 d, thread, 100;\n";
    const char *store =
        kernel_text("%sst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [b], d, [c];\n", peers);
    const char *vector = kernel_text(
        "%sst.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [b], {d, d, thread, 5}, [c];\n", peers);
    const char *sum = kernel_text(
        "%sred.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [b], d, [c];\n", peers);
    check_into_shared(store, THREADS * 4, 2, 0);
    for (uint32_t t = 0; t < THREADS; t++)
        ck_assert_uint_eq(out[1][4 * t], 100 + t);
    check_into_shared(vector, THREADS * 16, 2, 1);
    for (uint32_t t = 0; t < THREADS; t++) {
        ck_assert_uint_eq(out[0][4 * t + 1], 100 + t);
        ck_assert_uint_eq(out[0][4 * t + 2], t);
        ck_assert_uint_eq(out[0][4 * t + 3], 5);
    }
    check_into_shared(sum, THREADS * 4, 2, 2);
    for (uint32_t t = 0; t < THREADS; t++)
        ck_assert_uint_eq(out[1][4 * t], before(1, 4 * t) + 100 + t);
}
END_TEST

START_TEST(reductions_on_one_word_do_not_race) {
    const char *sum = "xor.b32 a, rank, 1; mapa.shared::cluster.u32 b, base, a; mapa.shared::cluster.u32 c, bar, a;\n"
                      "mov.u32 d, 1;\n"
                      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [b], d, [c];\n";
    check_into_shared(sum, THREADS * 4, 2, 3);
    ck_assert_uint_eq(out[0][0], THREADS);
    ck_assert_uint_eq(out[1][0], before(1, 0) + THREADS);
}
END_TEST

START_TEST(a_barrier_elsewhere_is_refused) {
    const char *head = kernel_text(set_up, 0);
    const char *body =
        kernel_text("%sxor.b32 a, rank, 1; mapa.shared::cluster.u32 b, base, a;\n"
                    "@leader st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [b], a, [bar];\n%s",
                    head, dump);
    ck_assert_int_ne(run(body, 2, 0), 0);
    kernel_reported(SIM_REPORT_BARRIER, "both must be in one CTA");
}
END_TEST

Suite *copy_bulk_suite(void) {
    Suite *suite = suite_create("bulk copies");
    TCase *tests = tcase_create("bulk copies");
    tcase_add_checked_fixture(tests, begin, kernel_end);
    tcase_add_test(tests, loads_arrive);
    tcase_add_test(tests, loads_reach_several_ctas);
    tcase_add_test(tests, pushes_reach_the_neighbour);
    tcase_add_test(tests, stores_arrive);
    tcase_add_test(tests, reductions_go_to_global_memory);
    tcase_add_test(tests, sources_are_kept_until_they_are_read);
    tcase_add_test(tests, written_is_more_than_read);
    tcase_add_test(tests, misuse_of_bulk_copies_is_reported);
    tcase_add_test(tests, bytes_never_written_are_reported);
    tcase_add_test(tests, registers_go_to_the_neighbour);
    tcase_add_test(tests, reductions_on_one_word_do_not_race);
    tcase_add_test(tests, a_barrier_elsewhere_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
