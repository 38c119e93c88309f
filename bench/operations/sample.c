/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling, as the benchmark knows it. torch has no operator that draws from filtered rows, so there is no baseline. */
#include "bench/operation.h"
#include "gristmill/sample.h"

static const struct gm_sample_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_sample_problem *p = problem;
    found[0] = (struct bench_operand){"logits",  p->type, p->rows, p->columns, offsetof(struct gm_sample_args, logits),
                                      BENCH_READ};
    found[1] = (struct bench_operand){"ids", GM_INT32, p->rows, 1, offsetof(struct gm_sample_args, ids), BENCH_WRITTEN};
    return 2;
}

/* Tokens are the same or they are not. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    (void)operand;
    return (struct bench_tolerance){0};
}

static const struct bench_regime regimes[] = {
    {"rows ≤ 8", 1, 8}, {"8 < rows ≤ 64", 9, 64}, {"rows > 64", 65, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation sample_bench = {
    .operation = &gm_operation_sample,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
