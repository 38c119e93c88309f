/* SPDX-License-Identifier: Apache-2.0 */
/* GEMV: D = act(alpha * A B + beta * C + bias) for a few rows of A, bound by memory bandwidth. Compiled once per
 * variant; gemv.cu of each architecture is the entry.
 *
 * A warp takes ROWS rows of B (weights, K-major) and streams them through its registers, every lane STAGES steps ahead.
 * So every SM has enough bytes in flight, from its first clocks to its last, to hide the latency; B, which is used
 * once, needs no shared memory. A is small; L1 has it after the first warp. Products are summed in fp32, by each lane
 * over its part of K, then over the lanes, then over the WARPS_K warps that share the rows. This order depends on the
 * variant and the width of the loads alone, so every run gives the same bits.
 *
 * Any size (K = 0 too), stride and element alignment. No byte outside the operands' logical rows is read, none outside
 * D's is written. Tiles along M read B again, from L2 if that is large enough. */
#ifndef GM_SM80_GEMV_CUH
#define GM_SM80_GEMV_CUH

#include "common/convert.cuh"
#include "common/gemm/epilogue.cuh"
#include "common/gemm_sm80/params.h"
#include "common/global.cuh"
#include "common/index.cuh"
#include "common/gemm/raster.cuh"
#include "common/gemv/tile.h"
#include "common/types.h"
#include "sm80/stream_load.cuh"

/* ---- columns and what follows from them ------------------------------------------------------------ */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    STAGES = GM_STAGES,   /* steps that a lane's loads are ahead */
    WARPS_K = GM_WARPS_K, /* warps that share the K of the same rows, step by step in turns */
    WARPS_N = GM_WARPS_N,
    THREADS = GM_GEMV_THREADS(WARPS_K, WARPS_N),
    ROWS = TILE_N / WARPS_N,             /* rows of B of a warp */
    SUMS = TILE_M * ROWS,                /* sums of a warp, each a part of an element of D */
    LANES = 32 / SUMS,                   /* lanes that hold the same sum once the warp has added up */
    CTAS = GM_GEMV_SM_THREADS / THREADS, /* on an SM */
};
static_assert(TILE_N % WARPS_N == 0 && SUMS <= 32 && (SUMS & (SUMS - 1)) == 0, "warp_reduce halves the sums");
static_assert(GM_TILE_K == 256 * WARPS_K, "tile_k is a step of all warps");
static_assert(GM_GEMV_SM_THREADS % THREADS == 0, "CTAs that fill an SM");

/* Sums of the warps that share K, [WARPS_N][SUMS][WARPS_K]. */
extern __shared__ float partial_sums[];

/* A warp's step along K, where pointers and strides allow loads of V elements. A lane's step is 4 registers, filled by
 * LOADS loads; each load reads 32 V neighbouring elements through the warp. */
template <int V> struct k_step {
    enum {
        LOADS = V == 8   ? 1
                : V == 4 ? 2
                         : 4,
        WORDS = 4 / LOADS,
        APART = 32 * V,         /* elements between a lane's loads */
        WARP_K = LOADS * APART, /* of one warp's step */
        STEP = WARPS_K * WARP_K,
    };
};

/* ---- one step ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ void unpack(uint32_t packed, float &low, float &high) {
    if (TYPE == GM_TYPE_bf16)
        cvt_f32_bf16x2(packed, low, high);
    else
        cvt_f32_f16x2(packed, low, high);
}

/* Starts the loads of a step of the warp's rows. `left`: elements from this lane's first one to the end of K. */
template <int V>
static __device__ __forceinline__ void load_step(uint32_t (&weights)[ROWS][4], const uint64_t (&b)[ROWS], int offset,
                                                 int left, uint64_t policy) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int i = 0; i < k_step<V>::LOADS; ++i) {
            const int at = offset + i * k_step<V>::APART;
            stream_load<V>(weights[r] + i * k_step<V>::WORDS, b[r] + at * ELEM_BYTES, at < left, policy);
        }
}

/* Loads V neighbouring elements of a row of A, which the previous kernel may have written. */
template <int V> static __device__ __forceinline__ void load_a(uint32_t (&words)[k_step<V>::WORDS], uint64_t address) {
    if (V == 8)
        ld_global_v4_b32(address, words);
    else if (V == 4)
        ld_global_v2_b32(address, words);
    else
        words[0] = V == 2 ? ld_global_b32(address) : ld_global_b16(address);
}

