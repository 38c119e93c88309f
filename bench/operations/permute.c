/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations, as the benchmark knows them. */
#include "bench/baseline/torch.h"
#include "bench/operation.h"
#include "gristmill/permute.h"
#include "host/types.h"

#include <stdio.h>
#include <string.h>

enum { RANK = GM_PERMUTE_RANK_MAX };

static const struct gm_permute_problem usual = {.size = sizeof usual, .rank = 2, .order = {1, 0}};

static int64_t elements_of(const struct gm_permute_problem *p) {
    int64_t elements = 1;
    for (int d = 0; d < p->rank; d++)
        elements *= p->extents[d];
    return elements;
}

/* From the first element to the last; strides of 0 are those of packed dimensions. */
static int64_t span_of(int rank, const int64_t *extents, const int64_t *strides) {
    int64_t last = 0, packed = 1;
    for (int d = rank - 1; d >= 0; d--) {
        const int64_t stride = strides[d] ? strides[d] : packed;
        last += (extents[d] - 1) * stride;
        packed = stride * extents[d];
    }
    return last + 1;
}

static int64_t x_span_of(const struct gm_permute_problem *p) {
    return span_of((int)p->rank, p->extents, p->x_strides);
}

static int64_t out_span_of(const struct gm_permute_problem *p) {
    int64_t extents[RANK];
    for (int k = 0; k < p->rank; k++)
        extents[k] = p->extents[p->order[k]];
    return span_of((int)p->rank, extents, p->out_strides);
}

/* Rows of out's last dimension; x has as many of as many elements. One row of all where there are gaps. */
static struct bench_operand array(const struct gm_permute_problem *p, const char *name, int64_t span) {
    const int64_t columns = p->extents[p->order[p->rank - 1]], elements = elements_of(p);
    return (struct bench_operand){
        .name = name, .rows = span == elements ? elements / columns : 1, .columns = span == elements ? columns : span};
}

static int operands(const void *problem, struct bench_operand found[BENCH_OPERANDS_MAX]) {
    const struct gm_permute_problem *p = problem;
    found[0] = array(p, "x", x_span_of(p));
    found[0].type = p->type, found[0].argument = offsetof(struct gm_permute_args, x), found[0].access = BENCH_READ;
    found[1] = array(p, "out", out_span_of(p));
    found[1].type = p->out_type, found[1].argument = offsetof(struct gm_permute_args, out);
    found[1].access = BENCH_WRITTEN;
    return 2;
}

static int64_t below(const void *problem, const struct bench_operand *operand) {
    (void)problem;
    return INT64_C(1) << (operand->type == GM_UINT8 ? 8 : 24);
}

/* Nothing but a cast rounds, and that one is alike everywhere. */
static struct bench_tolerance tolerance(const void *problem, const struct bench_operand *operand) {
    (void)problem, (void)operand;
    return (struct bench_tolerance){.relative = 0x1p-40, .absolute = 0x1p-140};
}

/* "bf16 021", and what it is cast to. */
static void words(const void *problem, char *text, size_t bytes) {
    const struct gm_permute_problem *p = problem;
    size_t used = (size_t)snprintf(text, bytes, "%s ", gm_type_name(p->type));
    for (int k = 0; k < p->rank && used < bytes; k++)
        used += (size_t)snprintf(text + used, bytes - used, "%d", p->order[k]);
    if (p->out_type != p->type && used < bytes)
        snprintf(text + used, bytes - used, " → %s", gm_type_name(p->out_type));
}

/* ---- torch ----------------------------------------------------------------------------------------------- */

static bool has_type(enum gm_type type) {
    return type <= GM_FP32 || type == GM_UINT8 || type == GM_INT32 || type == GM_INT64;
}

/* Packed arrays only. */
static void *prepare(const struct baseline *baseline, const void *problem, int *ways) {
    const struct gm_permute_problem *p = problem;
    (void)baseline;
    const bool is_packed = x_span_of(p) == elements_of(p) && out_span_of(p) == elements_of(p);
    return torch_prepare(p, sizeof *p, is_packed && has_type(p->type) && has_type(p->out_type), ways);
}

/* x.permute(order).contiguous(): a copy of x, whose strides are in out's order, into a packed tensor. */
static uint64_t permuted(struct torch *torch, const struct gm_permute_problem *p, gm_device_ptr x) {
    int64_t sizes[RANK], strides[RANK], stride[RANK] = {0}, packed = 1;
    for (int d = (int)p->rank - 1; d >= 0; packed *= p->extents[d--])
        stride[d] = packed;
    for (int k = 0; k < p->rank; k++) {
        sizes[k] = p->extents[p->order[k]];
        strides[k] = stride[p->order[k]];
    }
    return torch_strided(torch, x, p->type, (int)p->rank, sizes, strides);
}

/* clone(x, memory_format), or with a cast _to_copy(x, dtype, layout, device, pin_memory, non_blocking, memory_format). */
static int run(const struct baseline *baseline, const void *prepared, int way, const void *arguments, CUstream stream) {
    const struct gm_permute_problem *p = prepared;
    const struct gm_permute_args *args = arguments;
    struct torch *torch = baseline->state;
    const size_t bytes = (size_t)elements_of(p) * (size_t)gm_type_bytes(p->out_type);
    const uint64_t x = permuted(torch, p, args->x), format = torch_optional(torch_contiguous(torch));
    (void)way;
    if (p->type == p->out_type) {
        uint64_t stack[] = {x, format};
        return torch_call(torch, stream, "aten::clone", stack, 1, args->out, bytes);
    }
    uint64_t stack[] = {x, torch_optional(torch_type(torch, p->out_type)), 0, 0, 0, 0, format};
    return torch_call(torch, stream, "aten::_to_copy", stack, 1, args->out, bytes);
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

static const struct bench_regime regimes[] = {{"any", 1, INT64_MAX}};
static const struct baseline_kind *const baselines[] = {&torch, NULL};

const struct bench_operation permute_bench = {
    .operation = &gm_operation_permute,
    .usual = &usual,
    .out = "out_type",
    .operands = operands,
    .below = below,
    .tolerance = tolerance,
    .baselines = baselines,
    .told_in_bytes = true,
    .regimes = regimes,
    .regime_count = sizeof regimes / sizeof *regimes,
    .words = words,
};
