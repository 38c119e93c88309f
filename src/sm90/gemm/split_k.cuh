/* SPDX-License-Identifier: Apache-2.0 */
/* Split-K by reduce-scatter, for tiles that are cut into equal pieces (common/gemm/stream_k.h). Every piece publishes
 * its accumulators in the workspace. Then every piece of a tile collects its own part of all of them, adds them up, and
 * stores that part of D.
 *
 *                 part 0    part 1    part 2
 *   piece 0  acc | kept   | ~~~~~~ | ~~~~~~ |  -> its slot     A part is some fragments of wgmma m64n8: 8 columns of
 *   piece 1  acc | ~~~~~~ | kept   | ~~~~~~ |  -> its slot     the N side, four registers a thread. In a slot a
 *   piece 2  acc | ~~~~~~ | ~~~~~~ | kept   |  -> its slot     fragment is 2 KB: 16 bytes a thread, thread by thread.
 *                    |         |        |
 *                 piece 0   piece 1   piece 2   add, in the order of pieces: the same on every run
 *
 *   consumers    | slot, own part -> ring | published |                               | add, store |
 *   fetcher warp                          | published | flags, wait for the others'   | arrived    |
 *   TMA                                               | their parts -> ring ..........|
 *
 * The fetcher warp is a warp of the producer's warpgroup.
 *
 * Every pair of pieces has a flag: "the slot of `publisher` is full, for `reader`". The publisher exchanges the plan's
 * `ready` for what the flag held. A reader that has waited too long hands its part over to a publisher that is missing:
 * it puts ~ready into that publisher's flag. The publisher finds ~ready when it comes, and inherits the part. So no CTA
 * waits for ever, in whatever order CTAs are started. */
#ifndef GM_SM90_GEMM_SPLIT_K_CUH
#define GM_SM90_GEMM_SPLIT_K_CUH

#include "common/gemm/epilogue.cuh"
#include "common/gemm/scaling.cuh"
#include "common/gemm/stream_k.cuh"
#include "common/gemm/stream_k.h"
#include "common/gemm_sm90/params.h"
#include "common/global.cuh"
#include "common/named_barrier.cuh"
#include "sm90/cluster.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/store.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/tma.cuh"

enum {
    FRAGMENT_BYTES = 128 * 16,                    /* of m64n8, in fp32 */
    FRAGMENTS = FLOATS / 4,                       /* of a consumer's accumulators */
    FETCHER_AND_CONSUMERS = 32 + 128 * CONSUMERS, /* threads of the fetcher warp and of all consumers */
    MAX_POLLS = 1 << 10,                          /* of the flags, before a part is handed over: some 0.5 ms */
};
static_assert(!SPLIT_K || (FRAGMENTS + GM_SPLIT_K_MAX_PIECES - 1) * FRAGMENT_BYTES <= RING_PART_BYTES,
              "the drained ring holds a part of every piece");

/* Where a thread's accumulators of piece `publisher` lie in the workspace. */
static __device__ __forceinline__ uint64_t split_k_slot(const struct gm_stream_k &s, const struct split_k_piece &own,
                                                        int publisher, int consumer, int thread = 0) {
    const struct stream_k_threads threads = {SHARERS * CONSUMERS, own.rank * CONSUMERS + consumer, thread};
    return stream_k_slot<128, FLOATS>(s, threads, publisher * s.split_k_tiles + own.tile);
}

/* The flag "the slot of `publisher` is full, for `reader`". */
static __device__ __forceinline__ uint64_t split_k_flag(const struct gm_stream_k &s, const struct split_k_piece &own,
                                                        int publisher, int reader) {
    const uint64_t slots = (uint64_t)s.shares * SHARERS * CONSUMERS * (128 * FLOATS * 4);
    const int cta = (publisher * s.split_k_tiles + own.tile) * SHARERS + own.rank;
    return s.workspace + slots + (uint64_t)(cta * own.pieces + reader) * GM_STREAM_K_FLAG_BYTES;
}

/* The fragments that piece `reader` collects and stores. */
struct part {
    int first, fragments; /* number of the first one, and how many */
};
static __device__ __forceinline__ struct part part_of(const struct split_k_piece &own, int reader) {
    const int first = quotient(FRAGMENTS * reader, own.pieces);
    return {first, quotient(FRAGMENTS * (reader + 1), own.pieces) - first};
}

