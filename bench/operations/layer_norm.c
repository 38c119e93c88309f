/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm, as the benchmark knows it. */
#include "bench/baseline/torch.h"
#include "bench/out.h"
#include "gristmill/layer_norm.h"
#include "host/types.h"

static const struct gm_layer_norm_problem usual = {.size = sizeof usual, .eps = 1e-5f};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_layer_norm_problem *p = problem;
    const enum gm_type vector = p->fp32_weight ? GM_FP32 : p->type;
    const struct gm_out out = GM_OUT_OF(p);
    int count = 0;
#define OPERAND(name, type, rows, access)                                                                              \
    found[count++] = (struct bench_operand) {                                                                          \
        #name, type, rows, p->columns, offsetof(struct gm_layer_norm_args, name), access                               \
    }
    OPERAND(x, p->type, p->rows, BENCH_READ);
    OPERAND(weight, vector, 1, BENCH_READ);
    OPERAND(bias, vector, 1, BENCH_READ);
    if (p->residual)
        OPERAND(residual, p->type, p->rows, p->residual == GM_RESIDUAL_AFTER ? BENCH_READ : BENCH_READ_AND_WRITTEN);
    if (p->residual == GM_RESIDUAL_BETWEEN) {
        OPERAND(x_weight, vector, 1, BENCH_READ);
        OPERAND(x_bias, vector, 1, BENCH_READ);
    }
#undef OPERAND
    return count + bench_out_operands(&out, offsetof(struct gm_layer_norm_args, out),
                                      offsetof(struct gm_layer_norm_args, scales), found + count);
}

/* Two roundings here or there are two units in the last place; the sums of fp32 differ by less. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const struct gm_layer_norm_problem *p = problem;
    return bench_out_tolerance(operand, p->type == GM_BF16 ? 0x1p-8 : p->type == GM_FP16 ? 0x1p-11 : 0x1p-21);
}

/* ---- torch ----------------------------------------------------------------------------------------------- */

/* out, mean, deviation = aten::native_layer_norm(x, [columns], weight, bias, eps). torch has no operator that adds a residual
 * first, none with an offset of the weight, and none with weight and bias of another type. */
static void *prepare(const struct baseline *baseline, const void *problem, int *ways) {
    const struct gm_layer_norm_problem *p = problem;
    const struct gm_out out = GM_OUT_OF(p);
    (void)baseline;
    return torch_prepare(p, sizeof *p,
                         gm_out_word(&out) == 0 && !p->fp32_weight && !p->residual && p->weight_offset == 0, ways);
}

static int run(const struct baseline *baseline, const void *prepared, int way, const void *arguments, CUstream stream) {
    const struct gm_layer_norm_problem *p = prepared;
    const struct gm_layer_norm_args *args = arguments;
    struct torch *torch = baseline->state;
    const int64_t sizes[] = {p->rows, p->columns};
    uint64_t stack[] = {torch_tensor(torch, args->x, p->type, 2, sizes), torch_ints(torch, 1, &p->columns),
                        torch_optional(torch_tensor(torch, args->weight, p->type, 1, &p->columns)),
                        torch_optional(torch_tensor(torch, args->bias, p->type, 1, &p->columns)),
                        torch_double((double)p->eps)};
    (void)way;
    return torch_call(torch, stream, "aten::native_layer_norm", stack, 3, args->out,
                      (size_t)p->rows * (size_t)p->columns * (size_t)gm_type_bytes(p->type));
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

const struct bench_operation layer_norm_bench = {
    .operation = &gm_operation_layer_norm,
    .usual = &usual,
    .out = "out",
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
