/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow of shared memory: who may touch a word after whom, and which bytes were ever written. */
#include "sim_tests.h"

#include "shadow_accesses.h"

/* ---- warps ------------------------------------------------------------------------------------------------------ */

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

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

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

/* ---- initialised bytes ------------------------------------------------------------------------------------------ */

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
    TCase *warps = tcase_create("warps"), *lanes = tcase_create("lanes"), *bytes = tcase_create("bytes");
    TCase *const all[] = {warps, lanes, bytes};
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        tcase_add_checked_fixture(all[c], shadow_begin, shadow_end);
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
    tcase_add_test(bytes, bytes_are_initialised_one_by_one);
    tcase_add_test(bytes, a_reset_forgets_everything);
    tcase_add_loop_test(bytes, spans_of_any_alignment, 0, 8 * 16);
    tcase_add_test(bytes, many_sets_of_readers);
    return suite;
}
