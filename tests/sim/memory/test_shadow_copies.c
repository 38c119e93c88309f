/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow of shared memory: copies that must be waited for, and the fence between the proxies. */
#include "sim_tests.h"

#include "shadow_accesses.h"

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

Suite *shadow_copies_suite(void) {
    Suite *suite = suite_create("shadow_copies");
    TCase *copies = tcase_create("copies");
    tcase_add_checked_fixture(copies, shadow_begin, shadow_end);
    tcase_add_test(copies, a_copy_is_waited_for);
    tcase_add_test(copies, a_stage_is_overwritten_when_its_readers_are_done);
    tcase_add_test(copies, async_reads_want_a_fence_after_generic_writes);
    tcase_add_test(copies, the_reader_may_fence_for_others);
    tcase_add_test(copies, a_lane_copies_what_it_stored_and_fenced);
    tcase_add_test(copies, async_writes_over_generic_ones);
    suite_add_tcase(suite, copies);
    return suite;
}
