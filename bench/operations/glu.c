/* SPDX-License-Identifier: Apache-2.0 */
/* Gated linear units, as the benchmark knows them. */
#include "bench/baseline/torch.h"
#include "bench/out.h"
#include "gristmill/glu.h"
#include "host/types.h"

static const struct gm_glu_problem usual = {.size = sizeof usual, .activation = GM_ACT_SILU};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_glu_problem *p = problem;
    const int64_t pairs = p->layout == GM_GLU_INTERLEAVED ? 2 : 1;
    const struct gm_out out = GM_OUT_OF(p);
    int count = 0;
    found[count++] = (struct bench_operand){
        "gate", p->type, p->rows, pairs * p->columns, offsetof(struct gm_glu_args, gate), BENCH_READ};
    if (p->layout == GM_GLU_APART)
        found[count++] =
            (struct bench_operand){"up", p->type, p->rows, p->columns, offsetof(struct gm_glu_args, up), BENCH_READ};
    return count + bench_out_operands(&out, offsetof(struct gm_glu_args, out), offsetof(struct gm_glu_args, scales),
                                      found + count);
}

/* Activations and their product are rounded once or twice. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const struct gm_glu_problem *p = problem;
    return bench_out_tolerance(operand, p->type == GM_BF16 ? 0x1p-8 : p->type == GM_FP16 ? 0x1p-11 : 0x1p-20);
}

/* ---- torch ----------------------------------------------------------------------------------------------- */

/* torch has operators of activations alone; bench/peers/ measures what it compiles of the others. */
static const char *operator_of(const struct gm_glu_problem *p) {
    const struct gm_out out = GM_OUT_OF(p);
    if (gm_out_word(&out) != 0 || p->layout != GM_GLU_NO_UP || p->limit > 0 || p->sigmoid_factor > 0)
        return NULL;
    return p->activation == GM_ACT_SILU ? "aten::silu" : p->activation == GM_ACT_RELU ? "aten::relu" : NULL;
}

static void *prepare(const struct baseline *baseline, const void *problem, int *ways) {
    const struct gm_glu_problem *p = problem;
    (void)baseline;
    return torch_prepare(p, sizeof *p, operator_of(p) != NULL, ways);
}

static int run(const struct baseline *baseline, const void *prepared, int way, const void *arguments, CUstream stream) {
    const struct gm_glu_problem *p = prepared;
    const struct gm_glu_args *args = arguments;
    struct torch *torch = baseline->state;
    const int64_t sizes[] = {p->rows, p->columns};
    uint64_t stack[] = {torch_tensor(torch, args->gate, p->type, 2, sizes)};
    (void)way;
    return torch_call(torch, stream, operator_of(p), stack, 1, args->out,
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

const struct bench_operation glu_bench = {
    .operation = &gm_operation_glu,
    .usual = &usual,
    .out = "out",
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