/* Where in the ring a consumer finds what piece `publisher` has of a part of so many fragments. */
static __device__ __forceinline__ uint32_t part_addr(uint32_t base, int consumer, int publisher, int fragments) {
    return ring_part_addr(base, consumer) + publisher * fragments * FRAGMENT_BYTES;
}

/* The mailbox of the fetcher warp to the consumers, two words in shared memory: the part that has arrived, or -1 for
 * none, and whether another part follows. */
static __device__ __forceinline__ uint32_t mailbox_addr(uint32_t base) {
    return partials_barrier_addr(base, CONSUMERS);
}

/* ---- consumers: publish -------------------------------------------------------------------------------- */

/* Writes a consumer's accumulators to where they are added: its own part to the ring, the others to the slot. Then it
 * tells the fetcher warp. */
static __device__ __forceinline__ void publish_piece(const struct gm_stream_k &s, uint32_t base, const sum_t *acc,
                                                     const struct split_k_piece &own, int consumer, int thread) {
    const struct part own_part = part_of(own, own.number);
    const int end = own_part.first + own_part.fragments;
    const uint64_t slot = split_k_slot(s, own, own.number, consumer, thread);
    const uint32_t own_addr =
        part_addr(base, consumer, own.number, own_part.fragments) - own_part.first * FRAGMENT_BYTES + thread * 16;
#pragma unroll
    for (int fragment = 0; fragment < FRAGMENTS; ++fragment) {
        const sum_t *x = acc + 4 * fragment;
        if (fragment < own_part.first || fragment >= end)
            st_global_v4_f32(slot + fragment * FRAGMENT_BYTES, sum_copied(x[0]), sum_copied(x[1]), sum_copied(x[2]),
                             sum_copied(x[3]));
    }
    if (CONSUMERS > 1) /* the other consumers have read the ring, too */
        bar_sync(BAR_ORDER, 128 * CONSUMERS);
#pragma unroll
    for (int fragment = 0; fragment < FRAGMENTS; ++fragment) {
        const sum_t *x = acc + 4 * fragment;
        if (fragment >= own_part.first && fragment < end)
            st_shared_v4(own_addr + fragment * FRAGMENT_BYTES, sum_copied(x[0]), sum_copied(x[1]), sum_copied(x[2]),
                         sum_copied(x[3]));
    }
    bar_arrive(BAR_PUBLISHED, FETCHER_AND_CONSUMERS);
}

/* ---- the fetcher warp: collect ------------------------------------------------------------------------- */

/* Polls the flags of all pieces for `reader`, one piece a lane. True: all slots are full, and the flags are cleared.
 * False: some slot is still not full after MAX_POLLS. */
static __device__ __forceinline__ bool poll_pieces(const struct gm_stream_k &s, const struct split_k_piece &own,
                                                   int reader, int lane) {
    const bool mine = lane < own.pieces;
    const uint64_t flag = split_k_flag(s, own, mine ? lane : 0, reader);
#pragma unroll 1
    for (int polls = MAX_POLLS; polls > 0; --polls) {
        const bool there = !mine || ld_acquire_gpu_b64(flag) == s.ready;
        if (__all_sync(0xFFFFFFFF, there)) {
            if (mine)
                st_global_b64(flag, 0);
            return true;
        }
    }
    return false;
}

/* Hands part `reader` over to a piece that is missing. Before, this CTA copies what it has of its own part from the
 * ring to its slot. False: no piece is missing any more. */
static __device__ __forceinline__ bool hand_over_part(const struct gm_stream_k &s, uint32_t base,
                                                      const struct split_k_piece &own, int reader, int lane) {
    const struct part part = part_of(own, reader);
#pragma unroll 1
    for (int consumer = 0; consumer < CONSUMERS && reader == own.number; ++consumer)
#pragma unroll 1
        for (int at = lane * 16; at < part.fragments * FRAGMENT_BYTES; at += 32 * 16) {
            uint32_t words[4];
            ld_shared_v4_b32(part_addr(base, consumer, own.number, part.fragments) + at, words);
            st_global_v4_b32(split_k_slot(s, own, own.number, consumer) + part.first * FRAGMENT_BYTES + at, words);
        }
    fence_proxy_async(); /* what consumers wrote to the ring, and I read there, copies may overwrite from now on */
    __syncwarp();
#pragma unroll 1
    for (int publisher = 0; publisher < own.pieces; ++publisher) {
        const uint64_t flag = split_k_flag(s, own, publisher, reader), seen = ld_acquire_gpu_b64(flag);
        const bool handed_over = lane == 0 && seen != s.ready && atom_cas_gpu_b64(flag, seen, ~s.ready) == seen;
        if (__any_sync(0xFFFFFFFF, handed_over))
            return true;
    }
    return false;
}

