/* SPDX-License-Identifier: Apache-2.0 */
/* What a gated linear unit makes of COUNT elements of gate and up, in fp32. */
#ifndef GM_SM80_GLU_UNIT_CUH
#define GM_SM80_GLU_UNIT_CUH

#include "common/activation.cuh"
#include "common/elements.cuh"
#include "common/glu/params.h"

template <int ACTIVATION, int COUNT>
static __device__ __forceinline__ void activate_as(const struct gm_glu_params &p, float (&x)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        x[i] = act_by<ACTIVATION>(x[i], p.silu_exponent);
}

/* One branch for a chunk: its elements' chains of instructions run beside each other. */
template <int COUNT> static __device__ __forceinline__ void activate(const struct gm_glu_params &p, float (&x)[COUNT]) {
    if (p.activation == ACT_SILU)
        activate_as<ACT_SILU>(p, x);
    else if (p.activation == ACT_GELU_TANH)
        activate_as<ACT_GELU_TANH>(p, x);
    else if (p.activation == ACT_GELU_ERF)
        activate_as<ACT_GELU_ERF>(p, x);
    else if (p.activation == ACT_RELU)
        activate_as<ACT_RELU>(p, x);
}

/* NaN stays NaN. */
template <int COUNT>
static __device__ __forceinline__ void limit(const struct gm_glu_params &p, float (&gate)[COUNT], float (&up)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        gate[i] = min_nan(gate[i], p.limit);
        up[i] = max_nan(min_nan(up[i], p.limit), -p.limit);
    }
}

template <int COUNT>
static __device__ __forceinline__ void multiply(const struct gm_glu_params &p, float (&gate)[COUNT],
                                                float (&up)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT && p.up_offset != 0; ++i)
        up[i] += p.up_offset;
    if (p.rounds_early) {
        round_elements<GM_TYPE, COUNT>(gate);
        round_elements<GM_TYPE, COUNT>(up);
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        gate[i] *= up[i];
}

/* The gate becomes out. */
template <int COUNT>
static __device__ __forceinline__ void make_unit(const struct gm_glu_params &p, float (&gate)[COUNT],
                                                 float (&up)[COUNT]) {
    if (p.has_limit)
        limit(p, gate, up);
    activate(p, gate);
    if (p.layout != GLU_NO_UP)
        multiply(p, gate, up);
}

#endif
