/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of e4m3: what a request's scores and values of a head of k are multiplied by. */
#ifndef GM_ATTENTION_SCALES_CUH
#define GM_ATTENTION_SCALES_CUH

#include "common/attention/params.h"
#include "common/global.cuh"

/* 1 where there is none. */
static __device__ __forceinline__ float scale_at(const struct gm_attention_params &p, uint64_t scales, int request,
                                                 int head) {
    const int64_t at = (int64_t)request * p.scale_request + head * p.scale_head;
    return scales ? __uint_as_float(ld_global_b32(scales + 4 * at)) : 1.0f;
}

/* Of q . k, as it is stored: times log2(e) without a cap. */
static __device__ __forceinline__ float factor_of_scores(const struct gm_attention_params &p, int request, int head) {
    return p.scale * scale_at(p, p.q_scale, request, head) * scale_at(p, p.k_scale, request, head);
}

static __device__ __forceinline__ float factor_of_values(const struct gm_attention_params &p, int request, int head) {
    return scale_at(p, p.v_scale, request, head);
}

#endif
