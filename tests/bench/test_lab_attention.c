/* SPDX-License-Identifier: Apache-2.0 */
/* What the attention ladder predicts, by hand where that is possible, and that its float64 is attention. */
#include <math.h>

#include "bench/measure/operands.h"
#include "bench_tests.h"
#include "lab/attention_heads.h"
#include "lab/attention_model.h"

enum { HEADS = 3, TOKENS = 128 };

/* ---- predictions ---------------------------------------------------------------------------------- */

/* 128 tokens: 16384 scores a head, 512 warps, 2048 sectors; a row of an operand is 4 sectors. */
START_TEST(attention_sectors) {
    static const struct {
        double loaded, stored;
    } of_a_head[ATTENTION_WGMMA] = {
        [ATTENTION_NAIVE_SCORES] = {512 * 64 * 33, 2048},
        [ATTENTION_SOFTMAX] = {3 * 2048, 2048},
        [ATTENTION_NAIVE_VALUES] = {256 * 128 * 3, 512},
        [ATTENTION_TILED_SCORES] = {4 * 4 * (32 + 32) * 4, 2048},
        [ATTENTION_PADDED_SCORES] = {4 * 4 * (32 + 32) * 4, 2048},
        [ATTENTION_TILED_VALUES] = {2048 + 4 * 512, 512},
        [ATTENTION_REGISTER_SCORES] = {2 * 2 * (64 + 64) * 4, 2048},
        [ATTENTION_REGISTER_VALUES] = {2048 + 2 * 512, 512},
        [ATTENTION_ONLINE_64X64] = {512 + 2 * 1024, 512},
        [ATTENTION_ONLINE_128X64] = {512 + 1024, 512},
        [ATTENTION_ONLINE_128X128] = {512 + 1024, 512},
    };
    for (int kernel = 0; kernel < ATTENTION_WGMMA; kernel++) {
        const struct attention_counts counts = attention_predict(kernel, HEADS, TOKENS);
        ck_assert_double_eq(counts.loaded, HEADS * of_a_head[kernel].loaded);
        ck_assert_double_eq(counts.stored, HEADS * of_a_head[kernel].stored);
        ck_assert(isnan(counts.received) && isnan(counts.wgmma));
    }
}
END_TEST

/* Two CTAs a head, each with one block: 64 x 4 sectors of q, twice 128 x 4 of k and v. A row of out goes in halves of
 * sectors. m64n128k16 reads 16 + 32 core matrices, m64n64k16 16 of v. */
START_TEST(attention_of_tensor_cores) {
    const struct attention_counts counts = attention_predict(ATTENTION_WGMMA, HEADS, TOKENS);
    ck_assert_double_eq(counts.received, HEADS * 2 * (256 + 2 * 512));
    ck_assert_double_eq(counts.stored, HEADS * 2 * 512);
    ck_assert_double_eq(counts.wgmma, HEADS * 2 * (4 * (16 + 32) + 8 * 16));
    ck_assert(isnan(counts.loaded) && isnan(counts.load.all) && isnan(counts.store.all));
}
END_TEST

/* Of k without a pad: 16 CTAs a head, 32 warps, 16 reads that take 32 wavefronts instead of 4. Nowhere else. */
START_TEST(attention_conflicts) {
    for (int kernel = ATTENTION_TILED_SCORES; kernel < ATTENTION_WGMMA; kernel++) {
        const struct attention_counts counts = attention_predict(kernel, HEADS, TOKENS);
        ck_assert_double_eq(counts.load.all - counts.load.ideal,
                            kernel == ATTENTION_TILED_SCORES ? HEADS * 16 * 32 * 16 * (32 - 4) : 0);
        ck_assert_double_eq(counts.store.all, counts.store.ideal);
    }
    ck_assert(isnan(attention_predict(ATTENTION_SOFTMAX, HEADS, TOKENS).load.all));
}
END_TEST

/* For every four elements of the head: a row of q, which half a warp shares, takes 2 wavefronts, 16 rows of k take 4.
 * For every four tokens: weights likewise 2, and a token of v 4. 8 warps. */
START_TEST(attention_wavefronts) {
    const double tall = 2 * 8 * (16 * (8 * 2 + 4 * 4) + 16 * (8 * 2 + 4 * 4));
    const double large = 8 * (16 * (8 * 2 + 8 * 4) + 32 * (8 * 2 + 4 * 4));
    const double squares = 4 * 8 * (16 * (4 * 2 + 4 * 4) + 16 * (4 * 2 + 4 * 4));
    ck_assert_double_eq(attention_predict(ATTENTION_ONLINE_64X64, HEADS, TOKENS).load.all, HEADS * squares);
    ck_assert_double_eq(attention_predict(ATTENTION_ONLINE_128X64, HEADS, TOKENS).load.all, HEADS * tall);
    ck_assert_double_eq(attention_predict(ATTENTION_ONLINE_128X128, HEADS, TOKENS).load.all, HEADS * large);
    ck_assert_double_eq(attention_predict(ATTENTION_REGISTER_SCORES, HEADS, TOKENS).load.all +
                            attention_predict(ATTENTION_REGISTER_VALUES, HEADS, TOKENS).load.all,
                        HEADS * squares);
    /* 16 bytes a lane take 4 wavefronts: q, a block of k, one of v; weights go word by word. */
    ck_assert_double_eq(attention_predict(ATTENTION_ONLINE_128X128, HEADS, TOKENS).store.all,
                        HEADS * 8 * (3 * 8 * 4 + 8 * 8));
}
END_TEST

