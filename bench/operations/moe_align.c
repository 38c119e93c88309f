/* SPDX-License-Identifier: Apache-2.0 */
/* Slots sorted by expert, as the benchmark knows them: torch has no operator of it. */
#include "bench/operation.h"
#include "gristmill/moe_align.h"
#include "host/moe_align/moe_align.h"

static const struct gm_moe_align_problem usual = {.size = sizeof usual};

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    struct gm_moe_align_problem p = *(const struct gm_moe_align_problem *)problem;
    p.alignment = p.alignment ? p.alignment : 1;
#define LIST(member, count, access)                                                                                    \
    (struct bench_operand) {                                                                                           \
        #member, GM_INT32, 1, count, offsetof(struct gm_moe_align_args, member), access                                \
    }
    found[0] = LIST(ids, p.tokens * p.k, BENCH_READ);
    found[1] = LIST(offsets, p.experts + 1, BENCH_WRITTEN);
    found[2] = LIST(rows, gm_moe_align_rows(&p), BENCH_WRITTEN);
    found[3] = LIST(inverse, p.tokens * p.k, BENCH_WRITTEN);
#undef LIST
    return 4;
}

static int64_t below(const void *problem, const struct bench_operand *operand) {
    (void)operand;
    return ((const struct gm_moe_align_problem *)problem)->experts;
}

/* Numbers are exact. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem, (void)operand;
    return (struct bench_tolerance){.relative = 0x1p-40, .absolute = 0x1p-40};
}

static const struct bench_regime regimes[] = {
    {"tokens ≤ 64", 1, 64}, {"64 < tokens ≤ 1024", 65, 1024}, {"tokens > 1024", 1025, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {NULL};

const struct bench_operation moe_align_bench = {
    .operation = &gm_operation_moe_align,
    .usual = &usual,
    .operands = operands,
    .below = below,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
};
