/* SPDX-License-Identifier: Apache-2.0 */
/* Values passed between lanes: shuffles, votes, elections, matches, reductions; with all lanes, with some, and with
 * lanes that come by different ways. */
#include "run_ptx.h"
#include "sim_tests.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define REGISTERS                                                                                                      \
    ".reg .b64 %a<8>; .reg .b32 %r<16>; .reg .pred %p<8>; .reg .b32 %t;\n"                                             \
    "ld.param.u64 %a0, [buffer]; mov.u32 %t, %laneid; mul.wide.u32 %a1, %t, 8; add.u64 %a1, %a0, %a1;\n"               \
    "add.u32 %r9, %t, 100; mov.u32 %r0, 7; mov.u32 %r1, 7;\n"
#define STORE "st.global.v2.u32 [%a1], {%r0, %r1};"

static uint32_t result[32][2];

static void run_warp(const char *text, uint32_t lanes, uint64_t seed) {
    memset(result, 0, sizeof result);
    struct run_ptx run = {.text = text, .block = {lanes}, .buffer = result, .bytes = sizeof result, .seed = seed};
    run_ptx_clean(&run);
}

/* ---- shuffles -------------------------------------------------------------------------------------------------- */

/* The ISA's pseudocode. */
static uint32_t shuffled(const char *mode, int lane, int b, int c, bool *inside) {
    const int segment = c >> 8 & 31, clamp = c & 31, most = (lane & segment) | (clamp & ~segment),
              least = lane & segment;
    int from = lane;
    b &= 31;
    if (strcmp(mode, "up") == 0) {
        from = lane - b;
        *inside = from >= most;
    } else if (strcmp(mode, "down") == 0) {
        from = lane + b;
        *inside = from <= most;
    } else if (strcmp(mode, "bfly") == 0) {
        from = lane ^ b;
        *inside = from <= most;
    } else {
        from = least | (b & ~segment);
        *inside = from <= most;
    }
    return (uint32_t)(*inside ? from : lane);
}

/* The clamps that CUDA's functions use for widths 32, 16, 8, 4, 2. */
START_TEST(shuffles_follow_the_isa) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    const char *const mode = modes[_i % 4];
    for (int width = 32; width >= 2; width /= 2)
        for (int b = 0; b < 33; b += 1 + b / 9) {
            char text[2048], shuffle[128];
            const int c = (32 - width) << 8 | (strcmp(mode, "up") == 0 ? 0 : 31);
            snprintf(shuffle, sizeof shuffle, "shfl.sync.%s.b32 %%r0|%%p0, %%r9, %d, %d, -1;\n", mode, b, c);
            snprintf(text, sizeof text, "%s%s%s", PTX_HEAD PTX_KERNEL REGISTERS, shuffle,
                     "selp.u32 %r1, 1, 0, %p0;\n" STORE "ret;\n}\n");
            run_warp(text, 32, 0);
            for (int lane = 0; lane < 32; lane++) {
                bool inside;
                const uint32_t from = shuffled(mode, lane, b, c, &inside);
                ck_assert_msg(result[lane][0] == 100 + from && result[lane][1] == inside,
                              "%s b %d c 0x%x lane %d: %u %u, expected %u %d", mode, b, c, lane, result[lane][0],
                              result[lane][1], 100 + from, inside);
            }
        }
}
END_TEST

/* Each lane names its own source; only lanes 4 to 27 take part. */
START_TEST(shuffles_by_register_and_mask) {
    run_warp(PTX_TEXT(REGISTERS
                      "setp.lt.u32 %p0, %t, 4; @%p0 bra END; setp.gt.u32 %p0, %t, 27; @%p0 bra END;\n"
                      "sub.u32 %r2, 31, %t; shfl.sync.idx.b32 %r0, %r9, %r2, 31, 0x0ffffff0; activemask.b32 %r1;\n"
                      "END: " STORE),
             32, (uint64_t)_i);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const bool in = lane >= 4 && lane <= 27;
        ck_assert_uint_eq(result[lane][0], in ? 131 - lane : 7);
        if (!in)
            ck_assert_uint_eq(result[lane][1], 7);
    }
}
END_TEST

