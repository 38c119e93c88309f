/* SPDX-License-Identifier: Apache-2.0 */
/* The attention ladder, second part: a register tile a thread, first with the scores in global memory, then with the
 * online softmax, which never writes them. What limits these steps is the rate at which shared memory feeds the FFMAs.
 * */
#include "attention_parts.cuh"

enum { SIDE = ATTENTION_SIDE, SQUARE = ATTENTION_SQUARE, THREADS = ATTENTION_THREADS, K_PITCH = ATTENTION_K_PITCH };

/* Where a thread stands: attention.h. */
struct place {
    int x, y;
};

static __device__ __forceinline__ struct place place_of(void) {
    return {(int)threadIdx.x % SIDE, (int)threadIdx.x / SIDE};
}

/* ---- tiles ---------------------------------------------------------------------------------------- */

/* ROWS rows of bf16 -> fp32 in shared memory; half a warp copies a row. */
template <int ROWS, int PITCH> static __device__ __forceinline__ void load_tile(float *tile, const uint16_t *from) {
    const struct place at = place_of();
#pragma unroll
    for (int i = 0; i < ROWS; i += SIDE)
        *(float4 *)&tile[(at.y + i) * PITCH + 4 * at.x] = load_four(&from[(at.y + i) * HEAD + 4 * at.x]);
}

/* s += q k^T, of a thread's rows and tokens. */
template <int R, int T>
static __device__ __forceinline__ void multiply_keys(float (&s)[R][T], const float *q, const float *k) {
    const struct place at = place_of();
#pragma unroll 1
    for (int i = 0; i < HEAD; i += 4) {
        float4 of_k[T];
#pragma unroll
        for (int t = 0; t < T; t++)
            of_k[t] = *(const float4 *)&k[(at.x + SIDE * t) * K_PITCH + i];
#pragma unroll
        for (int r = 0; r < R; r++) {
            const float4 of_q = *(const float4 *)&q[(at.y + SIDE * r) * HEAD + i];
#pragma unroll
            for (int t = 0; t < T; t++)
                s[r][t] = dot_four(of_q, of_k[t], s[r][t]);
        }
    }
}

/* o += w v, of a thread's rows and four columns, over TOKENS tokens. */
template <int TOKENS, int R>
static __device__ __forceinline__ void multiply_values(float (&o)[R][4], const float *w, const float *v) {
    const struct place at = place_of();
#pragma unroll 1
    for (int token = 0; token < TOKENS; token += 4) {
        float4 of_v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            of_v[i] = *(const float4 *)&v[(token + i) * HEAD + 4 * at.x];
#pragma unroll
        for (int r = 0; r < R; r++) {
            const float4 weight = *(const float4 *)&w[(at.y + SIDE * r) * ATTENTION_W_PITCH(TOKENS) + token];
            const float four[4] = {weight.x, weight.y, weight.z, weight.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                o[r][0] += four[i] * of_v[i].x;
                o[r][1] += four[i] * of_v[i].y;
                o[r][2] += four[i] * of_v[i].z;
                o[r][3] += four[i] * of_v[i].w;
            }
        }
    }
}

/* ---- step 4: a register tile ---------------------------------------------------------------------- */

/* 4 x 4 scores a thread: 8 loads of 16 bytes feed 64 FFMA, where 2 fed 4. */
extern "C" __global__ void __launch_bounds__(THREADS) lab_attention_register_scores(const struct attention p) {
    __shared__ alignas(16) float q[SQUARE * HEAD], k[SQUARE * K_PITCH];
    const struct head h = head_of(p, blockIdx.z);
    const struct place at = place_of();
    const int token = blockIdx.x * SQUARE, row = blockIdx.y * SQUARE;
    load_tile<SQUARE, HEAD>(q, h.q + row * HEAD);
    load_tile<SQUARE, K_PITCH>(k, h.k + token * HEAD);
    __syncthreads();
    float s[SQUARE / SIDE][SQUARE / SIDE] = {{0}};
    multiply_keys(s, q, k);
#pragma unroll
    for (int r = 0; r < SQUARE / SIDE; r++)
#pragma unroll
        for (int t = 0; t < SQUARE / SIDE; t++)
            h.scores[(row + at.y + SIDE * r) * p.tokens + token + at.x + SIDE * t] = s[r][t] * p.scale;
}

