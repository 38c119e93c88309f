/* SPDX-License-Identifier: Apache-2.0 */
/* The scales of A and B as a problem describes them: how each lies, and the checks of those of each 128 of K. */
#include "common/arith.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/gemm/problem.h"

#include <inttypes.h>

static struct gm_out quantised(enum gm_granularity scales, enum gm_scale_format format, enum gm_scale_order order,
                               int64_t stride, int64_t rows, int64_t k) {
    static const enum gm_scaling scalings[] = {[GM_PER_NONE] = GM_SCALE_STATIC,
                                               [GM_PER_TENSOR] = GM_SCALE_STATIC,
                                               [GM_PER_ROW] = GM_SCALE_ROW,
                                               [GM_PER_GROUP] = GM_SCALE_GROUP,
                                               [GM_PER_BLOCK] = GM_SCALE_BLOCK};
    return (struct gm_out){.rows = rows,
                           .columns = k,
                           .scaling = scalings[scales],
                           .scale_format = format,
                           .scale_order = order,
                           .scales_stride = stride};
}

struct gm_out gm_gemm_quantised_a(const struct gm_gemm_problem *p) {
    return quantised(p->a_scales, p->a_scale_format, p->a_scale_order, p->a_scales_stride, p->m, p->k);
}

struct gm_out gm_gemm_quantised_b(const struct gm_gemm_problem *p) {
    return quantised(p->b_scales, p->b_scale_format, p->b_scale_order, p->b_scales_stride, p->n, p->k);
}

static int64_t columns_of(struct gm_out operand) {
    return gm_scales_of(&operand).columns;
}

/* Kernels read whole words of bytes. */
static struct gm_operand scales_of(enum gm_granularity scales, struct gm_out operand) {
    const struct gm_matrix lie = gm_scales_of(&operand);
    const int64_t columns = lie.element_bytes == 1 ? GM_CEIL_DIV(lie.columns, 4) * 4 : lie.columns;
    return (struct gm_operand){scales == GM_PER_NONE ? 0 : lie.rows, columns, lie.stride, lie.element_bytes};
}

struct gm_operand gm_operand_a_scales(const struct gm_gemm_problem *p) {
    return scales_of(p->a_scales, gm_gemm_quantised_a(p));
}

struct gm_operand gm_operand_b_scales(const struct gm_gemm_problem *p) {
    return scales_of(p->b_scales, gm_gemm_quantised_b(p));
}

/* ---- scales of each 128 of K ---------------------------------------------------------------------------- */

/* What a problem says of one operand's. */
struct operand_scales {
    const char *format_name, *order_name, *stride_name;
    enum gm_granularity granularity;
    enum gm_scale_format *format;
    enum gm_scale_order *order;
    int64_t *stride;
};

/* Of other scales than those of each 128 of K format, order and stride mean nothing. A power of 2 is a float. */
static enum gm_status check_layout(const struct operand_scales *s) {
    if (s->granularity <= GM_PER_ROW) {
        *s->format = GM_SCALE_FP32;
        *s->order = GM_SCALES_BY_ROW;
        *s->stride = 0;
        return GM_OK;
    }
    enum gm_status status = gm_check_enum(s->format_name, (int)*s->format, GM_SCALE_FP32, GM_SCALE_E8M0);
    if (status == GM_OK)
        status = gm_check_enum(s->order_name, (int)*s->order, GM_SCALES_BY_ROW, GM_SCALES_BY_COLUMN);
    if (status == GM_OK && *s->format == GM_SCALE_POWER_OF_2)
        *s->format = GM_SCALE_FP32;
    return status;
}

/* The stride of rows of scales, where it is 0: packed. Rows of bytes begin on words, one row ends on one. */
static enum gm_status fill_stride(const struct operand_scales *s, struct gm_operand lie, int64_t columns) {
    if (s->granularity <= GM_PER_ROW)
        return GM_OK;
    if (*s->stride == 0)
        *s->stride = lie.rows > 1 ? columns : lie.columns;
    const enum gm_status status = gm_fill_stride(s->stride_name, s->stride, lie.rows, columns, lie.element_bytes);
    if (status == GM_OK && *s->format == GM_SCALE_E8M0 && *s->stride % 4 != 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "%s is %" PRId64 ": kernels read ue8m0 by words of 4, so that it is a multiple of 4",
                       s->stride_name, *s->stride);
    return status;
}

/* They are of fp8, and of both operands then. */
static enum gm_status check_kinds(const struct gm_gemm_problem *p) {
    if (gm_gemm_kernel_type(p) != GM_E4M3)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "scales of GM_PER_GROUP and GM_PER_BLOCK are of e4m3; A and B are %s%s%s",
                       gm_type_name(p->ab_type), p->b_type == p->ab_type ? "" : " and ",
                       p->b_type == p->ab_type ? "" : gm_type_name(p->b_type));
    if (p->a_scales == GM_PER_NONE || p->b_scales == GM_PER_NONE)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "%s has scales of each 128 of K and %s none: both have scales, of GM_PER_TENSOR at least",
                       p->a_scales ? "A" : "B", p->a_scales ? "B" : "A");
    return GM_OK;
}

enum gm_status gm_gemm_check_scales_of_sums(struct gm_gemm_problem *p) {
    const struct operand_scales a = {"a_scale_format",   "a_scale_order",   "a_scales_stride",  p->a_scales,
                                     &p->a_scale_format, &p->a_scale_order, &p->a_scales_stride};
    const struct operand_scales b = {"b_scale_format",   "b_scale_order",   "b_scales_stride",  p->b_scales,
                                     &p->b_scale_format, &p->b_scale_order, &p->b_scales_stride};
    enum gm_status status = gm_has_scales_of_sums(p) ? check_kinds(p) : GM_OK;
    if (status == GM_OK)
        status = check_layout(&a);
    if (status == GM_OK)
        status = check_layout(&b);
    if (status == GM_OK)
        status = fill_stride(&a, gm_operand_a_scales(p), columns_of(gm_gemm_quantised_a(p)));
    if (status == GM_OK)
        status = fill_stride(&b, gm_operand_b_scales(p), columns_of(gm_gemm_quantised_b(p)));
    return status;
}
