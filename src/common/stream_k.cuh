/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: partial sums from CTA to CTA through global memory, in the order of registers. stream_k.h says whose.
 *
 * A flag says "the slot is full" by holding the plan's `ready`, a random 64-bit number, and anything else by any other
 * value. So nobody has to clear the workspace first; the taker clears the flag, and with it the next launch starts. */
#ifndef GM_STREAM_K_CUH
#define GM_STREAM_K_CUH

#include "common/global.cuh"
#include "common/index.cuh"
#include "common/stream_k.h"

/* This thread's first 16 bytes of a slot. Threads lie side by side, so that a warp's accesses are one contiguous
 * stretch. */
template <int THREADS, int FLOATS>
static __device__ __forceinline__ uint64_t stream_k_slot(const struct gm_stream_k &s, int share) {
    return s.workspace + (uint64_t)share * (THREADS * FLOATS * 4) + thread_index() * 16;
}

template <int THREADS, int FLOATS>
static __device__ __forceinline__ uint64_t stream_k_flag(const struct gm_stream_k &s, int share) {
    return s.workspace + (uint64_t)s.shares * (THREADS * FLOATS * 4) + (uint64_t)share * GM_STREAM_K_FLAG_BYTES;
}

/* Leaves the accumulators in this share's slot. The barrier puts every thread's stores before the release. */
template <int THREADS, int FLOATS>
static __device__ __forceinline__ void stream_k_give(const struct gm_stream_k &s, const float *acc) {
    const int share = cta_index();
    const uint64_t slot = stream_k_slot<THREADS, FLOATS>(s, share);
#pragma unroll
    for (int i = 0; i < FLOATS; i += 4) {
        const uint32_t words[4] = {__float_as_uint(acc[i]), __float_as_uint(acc[i + 1]), __float_as_uint(acc[i + 2]),
                                   __float_as_uint(acc[i + 3])};
        st_global_v4_b32(slot + i * THREADS * 4, words);
    }
    __syncthreads();
    if (thread_index() == 0) {
        st_release_gpu_b64(stream_k_flag<THREADS, FLOATS>(s, share), s.ready);
    }
}

template <int THREADS, int FLOATS> static __device__ __forceinline__ void stream_k_add(uint64_t address, float *acc) {
    uint32_t words[FLOATS];
#pragma unroll
    for (int i = 0; i < FLOATS; i += 4) {
        ld_global_cg_v4_b32(address + i * THREADS * 4, words + i);
    }
#pragma unroll
    for (int i = 0; i < FLOATS; i++) {
        acc[i] += __uint_as_float(words[i]);
    }
}

/* Adds what the shares before this one have of its tile, nearest first. Thread t waits for giver t; the barrier hands
 * on what it has acquired. */
template <int THREADS, int FLOATS>
static __device__ __forceinline__ void stream_k_take(const struct gm_stream_k &s, int tile_blocks, float *acc) {
    enum { BAND = FLOATS < 32 ? FLOATS : 32 }; /* floats at once: as many loads as registers are free for */
    const int mine = cta_index(), givers = gm_stream_k_givers(&s, tile_blocks, mine);
    for (int i = thread_index(); i < givers; i += THREADS) {
        const int share = mine - 1 - i;
        if (gm_stream_k_cut(&s, tile_blocks, share) < gm_stream_k_cut(&s, tile_blocks, share + 1)) {
            const uint64_t flag = stream_k_flag<THREADS, FLOATS>(s, share);
            while (ld_acquire_gpu_b64(flag) != s.ready) {
            }
            st_global_b64(flag, 0);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int share = mine - 1; share >= mine - givers; share--) {
        if (gm_stream_k_cut(&s, tile_blocks, share) == gm_stream_k_cut(&s, tile_blocks, share + 1)) {
            continue;
        }
        const uint64_t slot = stream_k_slot<THREADS, FLOATS>(s, share);
#pragma unroll 1
        for (int band = 0; band < FLOATS; band += BAND) {
#pragma unroll
            for (int i = 0; i < FLOATS; i += BAND) {
                if (i == band) {
                    stream_k_add<THREADS, BAND>(slot + i * THREADS * 4, acc + i);
                }
            }
        }
    }
}

#endif
