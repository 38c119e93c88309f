/* SPDX-License-Identifier: Apache-2.0 */
/* The attention ladder, first part: scores and weights lie in global memory, one kernel for each of the three formulas,
 * one element a thread. What limits these steps is how a warp's loads fall into sectors and banks. */
#include "attention_parts.cuh"

enum { ROWS = ATTENTION_NAIVE_ROWS, TILE = ATTENTION_TILE };

/* ---- step 1: naive -------------------------------------------------------------------------------- */

/* A thread computes one score; the lanes of a warp have neighbouring tokens, so that each reads another row of k: 32
 * sectors for 32 elements, and again for the next 32. */
extern "C" __global__ void __launch_bounds__(256) lab_attention_naive_scores(const struct attention p) {
    const struct head h = head_of(p, blockIdx.z);
    const int token = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * ROWS + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < HEAD; i++)
        sum += widen(h.q[row * HEAD + i]) * widen(h.k[token * HEAD + i]);
    h.scores[row * p.tokens + token] = sum * p.scale;
}

/* scores -> weights, a row a warp. It is read three times: for its largest score, for the sum, and for the weights. */
extern "C" __global__ void __launch_bounds__(256) lab_attention_softmax(const struct attention p) {
    const struct head h = head_of(p, blockIdx.z);
    const int row = blockIdx.x * ROWS + threadIdx.y, lane = threadIdx.x;
    const float *scores = h.scores + row * p.tokens;
    float *weights = h.weights + row * p.tokens;
    float top = -GM_INFINITY, sum = 0;
    for (int token = lane; token < p.tokens; token += 32)
        top = fmaxf(top, scores[token]);
    top = max_of_lanes<32>(top);
    for (int token = lane; token < p.tokens; token += 32)
        sum += ex2_approx_ftz((scores[token] - top) * LOG2_E);
    const float factor = 1 / sum_of_lanes<32>(sum);
    for (int token = lane; token < p.tokens; token += 32)
        weights[token] = ex2_approx_ftz((scores[token] - top) * LOG2_E) * factor;
}

/* A thread computes one element of out. The lanes of a warp share the weight and read neighbours of a row of v: 3
 * sectors for 33 words, as a matrix product should; but each row of v is read by every row of weights. */
extern "C" __global__ void __launch_bounds__(256) lab_attention_naive_values(const struct attention p) {
    const struct head h = head_of(p, blockIdx.z);
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * ROWS + threadIdx.y;
    float sum = 0;
    for (int token = 0; token < p.tokens; token++)
        sum += h.weights[row * p.tokens + token] * widen(h.v[token * HEAD + column]);
    h.out[row * HEAD + column] = (uint16_t)cvt_rn_bf16x2_f32(sum, 0);
}

/* ---- step 2: tiled, step 3: padded ---------------------------------------------------------------- */

/* Tiles of 32 rows pass through shared memory, so that an element is fetched once for 32 scores. A warp reads four
 * words of one row of q, and the same four of 32 rows of k: with a pitch of 64 words 8 lanes at a time meet in 4 banks,
 * with 68 they have 32. */
template <int PITCH> static __device__ __forceinline__ void tiled_scores(const struct attention &p) {
    __shared__ alignas(16) float q[TILE][HEAD], k[TILE][PITCH];
    const struct head h = head_of(p, blockIdx.z);
    const int x = threadIdx.x, y = threadIdx.y, token = blockIdx.x * TILE, row = blockIdx.y * TILE;
    *(float2 *)&q[y][2 * x] = load_two(&h.q[(row + y) * HEAD + 2 * x]);
    *(float2 *)&k[y][2 * x] = load_two(&h.k[(token + y) * HEAD + 2 * x]);
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < HEAD; i += 4)
        sum = dot_four(*(const float4 *)&q[y][i], *(const float4 *)&k[x][i], sum);
    h.scores[(row + y) * p.tokens + token + x] = sum * p.scale;
}

extern "C" __global__ void __launch_bounds__(1024) lab_attention_tiled_scores(const struct attention p) {
    tiled_scores<HEAD>(p);
}

extern "C" __global__ void __launch_bounds__(1024) lab_attention_padded_scores(const struct attention p) {
    tiled_scores<ATTENTION_K_PITCH>(p);
}

/* Two neighbours of a row of out a thread. v is walked along its rows here: a warp reads 64 words side by side, and
 * needs no pad. */
extern "C" __global__ void __launch_bounds__(1024) lab_attention_tiled_values(const struct attention p) {
    __shared__ alignas(16) float weights[TILE][TILE], v[TILE][HEAD];
    const struct head h = head_of(p, blockIdx.z);
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x * TILE + y;
    float sum[2] = {0, 0};
    for (int first = 0; first < p.tokens; first += TILE) {
        weights[y][x] = h.weights[row * p.tokens + first + x];
        *(float2 *)&v[y][2 * x] = load_two(&h.v[(first + y) * HEAD + 2 * x]);
        __syncthreads();
#pragma unroll
        for (int token = 0; token < TILE; token += 4) {
            const float4 weight = *(const float4 *)&weights[y][token];
            const float four[4] = {weight.x, weight.y, weight.z, weight.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float2 value = *(const float2 *)&v[token + i][2 * x];
                sum[0] += four[i] * value.x;
                sum[1] += four[i] * value.y;
            }
        }
        __syncthreads();
    }
    *(uint32_t *)&h.out[row * HEAD + 2 * x] = cvt_rn_bf16x2_f32(sum[0], sum[1]);
}
