/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, as the benchmark knows them. */
#include "bench/baseline/torch.h"
#include "bench/operation.h"
#include "gristmill/reduce.h"
#include "host/reduce/reduce.h"
#include "host/types.h"

static const struct gm_reduce_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_reduce_problem *p = problem;
    found[0] =
        (struct bench_operand){"x", p->type, p->rows, p->columns, offsetof(struct gm_reduce_args, x), BENCH_READ};
    found[1] = (struct bench_operand){
        "out", gm_reduce_out_type(p), 1, gm_reduce_results(p), offsetof(struct gm_reduce_args, out), BENCH_WRITTEN};
    return 2;
}

/* A sum of n numbers of N(0, 1) has a magnitude of sqrt(n), and its rounding errors another factor of that at most. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const struct gm_reduce_problem *p = problem;
    const double unit = operand->type == GM_BF16 ? 0x1p-8 : operand->type == GM_FP16 ? 0x1p-11 : 0x1p-20;
    const double elements = (double)p->rows * (double)p->columns / (double)gm_reduce_results(p);
    return (struct bench_tolerance){.relative = 4 * unit,
                                    .absolute = p->reduction == GM_REDUCTION_SUM ? 0x1p-22 * elements : 0x1p-22};
}

/* ---- torch ----------------------------------------------------------------------------------------------- */

/* torch's operators give results of x's type. Its argmax gives int64 always, and its norm wants a number of any type,
 * which the C functions have no form for. */
static const char *operator_of(const struct gm_reduce_problem *p) {
    if (p->fp32_out && p->type != GM_FP32)
        return NULL;
    switch (p->reduction) {
    case GM_REDUCTION_SUM:
        return "aten::sum.dim_IntList";
    case GM_REDUCTION_MEAN:
        return "aten::mean.dim";
    case GM_REDUCTION_MAX:
        return "aten::amax";
    case GM_REDUCTION_MIN:
        return "aten::amin";
    default:
        return NULL;
    }
}

static void *prepare(const struct baseline *baseline, const void *problem, int *ways) {
    const struct gm_reduce_problem *p = problem;
    (void)baseline;
    return torch_prepare(p, sizeof *p, operator_of(p) != NULL, ways);
}

/* amax(x, int[] dim, bool keepdim); sum(x, int[]? dim, bool keepdim, *, ScalarType? dtype), and so the mean. */
static int run(const struct baseline *baseline, const void *prepared, int way, const void *arguments, CUstream stream) {
    static const int64_t both[] = {0, 1};
    const struct gm_reduce_problem *p = prepared;
    const struct gm_reduce_args *args = arguments;
    struct torch *torch = baseline->state;
    const int64_t sizes[] = {p->rows, p->columns};
    const int is_extreme = p->reduction == GM_REDUCTION_MAX || p->reduction == GM_REDUCTION_MIN;
    const uint64_t dims = torch_ints(torch, p->along == GM_REDUCE_ALL ? 2 : 1, both + (p->along == GM_REDUCE_COLUMNS));
    uint64_t stack[] = {torch_tensor(torch, args->x, p->type, 2, sizes), is_extreme ? dims : torch_optional(dims), 0,
                        0};
    (void)way;
    return torch_call(torch, stream, operator_of(p), stack, 1, args->out,
                      (size_t)gm_reduce_results(p) * (size_t)gm_type_bytes(p->type));
}

static const struct baseline_kind torch = {
    .name = "torch",
    .most_ways = 1,
    .writes_elsewhere = true,
    .open = torch_open,
    .close = torch_close,
    .prepare = prepare,
    .forget = torch_forget,
    .run = run,
};

static const struct bench_regime regimes[] = {
    {"rows ≤ 64", 1, 64}, {"64 < rows ≤ 1024", 65, 1024}, {"rows > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {&torch, NULL};

const struct bench_operation reduce_bench = {
    .operation = &gm_operation_reduce,
    .usual = &usual,
    .operands = operands,
    .workspace = offsetof(struct gm_reduce_args, workspace),
    .workspace_bytes = offsetof(struct gm_reduce_args, workspace_bytes),
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