/* sums += A of one load times the same elements of every row of B, which begin at weights[r][first]. */
template <int V>
static __device__ __forceinline__ void multiply(float (&sums)[SUMS], const uint32_t (&weights)[ROWS][4], int first,
                                                const uint64_t (&a)[TILE_M], int offset) {
    uint32_t words[TILE_M][k_step<V>::WORDS];
#pragma unroll
    for (int m = 0; m < TILE_M; ++m)
        load_a<V>(words[m], a[m] + offset * ELEM_BYTES);
#pragma unroll
    for (int i = 0; i < k_step<V>::WORDS; ++i) {
        float a_low[TILE_M], a_high[TILE_M], b_low, b_high;
#pragma unroll
        for (int m = 0; m < TILE_M; ++m)
            unpack(words[m][i], a_low[m], a_high[m]);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            unpack(weights[r][first + i], b_low, b_high);
#pragma unroll
            for (int m = 0; m < TILE_M; ++m) {
                float &sum = sums[m * ROWS + r];
                sum = fmaf(a_low[m], b_low, sum);
                sum = V == 1 ? sum : fmaf(a_high[m], b_high, sum);
            }
        }
    }
}

/* ---- one tile ------------------------------------------------------------------------------------------- */

/* This thread's warp: its turn along K, and its place in the tile. Computed anew at every call, to save registers. */
static __device__ __forceinline__ int warp_k_index(void) {
    return thread_index() / 32 % WARPS_K;
}
static __device__ __forceinline__ int warp_n_index(void) {
    return thread_index() / 32 / WARPS_K;
}

/* Addresses of a warp's rows. A row beyond the operand's last row is the last row again; its sums are not stored. */
struct warp_rows {
    uint64_t a[TILE_M], b[ROWS];
};

static __device__ __forceinline__ struct warp_rows rows_at(const struct gm_gemm_sm80_params &p, uint32_t m,
                                                           uint32_t n) {
    struct warp_rows rows;
#pragma unroll
    for (int i = 0; i < TILE_M; ++i)
        rows.a[i] = p.a + min(m + i, p.epilogue.m - 1u) * p.lda * ELEM_BYTES;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        rows.b[i] = p.b + min(n + i, p.epilogue.n - 1u) * p.ldb * ELEM_BYTES;
    return rows;
}

static __device__ __forceinline__ void advance(struct warp_rows &rows, int elements) {
#pragma unroll
    for (int m = 0; m < TILE_M; ++m)
        rows.a[m] += elements * ELEM_BYTES;
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        rows.b[r] += elements * ELEM_BYTES;
}

/* Multiplies the lane's one of the last elements of K, of which there are fewer than V. `rows` point at it. */
static __device__ __forceinline__ void multiply_rest(float (&sums)[SUMS], const struct warp_rows &rows) {
    uint32_t weights[ROWS][4] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        weights[r][0] = ld_global_b16(rows.b[r]);
    multiply<1>(sums, weights, 0, rows.a, 0);
}

/* Multiplies the warp's part of K of its rows. `ready` returns when the previous kernel has ended. If that kernel does
 * not write B (`early`), the first steps of B are loaded before; nothing else is. */
template <int V, typename READY>
static __device__ __forceinline__ void multiply_rows(float (&sums)[SUMS], struct warp_rows rows, int k, uint64_t policy,
                                                     bool early, READY ready) {
    using w = k_step<V>;
    const int ahead = thread_index() % 32 * V; /* elements that the lanes before this one take of a load */
    uint32_t weights[STAGES][ROWS][4] = {};
    advance(rows, warp_k_index() * w::WARP_K + ahead);
    int left = k - k % V - warp_k_index() * w::WARP_K; /* of the warp */
    if (!early)
        ready();
#pragma unroll
    for (int s = 0; s < STAGES; ++s)
        load_step<V>(weights[s], rows.b, s * w::STEP, left - ahead, policy);
    if (early)
        ready();
#pragma unroll 1
    for (; left > 0; left -= STAGES * w::STEP) {
#pragma unroll
        for (int s = 0; s < STAGES; ++s) {
#pragma unroll
            for (int i = 0; i < w::LOADS; ++i) {
                const int at = s * w::STEP + i * w::APART;
                if (at < left - ahead)
                    multiply<V>(sums, weights[s], i * w::WORDS, rows.a, at);
            }
            load_step<V>(weights[s], rows.b, (STAGES + s) * w::STEP, left - ahead, policy);
        }
        advance(rows, STAGES * w::STEP);
    }
    const int lane = thread_index() % 32;
    if (V > 1 && warp_k_index() == 0 && lane < k % V) {
        advance(rows, left - ahead + lane);
        multiply_rest(sums, rows);
    }
}

