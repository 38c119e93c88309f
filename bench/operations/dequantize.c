/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize, as the benchmark knows it. bench/peers/ measures what torch compiles of it. */
#include "bench/out.h"
#include "gristmill/dequantize.h"
#include "host/dequantize/dequantize.h"

static const struct gm_dequantize_problem usual = {.size = sizeof usual, .type = GM_E4M3};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_dequantize_problem *p = problem;
    const struct gm_out scales = gm_dequantize_scales(p);
    found[0] =
        (struct bench_operand){"x", p->type, p->rows, p->columns, offsetof(struct gm_dequantize_args, x), BENCH_READ};
    found[1] = bench_scales(&scales, offsetof(struct gm_dequantize_args, scales), BENCH_READ);
    found[2] = (struct bench_operand){
        "out", p->out_type, p->rows, p->columns, offsetof(struct gm_dequantize_args, out), BENCH_WRITTEN};
    return 3;
}

/* Every bit is defined. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem, (void)operand;
    return (struct bench_tolerance){0};
}

static const struct bench_regime regimes[] = {
    {"rows ≤ 64", 1, 64}, {"64 < rows ≤ 1024", 65, 1024}, {"rows > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation dequantize_bench = {
    .operation = &gm_operation_dequantize,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
