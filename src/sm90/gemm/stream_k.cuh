/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K, publish_or_collect(): a consumer that has computed some of a tile's K publishes its partial sum, or
 * collects the partial sums of others. */
#ifndef GM_SM90_GEMM_STREAM_K_CUH
#define GM_SM90_GEMM_STREAM_K_CUH

#include "common/gemm/stream_k.cuh"
#include "common/gemm/stream_k.h"
#include "common/gemm_sm90/params.h"
#include "common/global.cuh"
#include "common/named_barrier.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/store.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/tma.cuh"

enum {
    PARTIAL_CHUNK = GM_SM90_PARTIAL_CHUNK(TILE_M, TILE_N, ROLES), /* accumulators of a thread */
    PARTIAL_CHUNKS = GM_CEIL_DIV(FLOATS, PARTIAL_CHUNK),          /* of a partial sum */
    PARTIAL_CHUNK_BYTES = 128 * PARTIAL_CHUNK * 4,
    LAST_PARTIAL_CHUNK_BYTES = 128 * (FLOATS - (PARTIAL_CHUNKS - 1) * PARTIAL_CHUNK) * 4,
    RING_PARTIAL_CHUNKS = GM_MIN(RING_PART_BYTES / PARTIAL_CHUNK_BYTES, 32), /* at once: a lane fetches each */
    STAGING_PARTIAL_CHUNKS = GM_SM90_STORE_BUFFERS * BUFFER_BYTES / PARTIAL_CHUNK_BYTES,
};
static_assert(PARTIAL_CHUNK % 4 == 0 && STAGING_PARTIAL_CHUNKS >= 1,
              "a chunk is made of 16 bytes a thread, and fits the staging of D");

/* A chunk of a partial sum. Chunks are added in the order of `unit`: nearest publisher first, chunk by chunk. */
struct partial_chunk {
    int publisher, number; /* a CTA or cluster; number of the chunk in its partial sum */
};
static __device__ __forceinline__ struct partial_chunk partial_chunk_at(int unit) {
    return {cluster_index() - 1 - unit / PARTIAL_CHUNKS, unit % PARTIAL_CHUNKS};
}

/* One warp fetches chunks, one a lane, into shared memory, each as soon as its publisher has set the flag. Several
 * lanes may read the same flag, so flags are cleared after all lanes have read theirs. */
static __device__ __forceinline__ void fetch_partial_chunks(const struct gm_stream_k &s,
                                                            struct stream_k_threads threads, struct partial_chunk chunk,
                                                            bool any, uint32_t dst, uint32_t bar) {
    const uint64_t flag = stream_k_flag<128, FLOATS>(s, threads, chunk.publisher);
    if (any)
        stream_k_wait(s, flag);
    __syncwarp();
    if (any) {
        const bool last = chunk.number == PARTIAL_CHUNKS - 1;
        const uint32_t bytes = last ? LAST_PARTIAL_CHUNK_BYTES : PARTIAL_CHUNK_BYTES;
        if (last)
            st_global_b64(flag, 0);
        fence_proxy_async_global();
        mbarrier_expect_tx(bar, bytes);
        bulk_load(dst,
                  stream_k_slot<128, FLOATS>(s, {threads.slots, threads.number, 0}, chunk.publisher) +
                      chunk.number * PARTIAL_CHUNK_BYTES,
                  bytes, bar);
    }
    __syncwarp();
    if (threads.thread == 0)
        mbarrier_arrive(bar);
}

/* Adds a chunk that has arrived in shared memory, in the layout of the workspace. */
static __device__ __forceinline__ void add_partial_chunk(sum_t *acc, int number, uint32_t thread_addr) {
#pragma unroll
    for (int b = 0; b < PARTIAL_CHUNKS; ++b)
        if (b == number)
#pragma unroll
            for (int i = b * PARTIAL_CHUNK; i < GM_MIN(FLOATS, (b + 1) * PARTIAL_CHUNK); i += 4) {
                float x, y, z, w;
                ld_shared_v4(thread_addr + (i - b * PARTIAL_CHUNK) * 512, x, y, z, w);
                sum_add(acc[i], x), sum_add(acc[i + 1], y), sum_add(acc[i + 2], z), sum_add(acc[i + 3], w);
            }
}

