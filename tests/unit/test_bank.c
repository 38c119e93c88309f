/* SPDX-License-Identifier: Apache-2.0 */
/* The bank model: known costs, every refusal. */
#include "unit.h"

#include "gristmill/smem.h"

#include <string.h>

static struct gm_access access_of(enum gm_access_kind kind, uint32_t width) {
    return (struct gm_access){.size = sizeof(struct gm_access), .kind = kind, .width = width};
}

static struct gm_bank_cost cost_of(const struct gm_access *access) {
    struct gm_bank_cost cost = {.size = sizeof cost};
    assert_ok(gm_bank_cost(access, &cost));
    return cost;
}

/* ---- known costs -------------------------------------------------------------------------------- */

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b) {
    return b ? greatest_common_divisor(b, a % b) : a;
}

START_TEST(a_stride_of_s_words_conflicts_gcd_times) {
    for (uint32_t stride = 1; stride <= 33; stride++) {
        struct gm_access access = access_of(_i ? GM_ACCESS_STORE : GM_ACCESS_LOAD, 4);
        for (uint32_t lane = 0; lane < 32; lane++)
            access.address[lane] = 4096 + 4 * lane * stride;
        const struct gm_bank_cost cost = cost_of(&access);
        ck_assert_uint_eq(cost.degree, greatest_common_divisor(stride, 32));
        ck_assert_uint_eq(cost.wavefronts, cost.degree);
        ck_assert_uint_eq(cost.conflicts, cost.degree - 1);
        ck_assert_uint_eq(cost.ideal, 1);
        ck_assert_uint_eq(cost.words, 32);
    }
}
END_TEST

START_TEST(lanes_share_a_word) {
    struct gm_access access = access_of(GM_ACCESS_LOAD, 4);
    for (int lane = 0; lane < 32; lane++)
        access.address[lane] = 400;
    ck_assert_uint_eq(cost_of(&access).wavefronts, 1); /* broadcast */
    ck_assert_uint_eq(cost_of(&access).words, 1);
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = lane % 2 * 128; /* two words of bank 0, 16 lanes each */
    ck_assert_uint_eq(cost_of(&access).wavefronts, 2);
    access = access_of(GM_ACCESS_LOAD, 1);
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = lane; /* four bytes of a word each */
    ck_assert_uint_eq(cost_of(&access).wavefronts, 1);
    ck_assert_uint_eq(cost_of(&access).words, 8);
}
END_TEST

/* All lanes on one word: atomics and cp.async take turns; increments, like loads and stores, do not. */
START_TEST(which_lanes_share_a_word) {
    static const struct {
        enum gm_access_kind kind;
        uint32_t wavefronts, ideal, conflicts, degree;
    } kinds[] = {{GM_ACCESS_ATOMIC, 32, 1, 31, 32}, {GM_ACCESS_CP_ASYNC, 32, 1, 31, 32}, {GM_ACCESS_CAS, 64, 2, 31, 32},
                 {GM_ACCESS_INCREMENT, 1, 1, 0, 1}, {GM_ACCESS_LOAD, 1, 1, 0, 1},        {GM_ACCESS_STORE, 1, 1, 0, 1}};
    struct gm_access access = access_of(kinds[_i].kind, 4);
    for (int lane = 0; lane < 32; lane++)
        access.address[lane] = 64;
    struct gm_bank_cost cost = cost_of(&access);
    ck_assert_uint_eq(cost.wavefronts, kinds[_i].wavefronts);
    ck_assert_uint_eq(cost.ideal, kinds[_i].ideal);
    ck_assert_uint_eq(cost.conflicts, kinds[_i].conflicts);
    ck_assert_uint_eq(cost.degree, kinds[_i].degree);
    ck_assert_uint_eq(cost.words, 1);
    access.inactive = UINT32_MAX;
    cost = cost_of(&access);
    ck_assert_uint_eq(cost.wavefronts + cost.ideal + cost.conflicts + cost.degree + cost.words, 0);
}
END_TEST

