/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K, piece_finish(): a consumer with a part of a tile's K hands it on, or adds what others have. */
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
    BAND = GM_SM90_PARTIAL_CHUNK(TILE_M, TILE_N, ROLES),
    BANDS = GM_CEIL_DIV(FLOATS, BAND), /* of a partial sum */
    BAND_BYTES = 128 * BAND * 4,
    LAST_BAND_BYTES = 128 * (FLOATS - (BANDS - 1) * BAND) * 4,
    RING_BANDS = GM_MIN(RING_PART_BYTES / BAND_BYTES, 32), /* that arrive at once: a lane fetches each */
    STAGING_BANDS = GM_SM90_STORE_BUFFERS * BUFFER_BYTES / BAND_BYTES,
};
static_assert(BAND % 4 == 0 && STAGING_BANDS >= 1, "a band is made of 16 bytes a thread, and fits the staging of D");

/* Band `unit` of what the givers have, in the order in which it is added: nearest giver first, band by band. */
struct band {
    int giver, number;
};
static __device__ __forceinline__ struct band band_of(int unit) {
    return {cluster_index() - 1 - unit / BANDS, unit % BANDS};
}

/* By one warp: bands, one a lane, on their way to shared memory as soon as their givers have them. The lanes read the
 * same flags, so they are cleared when all have. */
static __device__ __forceinline__ void bands_fetch(const struct gm_stream_k &s, struct stream_k_gang gang,
                                                   struct band band, bool any, uint32_t dst, uint32_t bar) {
    const uint64_t flag = stream_k_flag<128, FLOATS>(s, gang, band.giver);
    if (any)
        stream_k_wait(s, flag);
    __syncwarp();
    if (any) {
        const bool last = band.number == BANDS - 1;
        const uint32_t bytes = last ? LAST_BAND_BYTES : BAND_BYTES;
        if (last)
            st_global_b64(flag, 0);
        fence_proxy_async_global();
        mbarrier_expect_tx(bar, bytes);
        bulk_load(dst,
                  stream_k_slot<128, FLOATS>(s, {gang.slots, gang.number, 0}, band.giver) + band.number * BAND_BYTES,
                  bytes, bar);
    }
    __syncwarp();
    if (gang.thread == 0)
        mbarrier_arrive(bar);
}

/* Adds a band, which lies in shared memory as in the workspace. */
static __device__ __forceinline__ void band_add(float *acc, int number, uint32_t thread_addr) {
#pragma unroll
    for (int b = 0; b < BANDS; ++b)
        if (b == number)
#pragma unroll
            for (int i = b * BAND; i < GM_MIN(FLOATS, (b + 1) * BAND); i += 4) {
                float x, y, z, w;
                ld_shared_v4(thread_addr + (i - b * BAND) * 512, x, y, z, w);
                acc[i] += x, acc[i + 1] += y, acc[i + 2] += z, acc[i + 3] += w;
            }
}

/* Adds what the shares before this one have of its tile, nearest first, through shared memory: the ring where it is
 * drained, so that all partial sums are on their way at once, and where not, the staging of D. A CTA takes but once, so
 * its barrier is in its first phase. */
static __device__ __forceinline__ void bands_take(const struct gm_gemm_sm90_params &p, uint32_t base, float *acc,
                                                  struct stream_k_gang gang, bool drained,
                                                  const struct store_context &store) {
    const int units = gm_stream_k_givers(&p.stream_k, p.k_blocks, cluster_index()) * BANDS;
    const int consumer = store.bar - BAR_STAGING, lane = store.thread % 32, room = drained ? RING_BANDS : STAGING_BANDS;
    const uint32_t room_addr = drained ? ring_part_addr(base, consumer) : store.staging_addr;
    const uint32_t bar = taken_addr(base, consumer % TILE_CONSUMERS);
    uint32_t parity = 0;
    if (!drained) { /* staging is free again: of TMA's reads, and of this thread's writes */
        if (store_issues(store.thread))
            bulk_wait_group_read<0>();
        fence_proxy_async();
    }
    bar_sync(TILE_CONSUMERS > 1 ? BAR_ORDER : store.bar, 128 * TILE_CONSUMERS);
#pragma unroll 1
    for (int first = 0; first < units; first += room, parity ^= 1) {
        const struct band band = band_of(first + lane);
        const bool any = lane < room && first + lane < units && stream_k_has(p.stream_k, p.k_blocks, band.giver);
        uint32_t arriving = __ballot_sync(0xFFFFFFFF, any);
        if (store.thread < 32)
            bands_fetch(p.stream_k, gang, band, any, room_addr + lane * BAND_BYTES, bar);
        mbarrier_wait(bar, parity);
#pragma unroll 1
        for (; arriving; arriving &= arriving - 1) {
            const int at = __ffs(arriving) - 1;
            band_add(acc, band_of(first + at).number, room_addr + at * BAND_BYTES + store.thread * 16);
        }
        fence_proxy_async();      /* what I read, the next bands overwrite */
        bar_sync(store.bar, 128); /* before they come, or D is staged there */
    }
}

/* True: the accumulators are the whole sum of a tile now. False: they were a part, and have been given away. */
static __device__ __forceinline__ bool piece_finish(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                    float (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position tile,
                                                    struct gm_piece piece, uint32_t rank, int row0,
                                                    const struct store_context &store) {
    const int consumer = (store.bar - BAR_STAGING) % TILE_CONSUMERS;
    const struct stream_k_gang gang = {SHARERS * TILE_CONSUMERS, (int)rank * TILE_CONSUMERS + consumer,
                                       (int)store.thread};
    if (piece.end < p.k_blocks) {
        clear_outside(p.epilogue, acc, tile, row0, store.thread);
        stream_k_give<128, FLOATS>(p.stream_k, gang, cluster_index(), &acc[0][0], [&] { bar_sync(store.bar, 128); });
        return false;
    }
    if (piece.first > 0)
        bands_take(p, base, &acc[0][0], gang, ring_drained(piece, cluster_index() >= p.stream_k.whole), store);
    return true;
}

#endif
