/* SPDX-License-Identifier: Apache-2.0 */
/* mbarriers of peers, mbarriers used wrongly, and what must be over when a CTA exits. */
#include "sim_tests.h"

#include "hand_made.h"
#include "sim/memory/memory.h"

#include <string.h>

#define INIT(count)   "mbarrier.init.shared::cta.b64 [full], " #count ";"
#define ARRIVE        "mbarrier.arrive.shared::cta.b64 _, [full];"
#define EXPECT(bytes) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], " #bytes ";"
#define TRY           "mbarrier.try_wait.parity.shared::cta.b64 p, [full], 0;"

static struct hand *hand;

static void begin(void) {
    hand = hand_new(2, 2);
}

static void end(void) {
    hand_free(hand);
}

static struct sim_mbarrier *barrier(uint32_t cta) {
    return sim_mbarrier_find(hand_warp(hand, cta, 0), NULL, PTX_NONE, hand_warp(hand, cta, 0)->cta, HAND_FULL, true);
}

/* ---- peers ------------------------------------------------------------------------------------------------------- */

#define REMOTE "mbarrier.arrive.shared::cluster.b64 _, [a];"

START_TEST(test_remote) {
    hand_prepare(hand, INIT(2), true);
    hand_set(hand, 1, 0, 'a', SIM_CLUSTER_ADDRESS(0, HAND_FULL));
    const struct sim_stamp before = sim_warp_stamp(hand_warp(hand, 1, 0));
    hand_leads(hand, 1, 0, REMOTE);
    struct gm_sim_mbarrier seen = {0};
    ck_assert(sim_mbarrier_view(hand_warp(hand, 0, 0)->cta, 0, &seen));
    ck_assert_uint_eq(seen.pending, 1);
    hand_leads(hand, 1, 0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a];");
    hand_does(hand, 0, 1, TRY);
    ck_assert_uint_eq(hand_register(hand, 0, 1, 'p'), 1);
    ck_assert(sim_knows(&hand_warp(hand, 0, 1)->known, before));
    hand_clean(hand);
    hand_set(hand, 1, 0, 'a', SIM_CLUSTER_ADDRESS(0, HAND_FULL));
    ck_assert_int_eq(hand_run(hand, 1, 0, 1, "mbarrier.test_wait.parity.shared::cta.b64 p, [a], 0;"), SIM_FAULT);
    hand_reported(hand, SIM_REPORT_BARRIER, "its own");
}
END_TEST

START_TEST(test_unfenced) {
    hand_prepare(hand, INIT(1), false);
    hand_set(hand, 1, 0, 'a', SIM_CLUSTER_ADDRESS(0, HAND_FULL));
    hand_leads(hand, 1, 0, REMOTE);
    hand_reported(hand, SIM_REPORT_BARRIER, "no fence.mbarrier_init");
    ck_assert_ptr_nonnull(barrier(0));
    hand_reported(hand, SIM_REPORT_BARRIER, "no fence.mbarrier_init");
    hand_leads(hand, 0, 0, "fence.proxy.async.shared::cta;");
    ck_assert_ptr_nonnull(barrier(0));
    hand_clean(hand);
}
END_TEST

/* ---- misuse ------------------------------------------------------------------------------------------------------ */

START_TEST(test_unknown_init) {
    hand_leads(hand, 0, 0, INIT(2));
    hand_leads(hand, 0, 0, ARRIVE);
    hand_clean(hand);
    hand_leads(hand, 0, 1, ARRIVE);
    hand_reported(hand, SIM_REPORT_BARRIER, "no barrier between");
}
END_TEST

