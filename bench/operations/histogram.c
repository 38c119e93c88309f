/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms, as the benchmark knows them. torch's operators cannot be called: histc wants numbers of any type, which the C
 * functions have no form for, and bincount waits for the device, which no captured stream can. */
#include "bench/operation.h"
#include "gristmill/histogram.h"

static const struct gm_histogram_problem usual = {.size = sizeof usual, .type = GM_UINT8};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_histogram_problem *p = problem;
    const int64_t results = p->of == GM_HISTOGRAM_ROWS ? p->rows : 1;
    found[0] =
        (struct bench_operand){"x", p->type, p->rows, p->columns, offsetof(struct gm_histogram_args, x), BENCH_READ};
    found[1] = (struct bench_operand){
        "counts", p->int64_counts ? GM_INT64 : GM_INT32,      results,
        p->bins,  offsetof(struct gm_histogram_args, counts), p->accumulate ? BENCH_READ_AND_WRITTEN : BENCH_WRITTEN};
    return 2;
}

/* Integers are uniform below 2^17: in all bins of 131072 values, or, of a width of that, in one. Bytes have all values. */
static int64_t below(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    return operand->type == GM_UINT8 ? 256 : 131072;
}

/* Counts are the same or they are not. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    (void)operand;
    return (struct bench_tolerance){0};
}

static const struct bench_regime regimes[] = {
    {"bins ≤ 1024", 1, 1024}, {"1024 < bins ≤ 57344", 1025, 57344}, {"bins > 57344", 57345, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation histogram_bench = {
    .operation = &gm_operation_histogram,
    .usual = &usual,
    .operands = operands,
    .below = below,
    .workspace = offsetof(struct gm_histogram_args, workspace),
    .workspace_bytes = offsetof(struct gm_histogram_args, workspace_bytes),
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
