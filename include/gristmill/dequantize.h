/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/dequantize.h: rows of 8 bits and their scales as rows of numbers again, the way back of gristmill/quantize.h.
 * gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_DEQUANTIZE_H
#define GRISTMILL_DEQUANTIZE_H

#include "gristmill/quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  out = x * scale
 *
 *  x         x[row * x_stride + column], of GM_E4M3, GM_E5M2 or GM_INT8
 *  out       out[row * out_stride + column], of GM_BF16, GM_FP16 or GM_FP32
 *  scales    where gm_quantize() has left them: `scaling`, `group`, `scale_format`, `scale_order` and `scales_stride` mean
 *            what they do there, and the same values find the same scales. GM_SCALE_STATIC: scales[0], a float, is the scale
 *            of all; it is read when the kernel runs. GM_SCALE_AMAX_ONLY is none here
 *
 *  The product is one of fp32, rounded to nearest even, and out is that, rounded to nearest even. NaN stays NaN, as do
 *  infinities of GM_E5M2; what is too large becomes infinite; zeros keep their sign, and 0 times an infinite scale is NaN. A
 *  scale may be any float: a NaN makes all that share it NaN, and so does the byte 0xff of GM_SCALE_E8M0, whose byte b
 *  is 2^(b - 127), also where b is 0.
 *
 *  Every element depends on its own scale only: plans are batch-invariant, and every kernel gives the same bits.
 *  Strides are in elements, the row's elements at least; 0 means packed. out overlaps no other operand. rows = 0 launches
 *  nothing. Up to 2^31 - 1 rows and 2^29 columns; operands may exceed 2^31 elements and 4 GiB. */
struct gm_dequantize_problem {
    size_t size;
    int64_t rows, columns;
    int64_t group;         /* columns of GM_SCALE_GROUP: 128 (or 0), 64 or 32 */
    enum gm_type type;     /* of x: GM_E4M3 (or 0), GM_E5M2, GM_INT8 */
    enum gm_type out_type; /* GM_BF16 (or 0), GM_FP16, GM_FP32 */
    enum gm_scaling scaling;
    enum gm_scale_format scale_format; /* GM_SCALE_E8M0: of rows, groups and blocks only */
    enum gm_scale_order scale_order;   /* of groups and blocks */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2, and of x 1. Rows of out
     * that do not all begin on multiples of 16 bytes, and rows of x on multiples of as many elements, take longer. Scales
     * have the alignment of their type. */
    int32_t x_align, out_align;
    int64_t x_stride, out_stride, scales_stride; /* elements; 0: packed. scales_stride: of groups and blocks */
};

struct gm_dequantize_args {
    size_t size;
    gm_device_ptr x, out, scales;
    /* 0, or an int32_t in device memory: only so many of the first rows are there, none where it is negative. It is read when
     * the kernel runs, so that a captured graph serves any number of rows up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_dequantize_plan_create(gm_context *context, const struct gm_dequantize_problem *problem,
                                                const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_dequantize_execute(const gm_plan *plan, const struct gm_dequantize_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_dequantize(gm_context *context, const struct gm_dequantize_problem *problem,
                                    const struct gm_dequantize_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_dequantize_explain(const struct gm_device *device, const struct gm_dequantize_problem *problem,
                                            const struct gm_plan_options *options, struct gm_candidate *candidates,
                                            size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