/* 4 x 4 outputs a thread. */
extern "C" __global__ void __launch_bounds__(THREADS) lab_attention_register_values(const struct attention p) {
    __shared__ alignas(16) float w[SQUARE * ATTENTION_W_PITCH(SQUARE)], v[SQUARE * HEAD];
    const struct head h = head_of(p, blockIdx.z);
    const struct place at = place_of();
    const int row = blockIdx.x * SQUARE;
    float o[SQUARE / SIDE][4] = {{0}};
    for (int first = 0; first < p.tokens; first += SQUARE) {
#pragma unroll
        for (int i = 0; i < SQUARE; i += SIDE)
            *(float4 *)&w[(at.y + i) * ATTENTION_W_PITCH(SQUARE) + 4 * at.x] =
                *(const float4 *)&h.weights[(row + at.y + i) * p.tokens + first + 4 * at.x];
        load_tile<SQUARE, HEAD>(v, h.v + first * HEAD);
        __syncthreads();
        multiply_values<SQUARE>(o, w, v);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < SQUARE / SIDE; r++)
        store_four(&h.out[(row + at.y + SIDE * r) * HEAD + 4 * at.x], o[r][0], o[r][1], o[r][2], o[r][3]);
}

/* ---- step 5: online softmax, steps 6 and 7: larger tiles ------------------------------------------- */

/* What a thread knows of its rows. */
template <int R> struct rows {
    float top[R]; /* the largest score so far */
    float sum[R]; /* of the exponentials, of this thread's tokens */
    float o[R][4];
};

/* Scores -> exponentials, in place. A larger score than any so far changes what all exponentials are relative to: the
 * sum and the outputs so far shrink by as much as it is larger. */
template <int R, int T>
static __device__ __forceinline__ void soften(float (&s)[R][T], struct rows<R> &rows, float scale) {
#pragma unroll
    for (int r = 0; r < R; r++) {
        float top = rows.top[r];
#pragma unroll
        for (int t = 0; t < T; t++)
            top = fmaxf(top, s[r][t]);
        top = max_of_lanes<SIDE>(top);
        const float shrink = ex2_approx_ftz((rows.top[r] - top) * scale);
        rows.top[r] = top;
        rows.sum[r] *= shrink;
#pragma unroll
        for (int t = 0; t < T; t++) {
            s[r][t] = ex2_approx_ftz((s[r][t] - top) * scale);
            rows.sum[r] += s[r][t];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            rows.o[r][i] *= shrink;
    }
}

/* ROWS rows of q stay in shared memory, blocks of TOKENS tokens of k and v come by; scores and weights never leave the
 * SM. A weight goes through shared memory from the thread that has its token to the 16 that have its row, all in one
 * warp. */
template <int ROWS, int TOKENS> static __device__ __forceinline__ void attend(const struct attention &p) {
    extern __shared__ __align__(16) float smem[];
    float *const q = smem, *const k = q + ROWS * HEAD, *const v = k + TOKENS * K_PITCH, *const w = v + TOKENS * HEAD;
    const struct head h = head_of(p, blockIdx.z);
    const struct place at = place_of();
    const int row = blockIdx.x * ROWS;
    struct rows<ROWS / SIDE> rows;
#pragma unroll
    for (int r = 0; r < ROWS / SIDE; r++) {
        rows.top[r] = -GM_INFINITY;
        rows.sum[r] = rows.o[r][0] = rows.o[r][1] = rows.o[r][2] = rows.o[r][3] = 0;
    }
    load_tile<ROWS, HEAD>(q, h.q + row * HEAD);
    for (int first = 0; first < p.tokens; first += TOKENS) {
        float s[ROWS / SIDE][TOKENS / SIDE] = {{0}};
        load_tile<TOKENS, K_PITCH>(k, h.k + first * HEAD);
        load_tile<TOKENS, HEAD>(v, h.v + first * HEAD);
        __syncthreads();
        multiply_keys(s, q, k);
        soften(s, rows, p.scale * LOG2_E);
#pragma unroll
        for (int r = 0; r < ROWS / SIDE; r++)
#pragma unroll
            for (int t = 0; t < TOKENS / SIDE; t++)
                w[(at.y + SIDE * r) * ATTENTION_W_PITCH(TOKENS) + at.x + SIDE * t] = s[r][t];
        __syncwarp();
        multiply_values<TOKENS>(rows.o, w, v);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS / SIDE; r++) {
        const float factor = 1 / sum_of_lanes<SIDE>(rows.sum[r]), *const o = rows.o[r];
        store_four(&h.out[(row + at.y + SIDE * r) * HEAD + 4 * at.x], o[0] * factor, o[1] * factor, o[2] * factor,
                   o[3] * factor);
    }
}

/* As many CTAs an SM as its 227 KB of shared memory hold: 3, 2, 1. */
extern "C" __global__ void __launch_bounds__(THREADS, 3) lab_attention_online_64x64(const struct attention p) {
    attend<64, 64>(p);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) lab_attention_online_128x64(const struct attention p) {
    attend<128, 64>(p);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) lab_attention_online_128x128(const struct attention p) {
    attend<128, 128>(p);
}
