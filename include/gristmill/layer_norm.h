/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/layer_norm.h: LayerNorm of rows, with a residual. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_LAYER_NORM_H
#define GRISTMILL_LAYER_NORM_H

#include "gristmill/core.h"
#include "gristmill/quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  out = (s - mean(s)) * rsqrt(variance(s) + eps) * (weight_offset + weight) + bias      of every row, over its columns
 *
 *  s         x, or x + residual; then s is also written back to residual, rounded to the type. Or a residual is added to the
 *            norm, with or without another norm behind the sum, as enum gm_residual has it: the sandwich of Gemma-3
 *  x         x[row * x_stride + column]                    residual  residual[row * residual_stride + column]
 *  out       out[row * out_stride + column]                weight    weight[column]            bias    bias[column]
 *
 *  The variance is the mean of (s - mean(s))^2, of as many squares as there are columns: the mean is known before the first
 *  difference is squared, so that a mean far above the deviation costs no digits of the variance.
 *  Strides are in elements, the columns at least; 0 means packed. Sums and products are of fp32; what is rounded on the way
 *  is said below. The order of sums depends on columns, type, strides and alignments only, and on options.kernel where that
 *  names one: a row has the same bits whatever rows are beside it and whatever a ledger says, so every plan is
 *  batch-invariant. rsqrt has a relative error of 2^-22.
 *  out may be x (in place, with one stride and elements of as many bytes), or, where the residual is added to the norm, the
 *  residual instead. No other overlap with out, residual or scales is allowed.
 *  rows = 0 launches nothing. Up to 2^31 - 1 rows and 2^30 columns; operands may exceed 2^31 elements and 4 GiB. A NaN or an
 *  infinity in a row makes NaN of the row, and so does a sum of it that is more than fp32 holds; where squares of
 *  differences are more than that, out is the bias. With eps = 0 a row of one value is NaN, or anything, where the mean of
 *  the value is not the value. */

struct gm_layer_norm_problem {
    size_t size;
    int64_t rows, columns;
    enum gm_type type;                    /* of x and residual, and of out: GM_BF16, GM_FP16, GM_FP32 */
    int32_t fp32_weight;                  /* 1: weight and bias are GM_FP32; 0: they have the same type */
    int32_t residual;                     /* of enum gm_residual; 1: x + residual is normalised, and written back */
    float eps;                            /* 0 or more, finite */
    float weight_offset;                  /* finite; 1: the weight is stored as its distance to 1 */
    enum gm_rounding sum_rounding;        /* of the sum with the residual, before anything is made of it */
    enum gm_rounding normalized_rounding; /* of (s - mean) * rsqrt(...), before the weight */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. Rows that do not all begin
     * on multiples of 16 bytes, or whose columns are no multiple of that, take longer. */
    int32_t x_align, residual_align, weight_align, bias_align, out_align;
    int64_t x_stride, residual_stride, out_stride; /* elements; 0: packed */
    /* The type of out: out_type where has_out_type is 1, else x's. GM_BF16, GM_FP16 or GM_FP32, or 8 bits: GM_E4M3, GM_E5M2 or
     * GM_INT8, out and scales as gristmill/quantize.h has them, of GM_SCALE_STATIC, GM_SCALE_ROW or GM_SCALE_GROUP. */
    int32_t has_out_type;
    enum gm_type out_type;
    /* Of what becomes another type, to x's before: vLLM quantises what it rounded early, FlashInfer does not. */
    enum gm_rounding out_rounding;
    /* Of norm(x), before it is added: GM_RESIDUAL_AFTER and BETWEEN. HF's Gemma-3 rounds it early, and the sum. */
    enum gm_rounding norm_rounding;
    enum gm_scaling scaling;
    enum gm_scale_format scale_format; /* GM_SCALE_E8M0: of rows and groups only */
    enum gm_scale_order scale_order;   /* of groups */
    enum gm_division division;
    int64_t group, scales_stride; /* columns: 128 (or 0), 64, 32; elements, 0: packed */
    float scale_floor;            /* 0: as gristmill/quantize.h has it */
    int32_t x_weight_align;       /* of x_weight and x_bias, as x_align */
};

struct gm_layer_norm_args {
    size_t size;
    gm_device_ptr x, residual; /* residual: 0 where there is none */
    gm_device_ptr weight;      /* 0: there is none, and no weight_offset: the factor is 1 */
    gm_device_ptr bias;        /* 0: there is none */
    gm_device_ptr out;
    /* 0, or an int32_t in device memory: only so many of the first rows are computed, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of rows up to the problem's. */
    gm_device_ptr row_count;
    gm_device_ptr x_weight,
        x_bias;           /* of norm(x), where out = norm(residual + norm(x)) has weight and bias; 0: there is none */
    gm_device_ptr scales; /* of an out of 8 bits; else 0 */
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_layer_norm_plan_create(gm_context *context, const struct gm_layer_norm_problem *problem,
                                                const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_layer_norm_execute(const gm_plan *plan, const struct gm_layer_norm_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_layer_norm(gm_context *context, const struct gm_layer_norm_problem *problem,
                                    const struct gm_layer_norm_args *args, void *stream);
/* A candidate for every kernel of LayerNorm, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_layer_norm_explain(const struct gm_device *device, const struct gm_layer_norm_problem *problem,
                                            const struct gm_plan_options *options, struct gm_candidate *candidates,
                                            size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
