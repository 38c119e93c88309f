/* SPDX-License-Identifier: Apache-2.0 */
/* What a reduction has found among some elements, put together with what it has found among others, and stored as a result.
 * PLACE: where the largest is; else p.keeps says what is kept. */
#ifndef GM_SM80_REDUCE_TOTAL_CUH
#define GM_SM80_REDUCE_TOTAL_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/reduce/params.h"
#include "common/special.cuh"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS, /* chunks of a thread that are under way at once, */
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),     /* 32-bit registers of a chunk */
    WARPS = THREADS / 32,
    /* On an SM. Before CUDA 13, ptxas spills at 64 registers. */
    CTAS = THREADS == 256 && __CUDACC_VER_MAJOR__ < 13 ? 3 : GM_REDUCE_CTAS(THREADS),
};
#define AT_ONCE(place) ((place) && VECTORS > 4 ? 4 : VECTORS) /* or four, where registers keep places too */
static_assert(VECTOR_BYTES == 16 || VECTOR_BYTES == ELEM_BYTES, "chunks of 16 bytes, or of one element");
static_assert((THREADS & (THREADS - 1)) == 0 && WARPS <= 32, "one warp puts together what the warps have found");

#define NOWHERE 0x7fffffffffffffffll /* the index of no element: behind all others */
#define NO_ROW  0x7fffffff           /* the same of a row */

/* ---- totals ---------------------------------------------------------------------------------------- */

struct total {
    float value;
    int64_t at; /* index of the element, if PLACE */
};

/* Whether the largest is kept, or where it is. Else it is a sum. */
static __device__ __forceinline__ bool keeps_largest(const struct gm_reduce_params &p) {
    return p.keeps >= REDUCE_LARGEST;
}

static __device__ __forceinline__ struct total nothing_found(const struct gm_reduce_params &p) {
    return {keeps_largest(p) ? -GM_INFINITY : 0.0f, NOWHERE};
}

/* Whether x is larger than y, NaN being the largest. */
static __device__ __forceinline__ bool is_larger(float x, float y) {
    return !(x <= y) && y == y;
}

static __device__ __forceinline__ float together(const struct gm_reduce_params &p, float a, float b) {
    return keeps_largest(p) ? max_nan(a, b) : a + b;
}

template <bool PLACE>
static __device__ __forceinline__ struct total together(const struct gm_reduce_params &p, const struct total &a,
                                                        const struct total &b) {
    if (!PLACE)
        return {together(p, a.value, b.value), NOWHERE};
    const bool is_b = is_larger(b.value, a.value) || (!is_larger(a.value, b.value) && b.at < a.at);
    return {is_b ? b.value : a.value, is_b ? b.at : a.at};
}

/* Over the lanes that differ in the bits below `lanes`; all get the same. */
template <bool PLACE>
static __device__ __forceinline__ struct total total_of_lanes(const struct gm_reduce_params &p, struct total t,
                                                              int lanes) {
#pragma unroll 1
    for (int bit = lanes / 2; bit > 0; bit /= 2) {
        struct total other = {__shfl_xor_sync(0xffffffff, t.value, bit), NOWHERE};
        if (PLACE) {
            const uint32_t low = __shfl_xor_sync(0xffffffff, (uint32_t)t.at, bit);
            const uint32_t high = __shfl_xor_sync(0xffffffff, (uint32_t)(t.at >> 32), bit);
            other.at = (int64_t)((uint64_t)high << 32 | low);
        }
        t = together<PLACE>(p, t, other);
    }
    return t;
}

/* Over each group of neighbouring threads, a power of 2; all of it get the same. `turn` alternates from call to call, so
 * that nobody still reads what a warp writes. */
template <bool PLACE>
static __device__ __forceinline__ struct total total_of_group(const struct gm_reduce_params &p, struct total t,
                                                              int group, int &turn) {
    __shared__ struct total of_warp[2][WARPS];
    t = total_of_lanes<PLACE>(p, t, min(group, 32));
    if (group <= 32)
        return t;
    const int warp = thread_index() / 32, lane = thread_index() % 32, warps = group / 32;
    if (lane == 0)
        of_warp[turn][warp] = t;
    __syncthreads();
    t = of_warp[turn][(warp & -warps) + (lane & (warps - 1))];
    turn ^= 1;
    return total_of_lanes<PLACE>(p, t, warps);
}

/* What an element of a sum is multiplied by. */
static __device__ __forceinline__ float factor_of(const struct gm_reduce_params &p, float element) {
    return p.keeps == REDUCE_SQUARES ? element : 1.0f;
}

/* ---- results --------------------------------------------------------------------------------------- */

static __device__ __forceinline__ float finished(const struct gm_reduce_params &p, float value, float count) {
    if (p.finish == REDUCE_MEAN)
        return value / count;
    return p.finish == REDUCE_ROOT ? sqrtf(value) : value * p.sign;
}

/* `count`: elements that it was made of. */
template <bool PLACE>
static __device__ __forceinline__ void store_result(const struct gm_reduce_params &p, int64_t index,
                                                    const struct total &t, int64_t count) {
    if (PLACE) {
        const int64_t at = t.at == NOWHERE ? -1 : t.at;
        if (p.stored_as == REDUCE_TO_INT64)
            st_global_b64(p.out + index * 8, (uint64_t)at);
        else
            st_global_b32(p.out + index * 4, (uint32_t)at);
        return;
    }
    const float value[1] = {finished(p, t.value, (float)count)};
    uint32_t word[1] = {__float_as_uint(value[0])};
    if (p.stored_as == REDUCE_TO_FP32) {
        st_global_b32(p.out + index * 4, word[0]);
        return;
    }
    pack<TYPE, 1>(value, word);
    store<TYPE, 1>(p.out + index * ELEM_BYTES, word);
}

#endif
