/* SPDX-License-Identifier: Apache-2.0 */
/* Split-K by reduce-scatter, for tiles that are cut into equal pieces (common/gemm/stream_k.h). Every piece leaves its
 * accumulators in the workspace; then each of a tile's pieces fetches its own part of all of them, adds, and stores
 * that part of D.
 *
 *                 part 0    part 1    part 2
 *   piece 0  acc | stays  | ~~~~~~ | ~~~~~~ |  -> its slot     A part is some planes: each is 8 columns of wgmma's
 *   piece 1  acc | ~~~~~~ | stays  | ~~~~~~ |  -> its slot     N side, 64 rows of an atom, four registers a thread. In
 *   piece 2  acc | ~~~~~~ | ~~~~~~ | stays  |  -> its slot     a slot it is 2 KB: 16 bytes a thread, thread by thread.
 *                    |         |        |
 *                 piece 0   piece 1   piece 2   add, in the order of pieces: the same on every run
 *
 *   consumers | slot, own part -> ring | left |                               | add, store |
 *   clerk                              | left | flags, wait for the others'   | arrived    |   beside the producer
 *   TMA                                       | their parts -> ring ..........|
 *
 * Of each pair of pieces there is a flag: "the slot of `giver` is full, for `reader`". The giver exchanges the plan's
 * `ready` for what was there. A reader that waits in vain leaves its part to a giver that is missing: it puts ~ready
 * there before, which that giver finds, and then owns the part. So however CTAs are started, none waits for ever. */
#ifndef GM_SM90_GEMM_REDUCE_SCATTER_CUH
#define GM_SM90_GEMM_REDUCE_SCATTER_CUH

#include "common/gemm/epilogue.cuh"
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
    PLANE_BYTES = 128 * 16,
    PLANES = FLOATS / 4,                        /* of a consumer's part of the tile */
    CLERK_AND_CONSUMERS = 32 + 128 * CONSUMERS, /* threads */
    PATIENCE = 1 << 10,                         /* looks at the flags, some 0.5 ms */
};
static_assert(!REDUCES || (PLANES + GM_STREAM_K_MOST_PIECES - 1) * PLANE_BYTES <= RING_PART_BYTES,
              "the drained ring holds a part of every piece");

static __device__ __forceinline__ uint64_t piece_slot(const struct gm_stream_k &s, const struct pieces &of, int giver,
                                                      int consumer, int thread = 0) {
    const struct stream_k_gang gang = {SHARERS * CONSUMERS, of.rank * CONSUMERS + consumer, thread};
    return stream_k_slot<128, FLOATS>(s, gang, giver * s.even + of.tile);
}

static __device__ __forceinline__ uint64_t piece_flag(const struct gm_stream_k &s, const struct pieces &of, int giver,
                                                      int reader) {
    const uint64_t slots = (uint64_t)s.shares * SHARERS * CONSUMERS * (128 * FLOATS * 4);
    const int cta = (giver * s.even + of.tile) * SHARERS + of.rank;
    return s.workspace + slots + (uint64_t)(cta * of.count + reader) * GM_STREAM_K_FLAG_BYTES;
}

/* The planes of part `reader`. */
struct part {
    int first, planes;
};
static __device__ __forceinline__ struct part part_of(const struct pieces &of, int reader) {
    const int first = quotient(PLANES * reader, of.count);
    return {first, quotient(PLANES * (reader + 1), of.count) - first};
}

/* Where in the ring a consumer finds what piece `giver` has of a part of so many planes. */
static __device__ __forceinline__ uint32_t part_addr(uint32_t base, int consumer, int giver, int planes) {
    return ring_part_addr(base, consumer) + giver * planes * PLANE_BYTES;
}

/* Two words in shared memory, the clerk's to the consumers: the part that has arrived, or -1, and whether another
 * comes. */
static __device__ __forceinline__ uint32_t note_addr(uint32_t base) {
    return taken_addr(base, CONSUMERS);
}

/* ---- before -------------------------------------------------------------------------------------------- */

/* The accumulators of a consumer to where they are added, and word of it to the clerk. */
static __device__ __forceinline__ void piece_leave(const struct gm_stream_k &s, uint32_t base, const float *acc,
                                                   const struct pieces &of, int consumer, int thread) {
    const struct part own = part_of(of, of.own);
    const int end = own.first + own.planes;
    const uint64_t slot = piece_slot(s, of, of.own, consumer, thread);
    const uint32_t own_addr = part_addr(base, consumer, of.own, own.planes) - own.first * PLANE_BYTES + thread * 16;
#pragma unroll
    for (int plane = 0; plane < PLANES; ++plane) {
        const float *x = acc + 4 * plane;
        if (plane < own.first || plane >= end)
            st_global_v4_f32(slot + plane * PLANE_BYTES, x[0], x[1], x[2], x[3]);
    }
    if (CONSUMERS > 1) /* the others have read the ring, too */
        bar_sync(BAR_ORDER, 128 * CONSUMERS);
#pragma unroll
    for (int plane = 0; plane < PLANES; ++plane) {
        const float *x = acc + 4 * plane;
        if (plane >= own.first && plane < end)
            st_shared_v4(own_addr + plane * PLANE_BYTES, x[0], x[1], x[2], x[3]);
    }
    bar_arrive(BAR_LEFT, CLERK_AND_CONSUMERS);
}