/* Lanes come to one shuffle by two ways of different length. */
START_TEST(lanes_gather) {
    run_warp(PTX_TEXT(REGISTERS "mov.u32 %r2, 0; setp.lt.u32 %p0, %t, 13; @%p0 bra.uni SHORT;\n"
                                "LONG: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %t; @%p1 bra LONG;\n"
                                "SHORT: add.u32 %r2, %r2, 1;\n"
                                "shfl.sync.bfly.b32 %r0, %r2, 31, 31, -1; vote.sync.ballot.b32 %r1, %p0, -1;\n" STORE),
             32, (uint64_t)_i);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const uint32_t other = 31 - lane;
        ck_assert_uint_eq(result[lane][0], other < 13 ? 1 : other + 1);
        ck_assert_uint_eq(result[lane][1], 0x1fff);
    }
}
END_TEST

/* The last warp of a CTA has fewer lanes than its mask names. */
START_TEST(lanes_that_do_not_exist_do_not_matter) {
    run_warp(PTX_TEXT(REGISTERS "shfl.sync.bfly.b32 %r0, %r9, 1, 31, -1; vote.sync.ballot.b32 %r1, 1, -1;\n" STORE), 20,
             0);
    for (uint32_t lane = 0; lane < 20; lane++) {
        ck_assert_uint_eq(result[lane][0], 100 + (lane ^ 1));
        ck_assert_uint_eq(result[lane][1], 0xfffff);
    }
}
END_TEST

/* A lane reads from one that is not there. */
START_TEST(shuffle_from_nobody_is_reported) {
    struct run_ptx run = {.text = PTX_TEXT(REGISTERS "setp.gt.u32 %p0, %t, 15; @%p0 bra END;\n"
                                                     "shfl.sync.idx.b32 %r0, %r9, 20, 31, 0xffff;\nEND: " STORE),
                          .block = {32},
                          .buffer = result,
                          .bytes = sizeof result};
    run_ptx(&run);
    ck_assert_uint_eq(run.reports, 1);
    ck_assert_int_eq(run.report[0].kind, SIM_REPORT_DIVERGED);
    ck_assert_ptr_nonnull(strstr(run.report[0].sentence, "lane 20"));
}
END_TEST

/* The mask names all lanes, but half of them go around. */
START_TEST(lanes_that_cannot_come_are_reported) {
    struct run_ptx run = {.text = PTX_TEXT(REGISTERS "setp.gt.u32 %p0, %t, 15; @%p0 bra END;\n"
                                                     "vote.sync.ballot.b32 %r0, 1, -1;\nEND: " STORE),
                          .block = {32},
                          .buffer = result,
                          .bytes = sizeof result};
    run_ptx(&run);
    ck_assert_uint_eq(run.reports, 1);
    ck_assert_int_eq(run.report[0].kind, SIM_REPORT_DIVERGED);
    ck_assert_uint_eq(result[0][0], 0xffff);
}
END_TEST

/* ---- votes ------------------------------------------------------------------------------------------------------- */

struct vote {
    const char *condition;
    uint32_t all, any, uniform, ballot;
};

START_TEST(votes_count_all_lanes) {
    static const struct vote votes[] = {{"setp.lt.u32 %p0, %t, 32;", 1, 1, 1, 0xffffffff},
                                        {"setp.lt.u32 %p0, %t, 0;", 0, 0, 1, 0},
                                        {"setp.eq.u32 %p0, %t, 9;", 0, 1, 0, 1 << 9},
                                        {"setp.ne.u32 %p0, %t, 9;", 0, 1, 0, ~(1u << 9)}};
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s", PTX_HEAD PTX_KERNEL REGISTERS, votes[_i].condition,
             "vote.sync.all.pred %p1, %p0, -1; vote.sync.any.pred %p2, %p0, -1; vote.sync.uni.pred %p3, %p0, -1;\n"
             "selp.u32 %r0, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; selp.u32 %r3, 4, 0, %p3; or.b32 %r0, %r0, %r2;\n"
             "or.b32 %r0, %r0, %r3; vote.sync.ballot.b32 %r1, !%p0, -1; not.b32 %r1, %r1;\n" STORE "ret;\n}\n");
    run_warp(text, 32, 0);
    for (int lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq(result[lane][0], votes[_i].all + 2 * votes[_i].any + 4 * votes[_i].uniform);
        ck_assert_uint_eq(result[lane][1], votes[_i].ballot);
    }
}
END_TEST

