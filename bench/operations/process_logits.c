/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits as the benchmark knows it: out of place, with counts of which three quarters are 0. torch has no operator
 * of it. */
#include "bench/operation.h"
#include "gristmill/process_logits.h"

static const struct gm_process_logits_problem usual = {.size = sizeof usual, .repetition = 1.1f};

/* Two counts are an int32_t, 0 or 1: of every second token, once in two. Columns are even. */
static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_process_logits_problem *p = problem;
    found[0] = (struct bench_operand){
        "logits", p->type, p->rows, p->columns, offsetof(struct gm_process_logits_args, logits), BENCH_READ};
    found[1] = (struct bench_operand){
        "counts", GM_INT32, p->rows, (p->columns + 1) / 2, offsetof(struct gm_process_logits_args, counts), BENCH_READ};
    found[2] = (struct bench_operand){"out",
                                      p->fp32_out ? GM_FP32 : p->type,
                                      p->rows,
                                      p->columns,
                                      offsetof(struct gm_process_logits_args, out),
                                      BENCH_WRITTEN};
    return 3;
}

static int64_t below(const void *problem, const struct bench_operand *operand) {
    (void)problem, (void)operand;
    return 2;
}

static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const struct gm_process_logits_problem *p = problem;
    (void)operand;
    return (struct bench_tolerance){.relative = p->cap > 0 ? 0x1p-7 : 0, .absolute = 0x1p-18 * (double)p->cap};
}

static const struct bench_regime regimes[] = {
    {"rows ≤ 8", 1, 8}, {"8 < rows ≤ 64", 9, 64}, {"rows > 64", 65, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation process_logits_bench = {
    .operation = &gm_operation_process_logits,
    .usual = &usual,
    .operands = operands,
    .below = below,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
