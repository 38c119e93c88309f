/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, as the benchmark knows it. */
#include "bench/baseline/torch.h"
#include "bench/operation.h"
#include "gristmill/softmax.h"
#include "host/types.h"

static const struct gm_softmax_problem usual = {.size = sizeof usual};

static enum gm_type type_of_out(const struct gm_softmax_problem *p) {
    return p->fp32_out ? GM_FP32 : p->type;
}

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_softmax_problem *p = problem;
    found[0] =
        (struct bench_operand){"x", p->type, p->rows, p->columns, offsetof(struct gm_softmax_args, x), BENCH_READ};
    found[1] = (struct bench_operand){
        "out", type_of_out(p), p->rows, p->columns, offsetof(struct gm_softmax_args, out), BENCH_WRITTEN};
    return 2;
}

/* Of the softmax a relative error, of the log-softmax an absolute one. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const struct gm_softmax_problem *p = problem;
    const double unit = operand->type == GM_BF16 ? 0x1p-8 : operand->type == GM_FP16 ? 0x1p-11 : 0x1p-18;
    return (struct bench_tolerance){.relative = 4 * unit, .absolute = p->log ? unit : 0x1p-24};
}

/* ---- torch ----------------------------------------------------------------------------------------------- */

/* out = aten::_softmax(x, 1, half_to_float), or aten::_log_softmax, which widen fp16 alone; torch has no operator
 * with a cap or a temperature. */
static void *prepare(const struct baseline *baseline, const void *problem, int *ways) {
    const struct gm_softmax_problem *p = problem;
    const bool is_plain = p->cap == 0 && (p->temperature == 0 || p->temperature == 1);
    (void)baseline;
    return torch_prepare(p, sizeof *p, is_plain && (!p->fp32_out || p->type == GM_FP16), ways);
}

static int run(const struct baseline *baseline, const void *prepared, int way, const void *arguments, CUstream stream) {
    const struct gm_softmax_problem *p = prepared;
    const struct gm_softmax_args *args = arguments;
    struct torch *torch = baseline->state;
    const int64_t sizes[] = {p->rows, p->columns};
    uint64_t stack[] = {torch_tensor(torch, args->x, p->type, 2, sizes), torch_int(1), torch_bool(p->fp32_out)};
    (void)way;
    return torch_call(torch, stream, p->log ? "aten::_log_softmax" : "aten::_softmax", stack, 1, args->out,
                      (size_t)p->rows * (size_t)p->columns * (size_t)gm_type_bytes(type_of_out(p)));
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

const struct bench_operation softmax_bench = {
    .operation = &gm_operation_softmax,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