START_TEST(one_lane_is_elected) {
    run_warp(PTX_TEXT(REGISTERS "setp.lt.u32 %p0, %t, 5; @%p0 bra END;\n"
                                "elect.sync %r0|%p1, 0xffffffe0; selp.u32 %r1, 1, 0, %p1;\nEND: " STORE),
             32, (uint64_t)_i);
    for (uint32_t lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq(result[lane][0], lane < 5 ? 7 : 5);
        ck_assert_uint_eq(result[lane][1], lane < 5 ? 7 : lane == 5);
    }
}
END_TEST

/* ---- match, redux ----------------------------------------------------------------------------------------------- */

START_TEST(lanes_are_matched) {
    run_warp(
        PTX_TEXT(REGISTERS
                 "rem.u32 %r2, %t, 3; match.any.sync.b32 %r0, %r2, -1;\n"
                 "cvt.u64.u32 %a2, %r2; match.any.sync.b64 %r3, %a2, -1; setp.eq.u32 %p0, %r0, %r3;\n"
                 "match.all.sync.b32 %r4|%p1, %r2, -1; match.all.sync.b32 %r5|%p2, 5, -1;\n"
                 "selp.u32 %r1, 1, 0, %p0; selp.u32 %r6, 2, 0, %p1; selp.u32 %r7, 4, 0, %p2;\n"
                 "or.b32 %r1, %r1, %r6; or.b32 %r1, %r1, %r7; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5;\n" STORE),
        32, 0);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t equal = 0;
        for (uint32_t other = lane % 3; other < 32; other += 3)
            equal |= 1u << other;
        ck_assert_uint_eq(result[lane][0], equal);
        ck_assert_uint_eq(result[lane][1], 5u + UINT32_MAX);
    }
}
END_TEST

struct reduction {
    const char *opcode;
    uint32_t expected; /* of -3, -2, ... 28 */
};

START_TEST(lanes_are_reduced) {
    static const struct reduction reductions[] = {{"add.s32", 400},       {"add.u32", 400}, {"min.s32", (uint32_t)-3},
                                                  {"min.u32", 0},         {"max.s32", 28},  {"max.u32", UINT32_MAX},
                                                  {"or.b32", UINT32_MAX}, {"and.b32", 0}};
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s%s", PTX_HEAD PTX_KERNEL REGISTERS, "sub.u32 %r2, %t, 3; redux.sync.",
             reductions[_i].opcode, " %r0, %r2, -1;\n" STORE "ret;\n}\n");
    run_warp(text, 32, 0);
    for (int lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(result[lane][0], reductions[_i].expected);
}
END_TEST

Suite *warp_suite(void) {
    Suite *suite = suite_create("warp");
    TCase *tests = tcase_create("warp");
    tcase_add_loop_test(tests, shuffles_follow_the_isa, 0, 4);
    tcase_add_loop_test(tests, shuffles_by_register_and_mask, 0, 4);
    tcase_add_loop_test(tests, lanes_gather, 0, 8);
    tcase_add_test(tests, lanes_that_do_not_exist_do_not_matter);
    tcase_add_test(tests, shuffle_from_nobody_is_reported);
    tcase_add_test(tests, lanes_that_cannot_come_are_reported);
    tcase_add_loop_test(tests, votes_count_all_lanes, 0, 4);
    tcase_add_loop_test(tests, one_lane_is_elected, 0, 4);
    tcase_add_test(tests, lanes_are_matched);
    tcase_add_loop_test(tests, lanes_are_reduced, 0, 8);
    suite_add_tcase(suite, tests);
    return suite;
}