/* Waits until all pieces have published part `reader`. False: the part has been handed over to another piece. */
static __device__ __forceinline__ bool wait_for_part(const struct gm_stream_k &s, uint32_t base,
                                                     const struct split_k_piece &own, int reader, int lane) {
    while (!poll_pieces(s, own, reader, lane))
        if (hand_over_part(s, base, own, reader, lane))
            return false;
    return true;
}

/* Copies part `reader` of all pieces from the workspace into the ring, and posts it in the mailbox. What this CTA
 * has of its own part is in the ring already. Of part -1 nothing is copied. */
static __device__ __forceinline__ void fetch_part(const struct gm_stream_k &s, uint32_t base,
                                                  const struct split_k_piece &own, int reader, bool more, int lane) {
    const struct part part = part_of(own, reader);
    const bool is_own = reader == own.number;
    const uint32_t bar = partials_barrier_addr(base, 0), bytes = reader < 0 ? 0 : part.fragments * FRAGMENT_BYTES;
    fence_proxy_async_global();
    if (lane == 0) {
        st_shared_b32(mailbox_addr(base), reader);
        st_shared_b32(mailbox_addr(base) + 4, more);
        mbarrier_arrive_expect_tx(bar, (own.pieces - is_own) * CONSUMERS * bytes);
    }
    __syncwarp();
    if (lane >= own.pieces || (is_own && lane == own.number) || bytes == 0)
        return;
#pragma unroll 1
    for (int consumer = 0; consumer < CONSUMERS; ++consumer)
        bulk_load(part_addr(base, consumer, lane, part.fragments),
                  split_k_slot(s, own, lane, consumer) + part.first * FRAGMENT_BYTES, bytes, bar);
}

/* The fetcher warp. It sets the flags of this CTA's piece, then fetches this CTA's part of the tile, then the parts
 * that this CTA has inherited. It posts each of them in the mailbox, with whether another follows; where it promised
 * another and none came, it posts -1. */
static __device__ __forceinline__ void fetch_parts(const struct gm_stream_k &s) {
    const uint32_t base = smem_base(); /* anew: the producer has no registers to keep it in */
    const struct split_k_piece own = split_k_piece_of(s, CLUSTER_SIZE == 1 ? 0 : cluster_ctarank());
    const int lane = threadIdx.x % 32;
    bar_sync(BAR_PUBLISHED, FETCHER_AND_CONSUMERS);
    if (own.pieces == 1) { /* a tile that is not cut */
        fetch_part(s, base, own, 0, false, lane);
        return;
    }
    uint64_t was = 0;
    if (lane < own.pieces)
        was = atom_exch_release_gpu_b64(split_k_flag(s, own, own.number, lane), s.ready);
    bool arrived = wait_for_part(s, base, own, own.number, lane), posted = false;
    uint32_t inherited = __ballot_sync(0xFFFFFFFF, was == ~s.ready);
    if (inherited) /* sees what the pieces that handed their parts over have put into their slots */
        fence_acq_rel_gpu();
    for (int reader = own.number;; arrived = wait_for_part(s, base, own, reader, lane)) {
        if (arrived || !inherited) {
            if (posted)
                bar_sync(BAR_RING_FREE, FETCHER_AND_CONSUMERS);
            fetch_part(s, base, own, arrived ? reader : -1, inherited != 0, lane);
            posted = true;
        }
        if (!inherited)
            return;
        reader = __ffs(inherited) - 1;
        inherited &= inherited - 1;
    }
}

/* ---- consumers: add and store -------------------------------------------------------------------------- */

template <typename SUM> static __device__ __forceinline__ void swap(SUM &x, SUM &y) {
    const SUM z = x;
    x = y, y = z;
}

/* Sums up 8 neighbouring columns of a row of D over all pieces. `fragment_addr` is the fragment of the first piece; the
 * fragments of the other pieces follow in steps of `stride` bytes. Lanes begin at different places, to avoid bank
 * conflicts. */