START_TEST(wide_loads_of_equal_neighbours_take_half_the_phases) {
    struct gm_access access = access_of(_i % 2 ? GM_ACCESS_LOAD : GM_ACCESS_STORE, _i / 2 ? 16 : 8);
    const uint32_t phases = access.width / 4, least = access.kind == GM_ACCESS_LOAD ? phases / 2 : phases;
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = access.width * (lane >> 1); /* lanes 0 and 1, 2 and 3 ... */
    ck_assert_uint_eq(cost_of(&access).ideal, least);
    ck_assert_uint_eq(cost_of(&access).wavefronts, least);
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = access.width * (lane & ~2u); /* lanes 0 and 2, 1 and 3 ... */
    ck_assert_uint_eq(cost_of(&access).ideal, least);
    access.address[13] += 4096; /* one pair that disagrees ends it */
    ck_assert_uint_eq(cost_of(&access).ideal, phases);
    access.inactive = 1u << 13; /* unless one of the two takes no part */
    ck_assert_uint_eq(cost_of(&access).ideal, least);
    access.inactive = 0x55555555; /* nor are there pairs here */
    ck_assert_uint_eq(cost_of(&access).ideal, least);
}
END_TEST

START_TEST(a_cas_rides_twice) {
    struct gm_access access = access_of(GM_ACCESS_CAS, 4);
    struct gm_bank_map map = {.size = sizeof map};
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = lane % 4 * 4; /* eight lanes on each of four words */
    assert_ok(gm_bank_map(&access, &map));
    ck_assert_uint_eq(map.cost.wavefronts, 16);
    ck_assert_uint_eq(map.cost.conflicts, 7);
    ck_assert_uint_eq(map.wavefront[9][0], 4); /* the third of its word: wavefronts 4 and 5 */
    ck_assert_uint_eq(map.word[4][1], 4);
    ck_assert_uint_eq(map.word[5][1], 4);
    ck_assert_uint_eq(map.word[16][1], GM_NO_WORD);
}
END_TEST

static uint32_t rows_of_16_bytes(uint32_t pitch, uint32_t swizzle_bits, enum gm_access_kind kind) {
    struct gm_access access = access_of(kind, 16);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const uint32_t address = lane * pitch;
        access.address[lane] = address ^ (address >> 3 & ((1u << swizzle_bits) - 1) << 4);
    }
    return cost_of(&access).wavefronts;
}

START_TEST(a_row_each_as_ldmatrix_reads_it) {
    static const enum gm_access_kind kinds[] = {GM_ACCESS_LDMATRIX, GM_ACCESS_STMATRIX, GM_ACCESS_LOAD,
                                                GM_ACCESS_CP_ASYNC};
    const enum gm_access_kind kind = kinds[_i];
    ck_assert_uint_eq(rows_of_16_bytes(128, 0, kind), 32);
    ck_assert_uint_eq(rows_of_16_bytes(144, 0, kind), 4); /* + 16 bytes of pad */
    ck_assert_uint_eq(rows_of_16_bytes(128, 3, kind), 4); /* the 128-byte swizzle */
    ck_assert_uint_eq(rows_of_16_bytes(64, 0, kind), 16);
    ck_assert_uint_eq(rows_of_16_bytes(64, 2, kind), 4);
    ck_assert_uint_eq(rows_of_16_bytes(32, 0, kind), 8);
    ck_assert_uint_eq(rows_of_16_bytes(32, 1, kind), 4);
    ck_assert_uint_eq(rows_of_16_bytes(16, 0, kind), 4);
}
END_TEST

