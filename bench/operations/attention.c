/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, as the benchmark knows it: all requests are as long as they may be, and their pages lie scattered. */
#include "bench/operation.h"
#include "common/arith.h"
#include "gristmill/attention.h"
#include "host/attention/attention.h"

#include <string.h>

static const struct gm_attention_problem usual = {.size = sizeof usual, .mask = GM_ATTENTION_CAUSAL};

#define ARGUMENT(member) offsetof(struct gm_attention_args, member)

/* A suite's problem has not been normalised: it has no sizes but those of its line. */
static int64_t pages_of_request(const struct gm_attention_problem *p) {
    return p->kv_layout == GM_ATTENTION_KV_PAGED ? GM_CEIL_DIV(p->max_kv_len, p->page_size ? p->page_size : 16) : 0;
}

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_attention_problem *p = problem;
    const int64_t rows = p->max_batch * p->max_q_len * p->q_heads, pages = pages_of_request(p);
    const int64_t d = p->head_dim, of_v = p->v_head_dim ? p->v_head_dim : d;
    const int64_t tokens = pages ? pages * (p->page_size ? p->page_size : 16) : p->max_kv_len;
    const int64_t cached = p->max_batch * tokens * p->kv_heads;
    const int is_ragged = p->kv_layout == GM_ATTENTION_KV_RAGGED;
    int count = 0;
#define HEADS(member, type, count, columns, access)                                                                    \
    (struct bench_operand) {                                                                                           \
        #member, type, count, columns, ARGUMENT(member), access                                                        \
    }
#define SCALES(member)                                                                                                 \
    ((struct bench_operand){#member, GM_FP32, 1, gm_attention_scales(p, p->max_batch), ARGUMENT(member), BENCH_READ})
#define LIST(member, count) ((struct bench_operand){#member, GM_INT32, 1, count, ARGUMENT(member), BENCH_READ})
    found[count++] = HEADS(q, p->type, rows, d, BENCH_READ);
    found[count++] = HEADS(k, gm_attention_kv_type(p), cached, d, BENCH_READ);
    if (!p->v_is_k)
        found[count++] = HEADS(v, gm_attention_kv_type(p), cached, of_v, BENCH_READ);
    found[count++] = HEADS(out, gm_attention_out_type(p), rows, of_v, BENCH_WRITTEN);
    found[count++] = LIST(q_indptr, p->max_batch + 1);
    found[count++] = LIST(kv_len, p->max_batch);
    if (is_ragged)
        found[count++] = LIST(kv_indptr, p->max_batch);
    if (pages)
        found[count++] = LIST(page_table, p->max_batch * pages);
    if (p->scales) {
        found[count++] = SCALES(k_scale);
        found[count++] = SCALES(v_scale);
    }
    if (p->scales && p->type == GM_E4M3)
        found[count++] = SCALES(q_scale);
    return count;
}

/* Steps of a prime that does not divide the number of pages reach every page once. */
static int64_t scattered(int64_t index, int64_t count) {
    static const int64_t steps[] = {7919, 6007, 5003, 1};
    int i = 0;
    while (count % steps[i] == 0 && steps[i] > 1)
        i++;
    return index * steps[i] % count;
}

static int64_t value(const void *problem, const struct bench_operand *operand, int64_t index) {
    const struct gm_attention_problem *p = problem;
    if (strcmp(operand->name, "q_indptr") == 0)
        return index * p->max_q_len;
    if (strcmp(operand->name, "kv_indptr") == 0)
        return index * p->max_kv_len;
    return strcmp(operand->name, "kv_len") == 0 ? p->max_kv_len : scattered(index, operand->columns);
}

static void tell(const void *problem, void *args) {
    ((struct gm_attention_args *)args)->batch = ((const struct gm_attention_problem *)problem)->max_batch;
}

/* Weights are rounded here, and there otherwise. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    const enum gm_type of_q = ((const struct gm_attention_problem *)problem)->type;
    const double unit = of_q == GM_E4M3 ? 0x1p-5 : operand->type == GM_BF16 ? 0x1p-8 : 0x1p-11;
    return (struct bench_tolerance){.relative = 4 * unit, .absolute = unit};
}

static const struct bench_regime regimes[] = {
    {"kv ≤ 1024", 1, 1024}, {"1024 < kv ≤ 8192", 1025, 8192}, {"kv > 8192", 8193, INT64_MAX}};
/* torch's operator has other operands: bench/peers/ has it. */
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation attention_bench = {
    .operation = &gm_operation_attention,
    .usual = &usual,
    .out = "out",
    .operands = operands,
    .value = value,
    .tell = tell,
    .workspace = ARGUMENT(workspace),
    .workspace_bytes = ARGUMENT(workspace_bytes),
    .tolerance = tolerance,
    .baselines = baselines,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
