/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: partial sums from CTA to CTA through global memory, in the order of registers. stream_k.h says whose.
 *
 * A flag says "the slot is full" by holding the plan's `ready`, a random 64-bit number, and anything else by any other
 * value. So nobody has to clear the workspace first; the taker clears the flag, and with it the next launch starts. */
#ifndef GM_STREAM_K_CUH
#define GM_STREAM_K_CUH

#include "common/global.cuh"
#include "common/gemm/stream_k.h"

/* Threads that hold a tile's accumulators, or a part of them: each gang of a share has a slot of its own. */
struct stream_k_gang {
    int slots, number; /* gangs of a share, and which this one is */
    int thread;        /* of the gang */
};

/* This thread's first 16 bytes of a slot. Threads lie side by side, so that a warp's accesses are one contiguous
 * stretch. */
template <int THREADS, int FLOATS>
static __device__ __forceinline__ uint64_t stream_k_slot(const struct gm_stream_k &s, struct stream_k_gang gang,
                                                         int share) {
    return s.workspace + (uint64_t)(share * gang.slots + gang.number) * (THREADS * FLOATS * 4) + gang.thread * 16;
}

template <int THREADS, int FLOATS>
static __device__ __forceinline__ uint64_t stream_k_flag(const struct gm_stream_k &s, struct stream_k_gang gang,
                                                         int share) {
    return s.workspace + (uint64_t)(s.shares * gang.slots) * (THREADS * FLOATS * 4) +
           (uint64_t)(share * gang.slots + gang.number) * GM_STREAM_K_FLAG_BYTES;
}

/* Whether a share has any k-blocks, and with them something to give. */
static __device__ __forceinline__ bool stream_k_has(const struct gm_stream_k &s, int tile_blocks, int share) {
    return gm_stream_k_cut(&s, tile_blocks, share) < gm_stream_k_cut(&s, tile_blocks, share + 1);
}

/* Until the slot behind the flag is full. */
static __device__ __forceinline__ void stream_k_wait(const struct gm_stream_k &s, uint64_t flag) {
    while (ld_acquire_gpu_b64(flag) != s.ready) {
    }
}

/* Leaves the accumulators in a slot of this share. sync(), a barrier of the gang, puts every thread's stores before the
 * release. */
template <int THREADS, int FLOATS, class SYNC>
static __device__ __forceinline__ void stream_k_give(const struct gm_stream_k &s, struct stream_k_gang gang, int share,
                                                     const float *acc, SYNC sync) {
    const uint64_t slot = stream_k_slot<THREADS, FLOATS>(s, gang, share);
#pragma unroll
    for (int i = 0; i < FLOATS; i += 4) {
        const uint32_t words[4] = {__float_as_uint(acc[i]), __float_as_uint(acc[i + 1]), __float_as_uint(acc[i + 2]),
                                   __float_as_uint(acc[i + 3])};
        st_global_v4_b32(slot + i * THREADS * 4, words);
    }
    sync();
    if (gang.thread == 0) {
        st_release_gpu_b64(stream_k_flag<THREADS, FLOATS>(s, gang, share), s.ready);
    }
}

/* At most BAND floats: `count` is known when the loops are unrolled. */
template <int THREADS, int BAND>
static __device__ __forceinline__ void stream_k_add(uint64_t address, float *acc, int count) {
    uint32_t words[BAND];
#pragma unroll
    for (int i = 0; i < BAND; i += 4) {
        if (i < count) {
            ld_global_cg_v4_b32(address + i * THREADS * 4, words + i);
        }
    }
#pragma unroll
    for (int i = 0; i < BAND; i++) {
        if (i < count) {
            acc[i] += __uint_as_float(words[i]);
        }
    }
}

/* Adds what the shares before this one have of its tile, nearest first. Thread t waits for giver t; the barrier hands
 * on what it has acquired. BAND floats at once, as many loads as registers are free for; the last band may be shorter.
 */
template <int THREADS, int FLOATS, int BAND, class SYNC>
static __device__ __forceinline__ void stream_k_take(const struct gm_stream_k &s, struct stream_k_gang gang, int share,
                                                     int tile_blocks, float *acc, SYNC sync) {
    const int givers = gm_stream_k_givers(&s, tile_blocks, share);
    for (int i = gang.thread; i < givers; i += THREADS) {
        const int giver = share - 1 - i;
        if (stream_k_has(s, tile_blocks, giver)) {
            const uint64_t flag = stream_k_flag<THREADS, FLOATS>(s, gang, giver);
            stream_k_wait(s, flag);
            st_global_b64(flag, 0);
        }
    }
    sync();
#pragma unroll 1
    for (int giver = share - 1; giver >= share - givers; giver--) {
        if (!stream_k_has(s, tile_blocks, giver)) {
            continue;
        }
        const uint64_t slot = stream_k_slot<THREADS, FLOATS>(s, gang, giver);
#pragma unroll 1
        for (int band = 0; band < FLOATS; band += BAND) {
#pragma unroll
            for (int i = 0; i < FLOATS; i += BAND) {
                if (i == band) {
                    stream_k_add<THREADS, BAND>(slot + i * THREADS * 4, acc + i, FLOATS - i);
                }
            }
        }
    }
}

#endif