START_TEST(wide_accesses_have_phases) {
    struct gm_access access = access_of(GM_ACCESS_LOAD, 16);
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = 16 * lane;
    struct gm_bank_cost cost = cost_of(&access);
    ck_assert_uint_eq(cost.wavefronts, 4);
    ck_assert_uint_eq(cost.ideal, 4);
    ck_assert_uint_eq(cost.degree, 1);
    ck_assert_uint_eq(cost.words, 128);
    access.inactive = 0xffff00ff; /* lanes 8-15 are one phase */
    cost = cost_of(&access);
    ck_assert_uint_eq(cost.wavefronts, 1);
    ck_assert_uint_eq(cost.ideal, 1);
    access.width = 8;
    ck_assert_uint_eq(cost_of(&access).wavefronts, 1); /* 8 lanes of lanes 0-15 */
    access.inactive = UINT32_MAX;
    cost = cost_of(&access);
    ck_assert_uint_eq(cost.wavefronts + cost.ideal + cost.conflicts + cost.degree + cost.words, 0);
}
END_TEST

START_TEST(the_lower_lane_goes_first) {
    struct gm_access access = access_of(GM_ACCESS_LOAD, 4);
    struct gm_bank_map map = {.size = sizeof map};
    for (uint32_t lane = 0; lane < 32; lane++)
        access.address[lane] = 128 * (31 - lane);
    assert_ok(gm_bank_map(&access, &map));
    ck_assert_uint_eq(map.cost.wavefronts, 32);
    for (uint32_t lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq(map.wavefront[lane][0], lane);
        ck_assert_uint_eq(map.word[lane][0], 128 * (31 - lane));
        ck_assert_uint_eq(map.word[lane][1], GM_NO_WORD);
    }
}
END_TEST

/* ---- refusals ----------------------------------------------------------------------------------- */

static const struct {
    enum gm_access_kind kind;
    uint32_t width, matrices, address;
    enum gm_status status;
    const char *words;
} wrong[] = {
    {(enum gm_access_kind)8, 4, 0, 0, GM_ERROR_INVALID_ARGUMENT, "kind 8 is not one of 0 to 7"},
    {(enum gm_access_kind) - 1, 4, 0, 0, GM_ERROR_INVALID_ARGUMENT, "kind -1"},
    {GM_ACCESS_LOAD, 0, 0, 0, GM_ERROR_INVALID_ARGUMENT, "load of 0 bytes a lane: there is 1, 2, 4, 8, 16"},
    {GM_ACCESS_STORE, 3, 0, 0, GM_ERROR_INVALID_ARGUMENT, "store of 3 bytes"},
    {GM_ACCESS_LOAD, 32, 0, 0, GM_ERROR_INVALID_ARGUMENT, "load of 32 bytes"},
    {GM_ACCESS_CP_ASYNC, 2, 0, 0, GM_ERROR_INVALID_ARGUMENT, "cp.async of 2 bytes a lane: there is 4, 8, 16"},
    {GM_ACCESS_ATOMIC, 8, 0, 0, GM_ERROR_INVALID_ARGUMENT, "atomic of 8 bytes a lane: there is 4"},
    {GM_ACCESS_CAS, 8, 0, 0, GM_ERROR_INVALID_ARGUMENT, "cas of 8 bytes a lane: there is 4"},
    {GM_ACCESS_INCREMENT, 2, 0, 0, GM_ERROR_INVALID_ARGUMENT, "increment of 2 bytes"},
    {GM_ACCESS_LDMATRIX, 8, 4, 0, GM_ERROR_INVALID_ARGUMENT, "ldmatrix of 8 bytes"},
    {GM_ACCESS_LDMATRIX, 16, 3, 0, GM_ERROR_INVALID_ARGUMENT, "ldmatrix of 3 matrices: there is 1, 2, 4"},
    {GM_ACCESS_STMATRIX, 16, 8, 0, GM_ERROR_INVALID_ARGUMENT, "stmatrix of 8 matrices"},
    {GM_ACCESS_LOAD, 4, 1, 0, GM_ERROR_INVALID_ARGUMENT, "load of 1 matrices: there is no such thing"},
    {GM_ACCESS_LOAD, 4, 0, 6, GM_ERROR_MISALIGNED, "lane 5's address 6 is no multiple of the 4 bytes"},
    {GM_ACCESS_LOAD, 16, 0, 8, GM_ERROR_MISALIGNED, "16 bytes"},
    {GM_ACCESS_LDMATRIX, 0, 0, 8, GM_ERROR_MISALIGNED, "lane 5's address 8 is no multiple of the 16 bytes"},
    {GM_ACCESS_LOAD, 8, 0, 0xfffffffc, GM_ERROR_INVALID_ARGUMENT, "at address 4294967292 end beyond 2^32"},
};