/* ---- between: the clerk -------------------------------------------------------------------------------- */

/* A lane a piece: true when all are in their slots, and the flags free again; false: they are not. */
static __device__ __forceinline__ bool pieces_wait(const struct gm_stream_k &s, const struct pieces &of, int reader,
                                                   int lane) {
    const bool mine = lane < of.count;
    const uint64_t flag = piece_flag(s, of, mine ? lane : 0, reader);
#pragma unroll 1
    for (int looks = PATIENCE; looks > 0; --looks) {
        const bool there = !mine || ld_acquire_gpu_b64(flag) == s.ready;
        if (__all_sync(0xFFFFFFFF, there)) {
            if (mine)
                st_global_b64(flag, 0);
            return true;
        }
    }
    return false;
}

/* Part `reader` is a missing piece's from now on; false: all have come. What stayed in the ring goes to its slot. */
static __device__ __forceinline__ bool part_leave(const struct gm_stream_k &s, uint32_t base, const struct pieces &of,
                                                  int reader, int lane) {
    const struct part part = part_of(of, reader);
#pragma unroll 1
    for (int consumer = 0; consumer < CONSUMERS && reader == of.own; ++consumer)
#pragma unroll 1
        for (int at = lane * 16; at < part.planes * PLANE_BYTES; at += 32 * 16) {
            uint32_t words[4];
            ld_shared_v4_b32(part_addr(base, consumer, of.own, part.planes) + at, words);
            st_global_v4_b32(piece_slot(s, of, of.own, consumer) + part.first * PLANE_BYTES + at, words);
        }
    fence_proxy_async(); /* what consumers wrote to the ring, and I read there, copies may overwrite from now on */
    __syncwarp();
#pragma unroll 1
    for (int giver = 0; giver < of.count; ++giver) {
        const uint64_t flag = piece_flag(s, of, giver, reader), seen = ld_acquire_gpu_b64(flag);
        const bool left = lane == 0 && seen != s.ready && atom_cas_gpu_b64(flag, seen, ~s.ready) == seen;
        if (__any_sync(0xFFFFFFFF, left))
            return true;
    }
    return false;
}

/* Until all pieces of a part are there, or it is somebody else's: false. */
static __device__ __forceinline__ bool part_arrives(const struct gm_stream_k &s, uint32_t base, const struct pieces &of,
                                                    int reader, int lane) {
    while (!pieces_wait(s, of, reader, lane))
        if (part_leave(s, base, of, reader, lane))
            return false;
    return true;
}

/* What all pieces have of a part, but for what stayed here, into the ring; of part -1, nothing. */
static __device__ __forceinline__ void part_fetch(const struct gm_stream_k &s, uint32_t base, const struct pieces &of,
                                                  int reader, bool more, int lane) {
    const struct part part = part_of(of, reader);
    const bool stayed = reader == of.own;
    const uint32_t bar = taken_addr(base, 0), bytes = reader < 0 ? 0 : part.planes * PLANE_BYTES;
    fence_proxy_async_global();
    if (lane == 0) {
        st_shared_b32(note_addr(base), reader);
        st_shared_b32(note_addr(base) + 4, more);
        mbarrier_arrive_expect_tx(bar, (of.count - stayed) * CONSUMERS * bytes);
    }
    __syncwarp();
    if (lane >= of.count || (stayed && lane == of.own) || bytes == 0)
        return;
#pragma unroll 1
    for (int consumer = 0; consumer < CONSUMERS; ++consumer)
        bulk_load(part_addr(base, consumer, lane, part.planes),
                  piece_slot(s, of, lane, consumer) + part.first * PLANE_BYTES, bytes, bar);
}

/* One warp: says that the piece is in its slot, and fetches this CTA's part of the tile, and those that were left to
 * it. The consumers are told of each, and at the end that there is none, unless they knew that with the last. */
static __device__ __forceinline__ void clerk(const struct gm_stream_k &s) {
    const uint32_t base = smem_base(); /* anew: the producer has no registers to keep it in */
    const struct pieces of = pieces_of(s, CLUSTER_SIZE == 1 ? 0 : cluster_ctarank());
    const int lane = threadIdx.x % 32;
    bar_sync(BAR_LEFT, CLERK_AND_CONSUMERS);
    if (of.count == 1) { /* a tile that is not cut */
        part_fetch(s, base, of, 0, false, lane);
        return;
    }
    uint64_t was = 0;
    if (lane < of.count)
        was = atom_exch_release_gpu_b64(piece_flag(s, of, of.own, lane), s.ready);
    bool arrived = part_arrives(s, base, of, of.own, lane), told = false;
    uint32_t left = __ballot_sync(0xFFFFFFFF, was == ~s.ready);
    if (left) /* what who left it has put into its slot */
        fence_acq_rel_gpu();
    for (int reader = of.own;; arrived = part_arrives(s, base, of, reader, lane)) {
        if (arrived || !left) {
            if (told)
                bar_sync(BAR_ADDED, CLERK_AND_CONSUMERS);
            part_fetch(s, base, of, arrived ? reader : -1, left != 0, lane);
            told = true;
        }
        if (!left)
            return;
        reader = __ffs(left) - 1;
        left &= left - 1;
    }
}