/* Of the 228 KB of an H100. */
START_TEST(attention_occupancy) {
    enum { SM = 228 << 10 };
    ck_assert_uint_eq(attention_shared_bytes(ATTENTION_ONLINE_64X64), (64 * (64 + 68 + 64) + 64 * 80) * 4);
    ck_assert_uint_eq(attention_shared_bytes(ATTENTION_ONLINE_128X128), 170 << 10);
    ck_assert_int_eq(attention_ctas_per_sm(ATTENTION_ONLINE_64X64, SM), 3);
    ck_assert_int_eq(attention_ctas_per_sm(ATTENTION_ONLINE_128X64, SM), 2);
    ck_assert_int_eq(attention_ctas_per_sm(ATTENTION_ONLINE_128X128, SM), 1);
    ck_assert_int_eq(attention_ctas_per_sm(ATTENTION_WGMMA, SM), 3);
    ck_assert_uint_eq(attention_shared_bytes(ATTENTION_SOFTMAX), 0);
}
END_TEST

/* ---- float64 -------------------------------------------------------------------------------------- */

/* Keys that are all alike have weights that are, and out is the mean of v, whatever q is. */
START_TEST(attention_to_equal_keys_is_a_mean) {
    struct attention_heads heads;
    struct attention_row row;
    ck_assert_int_eq(attention_heads_make(NULL, &heads, HEADS, TOKENS, TOKENS), 0);
    ck_assert_int_eq(attention_row_make(&row, TOKENS), 0);
    for (int i = TOKENS * ATTENTION_HEAD; i < 2 * TOKENS * ATTENTION_HEAD; i++)
        heads.k[i] = heads.k[TOKENS * ATTENTION_HEAD + i % ATTENTION_HEAD];
    attention_row_fill(&row, &heads, 1, 7, false);
    for (int i = 0; i < ATTENTION_HEAD; i++) {
        double sum = 0;
        for (int token = 0; token < TOKENS; token++)
            sum += operands_from_bf16(heads.v[(TOKENS + token) * ATTENTION_HEAD + i]);
        ck_assert_double_eq_tol(row.out[i], sum / TOKENS, 1e-12);
    }
    attention_row_free(&row);
    attention_heads_free(&heads);
}
END_TEST

/* One key's score is far above all others: out is its v. The bound lets no other key's through. */
START_TEST(attention_to_one_key_is_its_value) {
    struct attention_heads heads;
    struct attention_row row;
    ck_assert_int_eq(attention_heads_make(NULL, &heads, HEADS, TOKENS, TOKENS), 0);
    ck_assert_int_eq(attention_row_make(&row, TOKENS), 0);
    for (int i = 0; i < ATTENTION_HEAD; i++) {
        const float q = operands_from_bf16(heads.q[5 * ATTENTION_HEAD + i]);
        heads.k[99 * ATTENTION_HEAD + i] = operands_to_bf16(16 * q);
    }
    attention_row_fill(&row, &heads, 0, 5, true);
    ck_assert_double_eq_tol(row.weights[99], 1, 1e-9);
    for (int i = 0; i < ATTENTION_HEAD; i++) {
        ck_assert_double_eq_tol(row.out[i], operands_from_bf16(heads.v[99 * ATTENTION_HEAD + i]), 1e-9);
        ck_assert_double_lt(row.bound[i], 0.05);
    }
    attention_row_free(&row);
    attention_heads_free(&heads);
}
END_TEST

/* All rows, or ones spread over the head that begin blocks, end them and lie between. */
START_TEST(attention_rows_that_are_compared) {
    struct attention_heads all = {.problem.tokens = TOKENS, .checked = TOKENS},
                           some = {.problem.tokens = 4096, .checked = 16};
    for (int i = 0; i < TOKENS; i++)
        ck_assert_int_eq(attention_row_number(&all, 2, i), i);
    for (int i = 0; i < 16; i++) {
        const int number = attention_row_number(&some, 15, i);
        ck_assert(number >= 0 && number < 4096);
        for (int other = 0; other < i; other++)
            ck_assert_int_ne(number % 64, attention_row_number(&some, 15, other) % 64);
    }
}
END_TEST

TCase *lab_attention_tests(void) {
    TCase *tests = tcase_create("lab_attention");
    tcase_add_test(tests, attention_sectors);
    tcase_add_test(tests, attention_of_tensor_cores);
    tcase_add_test(tests, attention_conflicts);
    tcase_add_test(tests, attention_wavefronts);
    tcase_add_test(tests, attention_occupancy);
    tcase_add_test(tests, attention_to_equal_keys_is_a_mean);
    tcase_add_test(tests, attention_to_one_key_is_its_value);
    tcase_add_test(tests, attention_rows_that_are_compared);
    return tests;
}
