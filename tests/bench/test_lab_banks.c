/* SPDX-License-Identifier: Apache-2.0 */
/* The bank experiments on paper: what a launch leaves behind is judged rightly, and the patterns are legal. The memory
 * of the GPU is played by one lane after the other. */
#include "bench_tests.h"

#include <stdlib.h>
#include <string.h>

#include "lab/bank_access.h"
#include "lab/bank_kernels.h"
#include "lab/bank_random.h"
#include "lab/wgmma_read.h"

static struct bank_shot shot_at(enum bank_instruction instruction, uint32_t step) {
    struct bank_shot shot;
    uint32_t address[GM_LANES];
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = lane * step;
    ck_assert_int_eq(bank_shot_fill(&shot, instruction, address, 0), 0);
    return shot;
}

static uint32_t word_of_memory(uint32_t address) {
    return address / 4 * BANK_FILL;
}

/* Word loads, as 32 lanes would do them. */
START_TEST(sums_of_word_loads) {
    struct bank_result *result = calloc(1, sizeof *result);
    char sentence[200];
    struct bank_shot shot = shot_at(LOAD_B32, 132);
    for (uint32_t thread = 0; thread < BANK_WARPS * GM_LANES; thread++) {
        for (uint32_t i = 0; i < BANK_REPEATS; i++)
            result->sum[thread] ^= word_of_memory(thread % GM_LANES * 132 + i * BANK_STEP);
    }
    ck_assert_int_eq(bank_sums_right(&shot, result, sentence, sizeof sentence), 1);
    shot.access.inactive = 1u << 7;
    ck_assert_int_eq(bank_sums_right(&shot, result, sentence, sizeof sentence), 0);
    for (uint32_t thread = 7; thread < BANK_WARPS * GM_LANES; thread += GM_LANES)
        result->sum[thread] = 0;
    ck_assert_int_eq(bank_sums_right(&shot, result, sentence, sizeof sentence), 1);
    result->sum[40] ^= 4;
    ck_assert_int_eq(bank_sums_right(&shot, result, sentence, sizeof sentence), 0);
    ck_assert_ptr_nonnull(strstr(sentence, "thread 40 read"));
    free(result);
}
END_TEST

/* ldmatrix.x1 on dense rows: lane l gets word l of the 128 bytes. */
START_TEST(sums_of_ldmatrix) {
    struct bank_result *result = calloc(1, sizeof *result);
    char sentence[200];
    struct bank_shot shot = shot_at(LDMATRIX_X1, 16);
    for (uint32_t thread = 0; thread < BANK_WARPS * GM_LANES; thread++) {
        for (uint32_t i = 0; i < BANK_REPEATS; i++)
            result->sum[thread] ^= word_of_memory(thread % GM_LANES * 4 + i * BANK_STEP);
    }
    ck_assert_int_eq(bank_sums_right(&shot, result, sentence, sizeof sentence), 1);
    shot.instruction = LDMATRIX_X4_TRANS;
    ck_assert_int_eq(bank_sums_right(&shot, result, sentence, sizeof sentence), 0);
    free(result);
}
END_TEST

/* Any of the lanes that meet may win, but no other value may lie there. */
START_TEST(image_of_stores) {
    struct bank_result *result = calloc(1, sizeof *result);
    char sentence[200];
    struct bank_shot shot = shot_at(STORE_V2, 128); /* lanes overwrite what earlier ones left in later repetitions */
    for (uint32_t i = 0; i < BANK_REPEATS; i++) {
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            memset(result->image + lane * 128 + i * BANK_STEP, (int)lane, 8);
    }
    ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 1);
    memset(result->image + 128, 0, 8); /* lane 0, repetition 1, wins instead */
    ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 1);
    result->image[129] = 2;
    ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 0);
    ck_assert_ptr_nonnull(strstr(sentence, "byte 129 of shared memory is 0x02"));
    free(result);
}
END_TEST

/* stmatrix.x4.trans: register j of lane l holds rows 2 (l mod 4) and the next, of column l / 4, of matrix j. */
START_TEST(image_of_stmatrix) {
    struct bank_result *result = calloc(1, sizeof *result);
    char sentence[200];
    struct bank_shot shot = shot_at(STMATRIX_X4_TRANS, 16);
    for (uint32_t i = 0; i < BANK_REPEATS; i++) {
        for (uint32_t at = 0; at < 4 * GM_LANES; at++) {
            const uint32_t matrix = at / GM_LANES, lane = at % GM_LANES, value = lane * 0x010101 + matrix * 0x01202020;
            for (uint32_t half = 0; half < 2; half++) {
                const uint32_t row = lane % 4 * 2 + half;
                const uint16_t element = (uint16_t)(value >> 16 * half);
                memcpy(result->image + (8 * matrix + row) * 16 + lane / 4 * 2 + i * BANK_STEP, &element, 2);
            }
        }
    }
    ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 1);
    shot.instruction = STMATRIX_X4;
    ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 0);
    free(result);
}
END_TEST

