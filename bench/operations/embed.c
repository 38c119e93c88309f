/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table by ids, as the benchmark knows them. */
#include "bench/baseline/torch.h"
#include "bench/operation.h"
#include "gristmill/embed.h"
#include "host/types.h"

static const struct gm_embed_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_embed_problem *p = problem;
    found[0] = (struct bench_operand){"ids", p->int64_ids ? GM_INT64 : GM_INT32,  p->tokens,
                                      1,     offsetof(struct gm_embed_args, ids), BENCH_READ};
    found[1] = (struct bench_operand){
        "table", p->type, p->vocabulary, p->columns, offsetof(struct gm_embed_args, table), BENCH_READ};
    found[2] = (struct bench_operand){"out",        p->type, p->tokens, p->columns, offsetof(struct gm_embed_args, out),
                                      BENCH_WRITTEN};
    return 3;
}

static int64_t below(const void *problem, const struct bench_operand *operand) {
    (void)operand;
    return ((const struct gm_embed_problem *)problem)->vocabulary;
}

/* Rows are copied, or rounded once. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    const double unit = operand->type == GM_BF16 ? 0x1p-8 : operand->type == GM_FP16 ? 0x1p-11 : 0x1p-23;
    return (struct bench_tolerance){.relative = unit, .absolute = 0x1p-126};
}

/* ---- torch ----------------------------------------------------------------------------------------------- */

/* out = aten::embedding(table, ids, padding_idx, scale_grad_by_freq, sparse), which has no scale. */
static void *prepare(const struct baseline *baseline, const void *problem, int *ways) {
    const struct gm_embed_problem *p = problem;
    (void)baseline;
    return torch_prepare(p, sizeof *p, p->scale == 0 || p->scale == 1, ways);
}

static int run(const struct baseline *baseline, const void *prepared, int way, const void *arguments, CUstream stream) {
    const struct gm_embed_problem *p = prepared;
    const struct gm_embed_args *args = arguments;
    struct torch *torch = baseline->state;
    const int64_t sizes[] = {p->vocabulary, p->columns};
    uint64_t stack[] = {torch_tensor(torch, args->table, p->type, 2, sizes),
                        torch_tensor(torch, args->ids, p->int64_ids ? GM_INT64 : GM_INT32, 1, &p->tokens), UINT64_MAX,
                        0, 0};
    (void)way;
    return torch_call(torch, stream, "aten::embedding", stack, 1, args->out,
                      (size_t)p->tokens * (size_t)p->columns * (size_t)gm_type_bytes(p->type));
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
    {"tokens ≤ 64", 1, 64}, {"64 < tokens ≤ 1024", 65, 1024}, {"tokens > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {&torch, NULL};

const struct bench_operation embed_bench = {
    .operation = &gm_operation_embed,
    .usual = &usual,
    .operands = operands,
    .below = below,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
