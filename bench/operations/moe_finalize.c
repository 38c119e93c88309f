/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over a token's experts, as the benchmark knows them: torch has no operator of it. */
#include "bench/operation.h"
#include "gristmill/moe_finalize.h"
#include "host/types.h"

static const struct gm_moe_finalize_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_moe_finalize_problem *p = problem;
    found[0] = (struct bench_operand){
        "x", p->type, p->x_rows, p->columns, offsetof(struct gm_moe_finalize_args, x), BENCH_READ};
    found[1] = (struct bench_operand){
        "inverse", GM_INT32, p->tokens, p->k, offsetof(struct gm_moe_finalize_args, inverse), BENCH_READ};
    found[2] = (struct bench_operand){
        "weights", GM_FP32, p->tokens, p->k, offsetof(struct gm_moe_finalize_args, weights), BENCH_READ};
    found[3] = (struct bench_operand){
        "out", p->type, p->tokens, p->columns, offsetof(struct gm_moe_finalize_args, out), BENCH_WRITTEN};
    return 4;
}

/* Slots have rows at random. */
static int64_t below(const void *problem, const struct bench_operand *operand) {
    (void)operand;
    return ((const struct gm_moe_finalize_problem *)problem)->x_rows;
}

static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    const double unit = operand->type == GM_BF16 ? 0x1p-8 : operand->type == GM_FP16 ? 0x1p-11 : 0x1p-20;
    return (struct bench_tolerance){.relative = 2 * unit, .absolute = unit};
}

static const struct bench_regime regimes[] = {
    {"tokens ≤ 64", 1, 64}, {"64 < tokens ≤ 1024", 65, 1024}, {"tokens > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation moe_finalize_bench = {
    .operation = &gm_operation_moe_finalize,
    .usual = &usual,
    .operands = operands,
    .below = below,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
