/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge, as the benchmark knows it. bench/peers/ measures what torch compiles of it. */
#include "bench/operation.h"
#include "gristmill/attention_merge.h"
#include "host/attention_merge/attention_merge.h"

static const struct gm_attention_merge_problem usual = {.size = sizeof usual};

#define ARGUMENT(member) offsetof(struct gm_attention_merge_args, member)

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_attention_merge_problem *p = problem;
    const enum gm_type out = gm_attention_merge_out_type(p);
    const int64_t rows = p->tokens * p->heads;
    found[0] = (struct bench_operand){"a", p->type, rows, p->head_dim, ARGUMENT(a), BENCH_READ};
    found[1] = (struct bench_operand){"b", p->type, rows, p->head_dim, ARGUMENT(b), BENCH_READ};
    found[2] = (struct bench_operand){"lse_a", GM_FP32, p->tokens, p->heads, ARGUMENT(lse_a), BENCH_READ};
    found[3] = (struct bench_operand){"lse_b", GM_FP32, p->tokens, p->heads, ARGUMENT(lse_b), BENCH_READ};
    found[4] = (struct bench_operand){"out", out, rows, p->head_dim, ARGUMENT(out), BENCH_WRITTEN};
    found[5] = (struct bench_operand){"lse", GM_FP32, p->tokens, p->heads, ARGUMENT(lse), BENCH_WRITTEN};
    return 6;
}

static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    const double unit = operand->type == GM_BF16 ? 0x1p-8 : operand->type == GM_FP16 ? 0x1p-11 : 0x1p-20;
    return (struct bench_tolerance){.relative = 2 * unit, .absolute = unit};
}

static const struct bench_regime regimes[] = {
    {"tokens ≤ 64", 1, 64}, {"64 < tokens ≤ 1024", 65, 1024}, {"tokens > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation attention_merge_bench = {
    .operation = &gm_operation_attention_merge,
    .usual = &usual,
    .out = "out",
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
