/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/glu.h: gated linear units (SwiGLU, GEGLU, ...) and activations. gristmill/core.h has what all operations
 * share. */
#ifndef GRISTMILL_GLU_H
#define GRISTMILL_GLU_H

#include "gristmill/core.h"
#include "gristmill/quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  out = act(min(gate, limit)) * (clamp(up, -limit, limit) + up_offset)      of every element
 *
 *  act       of gm_activation, with sigmoid_factor: SILU is x * sigmoid(sigmoid_factor * x)
 *  gate      gate[row * gate_stride + column]          up    up[row * up_stride + column]
 *  out       out[row * out_stride + column]
 *
 *  GM_GLU_APART        gate and up are two operands. The two halves of one matrix [rows][2 * columns], gate first, are
 *                      gate = x, up = x + columns and both strides 2 * columns
 *  GM_GLU_INTERLEAVED  gate and up are the even and the odd columns of `gate`, which has 2 * columns of them
 *  GM_GLU_NO_UP        out = act(min(gate, limit)), an activation alone
 *
 *  SwiGLU is GM_ACT_SILU, GEGLU GM_ACT_GELU_TANH or GM_ACT_GELU_ERF. gpt-oss is GM_GLU_INTERLEAVED with GM_ACT_SILU,
 *  sigmoid_factor 1.702, limit 7 and up_offset 1.
 *
 *  Strides are in elements, the row's elements at least; 0 means packed. Everything is computed in fp32 and rounded once,
 *  unless `rounding` says otherwise. NaN stays NaN, also where it is clamped. Every element depends on its own gate and up
 *  only, and on those that it shares a scale with: plans are batch-invariant.
 *  Out may be of another type, or of 8 bits with scales as gristmill/quantize.h has them. Then what is quantised is that fp32
 *  before it is rounded, or, where out_rounding is early, rounded to the type: a GLU in the type, and a quantiser behind it.
 *  out may be gate or up (in place, with one stride and elements of as many bytes) unless they are interleaved. No other overlap
 *  with out or scales is allowed.
 *  rows = 0 launches nothing. Up to 2^31 - 1 rows and 2^29 columns; operands may exceed 2^31 elements and 4 GiB. */
enum gm_glu_layout { GM_GLU_APART = 0, GM_GLU_INTERLEAVED = 1, GM_GLU_NO_UP = 2 };

struct gm_glu_problem {
    size_t size;
    int64_t rows, columns; /* of out */
    enum gm_type type;     /* of gate and up, and of out: GM_BF16, GM_FP16, GM_FP32 */
    enum gm_glu_layout layout;
    enum gm_activation activation;
    /* EARLY: act(gate) and up + up_offset are rounded to the type before they are multiplied, as HF and vLLM do. */
    enum gm_rounding rounding;
    float limit;                                /* more than 0; 0: there is none */
    float sigmoid_factor;                       /* of GM_ACT_SILU, more than 0; 0: 1 */
    float up_offset;                            /* finite */
    int64_t gate_stride, up_stride, out_stride; /* elements; 0: packed */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. Rows that do not all
     * begin on multiples of 16 bytes, or whose columns are no multiple of that, take longer. */
    int32_t gate_align, up_align, out_align;
    /* The type of out: out_type where has_out_type is 1, else that of gate and up. GM_BF16, GM_FP16 or GM_FP32, or 8 bits:
     * GM_E4M3, GM_E5M2 or GM_INT8, out and scales as gristmill/quantize.h has them, of GM_SCALE_STATIC, GM_SCALE_ROW or
     * GM_SCALE_GROUP. */
    int32_t has_out_type;
    enum gm_type out_type;
    /* Of what becomes another type, to that of gate and up before: a GLU and a quantiser, one behind the other, do. */
    enum gm_rounding out_rounding;
    enum gm_scaling scaling;
    enum gm_scale_format scale_format; /* GM_SCALE_E8M0: of rows and groups only */
    enum gm_scale_order scale_order;   /* of groups */
    enum gm_division division;
    float scale_floor;            /* 0: as gristmill/quantize.h has it */
    int64_t group, scales_stride; /* columns: 128 (or 0), 64, 32; elements, 0: packed */
};

struct gm_glu_args {
    size_t size;
    gm_device_ptr gate, up, out; /* up: 0 unless the layout is GM_GLU_APART */
    /* 0, or an int32_t in device memory: only so many of the first rows are computed, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of rows up to the problem's. */
    gm_device_ptr row_count;
    gm_device_ptr scales; /* of an out of 8 bits; else 0 */
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_glu_plan_create(gm_context *context, const struct gm_glu_problem *problem,
                                         const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_glu_execute(const gm_plan *plan, const struct gm_glu_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_glu(gm_context *context, const struct gm_glu_problem *problem, const struct gm_glu_args *args,
                             void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_glu_explain(const struct gm_device *device, const struct gm_glu_problem *problem,
                                     const struct gm_plan_options *options, struct gm_candidate *candidates,
                                     size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
