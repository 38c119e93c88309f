/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding, as the benchmark knows it: positions and slots are 0, 1, 2 and so on. */
#include "bench/operation.h"
#include "common/arith.h"
#include "gristmill/rope.h"

static const struct gm_rope_problem usual = {.size = sizeof usual, .page_size = 16, .eps = 1e-6f};

#define ARGUMENT(member) offsetof(struct gm_rope_args, member)

/* A suite's problem has not been normalised. */
static int64_t or_tokens(const struct gm_rope_problem *p, int64_t count) {
    return count ? count : p->tokens;
}

static int add_norm(const struct gm_rope_problem *p, struct bench_operand *found) {
    const enum gm_type weight = p->fp32_weight ? GM_FP32 : p->type;
    int count = 0;
    if (p->norm && p->q_heads)
        found[count++] = (struct bench_operand){"q_weight", weight, 1, p->head_dim, ARGUMENT(q_weight), BENCH_READ};
    if (p->norm && p->kv_heads)
        found[count++] = (struct bench_operand){"k_weight", weight, 1, p->head_dim, ARGUMENT(k_weight), BENCH_READ};
    return count;
}

/* k goes to the cache only. */
static int add_append(const struct gm_rope_problem *p, struct bench_operand *found) {
    const bool is_e4m3 = p->append == GM_ROPE_APPEND_E4M3;
    const enum gm_type type = is_e4m3 ? GM_E4M3 : p->type;
    const int64_t rows = GM_CEIL_DIV(or_tokens(p, p->slot_count), p->page_size) * p->page_size * p->kv_heads;
    int count = 0;
    if (!p->append)
        return 0;
    found[count++] =
        (struct bench_operand){"v", p->type, p->tokens * p->kv_heads, p->head_dim, ARGUMENT(v), BENCH_READ};
    found[count++] = (struct bench_operand){"slots", GM_INT64, p->tokens, 1, ARGUMENT(slots), BENCH_READ};
    found[count++] = (struct bench_operand){"k_cache", type, rows, p->head_dim, ARGUMENT(k_cache), BENCH_WRITTEN};
    found[count++] = (struct bench_operand){"v_cache", type, rows, p->head_dim, ARGUMENT(v_cache), BENCH_WRITTEN};
    if (is_e4m3) {
        found[count++] = (struct bench_operand){"k_scale", GM_FP32, 1, 1, ARGUMENT(k_scale), BENCH_READ};
        found[count++] = (struct bench_operand){"v_scale", GM_FP32, 1, 1, ARGUMENT(v_scale), BENCH_READ};
    }
    return count;
}

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_rope_problem *p = problem;
    const enum gm_type position = p->int64_positions ? GM_INT64 : GM_INT32;
    const int64_t q = p->tokens * p->q_heads, k = p->tokens * p->kv_heads, d = p->head_dim;
    int count = 0;
    found[count++] = (struct bench_operand){"positions", position, p->tokens, 1, ARGUMENT(positions), BENCH_READ};
    found[count++] = (struct bench_operand){"table",       GM_FP32,         or_tokens(p, p->max_position),
                                            p->rotary_dim, ARGUMENT(table), BENCH_READ};
    if (q) {
        found[count++] = (struct bench_operand){"q", p->type, q, d, ARGUMENT(q), BENCH_READ};
        found[count++] = (struct bench_operand){"q_out", p->type, q, d, ARGUMENT(q_out), BENCH_WRITTEN};
    }
    if (k)
        found[count++] = (struct bench_operand){"k", p->type, k, d, ARGUMENT(k), BENCH_READ};
    if (k && !p->append)
        found[count++] = (struct bench_operand){"k_out", p->type, k, d, ARGUMENT(k_out), BENCH_WRITTEN};
    count += add_norm(p, found + count);
    return count + add_append(p, found + count);
}

/* Two roundings here or there are two units in the last place. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    const double unit = operand->type == GM_E4M3   ? 0x1p-4
                        : operand->type == GM_BF16 ? 0x1p-8
                        : operand->type == GM_FP16 ? 0x1p-11
                                                   : 0x1p-20;
    return (struct bench_tolerance){.relative = 4 * unit, .absolute = unit};
}

static const struct bench_regime regimes[] = {
    {"tokens ≤ 64", 1, 64}, {"64 < tokens ≤ 1024", 65, 1024}, {"tokens > 1024", 1025, INT64_MAX}};
/* torch has no operator of it. */
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation rope_bench = {
    .operation = &gm_operation_rope,
    .usual = &usual,
    .operands = operands,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
