/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a GEMM problem and fills in its defaults, with a sentence for everything wrong. */
#include "host/gemm/problem.h"

#include "common/gemm/tokens.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/gated.h"
#include "host/gemm/variant.h"

#include <inttypes.h>

const char *const gm_gemm_layout_names[] = {
    [GM_LAYOUT_tn] = "tn", [GM_LAYOUT_nn] = "nn", [GM_LAYOUT_tt] = "tt", [GM_LAYOUT_nt] = "nt", NULL};

const char *gm_gemm_layout_name(int layout) {
    return gm_gemm_layout_names[layout & 3];
}

int gm_gemm_layout(const struct gm_gemm_problem *problem) {
    return (problem->a_major == GM_MN_MAJOR ? 1 : 0) | (problem->b_major == GM_MN_MAJOR ? 2 : 0);
}

struct gm_operand gm_operand_a(const struct gm_gemm_problem *p) {
    if (p->a_major == GM_K_MAJOR)
        return (struct gm_operand){p->m, p->k, p->lda, gm_type_bytes(p->ab_type)};
    return (struct gm_operand){p->k, p->m, p->lda, gm_type_bytes(p->ab_type)};
}

struct gm_operand gm_operand_b(const struct gm_gemm_problem *p) {
    if (p->b_major == GM_K_MAJOR)
        return (struct gm_operand){p->n, p->k, p->ldb, gm_type_bytes(p->ab_type)};
    return (struct gm_operand){p->k, p->n, p->ldb, gm_type_bytes(p->ab_type)};
}

struct gm_operand gm_operand_c(const struct gm_gemm_problem *p) {
    return (struct gm_operand){p->m, gm_gemm_columns(p), p->ldc, gm_type_bytes(p->d_type)};
}

struct gm_operand gm_operand_d(const struct gm_gemm_problem *p) {
    return (struct gm_operand){p->m, gm_gemm_columns(p), p->ldd, gm_type_bytes(p->d_type)};
}

int64_t gm_operand_bytes(const struct gm_operand *operand) {
    if (operand->rows == 0 || operand->columns == 0)
        return 0;
    return ((operand->rows - 1) * operand->stride + operand->columns) * operand->element_bytes;
}

static enum gm_status fill_stride(const char *name, int64_t *stride, struct gm_operand operand) {
    return gm_fill_stride(name, stride, operand.rows, operand.columns, operand.element_bytes);
}