/* Adds the partial sums that the shares before this one have published of its tile, nearest first. They come through
 * the ring where it is drained, so that all of them are in flight at once, else through the staging of D. A CTA
 * collects only once, so its barrier is in its first phase. */
static __device__ __forceinline__ void collect_partials(const struct gm_gemm_sm90_params &p, uint32_t base, sum_t *acc,
                                                        struct stream_k_threads threads, bool drained,
                                                        const struct store_context &store) {
    const int units = gm_stream_k_partials(&p.stream_k, p.k_blocks, cluster_index()) * PARTIAL_CHUNKS;
    const int consumer = store.bar - BAR_STAGING, lane = store.thread % 32;
    const int room = drained ? RING_PARTIAL_CHUNKS : STAGING_PARTIAL_CHUNKS;
    const uint32_t room_addr = drained ? ring_part_addr(base, consumer) : store.staging_addr;
    const uint32_t bar = partials_barrier_addr(base, consumer % TILE_CONSUMERS);
    uint32_t parity = 0;
    if (!drained) { /* TMA has read the staging of D, and this thread's writes to it are ordered before the copies */
        if (store_issues(store.thread))
            bulk_wait_group_read<0>();
        fence_proxy_async();
    }
    bar_sync(TILE_CONSUMERS > 1 ? BAR_ORDER : store.bar, 128 * TILE_CONSUMERS);
#pragma unroll 1
    for (int first = 0; first < units; first += room, parity ^= 1) {
        const struct partial_chunk chunk = partial_chunk_at(first + lane);
        const bool any =
            lane < room && first + lane < units && stream_k_has_work(p.stream_k, p.k_blocks, chunk.publisher);
        uint32_t arriving = __ballot_sync(0xFFFFFFFF, any);
        if (store.thread < 32)
            fetch_partial_chunks(p.stream_k, threads, chunk, any, room_addr + lane * PARTIAL_CHUNK_BYTES, bar);
        mbarrier_wait(bar, parity);
#pragma unroll 1
        for (; arriving; arriving &= arriving - 1) {
            const int at = __ffs(arriving) - 1;
            add_partial_chunk(acc, partial_chunk_at(first + at).number,
                              room_addr + at * PARTIAL_CHUNK_BYTES + store.thread * 16);
        }
        fence_proxy_async();      /* what I read, the next chunks overwrite */
        bar_sync(store.bar, 128); /* before they come, or D is staged there */
    }
}

/* True: the accumulators are the whole sum of a tile now. False: they were a partial sum, which has been published. */
static __device__ __forceinline__ bool publish_or_collect(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                          sum_t (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                          struct tile_position tile, struct gm_piece piece,
                                                          uint32_t rank, int row0, const struct store_context &store) {
    const int consumer = (store.bar - BAR_STAGING) % TILE_CONSUMERS;
    const struct stream_k_threads threads = {SHARERS * TILE_CONSUMERS, (int)rank * TILE_CONSUMERS + consumer,
                                             (int)store.thread};
    if (piece.end < p.k_blocks) {
        clear_outside(p.epilogue, acc, tile, row0, store.thread);
        stream_k_publish<128, FLOATS>(p.stream_k, threads, cluster_index(), &acc[0][0],
                                      [&] { bar_sync(store.bar, 128); });
        return false;
    }
    if (piece.first > 0)
        collect_partials(p, base, &acc[0][0], threads, ring_drained(piece, cluster_index() >= p.stream_k.whole), store);
    return true;
}

#endif