/* Adds up over the lanes. While a lane has several sums it sends half of them away, which takes few shuffles. The
 * result is sum number lane / LANES. */
static __device__ __forceinline__ float warp_reduce(float (&sums)[SUMS], int lane) {
    int bit = 16;
#pragma unroll
    for (int half = SUMS / 2; half > 0; half /= 2, bit /= 2)
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const bool upper = lane & bit;
            const float sent = upper ? sums[i] : sums[i + half];
            sums[i] = (upper ? sums[i + half] : sums[i]) + __shfl_xor_sync(0xffffffff, sent, bit);
        }
#pragma unroll
    for (; bit > 0; bit /= 2)
        sums[0] += __shfl_xor_sync(0xffffffff, sums[0], bit);
    return sums[0];
}

/* Stores one element of D, which epilogue.cuh sees as the last of its row. */
static __device__ __forceinline__ void store_one(const struct gm_epilogue_params &p, float sum, int row, int column) {
    struct gm_epilogue_params one = p;
    float v[8] = {sum};
    if (row < p.m && column < p.n) {
        one.n = column + 1;
        epilogue_apply8(one, v, row, column);
        epilogue_store8(one, v, row, column);
    }
}

/* Computes tile (m, n) of D. */
template <typename READY>
static __device__ __forceinline__ void gemv_tile(const struct gm_gemm_sm80_params &p, int m, int n, bool early,
                                                 READY ready) {
    const struct warp_rows rows = rows_at(p, m * TILE_M, n * TILE_N + warp_n_index() * ROWS);
    /* B is read once, unless there are more tiles along M: they come next, and read B from L2. */
    const uint64_t policy = p.raster.tiles_m == 1 ? l2_evict_first() : l2_evict_normal();
    const int vector = min(p.a_vector, p.b_vector);
    float sums[SUMS] = {};
    if (vector == 16)
        multiply_rows<8>(sums, rows, p.k, policy, early, ready);
    else if (vector == 8)
        multiply_rows<4>(sums, rows, p.k, policy, early, ready);
    else if (vector == 4)
        multiply_rows<2>(sums, rows, p.k, policy, early, ready);
    else
        multiply_rows<1>(sums, rows, p.k, policy, early, ready);
    const int lane = thread_index() % 32, index = lane / LANES, warp_k = warp_k_index(), warp_n = warp_n_index();
    float sum = warp_reduce(sums, lane);
    float *const parts = partial_sums + (warp_n * SUMS + index) * WARPS_K;
    if (WARPS_K > 1) {
        parts[warp_k] = sum; /* the LANES lanes that have it store the same */
        __syncthreads();
    }
    if (warp_k == 0 && lane % LANES == 0) {
#pragma unroll
        for (int i = 1; i < WARPS_K; ++i)
            sum += parts[i];
        store_one(p.epilogue, sum, m * TILE_M + index / ROWS, n * TILE_N + warp_n * ROWS + index % ROWS);
    }
}

/* Computes one tile a CTA: the hardware keeps all SMs busy. In a grid of fewer CTAs than tiles a CTA computes
 * several. */
template <typename READY>
static __device__ __forceinline__ void gemv(const struct gm_gemm_sm80_params &p, bool early, READY ready) {
    const int tiles = p.raster.tiles_m * p.raster.tiles_n;
#pragma unroll 1
    for (int tile = cta_index(); tile < tiles; tile += gridDim.x) {
        int m, n;
        raster_tile(p.raster, tile, &m, &n);
        gemv_tile(p, m, n, early, ready);
        if (WARPS_K > 1 && tile < tiles - (int)gridDim.x)
            __syncthreads(); /* partial_sums are read */
    }
}

#endif