START_TEST(image_of_atomics) {
    static const enum bank_instruction all[] = {RED_ADD, ATOM_ADD, RED_INCREMENT, RED_MAX, ATOM_EXCH, ATOM_CAS};
    char sentence[200];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct bank_result *result = calloc(1, sizeof *result);
        struct bank_shot shot = shot_at(all[i], 0);
        const uint32_t rounds = BANK_ACCESSES / BANK_REPEATS;
        const uint32_t left = all[i] == RED_INCREMENT ? 32 * rounds : i < 2 ? 528 * rounds : i == 3 ? 32 : 5;
        for (uint32_t j = 0; j < BANK_REPEATS; j++)
            memcpy(result->image + j * BANK_STEP, &left, 4);
        ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 1);
        result->image[4] = 1; /* where nobody came */
        ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 0);
        result->image[4] = 0;
        result->image[BANK_STEP] = 77;
        ck_assert_int_eq(bank_image_right(&shot, result, sentence, sizeof sentence), 0);
        free(result);
    }
}
END_TEST

START_TEST(patterns_that_do_not_fit) {
    struct bank_shot shot;
    uint32_t address[GM_LANES] = {0};
    address[3] = BANK_REACH - 12;
    ck_assert_int_eq(bank_shot_fill(&shot, LOAD_B32, address, 0), 0);
    ck_assert_int_eq(bank_shot_fill(&shot, LOAD_V4, address, 0), -1);
    address[3] = 8;
    ck_assert_int_eq(bank_shot_fill(&shot, LOAD_V4, address, 0), -1);
}
END_TEST

static struct lab_point prediction_of(enum bank_instruction instruction, uint32_t step, uint32_t off, uint32_t warps) {
    struct lab_point point = {.quantity_count = 0};
    struct bank_shot shot;
    uint32_t address[GM_LANES];
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = lane * step;
    ck_assert_int_eq(bank_shot_fill(&shot, instruction, address, off), 0);
    shot.warps = warps;
    bank_predict(&shot, &point);
    return point;
}

/* The pipe's conflicts only where nothing disturbs them; cycles only where shared memory is what all wait for. */
START_TEST(what_is_predicted) {
    struct lab_point point = prediction_of(STORE_B32, 8, 0, BANK_WARPS);
    ck_assert_uint_eq(point.quantity_count, 2);
    ck_assert_str_eq(point.quantities[0].metric, LAB_CONFLICTS_ST);
    ck_assert_double_eq(point.quantities[0].predicted, BANK_ACCESSES);
    ck_assert_str_eq(point.quantities[1].metric, LAB_EXACT_WAVEFRONTS_ST);
    ck_assert_double_eq(point.quantities[1].predicted, 2.0 * BANK_ACCESSES);
    ck_assert_double_eq(point.cycles_predicted, BANK_WARPS * BANK_REPEATS * 2.0);
    ck_assert_uint_eq(prediction_of(STORE_B32, 8, 1, 1).quantity_count, 2);
    ck_assert_double_eq(prediction_of(STORE_B32, 8, 0, 1).cycles_predicted, 0);
    ck_assert_double_eq(prediction_of(LOAD_B32, 4, 0, BANK_WARPS).cycles_predicted, 0);
    ck_assert_uint_eq(prediction_of(LOAD_B32, 4, 1, BANK_WARPS).quantity_count, 2);
    point = prediction_of(ATOM_ADD, 4, 1, BANK_WARPS);
    ck_assert_uint_eq(point.quantity_count, 1);
    ck_assert_str_eq(point.quantities[0].metric, LAB_EXACT_WAVEFRONTS_ATOM);
    point = prediction_of(CP_ASYNC_CG, 128, 0, 1);
    ck_assert_uint_eq(point.quantity_count, 1);
    ck_assert_double_eq(point.quantities[0].predicted, 0);
}
END_TEST

/* Pairs of lanes alike: merged without conflicts, the instruction's counter is right; with some, the pipe's. */
START_TEST(merged_loads) {
    uint32_t address[GM_LANES];
    for (uint32_t line = 8; line <= 128; line *= 16) {
        struct bank_shot shot;
        struct lab_point point = {.quantity_count = 0};
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            address[lane] = lane / 2 * line;
        ck_assert_int_eq(bank_shot_fill(&shot, LOAD_V2, address, 0), 0);
        ck_assert(bank_merges(&shot));
        bank_predict(&shot, &point);
        ck_assert_str_eq(point.quantities[1].metric, line == 8 ? LAB_EXACT_WAVEFRONTS_LD : LAB_WAVEFRONTS_LD);
        ck_assert_int_eq(bank_shot_fill(&shot, STORE_V2, address, 0), 0);
        ck_assert(!bank_merges(&shot));
    }
}
END_TEST