START_TEST(wrong_accesses_are_refused) {
    struct gm_access access = access_of(wrong[_i].kind, wrong[_i].width);
    struct gm_bank_cost cost = {.size = sizeof cost, .words = 77};
    struct gm_bank_map map = {.size = sizeof map, .cost.words = 77};
    access.matrices = wrong[_i].matrices;
    access.address[5] = wrong[_i].address;
    assert_fails(gm_bank_cost(&access, &cost), wrong[_i].status, wrong[_i].words);
    assert_fails(gm_bank_map(&access, &map), wrong[_i].status, wrong[_i].words);
    ck_assert_uint_eq(cost.words, 77); /* nothing was written */
    ck_assert_uint_eq(map.cost.words, 77);
}
END_TEST

START_TEST(lanes_that_take_no_part_may_hold_anything) {
    struct gm_access access = access_of(GM_ACCESS_LDMATRIX, 16);
    access.matrices = 1;
    for (uint32_t lane = 0; lane < 8; lane++)
        access.address[lane] = 16 * lane;
    for (uint32_t lane = 8; lane < 32; lane++)
        access.address[lane] = 3;
    ck_assert_uint_eq(cost_of(&access).wavefronts, 1);
    access = access_of(GM_ACCESS_LOAD, 8);
    access.inactive = 1u << 31;
    access.address[31] = UINT32_MAX;
    ck_assert_uint_eq(cost_of(&access).words, 2);
}
END_TEST

START_TEST(structs_must_be_there_and_know_their_size) {
    struct gm_access access = access_of(GM_ACCESS_LOAD, 4);
    struct gm_bank_cost cost = {.size = sizeof cost};
    struct gm_bank_map map = {.size = sizeof map};
    assert_fails(gm_bank_cost(NULL, &cost), GM_ERROR_INVALID_ARGUMENT, "access is NULL");
    assert_fails(gm_bank_cost(&access, NULL), GM_ERROR_INVALID_ARGUMENT, "cost is NULL");
    assert_fails(gm_bank_map(NULL, &map), GM_ERROR_INVALID_ARGUMENT, "access is NULL");
    assert_fails(gm_bank_map(&access, NULL), GM_ERROR_INVALID_ARGUMENT, "map is NULL");
    cost.size = map.size = 1;
    assert_fails(gm_bank_cost(&access, &cost), GM_ERROR_SIZE, "cost.size is 1");
    assert_fails(gm_bank_map(&access, &map), GM_ERROR_SIZE, "map.size is 1");
    access.size = 0;
    assert_fails(gm_bank_cost(&access, &cost), GM_ERROR_SIZE, "access.size is 0");
}
END_TEST

Suite *bank_suite(void) {
    Suite *suite = suite_create("bank");
    TCase *known = tcase_create("known costs");
    tcase_add_loop_test(known, a_stride_of_s_words_conflicts_gcd_times, 0, 2);
    tcase_add_test(known, lanes_share_a_word);
    tcase_add_loop_test(known, which_lanes_share_a_word, 0, 6);
    tcase_add_loop_test(known, wide_loads_of_equal_neighbours_take_half_the_phases, 0, 4);
    tcase_add_test(known, a_cas_rides_twice);
    tcase_add_loop_test(known, a_row_each_as_ldmatrix_reads_it, 0, 4);
    tcase_add_test(known, wide_accesses_have_phases);
    tcase_add_test(known, the_lower_lane_goes_first);
    suite_add_tcase(suite, known);
    TCase *refusals = tcase_create("refusals");
    tcase_add_loop_test(refusals, wrong_accesses_are_refused, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(refusals, lanes_that_take_no_part_may_hold_anything);
    tcase_add_test(refusals, structs_must_be_there_and_know_their_size);
    suite_add_tcase(suite, refusals);
    return suite;
}
