/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow of shared memory: every rule about who may touch a word after whom. */
#include "sim_tests.h"

#include "hand_made.h"
#include "memory.h"
#include "shadow.h"

enum { WORD = 1072, SPAN = 512, AT = 2048 };

static struct hand *hand;

static void begin(void) {
    hand = hand_new(2, 3);
}

static void end(void) {
    hand_free(hand);
}

/* ---- accesses ------------------------------------------------------------------------------------------------------
 */

struct access {
    uint32_t warp; /* 0, 1, 2 of CTA 0; 3, 4, 5 of CTA 1 */
    uint8_t lane;
    bool atomic, async;
    struct sim_stamp stamp; /* agent 0: the warp's own */
};

static struct sim_warp *warp_of(uint32_t warp) {
    return hand_warp(hand, warp / 3, warp % 3);
}

/* Every access is an instruction of its own. */
static struct sim_actor actor_of(struct access access) {
    struct sim_warp *warp = warp_of(access.warp);
    struct sim_actor actor = sim_warp_actor(warp, NULL, access.lane, access.atomic);
    if (access.stamp.agent)
        actor.stamp = access.stamp;
    actor.proxy = access.async ? SIM_PROXY_ASYNC : SIM_PROXY_GENERIC;
    warp->instructions++;
    return actor;
}

static struct sim_cta *cta(void) {
    return warp_of(0)->cta;
}

static bool uninitialised;

static bool reads(struct access access, uint32_t offset, uint32_t bytes) {
    const struct sim_actor actor = actor_of(access);
    return sim_shadow_read(cta(), offset, bytes, &actor, &uninitialised);
}

static bool writes(struct access access, uint32_t offset, uint32_t bytes) {
    const struct sim_actor actor = actor_of(access);
    return sim_shadow_write(cta(), offset, bytes, &actor);
}

#define BY(warp_, lane_, ...) ((struct access){.warp = warp_, .lane = lane_, __VA_ARGS__})

/* Everything that warp `from` did is known to `to`, as after a barrier. */
static void hand_over(uint32_t from, uint32_t to) {
    struct sim_knowledge knowledge = {0};
    sim_release(warp_of(from), &knowledge);
    sim_acquire(warp_of(to), &knowledge);
    sim_knowledge_free(&knowledge);
}

static struct sim_stamp new_agent(enum sim_agent_kind kind) {
    return (struct sim_stamp){sim_agent_new(hand_cluster(hand), kind, 0, 0, 0, 0x400), 1};
}

static void wait_for(uint32_t warp, struct sim_stamp stamp) {
    sim_clocks_raise(&warp_of(warp)->known, stamp.agent, stamp.clock);
}

/* ---- warps ---------------------------------------------------------------------------------------------------------
 */