/* The rule on paper and the model, of words a stride apart. */
START_TEST(ways_of_strides) {
    for (uint32_t stride = 1; stride <= 64; stride++) {
        const struct bank_shot load = shot_at(LOAD_B32, 4 * stride), store = shot_at(STORE_B32, 4 * stride);
        ck_assert_uint_eq(load.cost.wavefronts, bank_ways_of_stride(stride));
        ck_assert_uint_eq(store.cost.wavefronts, bank_ways_of_stride(stride));
    }
}
END_TEST

START_TEST(random_patterns_are_legal) {
    for (int instruction = 0; instruction < BANK_INSTRUCTIONS; instruction++) {
        for (uint32_t seed = 0; seed < 100; seed++) {
            struct bank_shot shot;
            uint32_t address[GM_LANES], again[GM_LANES], inactive, inactive_again;
            bank_random_pattern((enum bank_instruction)instruction, seed, address, &inactive);
            bank_random_pattern((enum bank_instruction)instruction, seed, again, &inactive_again);
            ck_assert_mem_eq(address, again, sizeof address);
            ck_assert_uint_eq(inactive, inactive_again);
            ck_assert_uint_ne(inactive, UINT32_MAX);
            ck_assert_int_eq(bank_shot_fill(&shot, (enum bank_instruction)instruction, address, inactive), 0);
        }
    }
}
END_TEST

/* ---- where WGMMA reads ---- */

static struct wgmma_shot operand_at(enum gm_major major, uint32_t start, uint32_t base_offset) {
    return (struct wgmma_shot){.descriptor = {.size = sizeof(struct gm_matrix_descriptor),
                                              .start = start,
                                              .stride_bytes = 1024,
                                              .base_offset = base_offset,
                                              .swizzle = GM_SWIZZLE_128B},
                               .major = major};
}

static uint32_t line_of(uint32_t address) {
    return address / 128;
}

/* K-major, 128B: row r is line r of the tile, and its chunk 0 lies where the phase says. */
START_TEST(laws_of_the_phase) {
    const struct wgmma_shot shot = operand_at(GM_K_MAJOR, 5 * 128, 3);
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        const uint32_t line = 5 + row % 8 + row / 8 * 8;
        const struct {
            enum wgmma_law law;
            uint32_t phase;
        } expected[] = {{LAW_ABSOLUTE, line},
                        {LAW_LESS_BASE_OFFSET, line - 3},
                        {LAW_PLUS_BASE_OFFSET, line + 3},
                        {LAW_XOR_BASE_OFFSET, line ^ 3},
                        {LAW_FROM_START, line - 5},
                        {LAW_FROM_START_PLUS, line - 5 + 3}};
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            const uint32_t address = wgmma_address_by_law(&shot, expected[i].law, row, 0);
            ck_assert_uint_eq(line_of(address), line);
            ck_assert_uint_eq(address % 128, (expected[i].phase & 7) * 16);
        }
    }
}
END_TEST

/* The library's model is one of the laws. */
START_TEST(the_model_is_a_law) {
    for (uint32_t i = 0; i < 128; i++) {
        const enum gm_major major = i & 64 ? GM_MN_MAJOR : GM_K_MAJOR;
        const struct wgmma_shot shot = operand_at(major, i % 8 * 128, i / 8 % 8);
        const struct gm_wgmma_operand operand = {
            .size = sizeof operand, .major = major, .element_bytes = 2, .rows = WGMMA_ROWS};
        for (uint32_t at = 0; at < WGMMA_ROWS * WGMMA_K; at++) {
            uint32_t address = 0;
            ck_assert_int_eq(gm_wgmma_address(&shot.descriptor, &operand, at / WGMMA_K, at % WGMMA_K, &address), GM_OK);
            ck_assert_uint_eq(address, wgmma_address_by_law(&shot, LAW_LESS_BASE_OFFSET, at / WGMMA_K, at % WGMMA_K));
        }
    }
}
END_TEST

TCase *lab_banks_tests(void) {
    TCase *tests = tcase_create("lab-banks");
    tcase_add_test(tests, sums_of_word_loads);
    tcase_add_test(tests, sums_of_ldmatrix);
    tcase_add_test(tests, image_of_stores);
    tcase_add_test(tests, image_of_stmatrix);
    tcase_add_test(tests, image_of_atomics);
    tcase_add_test(tests, patterns_that_do_not_fit);
    tcase_add_test(tests, what_is_predicted);
    tcase_add_test(tests, merged_loads);
    tcase_add_test(tests, ways_of_strides);
    tcase_add_test(tests, random_patterns_are_legal);
    tcase_add_test(tests, laws_of_the_phase);
    tcase_add_test(tests, the_model_is_a_law);
    return tests;
}
