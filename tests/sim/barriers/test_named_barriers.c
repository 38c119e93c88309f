/* SPDX-License-Identifier: Apache-2.0 */
/* bar.sync, bar.arrive, bar.red: who waits, who learns what, and misuse. */
#include "sim_tests.h"

#include "hand_made.h"
#include "sim/memory/shadow.h"

static struct hand *hand;

static void begin(void) {
    hand = hand_new(1, 4);
}

static void end(void) {
    hand_free(hand);
}

/* The warp knows what another did when that one's clock was `clock`. */
static bool knows(uint32_t warp, uint32_t other, uint32_t clock) {
    const struct sim_stamp stamp = {hand_warp(hand, 0, other)->agent, clock};
    return sim_knows(&hand_warp(hand, 0, warp)->known, stamp);
}

START_TEST(test_all_warps_meet) {
    const uint32_t clock = hand_warp(hand, 0, 1)->clock;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t w = 0; w < 3; w++)
            hand_waits(hand, 0, w, "bar.sync 0;");
        hand_waits(hand, 0, 0, "bar.sync 0;");
        ck_assert(round > 0 || !knows(0, 1, clock));
        hand_does(hand, 0, 3, "bar.sync 0;");
        for (uint32_t w = 0; w < 3; w++)
            hand_does(hand, 0, w, "bar.sync 0;");
        ck_assert(knows(0, 1, clock) && knows(3, 1, clock));
    }
    hand_clean(hand);
}
END_TEST

/* A warp that is slow to leave is not held up by the next generation of others. */
START_TEST(test_generations) {
    hand_waits(hand, 0, 0, "bar.sync 1, 64;");
    hand_does(hand, 0, 1, "bar.sync 1, 64;");
    const uint32_t later = hand_warp(hand, 0, 2)->clock;
    hand_waits(hand, 0, 2, "bar.sync 1, 64;");
    hand_does(hand, 0, 3, "bar.sync 1, 64;");
    hand_does(hand, 0, 0, "bar.sync 1, 64;");
    hand_does(hand, 0, 2, "bar.sync 1, 64;");
    ck_assert_msg(!knows(0, 2, later), "warp 0 has learnt from a generation it was not in");
    hand_clean(hand);
}
END_TEST

START_TEST(test_producer_and_consumer) {
    const uint32_t clock = hand_warp(hand, 0, 0)->clock;
    for (int round = 0; round < 2; round++) {
        hand_waits(hand, 0, 1, "bar.sync 2, 64;");
        hand_does(hand, 0, 0, "bar.arrive 2, 64;");
        hand_does(hand, 0, 1, "bar.sync 2, 64;");
        hand_does(hand, 0, 1, "bar.arrive 3, 64;");
        hand_does(hand, 0, 0, "bar.sync 3, 64;");
    }
    ck_assert(knows(1, 0, clock));
    hand_clean(hand);
}
END_TEST

START_TEST(test_exited_warps_count) {
    hand_exit(hand, 0, 3);
    hand_waits(hand, 0, 0, "bar.sync 0;");
    hand_waits(hand, 0, 1, "bar.sync 0;");
    hand_exit(hand, 0, 2);
    hand_does(hand, 0, 0, "bar.sync 0;");
    hand_does(hand, 0, 1, "bar.sync 0;");
    hand_clean(hand);
}
END_TEST

START_TEST(test_reductions) {
    static const struct {
        const char *ptx;
        uint32_t truths;
        uint64_t a;
        int p;
    } rows[] = {{"bar.red.popc.u32 a, 0, q;", 0, 0, -1},   {"bar.red.popc.u32 a, 0, q;", 3, 96, -1},
                {"bar.red.popc.u32 a, 0, !q;", 3, 32, -1}, {"bar.red.popc.u32 a, 1, 128, q;", 4, 128, -1},
                {"bar.red.and.pred p, 0, q;", 4, 0, 1},    {"bar.red.and.pred p, 0, q;", 3, 0, 0},
                {"bar.red.or.pred p, 0, q;", 0, 0, 0},     {"barrier.cta.red.or.aligned.pred p, 0, q;", 1, 0, 1}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (uint32_t w = 0; w < 4; w++)
            hand_set(hand, 0, w, 'q', w < rows[r].truths);
        for (uint32_t w = 0; w < 3; w++)
            hand_waits(hand, 0, w, rows[r].ptx);
        for (uint32_t w = 4; w-- > 0;) {
            hand_does(hand, 0, w, rows[r].ptx);
            if (rows[r].p < 0)
                ck_assert_uint_eq(hand_register(hand, 0, w, 'a'), rows[r].a);
            else
                ck_assert_int_eq((int)hand_register(hand, 0, w, 'p'), rows[r].p);
        }
    }
    hand_clean(hand);
}
END_TEST

/* Without .aligned the parts of a diverged warp arrive one after the other. */
START_TEST(test_parts_of_a_warp) {
    static const char sync[] = "barrier.sync 0, 32;";
    struct sim_path *path = hand_warp(hand, 0, 0)->paths, other;
    ck_assert_int_eq(hand_run(hand, 0, 0, 0xffff, sync), SIM_WAIT);
    other = *path;
    path->stage = 0;
    ck_assert_int_eq(hand_run(hand, 0, 0, 0xffff0000, sync), SIM_NEXT);
    *path = other;
    ck_assert_int_eq(hand_run(hand, 0, 0, 0xffff, sync), SIM_NEXT);
    hand_clean(hand);
}
END_TEST

START_TEST(test_misuse) {
    static const struct {
        const char *ptx, *words;
        enum sim_next next;
    } rows[] = {{"bar.sync 16;", "barriers 0 to 15", SIM_FAULT},
                {"bar.sync 1, 48;", "multiple of 32", SIM_FAULT},
                {"bar.sync 1, 160;", "never be complete", SIM_FAULT},
                {"bar.arrive 1, 0;", "must say how many", SIM_FAULT}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        ck_assert_int_eq(hand_run(hand, 0, 0, UINT32_MAX, rows[r].ptx), rows[r].next);
        hand_reported(hand, SIM_REPORT_BARRIER, rows[r].words);
    }
    hand_waits(hand, 0, 0, "bar.sync 4, 64;");
    hand_does(hand, 0, 1, "bar.arrive 4, 96;");
    hand_reported(hand, SIM_REPORT_BARRIER, "96 threads here, and 64");
    hand_does(hand, 0, 0, "bar.sync 4, 64;");
    hand_does(hand, 0, 2, "bar.arrive 5, 64;");
    hand_does(hand, 0, 2, "bar.sync 5, 64;");
    hand_reported(hand, SIM_REPORT_BARRIER, "second time");
}
END_TEST

START_TEST(test_described) {
    char text[512] = "";
    hand_waits(hand, 0, 0, "bar.sync 6, 96;");
    sim_barriers_describe(hand_cluster(hand), text, sizeof text);
    ck_assert_str_eq(text, "barrier 6 of CTA 0: 32 of 96 threads have come\n");
}
END_TEST

Suite *named_barriers_suite(void) {
    Suite *suite = suite_create("named barriers");
    TCase *tcase = tcase_create("by hand");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, test_all_warps_meet);
    tcase_add_test(tcase, test_generations);
    tcase_add_test(tcase, test_producer_and_consumer);
    tcase_add_test(tcase, test_exited_warps_count);
    tcase_add_test(tcase, test_reductions);
    tcase_add_test(tcase, test_parts_of_a_warp);
    tcase_add_test(tcase, test_misuse);
    tcase_add_test(tcase, test_described);
    suite_add_tcase(suite, tcase);
    return suite;
}