START_TEST(a_read_wants_the_write_known) {
    ck_assert(writes(BY(0, 5), WORD, 4));
    ck_assert(!reads(BY(1, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "lane 5 of warp 0 wrote it and no barrier lies between");
    hand_over(0, 1);
    ck_assert(reads(BY(1, 0), WORD, 4));
    ck_assert(!reads(BY(3, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "of CTA 0 of the cluster wrote it and no cluster barrier");
}
END_TEST

START_TEST(a_write_wants_the_write_known) {
    ck_assert(writes(BY(0, 0), WORD, 4));
    ck_assert(!writes(BY(1, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_WRITTEN,
                  "overwrites 0x430 of shared memory: lane 0 of warp 0 wrote it");
    hand_over(1, 2);
    ck_assert(writes(BY(2, 0), WORD, 4));
    hand_clean(hand);
}
END_TEST

START_TEST(a_write_wants_every_reader_known) {
    ck_assert(writes(BY(0, 0), WORD, 4));
    hand_over(0, 1);
    hand_over(0, 2);
    ck_assert(reads(BY(1, 7), WORD, 4));
    ck_assert(reads(BY(2, 8), WORD, 4));
    ck_assert(reads(BY(0, 0), WORD, 4));
    hand_over(2, 0);
    ck_assert(!writes(BY(0, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_READ, "warp 1 read it and no barrier lies between");
    hand_over(1, 0);
    ck_assert(writes(BY(0, 0), WORD, 4));
    hand_clean(hand);
}
END_TEST

START_TEST(a_reader_covers_those_it_knows_of) {
    ck_assert(reads(BY(1, 0), WORD, 4));
    hand_over(1, 2);
    ck_assert(reads(BY(2, 0), WORD, 4));
    hand_over(2, 0);
    ck_assert(writes(BY(0, 0), WORD, 4));
    hand_clean(hand);
}
END_TEST

START_TEST(knowledge_is_of_what_went_before) {
    ck_assert(writes(BY(0, 0), WORD, 4));
    hand_over(0, 1);
    ck_assert(writes(BY(0, 0), WORD, 4));
    ck_assert(!reads(BY(1, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "warp 0");
}
END_TEST

/* ---- lanes ---------------------------------------------------------------------------------------------------------
 */

START_TEST(lanes_of_a_warp_want_a_syncwarp) {
    ck_assert(writes(BY(0, 3), WORD, 4));
    ck_assert(reads(BY(0, 3), WORD, 4));
    ck_assert(writes(BY(0, 3), WORD, 4));
    ck_assert(!reads(BY(0, 4), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "lane 3 of this warp wrote it and no __syncwarp lies between");
    ck_assert(!reads(BY(0, SIM_LANE_COLLECTIVE), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "lane 3 of this warp");
    sim_warp_step(warp_of(0));
    ck_assert(reads(BY(0, 4), WORD, 4));
    ck_assert(!writes(BY(0, 3), WORD, 4));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_READ, "this warp read it and no __syncwarp");
}
END_TEST

START_TEST(collective_accesses_too) {
    ck_assert(writes(BY(0, SIM_LANE_COLLECTIVE), WORD, 4));
    ck_assert(!reads(BY(0, SIM_LANE_COLLECTIVE), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "this warp wrote it and no __syncwarp");
    sim_warp_step(warp_of(0));
    ck_assert(reads(BY(0, SIM_LANE_COLLECTIVE), WORD, 4));
    ck_assert(reads(BY(0, 1), WORD, 4));
    hand_clean(hand);
}
END_TEST

START_TEST(one_instruction_does_not_race_with_itself) {
    const struct sim_actor first = actor_of(BY(0, 1));
    warp_of(0)->instructions--;
    const struct sim_actor second = actor_of(BY(0, 2));
    warp_of(0)->instructions--;
    ck_assert(sim_shadow_write(cta(), WORD, 4, &first));
    ck_assert(sim_shadow_write(cta(), WORD, 4, &second));
    hand_clean(hand);
    warp_of(0)->instructions++;
    ck_assert(!writes(BY(0, 3), WORD, 4));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_WRITTEN, "no __syncwarp");
}
END_TEST

START_TEST(one_lanes_fence_or_arrival_orders_no_others) {
    struct sim_knowledge knowledge = {0};
    ck_assert(writes(BY(0, 3), WORD, 4));
    sim_flush(warp_of(0));
    sim_release(warp_of(0), &knowledge);
    ck_assert(!reads(BY(0, 4), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "no __syncwarp");
    sim_acquire(warp_of(0), &knowledge);
    ck_assert(reads(BY(0, 4), WORD, 4));
    hand_clean(hand);
    sim_knowledge_free(&knowledge);
}
END_TEST

START_TEST(rereading_keeps_the_lane) {
    for (uint8_t lane = 0; lane < 32; lane++)
        ck_assert(reads(BY(0, lane), AT + 4u * lane, 4));
    for (uint8_t lane = 0; lane < 32; lane++)
        ck_assert(reads(BY(0, lane), AT + 4u * lane, 4));
    for (uint8_t lane = 0; lane < 32; lane++)
        ck_assert(writes(BY(0, lane), AT + 4u * lane, 4));
    hand_clean(hand);
}
END_TEST

START_TEST(bytes_of_a_word_are_apart) {
    for (uint8_t lane = 0; lane < 4; lane++) {
        ck_assert(writes(BY(0, lane), WORD + lane, 1));
        ck_assert(reads(BY(0, lane), WORD + lane, 1));
        ck_assert(writes(BY(0, lane), WORD + lane, 1));
    }
    hand_clean(hand);
    ck_assert(!reads(BY(1, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "warp 0");
    ck_assert(writes(BY(0, 0), WORD + 4, 2));
    ck_assert(writes(BY(1, 0), WORD + 6, 2));
    ck_assert(reads(BY(1, 0), WORD + 6, 2));
    hand_clean(hand);
}
END_TEST

START_TEST(atomics_race_with_others_only) {
    ck_assert(writes(BY(0, 1, .atomic = true), WORD, 4));
    ck_assert(writes(BY(0, 2, .atomic = true), WORD, 4));
    ck_assert(writes(BY(1, 0, .atomic = true), WORD, 4));
    ck_assert(reads(BY(2, 0, .atomic = true), WORD, 4));
    hand_clean(hand);
    ck_assert(!reads(BY(2, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "warp 1");
    hand_over(1, 0);
    ck_assert(!writes(BY(0, 0), WORD, 4));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_READ, "warp 2");
}
END_TEST

/* ---- copies and proxies ---------------------------------------------------------------------------------------------
 */

START_TEST(a_copy_is_waited_for) {
    const struct sim_stamp copy = new_agent(SIM_AGENT_MBARRIER);
    ck_assert(writes(BY(0, 0, .async = true, .stamp = copy), AT, SPAN));
    ck_assert(!reads(BY(0, 0), AT + 40, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN,
                  "reports to the mbarrier at 0x400 of CTA 0 has not been waited for");
    wait_for(1, copy);
    ck_assert(reads(BY(1, 0), AT, SPAN));
    ck_assert(!writes(BY(0, 0, .async = true, .stamp = {copy.agent, 2}), AT, SPAN));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_WRITTEN, "has not been waited for");
}
END_TEST

START_TEST(a_stage_is_overwritten_when_its_readers_are_done) {
    const struct sim_stamp copy = new_agent(SIM_AGENT_MBARRIER), group = new_agent(SIM_AGENT_WGMMA);
    ck_assert(writes(BY(0, 0, .async = true, .stamp = copy), AT, SPAN));
    wait_for(1, copy);
    ck_assert(reads(BY(1, SIM_LANE_COLLECTIVE, .async = true, .stamp = group), AT, SPAN));
    ck_assert(reads(BY(1, 4), AT + 16, 4));
    hand_over(1, 0);
    ck_assert(!writes(BY(0, 0, .async = true, .stamp = {copy.agent, 2}), AT, SPAN));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_READ, "wgmma.wait_group");
    wait_for(0, group);
    ck_assert(writes(BY(0, 0, .async = true, .stamp = {copy.agent, 2}), AT + SPAN, SPAN));
    hand_clean(hand);
}
END_TEST

START_TEST(async_reads_want_a_fence_after_generic_writes) {
    const struct sim_stamp store = new_agent(SIM_AGENT_BULK_READ);
    ck_assert(writes(BY(0, 0), AT, SPAN));
    hand_over(0, 1);
    ck_assert(!reads(BY(1, 0, .async = true, .stamp = store), AT, SPAN));
    hand_reported(hand, SIM_REPORT_PROXY, "a store of warp 0 wrote it through the generic proxy");
    sim_flush(warp_of(0)); /* too late for warp 1, which does not learn of it */
    ck_assert(!reads(BY(1, 0, .async = true, .stamp = store), AT, SPAN));
    hand_reported(hand, SIM_REPORT_PROXY, "no fence.proxy.async");
    hand_over(0, 1);
    ck_assert(reads(BY(1, 0, .async = true, .stamp = store), AT, SPAN));
    hand_clean(hand);
    ck_assert(!writes(BY(1, 0), AT, 4));
    hand_reported(hand, SIM_REPORT_WRITE_BEFORE_READ, "cp.async.bulk.wait_group.read");
}
END_TEST

START_TEST(the_reader_may_fence_for_others) {
    ck_assert(writes(BY(0, 0), AT, SPAN));
    hand_over(0, 1);
    sim_flush(warp_of(1));
    ck_assert(reads(BY(1, 0, .async = true, .stamp = new_agent(SIM_AGENT_BULK_READ)), AT, SPAN));
    ck_assert(writes(BY(1, 0), WORD, 4)); /* after the fence: not covered by it */
    sim_warp_step(warp_of(1));
    ck_assert(!reads(BY(1, 0, .async = true, .stamp = new_agent(SIM_AGENT_BULK_READ)), WORD, 4));
    hand_reported(hand, SIM_REPORT_PROXY, "warp 1");
}
END_TEST

START_TEST(a_lane_copies_what_it_stored_and_fenced) {
    ck_assert(writes(BY(0, 0), WORD, 4));
    ck_assert(!reads(BY(0, 0, .async = true, .stamp = new_agent(SIM_AGENT_BULK_READ)), WORD, 4));
    hand_reported(hand, SIM_REPORT_PROXY, "warp 0");
    sim_flush(warp_of(0));
    ck_assert(reads(BY(0, 0, .async = true, .stamp = new_agent(SIM_AGENT_BULK_READ)), WORD, 4));
    hand_clean(hand);
    ck_assert(!reads(BY(0, 1, .async = true, .stamp = new_agent(SIM_AGENT_BULK_READ)), WORD, 4));
    hand_reported(hand, SIM_REPORT_READ_BEFORE_WRITTEN, "no __syncwarp");
}
END_TEST

START_TEST(async_writes_over_generic_ones) {
    const struct sim_stamp copy = new_agent(SIM_AGENT_MBARRIER);
    ck_assert(reads(BY(0, 0), AT, 4));      /* generic reads need no fence */
    ck_assert(writes(BY(0, 0), AT + 4, 4)); /* generic writes do */
    hand_over(0, 1);
    ck_assert(writes(BY(1, 0, .async = true, .stamp = copy), AT, 4));
    hand_clean(hand);
    ck_assert(!writes(BY(1, 0, .async = true, .stamp = copy), AT + 4, 4));
    hand_reported(hand, SIM_REPORT_PROXY, "overwrites");
}
END_TEST

/* ---- initialised bytes ----------------------------------------------------------------------------------------------
 */

START_TEST(bytes_are_initialised_one_by_one) {
    reads(BY(0, 0), AT, 4);
    ck_assert(uninitialised);
    ck_assert(writes(BY(0, 0), AT + 1, 3));
    reads(BY(0, 0), AT + 1, 3);
    ck_assert(!uninitialised);
    reads(BY(0, 0), AT, 4);
    ck_assert(uninitialised);
    ck_assert(writes(BY(0, 0), AT, SPAN));
    reads(BY(0, 0), AT, SPAN);
    ck_assert(!uninitialised);
    sim_shadow_taint(cta(), AT + 77, 2);
    reads(BY(0, 0), AT, 76);
    ck_assert(!uninitialised);
    reads(BY(0, 0), AT + 78, 1);
    ck_assert(uninitialised);
    hand_clean(hand);
}
END_TEST

START_TEST(a_reset_forgets_everything) {
    ck_assert(writes(BY(0, 0), AT, SPAN));
    hand_over(0, 1);
    ck_assert(reads(BY(1, 0), AT, SPAN));
    ck_assert(reads(BY(0, 0), AT, SPAN));
    sim_shadow_reset(cta()->shadow, cta());
    ck_assert(writes(BY(2, 0), AT, SPAN));
    reads(BY(2, 0), AT + SPAN, 4);
    ck_assert(uninitialised);
    hand_clean(hand);
}
END_TEST

/* Spans at every alignment leave the same state as byte after byte. */
START_TEST(spans_of_any_alignment) {
    const uint32_t first = (uint32_t)_i % 8, bytes = 1 + (uint32_t)_i / 8;
    ck_assert(writes(BY(0, 9), AT + first, bytes));
    for (uint32_t at = AT; at < AT + 32; at++) {
        const bool inside = at >= AT + first && at < AT + first + bytes;
        ck_assert_int_eq(reads(BY(0, 9), at, 1), true);
        ck_assert_int_eq(uninitialised, !inside);
    }
    for (uint32_t at = AT; at < AT + 32; at++) {
        const bool inside = at >= AT + first && at < AT + first + bytes;
        ck_assert_int_eq(reads(BY(1, 0), at, 1), !inside);
    }
}
END_TEST

/* More combinations of readers than are kept: some races go unseen, none is made up, and nothing is overrun. */
START_TEST(many_sets_of_readers) {
    for (uint32_t round = 0; round < 40000; round++) {
        ck_assert(reads(BY(0, 0), AT + 4 * (round % 64), 8));
        ck_assert(reads(BY(1, 0), AT + 4 * (round % 64), 8));
        sim_warp_step(warp_of(0));
        sim_warp_step(warp_of(1));
    }
    hand_over(0, 2);
    hand_over(1, 2);
    ck_assert(writes(BY(2, 0), AT, SPAN));
    hand_clean(hand);
}
END_TEST

Suite *shadow_suite(void) {
    Suite *suite = suite_create("shadow");
    TCase *warps = tcase_create("warps"), *lanes = tcase_create("lanes"), *copies = tcase_create("copies"),
          *bytes = tcase_create("bytes");
    TCase *const all[] = {warps, lanes, copies, bytes};
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        tcase_add_checked_fixture(all[c], begin, end);
        suite_add_tcase(suite, all[c]);
    }
    tcase_add_test(warps, a_read_wants_the_write_known);
    tcase_add_test(warps, a_write_wants_the_write_known);
    tcase_add_test(warps, a_write_wants_every_reader_known);
    tcase_add_test(warps, a_reader_covers_those_it_knows_of);
    tcase_add_test(warps, knowledge_is_of_what_went_before);
    tcase_add_test(lanes, lanes_of_a_warp_want_a_syncwarp);
    tcase_add_test(lanes, collective_accesses_too);
    tcase_add_test(lanes, one_instruction_does_not_race_with_itself);
    tcase_add_test(lanes, one_lanes_fence_or_arrival_orders_no_others);
    tcase_add_test(lanes, rereading_keeps_the_lane);
    tcase_add_test(lanes, bytes_of_a_word_are_apart);
    tcase_add_test(lanes, atomics_race_with_others_only);
    tcase_add_test(copies, a_copy_is_waited_for);
    tcase_add_test(copies, a_stage_is_overwritten_when_its_readers_are_done);
    tcase_add_test(copies, async_reads_want_a_fence_after_generic_writes);
    tcase_add_test(copies, the_reader_may_fence_for_others);
    tcase_add_test(copies, a_lane_copies_what_it_stored_and_fenced);
    tcase_add_test(copies, async_writes_over_generic_ones);
    tcase_add_test(bytes, bytes_are_initialised_one_by_one);
    tcase_add_test(bytes, a_reset_forgets_everything);
    tcase_add_loop_test(bytes, spans_of_any_alignment, 0, 8 * 16);
    tcase_add_test(bytes, many_sets_of_readers);
    return suite;
}