/* ---- after --------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void swap(float &x, float &y) {
    const float z = x;
    x = y, y = z;
}

/* 8 neighbouring columns of a row of D: the sum of what all pieces have. `plane_addr` is the plane of the first piece;
 * those of the others follow in steps of `stride`. Lanes begin at different places, so that no two meet in a bank. */
static __device__ __forceinline__ void plane_sum(float (&v)[8], uint32_t plane_addr, uint32_t stride, int pieces,
                                                 uint32_t thread) {
    const uint32_t warp_addr = plane_addr + thread / 32 * 512, lane = thread % 32;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = 0;
    if (SWAPPED) { /* column lane % 8 of the N side: one register of the 8 threads that have it */
        const uint32_t at = warp_addr + lane / 2 % 4 * 16 + lane / 8 % 2 * 8 + lane % 2 * 4, turn = lane / 16 * 64;
#pragma unroll 2
        for (int piece = 0; piece < pieces; ++piece)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                v[i] += ld_shared_f32(((at + i * 64) ^ turn) + piece * stride);
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
                v[2 * i] += x, v[2 * i + 1] += y;
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

/* Where in D that is; `first_m` is the consumer's first row on wgmma's M side. */
static __device__ __forceinline__ struct store_origin plane_origin(struct tile_position tile, int first_m, int plane,
                                                                   uint32_t thread) {
    const int atom = plane / (SIDE_N / 8), side_n = plane % (SIDE_N / 8) * 8;
    const int warp_m = first_m + atom * 64 + thread / 32 * 16, lane = thread % 32;
    if (SWAPPED)
        return {tile.m * TILE_M + side_n + lane % 8, tile.n * TILE_N + warp_m + lane / 8 % 2 * 8};
    return {tile.m * TILE_M + warp_m + lane % 2 * 8 + lane / 2 % 8, tile.n * TILE_N + side_n};
}

/* The part in the ring, a plane each half warp. `PLAIN`: D has nothing but a factor and the operands' type; its rows
 * are whole 16 bytes then. */
template <bool PLAIN>
static __device__ __forceinline__ void part_store(const struct gm_gemm_sm90_params &p, uint32_t base, int pieces,
                                                  struct part part, struct tile_position tile, int consumer,
                                                  uint32_t thread) {
    const uint32_t room_addr = part_addr(base, consumer, 0, part.planes), stride = part.planes * PLANE_BYTES;
#pragma unroll 1
    for (int i = thread % 32 / 16; i < part.planes; i += 2) {
        const struct store_origin at = plane_origin(tile, consumer * ROWS, part.first + i, thread);
        float v[8];
        plane_sum(v, room_addr + i * PLANE_BYTES, stride, pieces, thread);
        if (!PLAIN) {
            epilogue_apply8(p.epilogue, v, at.row, at.col);
            epilogue_store8(p.epilogue, v, at.row, at.col);
        } else if (at.row < p.epilogue.m && at.col < p.epilogue.n) {
            uint32_t words[4];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                v[j] *= p.epilogue.alpha;
#pragma unroll
            for (int j = 0; j < 4; ++j)
                words[j] = packed_pair(v, j);
            st_global_v4_b32(p.epilogue.d + (at.row * p.epilogue.ldd + at.col) * 2, words);
        }
    }
}

/* A consumer's end: the parts that the clerk has fetched. */
static __device__ __forceinline__ void parts_store(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                   const struct pieces &of, struct tile_position tile, int consumer,
                                                   uint32_t thread) {
    const bool plain = p.plain && p.epilogue.d_type == GM_TYPE;
    const struct part none = {0, 0};
    struct part part = part_of(of, of.own);
    for (uint32_t parity = 0;; parity ^= 1) {
        mbarrier_wait(taken_addr(base, 0), parity);
        const int reader = ld_shared_b32(note_addr(base));
        const bool more = ld_shared_b32(note_addr(base) + 4);
        if (reader != of.own) /* which nobody expects */
            part = reader < 0 ? none : part_of(of, reader);
        if (plain)
            part_store<true>(p, base, of.count, part, tile, consumer, thread);
        else
            part_store<false>(p, base, of.count, part, tile, consumer, thread);
        if (!more)
            return;
        fence_proxy_async(); /* what I wrote to the ring or read there, the next copies overwrite */
        bar_arrive(BAR_ADDED, CLERK_AND_CONSUMERS);
    }
}

#endif
