/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.cluster, fences with relaxed arrivals, setmaxnreg, and what must be over when a CTA exits. */
#include "sim_tests.h"

#include "hand_made.h"
#include "sim/memory/memory.h"
#include "sim/memory/peers.h"

static const char arrive[] = "barrier.cluster.arrive.release.aligned;";
static const char relaxed[] = "barrier.cluster.arrive.relaxed.aligned;";
static const char wait[] = "barrier.cluster.wait.acquire.aligned;";

static struct hand *hand;

static void begin(void) {
    hand = hand_new(2, 2);
}

static void end(void) {
    hand_free(hand);
}

static bool knows(uint32_t cta, uint32_t warp, uint32_t other_cta, uint32_t other_warp, uint32_t clock) {
    const struct sim_stamp stamp = {hand_warp(hand, other_cta, other_warp)->agent, clock};
    return sim_knows(&hand_warp(hand, cta, warp)->known, stamp);
}

START_TEST(test_meet) {
    const uint32_t clock = hand_warp(hand, 1, 1)->clock;
    for (int round = 0; round < 3; round++) {
        hand_does(hand, 0, 0, arrive);
        hand_waits(hand, 0, 0, wait);
        hand_does(hand, 0, 1, arrive);
        hand_does(hand, 1, 0, arrive);
        hand_waits(hand, 0, 0, wait);
        ck_assert(round > 0 || !knows(0, 0, 1, 1, clock));
        hand_does(hand, 1, 1, arrive);
        hand_does(hand, 0, 0, wait);
        ck_assert(knows(0, 0, 1, 1, clock));
        /* warp 0 may be one generation ahead */
        hand_does(hand, 0, 0, arrive);
        hand_waits(hand, 0, 0, wait);
        for (uint32_t warp = 1; warp < 4; warp++) {
            hand_does(hand, warp / 2, warp % 2, wait);
            hand_does(hand, warp / 2, warp % 2, arrive);
        }
        hand_everybody(hand, wait);
    }
    hand_clean(hand);
}
END_TEST

START_TEST(test_exited_count) {
    hand_does(hand, 0, 0, arrive);
    hand_does(hand, 0, 1, arrive);
    hand_does(hand, 1, 0, arrive);
    hand_waits(hand, 1, 0, wait);
    hand_exit(hand, 1, 1);
    hand_does(hand, 1, 0, wait);
    hand_clean(hand);
}
END_TEST

START_TEST(test_misuse) {
    hand_does(hand, 0, 0, wait);
    hand_reported(hand, SIM_REPORT_BARRIER, "without having arrived");
    hand_does(hand, 0, 0, arrive);
    hand_does(hand, 0, 0, arrive);
    hand_reported(hand, SIM_REPORT_BARRIER, "second time");
}
END_TEST

/* A relaxed arrival hands over what was fenced. */
START_TEST(test_relaxed) {
    const uint32_t fenced = hand_warp(hand, 0, 0)->clock, other = hand_warp(hand, 1, 0)->clock;
    hand_does(hand, 0, 0, "fence.acq_rel.cluster;");
    hand_everybody(hand, relaxed);
    hand_everybody(hand, wait);
    ck_assert(knows(1, 1, 0, 0, fenced));
    ck_assert(!knows(1, 1, 0, 0, hand_warp(hand, 0, 0)->clock));
    ck_assert(!knows(0, 0, 1, 0, other));
    hand_clean(hand);
}
END_TEST

START_TEST(test_described) {
    char text[512] = "";
    hand_does(hand, 0, 0, arrive);
    hand_waits(hand, 0, 0, wait);
    sim_barriers_describe(hand_cluster(hand), text, sizeof text);
    ck_assert_str_eq(text, "the cluster barrier: 1 warps of CTA 0 have not arrived, warp 1 the first\n"
                           "the cluster barrier: 2 warps of CTA 1 have not arrived, warp 0 the first\n");
}
END_TEST

