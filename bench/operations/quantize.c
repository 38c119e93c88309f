/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisers, as the benchmark knows them. torch has no operator of any: bench/peers/ measures what others have. */
#include "bench/out.h"
#include "gristmill/quantize.h"
#include "host/quantize/quantize.h"

static const struct gm_quantize_problem usual = {.size = sizeof usual, .out_type = GM_E4M3};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_quantize_problem *p = problem;
    const struct gm_out out = gm_quantize_out(p);
    const enum bench_access access = p->scaling == GM_SCALE_STATIC      ? BENCH_READ
                                     : p->scaling == GM_SCALE_AMAX_ONLY ? BENCH_READ_AND_WRITTEN
                                                                        : BENCH_WRITTEN;
    int count = 0;
    found[count++] =
        (struct bench_operand){"x", p->type, p->rows, p->columns, offsetof(struct gm_quantize_args, x), BENCH_READ};
    if (p->scaling != GM_SCALE_AMAX_ONLY)
        found[count++] = (struct bench_operand){
            "out", p->out_type, p->rows, p->columns, offsetof(struct gm_quantize_args, out), BENCH_WRITTEN};
    found[count++] = bench_scales(&out, offsetof(struct gm_quantize_args, scales), access);
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

const struct bench_operation quantize_bench = {
    .operation = &gm_operation_quantize,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
