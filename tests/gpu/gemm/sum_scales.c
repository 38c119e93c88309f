/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of A and B, those of each 128 of K too: what they are, how they lie in memory, and sums that they have scaled. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gemm/gemm_tests.h"

enum { SUM_K = 128 };

bool has_scales_of_sums(const struct gemm_case *gc) {
    return gc->a_scales >= GM_PER_GROUP || gc->b_scales >= GM_PER_GROUP;
}

static int64_t sums_of(const struct gemm_case *gc) {
    return (gc->k + SUM_K - 1) / SUM_K;
}

/* Powers of 2, at most 1, so that sums of integers are exact, and errors no larger than without scales. */
double sum_scale(const struct gemm_case *gc, bool is_a, int64_t row, int64_t sum) {
    const enum gm_granularity scales = is_a ? gc->a_scales : gc->b_scales;
    const int64_t line = scales == GM_PER_TENSOR ? 0 : scales == GM_PER_BLOCK ? row / SUM_K : row;
    if (scales == GM_PER_NONE)
        return 1;
    const uint64_t index = (uint64_t)(scales <= GM_PER_ROW ? line : line * sums_of(gc) + sum);
    return ldexp(1, -(int)((hash64(opt.seed ^ 0x5ca1e ^ (is_a ? A_SCALES : B_SCALES), index) >> 32) % 3));
}

/* Rows of bytes begin on words. */
struct scales_layout scales_layout_of(const struct gemm_case *gc, bool is_a) {
    const enum gm_granularity scales = is_a ? gc->a_scales : gc->b_scales;
    const bool by_column = (is_a ? gc->a_scale_order : gc->b_scale_order) == GM_SCALES_BY_COLUMN;
    const bool is_e8m0 = (is_a ? gc->a_scale_format : gc->b_scale_format) == GM_SCALE_E8M0;
    const int64_t rows = is_a ? gc->m : gc->n, pad = is_a ? gc->a_scales_pad : gc->b_scales_pad;
    const int64_t lines = scales == GM_PER_BLOCK ? (rows + SUM_K - 1) / SUM_K : rows, sums = sums_of(gc);
    if (scales <= GM_PER_ROW)
        return (struct scales_layout){GM_FP32, scales != GM_PER_NONE, scales == GM_PER_ROW ? rows : 1, rows, 0, 1};
    const int64_t columns = by_column ? lines : sums;
    return (struct scales_layout){.type = is_e8m0 ? GM_UINT8 : GM_FP32,
                                  .rows = by_column ? sums : lines,
                                  .columns = columns,
                                  .stride = is_e8m0 ? (columns + pad + 3) / 4 * 4 : columns + pad,
                                  .by_column = by_column,
                                  .block = scales == GM_PER_BLOCK ? SUM_K : 1};
}

double stored_scale(const struct gemm_case *gc, bool is_a, int64_t line, int64_t column) {
    const struct scales_layout lie = scales_layout_of(gc, is_a);
    const enum gm_granularity scales = is_a ? gc->a_scales : gc->b_scales;
    if (scales <= GM_PER_ROW)
        return sum_scale(gc, is_a, column, 0);
    return lie.by_column ? sum_scale(gc, is_a, column * lie.block, line)
                         : sum_scale(gc, is_a, line * lie.block, column);
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

struct summing {
    const struct gemm_case *gc;
    const struct logical *logical;
    double *sums;
};

/* A row of sums: of each 128 of K a sum of its own, which is scaled and added. */
static void sum_rows(int64_t first, int64_t last, void *arg) {
    const struct summing *s = arg;
    const struct gemm_case *gc = s->gc;
    double *const part = malloc((size_t)(gc->n + 1) * sizeof *part);
    if (!part)
        exit(2);
    for (int64_t m = first; m < last; m++)
        for (int64_t k = 0; k < gc->k; k++) {
            for (int64_t n = 0; n < gc->n; n++)
                part[n] = (k % SUM_K ? part[n] : 0) +
                          (double)s->logical->a[m * gc->k + k] * (double)s->logical->b[k * gc->n + n];
            for (int64_t n = 0; n < gc->n && (k % SUM_K == SUM_K - 1 || k == gc->k - 1); n++)
                s->sums[m * gc->n + n] +=
                    part[n] * sum_scale(gc, true, m, k / SUM_K) * sum_scale(gc, false, n, k / SUM_K);
        }
    free(part);
}

const double *scaled_sums(const struct gemm_case *gc, const struct logical *logical) {
    static double *sums; /* of the case that was placed last */
    if (!has_scales_of_sums(gc))
        return logical->acc;
    free(sums);
    sums = calloc((size_t)(gc->m * gc->n) + 1, sizeof *sums);
    if (!sums)
        exit(2);
    struct summing summing = {gc, logical, sums};
    parallel_for(gc->m, 2.0 * (double)gc->n * (double)gc->k, sum_rows, &summing);
    return sums;
}
