/* SPDX-License-Identifier: Apache-2.0 */
/* Vector clocks: what releases hand over, what acquires take, what fences flush. */
#include "sim_tests.h"

#include "hand_made.h"

static struct hand *hand;
static struct sim_warp *first, *second;

static void begin(void) {
    hand = hand_new(1, 2);
    first = hand_warp(hand, 0, 0);
    second = hand_warp(hand, 0, 1);
}

static void end(void) {
    hand_free(hand);
}

START_TEST(a_release_hands_over_what_went_before) {
    struct sim_knowledge knowledge = {0};
    const struct sim_stamp before = sim_warp_stamp(first);
    sim_release(first, &knowledge);
    const struct sim_stamp after = sim_warp_stamp(first);
    ck_assert(!sim_knows(&second->known, before));
    sim_acquire(second, &knowledge);
    ck_assert(sim_knows(&second->known, before));
    ck_assert(!sim_knows(&second->known, after));
    ck_assert(!sim_knows(&second->flushed, before));
    sim_knowledge_free(&knowledge);
}
END_TEST

START_TEST(knowledge_travels_on) {
    struct sim_knowledge one = {0}, two = {0};
    const struct sim_stamp copy = {sim_agent_new(hand_cluster(hand), SIM_AGENT_MBARRIER, 0, 0, 0, 0x400), 3};
    sim_clocks_raise(hand_cluster(hand), &first->known, copy.agent, 2);
    ck_assert(!sim_knows(&first->known, copy));
    sim_clocks_raise(hand_cluster(hand), &first->known, copy.agent, 3);
    sim_clocks_raise(hand_cluster(hand), &first->known, copy.agent, 1); /* never falls */
    sim_release(first, &one);
    sim_acquire(second, &one);
    sim_release(second, &two);
    ck_assert(sim_knows(&second->known, copy) && sim_knows(&two.known, copy));
    sim_knowledge_free(&one);
    sim_knowledge_free(&two);
}
END_TEST

START_TEST(a_step_orders_the_lanes) {
    const struct sim_stamp before = sim_warp_stamp(first);
    ck_assert(!sim_knows(&first->known, before));
    sim_warp_step(first);
    ck_assert(sim_knows(&first->known, before));
    ck_assert(!sim_knows(&first->known, sim_warp_stamp(first)));
}
END_TEST

START_TEST(a_fence_flushes_what_is_known) {
    struct sim_knowledge knowledge = {0};
    const struct sim_stamp of_second = sim_warp_stamp(second), own = sim_warp_stamp(first);
    sim_release(second, &knowledge);
    sim_acquire(first, &knowledge);
    ck_assert(!sim_knows(&first->flushed, of_second));
    sim_flush(first);
    ck_assert(sim_knows(&first->flushed, of_second));
    ck_assert(sim_knows(&first->flushed, own));
    ck_assert(!sim_knows(&first->flushed, sim_warp_stamp(first)));
    ck_assert(!sim_knows(&first->known, own)); /* other lanes */
    sim_knowledge_free(&knowledge);
}
END_TEST

START_TEST(a_reset_forgets) {
    const struct sim_stamp before = sim_warp_stamp(first);
    sim_warp_step(first);
    sim_clocks_reset(&first->known, hand_cluster(hand)->agents->count);
    ck_assert(!sim_knows(&first->known, before));
}
END_TEST

START_TEST(agents_run_out_quietly) {
    uint32_t last = 0;
    for (int n = 0; n < 2 * SIM_AGENTS_MAX; n++)
        last = sim_agent_new(hand_cluster(hand), SIM_AGENT_BULK_READ, 0, 0, 0, 0);
    ck_assert_uint_eq(last, SIM_AGENTS_MAX - 1);
    ck_assert_uint_eq(hand_cluster(hand)->agents->count, SIM_AGENTS_MAX);
    sim_clocks_raise(hand_cluster(hand), &first->known, SIM_AGENTS_MAX, 1);
    sim_clocks_raise(hand_cluster(hand), &first->known, SIM_AGENT_NONE, 1);
    ck_assert_uint_eq(sim_clock_of(&first->known, SIM_AGENT_NONE), 0);
}
END_TEST

Suite *clocks_suite(void) {
    Suite *suite = suite_create("clocks");
    TCase *tests = tcase_create("clocks");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_release_hands_over_what_went_before);
    tcase_add_test(tests, knowledge_travels_on);
    tcase_add_test(tests, a_step_orders_the_lanes);
    tcase_add_test(tests, a_fence_flushes_what_is_known);
    tcase_add_test(tests, a_reset_forgets);
    tcase_add_test(tests, agents_run_out_quietly);
    suite_add_tcase(suite, tests);
    return suite;
}
