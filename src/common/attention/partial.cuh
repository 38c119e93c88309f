/* SPDX-License-Identifier: Apache-2.0 */
/* What a CTA has found of some of a row's keys, to be put together with what others have of the rest. Included behind the family's
 * constants: TYPE. */
#ifndef GM_ATTENTION_PARTIAL_CUH
#define GM_ATTENTION_PARTIAL_CUH

#include "common/attention/softmax.cuh"
#include "common/attention/work.cuh"

/* A row's largest score, its sum, and sums of 8 columns of values, relative to the largest. */
struct partial {
    float most, sum, values[8];
};

static __device__ __forceinline__ struct partial partial_of_nothing(void) {
    return {-GM_INFINITY, 0, {}};
}

/* Scores of b come behind those of a. */
static __device__ __forceinline__ void add_partial(struct partial &a, const struct partial &b) {
    const float most = fmaxf(a.most, b.most), base = base_of(most);
    const float of_a = ex2_approx_ftz(a.most - base), of_b = ex2_approx_ftz(b.most - base);
    a.most = most;
    a.sum = fmaf(a.sum, of_a, b.sum * of_b);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        a.values[i] = fmaf(a.values[i], of_a, b.values[i] * of_b);
}

/* The same of several at once. */
template <int N> static __device__ __forceinline__ void add_partials(struct partial &a, const struct partial (&b)[N]) {
    float most = a.most;
#pragma unroll
    for (int i = 0; i < N; ++i)
        most = fmaxf(most, b[i].most);
    const float base = base_of(most), of_a = ex2_approx_ftz(a.most - base);
    a.most = most;
    a.sum *= of_a;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        a.values[i] *= of_a;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const float of_b = ex2_approx_ftz(b[i].most - base);
        a.sum = fmaf(b[i].sum, of_b, a.sum);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            a.values[j] = fmaf(b[i].values[j], of_b, a.values[j]);
    }
}

/* What another CTA has left in a slot of the workspace: so many rows of columns of values, then every row's largest score and sum. */
static __device__ __forceinline__ struct partial load_partial(uint64_t slot, int rows, int columns, int row,
                                                              int chunk) {
    const uint64_t place = slot + 4 * (row * columns + 8 * chunk);
    uint32_t sums[2], words[8];
    ld_global_cg_v2_b32(slot + 4 * rows * columns + 8 * row, sums);
    ld_global_cg_v4_b32(place, words);
    ld_global_cg_v4_b32(place + 16, words + 4);
    struct partial part = {__uint_as_float(sums[0]), __uint_as_float(sums[1])};
#pragma unroll
    for (int i = 0; i < 8; ++i)
        part.values[i] = __uint_as_float(words[i]);
    return part;
}

/* The row's end: 8 columns of out, and lse by those of the first. */
static __device__ __forceinline__ void finish_row(const struct gm_attention_params &p, const struct piece &piece,
                                                  int row, int chunk, const struct partial &all) {
    const struct packed_row at = packed_row(p, piece.request, piece.head, piece.first_row + row);
    const float norm = norm_of(all.most, all.sum, sink_of(p, at.head));
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = normalised(all.values[i], norm);
    const int column_bytes = p.flags & GM_ATTENTION_OUT_IS_FP32 ? 32 : 16;
    if (chunk * 8 < p.v_head_dim)
        store_out<TYPE>(p, address_of(p.out, at) + chunk * column_bytes, v);
    if (chunk == 0)
        store_lse(p, at, lse_of(all.most, all.sum));
}

#endif
