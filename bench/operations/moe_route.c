/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of experts, as the benchmark knows it: torch has no operator of it. */
#include "bench/operation.h"
#include "gristmill/moe_route.h"
#include "host/types.h"

static const struct gm_moe_route_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_moe_route_problem *p = problem;
    found[0] = (struct bench_operand){
        "logits", p->type, p->tokens, p->experts, offsetof(struct gm_moe_route_args, logits), BENCH_READ};
    found[1] =
        (struct bench_operand){"bias", GM_FP32, 1, p->experts, offsetof(struct gm_moe_route_args, bias), BENCH_READ};
    found[2] = (struct bench_operand){"ids",        GM_INT32, p->tokens, p->k, offsetof(struct gm_moe_route_args, ids),
                                      BENCH_WRITTEN};
    found[3] = (struct bench_operand){
        "weights", GM_FP32, p->tokens, p->k, offsetof(struct gm_moe_route_args, weights), BENCH_WRITTEN};
    return 4;
}

/* Ids are exact. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    return (struct bench_tolerance){.relative = operand->type == GM_INT32 ? 0x1p-30 : 0x1p-17, .absolute = 0x1p-120};
}

static const struct bench_regime regimes[] = {
    {"tokens ≤ 64", 1, 64}, {"64 < tokens ≤ 1024", 65, 1024}, {"tokens > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation moe_route_bench = {
    .operation = &gm_operation_moe_route,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
