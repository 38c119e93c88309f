/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils, as the benchmark knows them. */
#include "bench/operation.h"
#include "gristmill/stencil.h"
#include "host/types.h"

/* No two coefficients alike, so that one in another's place is seen. */
static const struct gm_stencil_problem usual = {
    .size = sizeof usual, .depth = 1, .grids = 1, .coefficients = {0.01f,  0.02f,  0.03f,  0.04f, 0.05f,  0.06f, 0.07f,
                                                                   -0.08f, -0.09f, -0.1f,  0.11f, 0.12f,  0.13f, -0.14f,
                                                                   -0.15f, -0.16f, 0.17f,  0.18f, -0.19f, 0.2f,  -0.21f,
                                                                   0.22f,  0.23f,  -0.24f, 0.25f, -0.26f, 0.27f}};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_stencil_problem *p = problem;
    const int64_t rows = p->grids * p->depth * p->height;
    found[0] = (struct bench_operand){"x", p->type, rows, p->width, offsetof(struct gm_stencil_args, x), BENCH_READ};
    found[1] =
        (struct bench_operand){"out", p->type, rows, p->width, offsetof(struct gm_stencil_args, out), BENCH_WRITTEN};
    return 2;
}

/* Sums of up to 27 products below 1. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    const double unit = operand->type == GM_BF16 ? 0x1p-8 : operand->type == GM_FP16 ? 0x1p-11 : 0x1p-20;
    return (struct bench_tolerance){.relative = 2 * unit, .absolute = 4 * unit};
}

static const struct bench_regime regimes[] = {{"height ≤ 1024", 1, 1024}, {"height > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation stencil_bench = {
    .operation = &gm_operation_stencil,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
