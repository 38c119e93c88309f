/* SPDX-License-Identifier: Apache-2.0 */
/* axpby, as the benchmark knows it. bench/peers/ measures what torch has and compiles of it. */
#include "bench/operation.h"
#include "gristmill/axpby.h"
#include "host/types.h"

static const struct gm_axpby_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_axpby_problem *p = problem;
    int count = 0;
    if (p->terms != GM_AXPBY_NEITHER)
        found[count++] =
            (struct bench_operand){"x", p->type, p->rows, p->columns, offsetof(struct gm_axpby_args, x), BENCH_READ};
    if (p->terms == GM_AXPBY_X_AND_Y)
        found[count++] =
            (struct bench_operand){"y", p->y_type, p->rows, p->columns, offsetof(struct gm_axpby_args, y), BENCH_READ};
    found[count++] = (struct bench_operand){
        "out", p->out_type, p->rows, p->columns, offsetof(struct gm_axpby_args, out), BENCH_WRITTEN};
    return count;
}

/* Every bit is defined. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem, (void)operand;
    return (struct bench_tolerance){0};
}

static const struct bench_regime regimes[] = {
    {"rows ≤ 64", 1, 64}, {"64 < rows ≤ 1024", 65, 1024}, {"rows > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation axpby_bench = {
    .operation = &gm_operation_axpby,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