static enum gm_status check_enums(const struct gm_gemm_problem *p) {
    enum gm_status status = gm_check_enum("ab_type", (int)p->ab_type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("d_type", (int)p->d_type, GM_BF16, GM_FP32);
    if (status == GM_OK && p->ab_type == GM_FP32 && p->d_type != GM_FP32)
        status =
            gm_fail(GM_ERROR_INVALID_ARGUMENT, "d_type is %s: D of fp32 operands is fp32", gm_type_name(p->d_type));
    if (status == GM_OK)
        status = gm_check_enum("a_major", (int)p->a_major, GM_K_MAJOR, GM_MN_MAJOR);
    if (status == GM_OK)
        status = gm_check_enum("b_major", (int)p->b_major, GM_K_MAJOR, GM_MN_MAJOR);
    if (status == GM_OK)
        status = gm_check_enum("activation", (int)p->activation, GM_ACT_NONE, GM_ACT_SILU);
    if (status == GM_OK)
        status = gm_check_enum("bias", (int)p->bias, GM_BIAS_NONE, GM_BIAS_M);
    if (status == GM_OK && p->bias != GM_BIAS_NONE)
        status = gm_check_enum("bias_type", (int)p->bias_type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("gate", (int)p->gate, GM_GATE_NONE, GM_GATE_PAIRS);
    return status;
}

/* What a gate asks of the rest of the problem; without one its numbers mean nothing, and become 0. */
static enum gm_status check_gate(struct gm_gemm_problem *p) {
    if (p->gate == GM_GATE_NONE) {
        p->limit = p->sigmoid_factor = p->up_offset = 0;
        return GM_OK;
    }
    if (p->n % 2 != 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "n is %" PRId64 ": a gate takes gates and as many ups, so n is even",
                       p->n);
    if (p->bias == GM_BIAS_M)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the bias is along M: with a gate it is along N, or there is none");
    return gm_check_gated(p->activation, p->limit, &p->sigmoid_factor, p->up_offset);
}

static enum gm_status fill(struct gm_gemm_problem *p) {
    const int ab_bytes = gm_type_bytes(p->ab_type), d_bytes = gm_type_bytes(p->d_type);
    enum gm_status status = fill_stride("lda", &p->lda, gm_operand_a(p));
    if (status == GM_OK)
        status = fill_stride("ldb", &p->ldb, gm_operand_b(p));
    if (status == GM_OK)
        status = fill_stride("ldc", &p->ldc, gm_operand_c(p));
    if (status == GM_OK)
        status = fill_stride("ldd", &p->ldd, gm_operand_d(p));
    if (status == GM_OK)
        status = gm_fill_alignment("a_align", &p->a_align, ab_bytes);
    if (status == GM_OK)
        status = gm_fill_alignment("b_align", &p->b_align, ab_bytes);
    return status == GM_OK ? gm_fill_alignment("d_align", &p->d_align, d_bytes) : status;
}

enum gm_status gm_gemm_normalize(void *problem) {
    struct gm_gemm_problem *p = problem;
    enum gm_status status = gm_check_size("m", p->m, 0, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("n", p->n, 0, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("k", p->k, 0, INT32_MAX);
    if (status == GM_OK)
        status = check_enums(p);
    if (status == GM_OK)
        status = check_gate(p);
    return status == GM_OK ? fill(p) : status;
}

static void straighten(enum gm_major *major, int64_t *stride, struct gm_operand operand) {
    if (operand.columns != 1 || operand.rows <= 1 || operand.stride != 1)
        return;
    *major = *major == GM_K_MAJOR ? GM_MN_MAJOR : GM_K_MAJOR;
    *stride = operand.rows;
}

int gm_gemm_is_column(const struct gm_gemm_problem *p) {
    const int chunks = p->a_align == 16 && p->lda * gm_type_bytes(p->ab_type) % 16 == 0;
    return p->n == 1 && p->m > 1 && p->gate == GM_GATE_NONE && p->ldc == 1 && p->ldd == 1 &&
           (p->a_major == GM_K_MAJOR || chunks);
}

struct gm_gemm_problem gm_gemm_transposed(const struct gm_gemm_problem *p) {
    struct gm_gemm_problem t = *p;
    t.m = p->n;
    t.n = p->m;
    t.a_major = p->b_major;
    t.b_major = p->a_major;
    t.lda = p->ldb;
    t.ldb = p->lda;
    t.ldc = t.ldd = p->m;
    t.a_align = p->b_align;
    t.b_align = p->a_align;
    t.bias = p->bias == GM_BIAS_N ? GM_BIAS_M : p->bias == GM_BIAS_M ? GM_BIAS_N : GM_BIAS_NONE;
    return t;
}

struct gm_gemm_problem gm_gemm_straight(const struct gm_gemm_problem *problem) {
    struct gm_gemm_problem p = *problem;
    if (p.gate != GM_GATE_NONE)
        return p;
    straighten(&p.a_major, &p.lda, gm_operand_a(problem));
    straighten(&p.b_major, &p.ldb, gm_operand_b(problem));
    return p;
}

void gm_gemm_simplify(void *into, const struct gm_plan_options *options) {
    struct gm_gemm_planned *planned = into;
    const struct gm_gemm_problem given = planned->problem;
    const int is_column = gm_gemm_is_column(&given);
    const struct gm_gemm_problem turned = is_column ? gm_gemm_transposed(&given) : given;
    const struct gm_gemm_planned forms[] = {{gm_gemm_straight(&turned), is_column}, {gm_gemm_straight(&given), 0}};
    planned->transposed = 0;
    if (options->flags & GM_PLAN_BATCH_INVARIANT)
        return;
    const struct gm_kernel *named = options->kernel ? gm_gemm_kernel_named(options->kernel) : NULL;
    for (int i = 0; i < 2; i++) {
        if (options->kernel && (!named || gm_gemm_variant(named).layout != gm_gemm_layout(&forms[i].problem)))
            continue;
        *planned = forms[i];
        return;
    }
}

int gm_copy_bytes(uint64_t base, int64_t stride_bytes, int64_t rows) {
    const uint64_t bits = base | (rows > 1 ? (uint64_t)stride_bytes : 0) | 16;
    return (int)(bits & -bits);
}