START_TEST(test_not_a_barrier) {
    hand_leads(hand, 0, 0, ARRIVE);
    hand_reported(hand, SIM_REPORT_BARRIER, "there is no mbarrier");
    ck_assert_int_eq(hand_run(hand, 0, 0, 1, TRY), SIM_FAULT);
    hand_reported(hand, SIM_REPORT_BARRIER, "there is no mbarrier");
    hand_leads(hand, 0, 0, INIT(0));
    hand_reported(hand, SIM_REPORT_BARRIER, "0 arrivals");
    hand_leads(hand, 0, 0, INIT(1));
    hand_reported(hand, SIM_REPORT_BARRIER, "initialised again");
    hand_leads(hand, 0, 0, "mbarrier.inval.shared::cta.b64 [full];");
    hand_clean(hand);
    hand_leads(hand, 0, 0, ARRIVE);
    hand_reported(hand, SIM_REPORT_BARRIER, "was invalidated");
    hand_leads(hand, 0, 0, INIT(1));
    hand_clean(hand);
}
END_TEST

START_TEST(test_overwritten) {
    struct sim_warp *warp = hand_warp(hand, 0, 0);
    static const struct ptx_instruction store = {.line = 77};
    hand_leads(hand, 0, 0, INIT(1));
    sim_mbarrier_overwritten(warp, &store, 0, warp->cta, HAND_FULL + 8, 16);
    sim_mbarrier_overwritten(warp, &store, 0, warp->cta, HAND_FULL - 8, 8);
    hand_clean(hand);
    sim_mbarrier_overwritten(warp, &store, 0, warp->cta, HAND_FULL - 8, 10);
    hand_reported(hand, SIM_REPORT_BARRIER, "writes over the mbarrier full");
    hand_leads(hand, 0, 0, ARRIVE);
    hand_reported(hand, SIM_REPORT_BARRIER, "overwritten by line 77");
    hand_leads(hand, 0, 0, INIT(1));
    memset(warp->cta->shared + HAND_FULL, 0, 4);
    hand_leads(hand, 0, 0, ARRIVE);
    hand_reported(hand, SIM_REPORT_BARRIER, "was overwritten since");
}
END_TEST

START_TEST(test_too_many_arrivals) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, EXPECT(16));
    hand_clean(hand);
    hand_leads(hand, 0, 0, ARRIVE);
    hand_reported(hand, SIM_REPORT_BARRIER, "one arrival too many");
    hand_leads(hand, 0, 0, "mbarrier.test_wait.parity.shared::cta.b64 p, [full], 2;");
    hand_reported(hand, SIM_REPORT_BARRIER, "parity 2");
}
END_TEST

/* ---- the exit --------------------------------------------------------------------------------------------------- */

START_TEST(test_exit_with_bytes_missing) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, EXPECT(16));
    hand_exit_cta(hand, 0);
    hand_reported(hand, SIM_REPORT_TRANSACTIONS, "16 bytes fewer");
}
END_TEST

START_TEST(test_exit_before_landing) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, EXPECT(16));
    const struct sim_stamp stamp = sim_mbarrier_copy_begin(barrier(0));
    struct sim_mbarrier *target = barrier(0);
    hand_exit_cta(hand, 0);
    hand_reported(hand, SIM_REPORT_EXIT_IN_FLIGHT, "have not landed");
    sim_mbarrier_copy_land(target, stamp, 16, hand_warp(hand, 1, 0), NULL);
    hand_clean(hand);
}
END_TEST

START_TEST(test_exit_without_waiting) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, EXPECT(16));
    sim_mbarrier_copy_land(barrier(0), sim_mbarrier_copy_begin(barrier(0)), 16, hand_warp(hand, 0, 0), NULL);
    hand_exit_cta(hand, 0);
    hand_reported(hand, SIM_REPORT_EXIT_IN_FLIGHT, "none of its warps has waited");
}
END_TEST

Suite *mbarrier_misuse_suite(void) {
    Suite *suite = suite_create("mbarrier misuse");
    TCase *tcase = tcase_create("by hand");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, test_remote);
    tcase_add_test(tcase, test_unfenced);
    tcase_add_test(tcase, test_unknown_init);
    tcase_add_test(tcase, test_not_a_barrier);
    tcase_add_test(tcase, test_overwritten);
    tcase_add_test(tcase, test_too_many_arrivals);
    tcase_add_test(tcase, test_exit_with_bytes_missing);
    tcase_add_test(tcase, test_exit_before_landing);
    tcase_add_test(tcase, test_exit_without_waiting);
    suite_add_tcase(suite, tcase);
    return suite;
}