template <typename SUM>
static __device__ __forceinline__ void fragment_sum(SUM (&v)[8], uint32_t fragment_addr, uint32_t stride, int pieces,
                                                    uint32_t thread) {
    const uint32_t warp_addr = fragment_addr + thread / 32 * 512, lane = thread % 32;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = 0;
    if (SWAPPED) { /* column lane % 8 of the N side: one register of the 8 threads that have it */
        const uint32_t at = warp_addr + lane / 2 % 4 * 16 + lane / 8 % 2 * 8 + lane % 2 * 4, turn = lane / 16 * 64;
#pragma unroll 2
        for (int piece = 0; piece < pieces; ++piece)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                sum_add(v[i], ld_shared_f32(((at + i * 64) ^ turn) + piece * stride));
#pragma unroll
        for (int i = 0; i < 8; i += 2)
            if (turn)
                swap(v[i], v[i + 1]);
    } else { /* row lane / 2 % 8, or 8 more: two registers of the four threads that share it */
        const uint32_t row = lane / 2 % 8, at = warp_addr + row * 64 + lane % 2 * 8, turn = row / 2 * 16;
#pragma unroll 2
        for (int piece = 0; piece < pieces; ++piece)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                float x, y;
                ld_shared_v2(((at + i * 16) ^ turn) + piece * stride, x, y);
                sum_add(v[2 * i], x), sum_add(v[2 * i + 1], y);
            }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (turn & 16)
                swap(v[i / 2 * 4 + i % 2], v[i / 2 * 4 + i % 2 + 2]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (turn & 32)
                swap(v[i], v[i + 4]);
    }
}

/* The same sums as copies. */
static __device__ __forceinline__ void fragment_copies(float (&v)[8], uint32_t fragment_addr, uint32_t stride,
                                                       int pieces, uint32_t thread) {
    if (!IS_INT) {
        fragment_sum(v, fragment_addr, stride, pieces, thread);
        return;
    }
    int32_t sums[8];
    fragment_sum(sums, fragment_addr, stride, pieces, thread);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = sum_copied(sums[i]);
}

/* An element of a warp's share of a fragment: 16 rows of wgmma's M side, 8 columns of its N side. */
struct fragment_element {
    int m, n;
};

/* The first of the 8 elements that fragment_sum() adds up. */
static __device__ __forceinline__ struct fragment_element fragment_first(int lane) {
    if (SWAPPED)
        return {lane / 8 % 2 * 8, lane % 8};
    return {lane % 2 * 8 + lane / 2 % 8, 0};
}

/* Where in D an element of a fragment lies. `first_m` is the consumer's first row on wgmma's M side. */
static __device__ __forceinline__ struct store_origin fragment_origin(struct tile_position tile, int first_m,
                                                                      int fragment, uint32_t thread,
                                                                      struct fragment_element element) {
    const int atom = fragment / (WGMMA_N / 8), side_n = fragment % (WGMMA_N / 8) * 8 + element.n;
    const int side_m = first_m + atom * 64 + thread / 32 * 16 + element.m;
    if (SWAPPED)
        return {tile.m * TILE_M + side_n, tile.n * TILE_N + side_m};
    return {tile.m * TILE_M + side_m, tile.n * TILE_N + side_n};
}

/* Where an element of a fragment lies in shared memory: as wgmma has it, four registers of a thread side by side. */
static __device__ __forceinline__ uint32_t fragment_element_addr(uint32_t fragment_addr, uint32_t thread,
                                                                 struct fragment_element element) {
    return fragment_addr + thread / 32 * 512 + element.m % 8 * 64 + element.n / 2 * 16 + element.m / 8 * 8 +
           element.n % 2 * 4;
}

/* Puts 8 finished elements back to where fragment_sum() has read the first piece's. */
static __device__ __forceinline__ void fragment_put_back(const float (&v)[8], uint32_t fragment_addr, uint32_t thread) {
    const struct fragment_element first = fragment_first(thread % 32);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        st_shared(fragment_element_addr(fragment_addr, thread, {first.m + SWAPPED * i, first.n + !SWAPPED * i}), v[i]);
}

