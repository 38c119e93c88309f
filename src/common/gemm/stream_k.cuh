/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: partial sums pass from CTA to CTA through global memory, in the order of registers. stream_k.h says which.
 *
 * A flag that holds the plan's `ready`, a random 64-bit number, says "the slot is full"; any other value says that it
 * is not. So the workspace needs no clearing before the first launch. The CTA that collects clears the flag, for the
 * next launch. */
#ifndef GM_STREAM_K_CUH
#define GM_STREAM_K_CUH

#include "common/global.cuh"
#include "common/gemm/stream_k.h"
#include "common/gemm/sums.cuh"

/* A group of threads that holds a tile's accumulators, or a part of them. Each group of a share has its own slot. */
struct stream_k_threads {
    int slots, number; /* slots of a share; number of the group's slot */
    int thread;        /* this thread's number in the group */
};

/* The address of this thread's first 16 bytes in a slot. Threads lie side by side, so that accesses are coalesced. */
template <int THREADS, int FLOATS>
static __device__ __forceinline__ uint64_t stream_k_slot(const struct gm_stream_k &s, struct stream_k_threads threads,
                                                         int share) {
    return s.workspace + (uint64_t)(share * threads.slots + threads.number) * (THREADS * FLOATS * 4) +
           threads.thread * 16;
}

/* The address of a slot's flag. */
template <int THREADS, int FLOATS>
static __device__ __forceinline__ uint64_t stream_k_flag(const struct gm_stream_k &s, struct stream_k_threads threads,
                                                         int share) {
    return s.workspace + (uint64_t)(s.shares * threads.slots) * (THREADS * FLOATS * 4) +
           (uint64_t)(share * threads.slots + threads.number) * GM_STREAM_K_FLAG_BYTES;
}

/* Whether a share has any k-blocks, and so a partial sum to publish. */
static __device__ __forceinline__ bool stream_k_has_work(const struct gm_stream_k &s, int tile_blocks, int share) {
    return gm_stream_k_cut(&s, tile_blocks, share) < gm_stream_k_cut(&s, tile_blocks, share + 1);
}

/* Waits until the flag's slot is full. */
static __device__ __forceinline__ void stream_k_wait(const struct gm_stream_k &s, uint64_t flag) {
    while (ld_acquire_gpu_b64(flag) != s.ready) {
    }
}

/* Writes the accumulators to a slot of this share and sets its flag. sync() is a barrier of the group; it orders every
 * thread's stores before the release. */
template <int THREADS, int FLOATS, class SUM, class SYNC>
static __device__ __forceinline__ void stream_k_publish(const struct gm_stream_k &s, struct stream_k_threads threads,
                                                        int share, const SUM *acc, SYNC sync) {
    const uint64_t slot = stream_k_slot<THREADS, FLOATS>(s, threads, share);
#pragma unroll
    for (int i = 0; i < FLOATS; i += 4) {
        const uint32_t words[4] = {sum_bits(acc[i]), sum_bits(acc[i + 1]), sum_bits(acc[i + 2]), sum_bits(acc[i + 3])};
        st_global_v4_b32(slot + i * THREADS * 4, words);
    }
    sync();
    if (threads.thread == 0)
        st_release_gpu_b64(stream_k_flag<THREADS, FLOATS>(s, threads, share), s.ready);
}

/* Adds a chunk of at most CHUNK sums from global memory. `count` is known when the loops are unrolled. */
template <int THREADS, int CHUNK, class SUM>
static __device__ __forceinline__ void stream_k_add(uint64_t address, SUM *acc, int count) {
    uint32_t words[CHUNK];
#pragma unroll
    for (int i = 0; i < CHUNK; i += 4)
        if (i < count)
            ld_global_cg_v4_b32(address + i * THREADS * 4, words + i);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        if (i < count)
            sum_add(acc[i], __uint_as_float(words[i]));
}

/* Adds the partial sums that the shares before this one have published of its tile, nearest first. Thread t waits for
 * publisher t; the barrier passes on what it has acquired. A chunk of CHUNK floats is loaded at once, as many as
 * registers are free for; the last chunk may be shorter. */
template <int THREADS, int FLOATS, int CHUNK, class SUM, class SYNC>
static __device__ __forceinline__ void stream_k_collect(const struct gm_stream_k &s, struct stream_k_threads threads,
                                                        int share, int tile_blocks, SUM *acc, SYNC sync) {
    const int publishers = gm_stream_k_partials(&s, tile_blocks, share);
    for (int i = threads.thread; i < publishers; i += THREADS) {
        const int publisher = share - 1 - i;
        if (stream_k_has_work(s, tile_blocks, publisher)) {
            const uint64_t flag = stream_k_flag<THREADS, FLOATS>(s, threads, publisher);
            stream_k_wait(s, flag);
            st_global_b64(flag, 0);
        }
    }
    sync();
#pragma unroll 1
    for (int publisher = share - 1; publisher >= share - publishers; --publisher) {
        if (!stream_k_has_work(s, tile_blocks, publisher))
            continue;
        const uint64_t slot = stream_k_slot<THREADS, FLOATS>(s, threads, publisher);
#pragma unroll 1
        for (int chunk = 0; chunk < FLOATS; chunk += CHUNK)
#pragma unroll
            for (int i = 0; i < FLOATS; i += CHUNK)
                if (i == chunk)
                    stream_k_add<THREADS, CHUNK>(slot + i * THREADS * 4, acc + i, FLOATS - i);
    }
}

#endif
