/* SPDX-License-Identifier: Apache-2.0 */
/* mbarriers: phases, parities, transactions, who learns what, and misuse. */
#include "sim_tests.h"

#include "hand_made.h"
#include "sim/memory/memory.h"

#include <string.h>

#define INIT(count)   "mbarrier.init.shared::cta.b64 [full], " #count ";"
#define ARRIVE        "mbarrier.arrive.shared::cta.b64 _, [full];"
#define EXPECT(bytes) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], " #bytes ";"
#define PAY(bytes)    "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [full], " #bytes ";"
#define TEST(parity)  "mbarrier.test_wait.parity.shared::cta.b64 p, [full], " #parity ";"
#define TRY(parity)   "mbarrier.try_wait.parity.shared::cta.b64 p, [full], " #parity ";"

static struct hand *hand;

static void begin(void) {
    hand = hand_new(2, 2);
}

static void end(void) {
    hand_free(hand);
}

static bool passes(uint32_t warp, const char *test) {
    hand_does(hand, 0, warp, test);
    return hand_register(hand, 0, warp, 'p');
}

static bool knows(uint32_t cta, uint32_t warp, struct sim_stamp stamp) {
    return sim_knows(&hand_warp(hand, cta, warp)->known, stamp);
}

static struct gm_sim_mbarrier view(void) {
    struct gm_sim_mbarrier seen = {0};
    ck_assert(sim_mbarrier_view(hand_warp(hand, 0, 0)->cta, 0, &seen));
    return seen;
}

static struct sim_mbarrier *barrier(uint32_t cta) {
    return sim_mbarrier_find(hand_warp(hand, cta, 0), NULL, PTX_NONE, hand_warp(hand, cta, 0)->cta, HAND_FULL, true);
}

/* ---- phases -------------------------------------------------------------------------------------------------- */

START_TEST(test_parities) {
    hand_prepare(hand, INIT(2), true);
    ck_assert(!passes(0, TEST(0)) && passes(0, TEST(1)));
    for (uint32_t phase = 0; phase < 5; phase++) {
        hand_leads(hand, 0, 0, ARRIVE);
        ck_assert_int_eq(passes(0, TEST(0)), phase & 1);
        hand_leads(hand, 0, 1, ARRIVE);
        ck_assert_int_eq(passes(0, TEST(0)), !(phase & 1));
        ck_assert_int_eq(passes(0, TEST(1)), phase & 1);
        ck_assert_uint_eq(view().phase, phase + 1);
        ck_assert_uint_eq(view().pending, 2);
    }
    hand_clean(hand);
}
END_TEST

/* Every active lane arrives once; a count arrives at once. */
START_TEST(test_counts) {
    hand_prepare(hand, INIT(40), true);
    hand_does(hand, 0, 0, ARRIVE);
    ck_assert_uint_eq(view().pending, 8);
    hand_leads(hand, 0, 1, "mbarrier.arrive.release.cta.shared::cta.b64 s, [full], 7;");
    ck_assert_uint_eq(view().pending, 1);
    hand_leads(hand, 0, 1, "mbarrier.pending_count.b64 a, s;");
    ck_assert_uint_eq(hand_register(hand, 0, 1, 'a'), 8);
    hand_leads(hand, 0, 0, "mbarrier.arrive.shared.b64 t, [full];");
    ck_assert_uint_eq(view().phase, 1);
    hand_clean(hand);
}
END_TEST

START_TEST(test_states) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, "mbarrier.arrive.shared::cta.b64 s, [full];");
    hand_leads(hand, 0, 0, "mbarrier.test_wait.shared::cta.b64 p, [full], s;");
    ck_assert_uint_eq(hand_register(hand, 0, 0, 'p'), 1);
    hand_leads(hand, 0, 0, "mbarrier.arrive.shared::cta.b64 t, [full];");
    hand_clean(hand);
    hand_leads(hand, 0, 0, "mbarrier.test_wait.shared::cta.b64 p, [full], s;");
    hand_reported(hand, SIM_REPORT_BARRIER, "the state is of phase 0");
}
END_TEST

START_TEST(test_dropped) {
    hand_prepare(hand, INIT(3), true);
    hand_leads(hand, 0, 0, "mbarrier.arrive_drop.shared::cta.b64 _, [full];");
    hand_leads(hand, 0, 0, "mbarrier.arrive.noComplete.shared::cta.b64 s, [full], 1;");
    hand_leads(hand, 0, 0, ARRIVE);
    ck_assert_uint_eq(view().phase, 1);
    ck_assert_uint_eq(view().pending, 2);
    hand_clean(hand);
    hand_leads(hand, 0, 0, "mbarrier.arrive.noComplete.shared::cta.b64 s, [full], 2;");
    hand_reported(hand, SIM_REPORT_BARRIER, "noComplete");
}
END_TEST