/* ---- the exit ---------------------------------------------------------------------------------------------- */

START_TEST(test_peer_may_come_too_late) {
    hand_everybody(hand, arrive);
    hand_everybody(hand, wait);
    sim_peer_used(hand_warp(hand, 0, 1), hand_warp(hand, 1, 0)->cta);
    hand_exit_cta(hand, 1);
    hand_reported(hand, SIM_REPORT_PEER_EXITED, "warp 1 of CTA 0");
}
END_TEST

START_TEST(test_peer_is_known_to_be_done) {
    sim_peer_used(hand_warp(hand, 0, 1), hand_warp(hand, 1, 0)->cta);
    sim_peer_used(hand_warp(hand, 0, 0), hand_warp(hand, 0, 1)->cta);
    hand_everybody(hand, arrive);
    hand_everybody(hand, wait);
    hand_exit_cta(hand, 1);
    hand_exit_cta(hand, 0);
    hand_clean(hand);
}
END_TEST

/* ---- setmaxnreg ---------------------------------------------------------------------------------------------- */

static void begin_registers(void) {
    hand = hand_new(1, 12);
}

static void warpgroup(uint32_t first, const char *ptx, enum sim_next next) {
    for (uint32_t w = first; w < first + 4; w++)
        ck_assert_int_eq(hand_run(hand, 0, w, UINT32_MAX, ptx), next);
}

START_TEST(test_registers_move) {
    warpgroup(4, "setmaxnreg.inc.sync.aligned.u32 240;", SIM_WAIT);
    warpgroup(0, "setmaxnreg.dec.sync.aligned.u32 24;", SIM_NEXT);
    warpgroup(4, "setmaxnreg.inc.sync.aligned.u32 240;", SIM_NEXT);
    warpgroup(8, "setmaxnreg.inc.sync.aligned.u32 240;", SIM_NEXT);
    ck_assert_uint_eq(hand_warp(hand, 0, 0)->cta->register_pool, 0); /* 168 * 3 = 24 + 240 + 240 */
    hand_exit_cta(hand, 0);
    hand_clean(hand);
}
END_TEST

START_TEST(test_registers_misuse) {
    static const struct {
        const char *ptx, *words;
    } rows[] = {{"setmaxnreg.dec.sync.aligned.u32 16;", "from 24 to 256"},
                {"setmaxnreg.dec.sync.aligned.u32 100;", "multiple of 8"},
                {"setmaxnreg.dec.sync.aligned.u32 176;", "the threads have 168"},
                {"setmaxnreg.inc.sync.aligned.u32 160;", "the threads have 168 already"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        hand_does(hand, 0, 0, rows[r].ptx);
        hand_reported(hand, SIM_REPORT_REGISTERS, rows[r].words);
    }
    hand_does(hand, 0, 0, "setmaxnreg.dec.sync.aligned.u32 24;");
    hand_exit_cta(hand, 0);
    hand_reported(hand, SIM_REPORT_REGISTERS, "all four");
}
END_TEST

Suite *cluster_barrier_suite(void) {
    Suite *suite = suite_create("cluster barrier");
    TCase *tcase = tcase_create("by hand");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, test_meet);
    tcase_add_test(tcase, test_exited_count);
    tcase_add_test(tcase, test_misuse);
    tcase_add_test(tcase, test_relaxed);
    tcase_add_test(tcase, test_described);
    tcase_add_test(tcase, test_peer_may_come_too_late);
    tcase_add_test(tcase, test_peer_is_known_to_be_done);
    suite_add_tcase(suite, tcase);
    TCase *registers = tcase_create("setmaxnreg");
    tcase_add_checked_fixture(registers, begin_registers, end);
    tcase_add_test(registers, test_registers_move);
    tcase_add_test(registers, test_registers_misuse);
    suite_add_tcase(suite, registers);
    return suite;
}
