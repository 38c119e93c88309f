/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/quantize.h: quantisers of rows to 8 bits, and their scales. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_QUANTIZE_H
#define GRISTMILL_QUANTIZE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  out = round(x / scale)      scale = max(amax / limit, scale_floor)      amax: the largest |x| of those who share a scale
 *
 *  x         x[row * x_stride + column]          out       out[row * out_stride + column], of GM_E4M3 (limit 448),
 *                                                          GM_E5M2 (57344) or GM_INT8 (127)
 *
 *  GM_SCALE_STATIC     scales[0], a float, is the scale of all; it is read when the kernel runs
 *  GM_SCALE_AMAX_ONLY  out is not written. scales[0], a float, becomes the larger of itself and the scale of all of x.
 *                      Zero it, call this, then GM_SCALE_STATIC: that is one scale for a tensor, made on the device; several
 *                      tensors share one where each of them is asked before
 *  GM_SCALE_ROW        scales[row], a scale for each row
 *  GM_SCALE_GROUP      a scale for each `group` columns of a row, the last ones being fewer: scales[row * scales_stride + g],
 *                      or with GM_SCALES_BY_COLUMN scales[g * scales_stride + row]
 *  GM_SCALE_BLOCK      a scale for each 128 rows and 128 columns, the last ones being fewer: scales[i * scales_stride + j] of
 *                      the block of rows 128 i and columns 128 j on, or with GM_SCALES_BY_COLUMN scales[j * scales_stride + i]
 *
 *  GM_SCALE_FP32 is a float. GM_SCALE_POWER_OF_2 is that, rounded up to a power of 2; GM_SCALE_E8M0 the same as one byte, its
 *  exponent plus 127 (ue8m0), 0xff for NaN. x is divided by what is stored.
 *
 *  q = x / scale is a division of fp32, rounded to nearest even, and so is out of q. What is too large, infinities too,
 *  becomes the limit with its sign. Zeros of e4m3 and e5m2 keep theirs. NaN becomes 0x7f, in int8 0. An infinite amax counts
 *  as the largest float, so that scales are finite; where x has a NaN, the scale of those who share it is NaN, and with it all
 *  they become. So does a static scale that is not positive and finite. Zeros alone have scale_floor and become zeros.
 *
 *  Every scale depends on those who share it only, and a maximum on no order: plans are batch-invariant, and every kernel
 *  gives the same bits.
 *  Strides are in elements, the row's elements at least; 0 means packed. x, out, scales and row_count must not overlap.
 *  rows = 0 launches nothing. Up to 2^31 - 1 rows and 2^29 columns; operands may exceed 2^31 elements and 4 GiB. */
enum gm_scaling {
    GM_SCALE_STATIC = 0,
    GM_SCALE_AMAX_ONLY = 1,
    GM_SCALE_ROW = 2,
    GM_SCALE_GROUP = 3,
    GM_SCALE_BLOCK = 4
};
enum gm_scale_format { GM_SCALE_FP32 = 0, GM_SCALE_POWER_OF_2 = 1, GM_SCALE_E8M0 = 2 };
enum gm_scale_order { GM_SCALES_BY_ROW = 0, GM_SCALES_BY_COLUMN = 1 };
/* How q is made. RECIPROCAL: x * (1 / scale), two roundings, as vLLM does with static scales; the reciprocal of a scale above
 * 2^126 or below 2^-128 is as exact as others. */
enum gm_division { GM_DIVIDE = 0, GM_DIVIDE_BY_RECIPROCAL = 1 };

struct gm_quantize_problem {
    size_t size;
    int64_t rows, columns;
    int64_t group;         /* columns of GM_SCALE_GROUP: 128 (or 0), 64 or 32 */
    enum gm_type type;     /* of x: GM_BF16, GM_FP16, GM_FP32 */
    enum gm_type out_type; /* GM_E4M3 (or 0), GM_E5M2, GM_INT8 */
    enum gm_scaling scaling;
    enum gm_scale_format scale_format; /* GM_SCALE_E8M0: of rows, groups and blocks only */
    enum gm_scale_order scale_order;   /* of groups and blocks */
    enum gm_division division;
    int64_t x_stride, out_stride, scales_stride; /* elements; 0: packed. scales_stride: of groups and blocks */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2, and of out 1. Rows of x that
     * do not all begin on multiples of 16 bytes, rows of out of 8, and columns that are no multiple of 8 take longer. Scales
     * have the alignment of their type. */
    int32_t x_align, out_align;
    /* No scale is less. 0: 1e-10 / limit of groups, as most do; else 2^-126, with which 1 / scale is a normal number too. No
     * less than that, finite. vLLM has 1 / (448 * 512) of rows. */
    float scale_floor;
};

struct gm_quantize_args {
    size_t size;
    gm_device_ptr x, out, scales; /* out: 0 with GM_SCALE_AMAX_ONLY */
    /* 0, or an int32_t in device memory: only so many of the first rows are there, none where it is negative. It is read when
     * the kernel runs, so that a captured graph serves any number of rows up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_quantize_plan_create(gm_context *context, const struct gm_quantize_problem *problem,
                                              const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_quantize_execute(const gm_plan *plan, const struct gm_quantize_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_quantize(gm_context *context, const struct gm_quantize_problem *problem,
                                  const struct gm_quantize_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_quantize_explain(const struct gm_device *device, const struct gm_quantize_problem *problem,
                                          const struct gm_plan_options *options, struct gm_candidate *candidates,
                                          size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
