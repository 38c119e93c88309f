/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM, as the benchmark knows it. */
#include <math.h>
#include <stdio.h>

#include "bench/baseline/baseline.h"
#include "bench/operation.h"
#include "host/gemm/problem.h"
#include "host/types.h"

static const struct gm_gemm_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_gemm_problem *p = problem;
    found[0] = (struct bench_operand){"A", p->ab_type, p->m, p->k, offsetof(struct gm_gemm_args, a), BENCH_READ};
    found[1] = (struct bench_operand){"B", p->ab_type, p->n, p->k, offsetof(struct gm_gemm_args, b), BENCH_READ};
    found[2] = (struct bench_operand){
        "D", p->d_type, p->m, gm_gemm_columns(p), offsetof(struct gm_gemm_args, d), BENCH_WRITTEN};
    return 3;
}

/* Both results round a sum of K products of N(0,1) values, added in different orders and, where the baseline splits K,
 * perhaps rounded twice: they may differ by a few units in the last place of D's type, and near zero by a small share of
 * the sum's spread, sqrt(K). */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const struct gm_gemm_problem *p = problem;
    const double spread = sqrt((double)p->k);
    const double k = p->gate ? spread * spread * spread * spread : (double)p->k; /* a gate multiplies two sums */
    const bool is_bf16 = operand->type == GM_BF16, is_fp16 = operand->type == GM_FP16;
    return (struct bench_tolerance){
        .relative = is_bf16   ? 0x1p-6
                    : is_fp16 ? 0x1p-9
                              : 0x1p-12,
        .absolute = sqrt(k) * (is_bf16   ? 0x1p-7
                               : is_fp16 ? 0x1p-10
                                         : 0x1p-12),
    };
}

static bool is_square(const void *problem) {
    const struct gm_gemm_problem *p = problem;
    return p->m == p->n && p->n == p->k;
}

static void words(const void *problem, char *text, size_t bytes) {
    const struct gm_gemm_problem *p = problem;
    static const char *const gates[] = {"", ", gate of halves", ", gate of pairs"};
    const bool other_type = p->d_type != p->ab_type;
    snprintf(text, bytes, "%s %s%s%s%s", gm_type_name(p->ab_type), gm_gemm_layout_name(gm_gemm_layout(p)),
             other_type ? " → " : "", other_type ? gm_type_name(p->d_type) : "", gates[p->gate]);
}

static void generalise(void *problem) {
    ((struct gm_gemm_problem *)problem)->activation = GM_ACT_SILU;
}

static const struct bench_regime regimes[] = {
    {"M ≤ 64", 1, 64}, {"64 < M ≤ 512", 65, 512}, {"M > 512", 513, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {&baseline_cublaslt, NULL};

const struct bench_operation gemm_bench = {
    .operation = &gm_operation_gemm,
    .usual = &usual,
    .out = "d",
    .operands = operands,
    .workspace = offsetof(struct gm_gemm_args, workspace),
    .workspace_bytes = offsetof(struct gm_gemm_args, workspace_bytes),
    .tolerance = tolerance,
    .baselines = baselines,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
    .words = words,
    .is_special = is_square,
    .special = "squares, M = N = K",
    .generalise = generalise,
};
