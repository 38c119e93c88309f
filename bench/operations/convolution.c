/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, as the benchmark knows them. */
#include "bench/operation.h"
#include "gristmill/convolution.h"
#include "host/types.h"

static const struct gm_convolution_problem usual = {
    .size = sizeof usual, .planes = 1, .filter_width = 3, .filter_height = 3};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_convolution_problem *p = problem;
    const int64_t rows = p->planes * p->height;
    int count = 0;
    found[count++] =
        (struct bench_operand){"x", p->type, rows, p->width, offsetof(struct gm_convolution_args, x), BENCH_READ};
    found[count++] = (struct bench_operand){"filter",
                                            GM_FP32,
                                            p->separable ? 1 : p->filter_height,
                                            p->filter_width,
                                            offsetof(struct gm_convolution_args, filter),
                                            BENCH_READ};
    if (p->separable)
        found[count++] = (struct bench_operand){
            "filter_y", GM_FP32, 1, p->filter_height, offsetof(struct gm_convolution_args, filter_y), BENCH_READ};
    found[count++] = (struct bench_operand){
        "out", p->type, rows, p->width, offsetof(struct gm_convolution_args, out), BENCH_WRITTEN};
    return count;
}

/* Sums of up to 961 products, whose size is up to 31. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    const double unit = operand->type == GM_BF16 ? 0x1p-8 : operand->type == GM_FP16 ? 0x1p-11 : 0x1p-18;
    return (struct bench_tolerance){.relative = 2 * unit, .absolute = 4 * unit};
}

static const struct bench_regime regimes[] = {{"height ≤ 1024", 1, 1024}, {"height > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation convolution_bench = {
    .operation = &gm_operation_convolution,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