START_TEST(test_transactions) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, EXPECT(96));
    ck_assert_uint_eq(view().pending, 0);
    hand_leads(hand, 0, 0, PAY(32));
    ck_assert(!passes(0, TEST(0)));
    ck_assert_int_eq(view().transactions, 64);
    hand_leads(hand, 0, 0, PAY(64));
    ck_assert(passes(0, TEST(0)));
    /* bytes may come before they are expected */
    hand_leads(hand, 0, 0, PAY(16));
    ck_assert_int_eq(view().transactions, -16);
    hand_leads(hand, 0, 0, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 16;");
    hand_leads(hand, 0, 0, ARRIVE);
    ck_assert_uint_eq(view().phase, 2);
    hand_clean(hand);
    hand_leads(hand, 0, 0, EXPECT(1048576));
    hand_reported(hand, SIM_REPORT_TRANSACTIONS, "1048576 bytes outstanding");
}
END_TEST

START_TEST(test_try_wait_waits) {
    hand_prepare(hand, INIT(1), true);
    hand_waits(hand, 0, 1, TRY(0));
    hand_waits(hand, 0, 1, TRY(0));
    char text[256] = "";
    sim_barriers_describe(hand_cluster(hand), text, sizeof text);
    ck_assert_str_eq(text, "full (0x400) of CTA 0: phase 0, 1 arrivals and 0 bytes missing\n");
    hand_leads(hand, 0, 0, ARRIVE);
    ck_assert(passes(1, TRY(0)));
    hand_waits(hand, 0, 1, "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [full], 1, 1000;");
    hand_cluster(hand)->stalled = true;
    ck_assert(!passes(1, "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [full], 1, 1000;"));
    hand_clean(hand);
}
END_TEST

/* ---- who learns what ------------------------------------------------------------------------------------------- */

START_TEST(test_knowledge) {
    hand_prepare(hand, INIT(1), true);
    const struct sim_stamp before = sim_warp_stamp(hand_warp(hand, 0, 0));
    hand_leads(hand, 0, 0, ARRIVE);
    const struct sim_stamp after = sim_warp_stamp(hand_warp(hand, 0, 0));
    ck_assert(!knows(0, 1, before));
    ck_assert(passes(1, TEST(1)) == false && !knows(0, 1, before));
    ck_assert(passes(1, TEST(0)) && knows(0, 1, before) && !knows(0, 1, after));
    hand_clean(hand);
}
END_TEST

/* Relaxed on both sides: nothing, unless fences stand around. */
START_TEST(test_relaxed) {
    hand_prepare(hand, INIT(1), true);
    const struct sim_stamp before = sim_warp_stamp(hand_warp(hand, 0, 0));
    hand_does(hand, 0, 0, "fence.acq_rel.cta;");
    const struct sim_stamp after = sim_warp_stamp(hand_warp(hand, 0, 0));
    hand_leads(hand, 0, 0, "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [full];");
    ck_assert(passes(1, "mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 p, [full], 0;"));
    ck_assert(!knows(0, 1, before));
    hand_does(hand, 0, 1, "fence.acq_rel.cta;");
    ck_assert(knows(0, 1, before) && !knows(0, 1, after));
    hand_clean(hand);
}
END_TEST

START_TEST(test_copies) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, EXPECT(48));
    const struct sim_stamp first = sim_mbarrier_copy_begin(barrier(0)), second = sim_mbarrier_copy_begin(barrier(0));
    ck_assert(!knows(0, 1, first));
    sim_mbarrier_copy_land(barrier(0), first, 16, hand_warp(hand, 0, 0), NULL);
    ck_assert(!passes(1, TEST(0)));
    sim_mbarrier_copy_land(barrier(0), second, 32, hand_warp(hand, 0, 0), NULL);
    ck_assert(!knows(0, 1, first));
    ck_assert(passes(1, TEST(0)) && knows(0, 1, first));
    ck_assert(!knows(0, 1, sim_mbarrier_copy_begin(barrier(0))));
    hand_clean(hand);
}
END_TEST

START_TEST(test_expected_too_little) {
    hand_prepare(hand, INIT(1), true);
    hand_leads(hand, 0, 0, EXPECT(16));
    const struct sim_stamp first = sim_mbarrier_copy_begin(barrier(0)), second = sim_mbarrier_copy_begin(barrier(0));
    sim_mbarrier_copy_land(barrier(0), first, 16, hand_warp(hand, 0, 0), NULL);
    hand_clean(hand);
    sim_mbarrier_copy_land(barrier(0), second, 16, hand_warp(hand, 0, 0), NULL);
    hand_reported(hand, SIM_REPORT_TRANSACTIONS, "expect too few");
}
END_TEST

Suite *mbarrier_suite(void) {
    Suite *suite = suite_create("mbarrier");
    TCase *tcase = tcase_create("by hand");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, test_parities);
    tcase_add_test(tcase, test_counts);
    tcase_add_test(tcase, test_states);
    tcase_add_test(tcase, test_dropped);
    tcase_add_test(tcase, test_transactions);
    tcase_add_test(tcase, test_try_wait_waits);
    tcase_add_test(tcase, test_knowledge);
    tcase_add_test(tcase, test_relaxed);
    tcase_add_test(tcase, test_copies);
    tcase_add_test(tcase, test_expected_too_little);
    suite_add_tcase(suite, tcase);
    return suite;
}