/* Stores a part that has been put back, to a D that takes no vectors. The lanes of a warp lie along the rows of D. */
static __device__ __forceinline__ void store_part_along_rows(const struct gm_epilogue_params &e, uint32_t room_addr,
                                                             struct part part, struct tile_position tile, int first_m,
                                                             uint32_t thread) {
    const int lane = thread % 32, bytes = e.d_type == GM_TYPE_fp32 ? 4 : 2;
#pragma unroll 1
    for (int i = 0; i < part.fragments; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const struct fragment_element element = {SWAPPED ? lane % 16 : lane / 8 % 2 * 8 + lane / 16 + j * 2,
                                                     SWAPPED ? lane / 16 + j * 2 : lane % 8};
            const struct store_origin at = fragment_origin(tile, first_m, part.first + i, thread, element);
            const float v = ld_shared_f32(fragment_element_addr(room_addr + i * FRAGMENT_BYTES, thread, element));
            if (at.row < e.m && at.col < e.n)
                epilogue_store1(e, v, e.d + (at.row * e.ldd + at.col) * bytes);
        }
}

/* D = alpha v of 8 columns, in the operands' type, or in fp32 where these have 32 bits; of int8 copies of the sums. */
static __device__ __forceinline__ void store8_plain(const struct gm_epilogue_params &e, float (&v)[8],
                                                    struct store_origin at) {
    uint32_t words[8];
    if (!IS_INT)
#pragma unroll
        for (int j = 0; j < 8; ++j)
            v[j] *= e.alpha;
#pragma unroll
    for (int j = 0; j < (IS_HALF ? 4 : 8); ++j)
        words[j] = IS_HALF ? packed_pair(v, j) : __float_as_uint(v[j]);
    const uint64_t address = e.d + (at.row * e.ldd + at.col) * (IS_HALF ? 2 : 4);
    st_global_v4_b32(address, words);
    if (!IS_HALF)
        st_global_v4_b32(address + 16, words + 4);
}

/* Adds up and stores the part in the ring, one fragment each half warp. `PLAIN`: D is what store8_plain() makes of it; its
 * rows are whole 16 bytes then. */
template <bool PLAIN>
static __device__ __forceinline__ void store_part(const struct gm_gemm_sm90_params &p, uint32_t base, int pieces,
                                                  struct part part, struct tile_position tile, int consumer,
                                                  uint32_t thread) {
    const uint32_t room_addr = part_addr(base, consumer, 0, part.fragments), stride = part.fragments * FRAGMENT_BYTES;
#pragma unroll 1
    for (int i = thread % 32 / 16; i < part.fragments; i += 2) {
        const struct store_origin at =
            fragment_origin(tile, consumer * ROWS, part.first + i, thread, fragment_first(thread % 32));
        float v[8];
        fragment_copies(v, room_addr + i * FRAGMENT_BYTES, stride, pieces, thread);
        if (!PLAIN) {
            sum_epilogue8(p.scaling, p.epilogue, v, at.row, at.col);
            if (p.epilogue.d_vector)
                epilogue_store8(p.epilogue, v, at.row, at.col);
            else
                fragment_put_back(v, room_addr + i * FRAGMENT_BYTES, thread);
        } else if (at.row < p.epilogue.m && at.col < p.epilogue.n) {
            store8_plain(p.epilogue, v, at);
        }
    }
    if (!PLAIN && !p.epilogue.d_vector) {
        bar_sync(BAR_STAGING + consumer, 128);
        store_part_along_rows(p.epilogue, room_addr, part, tile, consumer * ROWS, thread);
    }
}

/* Adds up and stores every part that the fetcher warp posts. */
static __device__ __forceinline__ void store_parts(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                   const struct split_k_piece &own, struct tile_position tile,
                                                   int consumer, uint32_t thread) {
    const int own_type = IS_HALF ? (int)GM_TYPE : (int)GM_TYPE_fp32;
    const bool plain = p.plain == GM_SM90_BY_TMA && p.epilogue.d_type == own_type && (IS_HALF || p.epilogue.n % 8 == 0);
    const struct part none = {0, 0};
    struct part part = part_of(own, own.number);
    for (uint32_t parity = 0;; parity ^= 1) {
        mbarrier_wait(partials_barrier_addr(base, 0), parity);
        const int reader = ld_shared_b32(mailbox_addr(base));
        const bool more = ld_shared_b32(mailbox_addr(base) + 4);
        if (reader != own.number) /* the rare case: an inherited part, or none */
            part = reader < 0 ? none : part_of(own, reader);
        if (plain)
            store_part<true>(p, base, own.pieces, part, tile, consumer, thread);
        else
            store_part<false>(p, base, own.pieces, part, tile, consumer, thread);
        if (!more)
            return;
        fence_proxy_async(); /* what I wrote to the ring or read there, the next copies overwrite */
        bar_arrive(BAR_RING_FREE, FETCHER_AND_CONSUMERS);
    }
}

#endif
