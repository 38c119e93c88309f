/* SPDX-License-Identifier: Apache-2.0 */
/* The producer's produce(): tiles of A and B -> the ring, by TMA. */
#ifndef GM_SM90_GEMM_LOAD_CUH
#define GM_SM90_GEMM_LOAD_CUH

#include "common/gemm/stream_k.h"
#include "common/gemm_sm90/params.h"
#include "common/tensor_map.h"
#include "sm90/cluster.cuh"
#include "sm90/gemm/cluster_k.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/tma.cuh"

/* Loads one operand's tile into a stage, cut into slabs one span wide. K-major: a slab is MN rows x span of k.
 * MN-major: a slab is TILE_K rows of k x span of mn. Of SHARERS CTAs that need the same tile, number `share` fetches
 * its part of every slab's rows, `rows` of them, and multicasts it to all CTAs in `mask`. `z` is the matrix of a batch. */
template <int MN, int IS_MN_MAJOR, int SHARERS>
static __device__ __forceinline__ void load_slabs(uint32_t dst, const struct gm_tensor_map &map, int mn0, int k0, int z,
                                                  uint32_t bar, int share, int rows, uint16_t mask, uint64_t policy) {
    constexpr int slabs = (IS_MN_MAJOR ? MN : TILE_K) / SPAN_ELEMS;
    constexpr int slab_rows = IS_MN_MAJOR ? TILE_K : MN;
    static_assert(slab_rows % SHARERS == 0, "shares are equal; TMA swizzles by address, so they begin at any row");
#pragma unroll
    for (int slab = 0; slab < slabs; ++slab) {
        const uint32_t addr = dst + (slab * slab_rows + share * rows) * SPAN;
        const int x = (IS_MN_MAJOR ? mn0 : k0) + slab * SPAN_ELEMS;
        const int y = (IS_MN_MAJOR ? k0 : mn0) + share * rows;
        if (BATCHED && SHARERS == 1)
            tma_load_3d_as(addr, &map, x, y, z, bar, policy);
        else if (BATCHED)
            tma_load_3d_multicast(addr, &map, x, y, z, bar, mask, policy);
        else if (SHARERS == 1)
            tma_load_2d(addr, &map, x, y, bar, policy);
        else
            tma_load_2d_multicast(addr, &map, x, y, bar, mask, policy);
    }
}

/* Prefetches the boxes of load_slabs() into L2. */
template <int MN, int IS_MN_MAJOR>
static __device__ __forceinline__ void prefetch_slabs(const struct gm_tensor_map &map, int mn0, int k0, int z,
                                                      int share, int rows, uint64_t policy) {
#pragma unroll
    for (int slab = 0; slab < (IS_MN_MAJOR ? MN : TILE_K) / SPAN_ELEMS; ++slab) {
        const int x = (IS_MN_MAJOR ? mn0 : k0) + slab * SPAN_ELEMS, y = (IS_MN_MAJOR ? k0 : mn0) + share * rows;
        if (BATCHED)
            tma_prefetch_3d(&map, x, y, z, policy);
        else
            tma_prefetch_2d(&map, x, y, policy);
    }
}

/* B of gates and ups, tile_n rows of it: the map's box holds 8 gates, 8 ups, 8 gates, ... It has four dimensions: k, a row
 * of 8, gate or up, and the number of the 8. load_gated_slabs() is load_slabs() of it. */
template <int MN, int SHARERS>
static __device__ __forceinline__ void load_gated_slabs(uint32_t dst, const struct gm_tensor_map &map, int mn0, int k0,
                                                        uint32_t bar, int share, int rows, uint16_t mask,
                                                        uint64_t policy) {
#pragma unroll
    for (int slab = 0; slab < TILE_K / SPAN_ELEMS; ++slab) {
        const uint32_t addr = dst + (slab * MN + share * rows) * SPAN;
        const int x = k0 + slab * SPAN_ELEMS, w = (mn0 + share * rows) / GM_SM90_GATE_COLUMNS;
        if (SHARERS == 1)
            tma_load_4d_as(addr, &map, x, 0, 0, w, bar, policy);
        else
            tma_load_4d_multicast(addr, &map, x, 0, 0, w, bar, mask);
    }
}

static __device__ __forceinline__ void prefetch_gated_slabs(const struct gm_tensor_map &map, int mn0, int k0, int share,
                                                            int rows, uint64_t policy) {
#pragma unroll
    for (int slab = 0; slab < TILE_K / SPAN_ELEMS; ++slab)
        tma_prefetch_4d(&map, k0 + slab * SPAN_ELEMS, 0, 0, (mn0 + share * rows) / GM_SM90_GATE_COLUMNS, policy);
}

/* What is fetched of one operand for one tile: the rows of a full tile, the fewer rows of the last tile, or nothing,
 * for a CTA of the outermost cluster whose tile lies outside D. */
struct operand_tile {
    const struct gm_tensor_map *map;
    int mn0;  /* first row, or column where it is MN-major */
    int rows; /* of this CTA's share; 0: nothing */
    int z;    /* matrix of a batch */
};

template <int MN, int IS_MN_MAJOR, int SHARERS>
static __device__ __forceinline__ struct operand_tile
operand_tile_at(const struct gm_tensor_map &map, const struct gm_tensor_map &tail, const struct gm_tiles &tiles,
                int index, int matrix) {
    constexpr int rows = (IS_MN_MAJOR ? TILE_K : MN) / SHARERS;
    const bool whole = IS_MN_MAJOR || index < tiles.whole;
    return {whole ? &map : &tail, index * MN, whole ? rows : index == tiles.whole ? tiles.rows : 0, matrix};
}

/* Bytes that load_slabs() of all sharers brings into one stage. */
template <int MN, int IS_MN_MAJOR, int SHARERS>
static __device__ __forceinline__ uint32_t operand_bytes(struct operand_tile tile) {
    return (IS_MN_MAJOR ? MN : SHARERS * tile.rows) * TILE_K * ELEM_BYTES;
}

/* Loads a CTA's share of a stage's tile of A; load_b() does so of B. */
static __device__ __forceinline__ void load_a(const struct gm_gemm_sm90_params &p, uint32_t stage_addr, uint32_t bar,
                                              struct operand_tile a, int k0, uint32_t rank) {
    const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M % CLUSTER_N;
    uint16_t mask = 0;
    for (int n = 0; n < CLUSTER_N; ++n)
        mask |= 1 << (rank_m + n * CLUSTER_M);
    if (SHARERS == 1 || a.rows)
        load_slabs<TILE_M, A_MN, CLUSTER_N>(stage_addr, *a.map, a.mn0, k0, a.z, bar, rank_n, a.rows, mask, p.a_policy);
}

static __device__ __forceinline__ void load_b(const struct gm_gemm_sm90_params &p, uint32_t stage_addr, uint32_t bar,
                                              struct operand_tile b, int k0, uint32_t rank) {
    const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M % CLUSTER_N;
    const uint16_t mask = ((1 << CLUSTER_M) - 1) << (rank_n * CLUSTER_M);
    if (SHARERS > 1 && !b.rows)
        return;
    if (GATED)
        load_gated_slabs<TILE_N, CLUSTER_M>(stage_addr + A_BYTES, *b.map, b.mn0, k0, bar, rank_m, b.rows, mask,
                                            p.b_policy);
    else
        load_slabs<TILE_N, B_MN, CLUSTER_M>(stage_addr + A_BYTES, *b.map, b.mn0, k0, b.z, bar, rank_m, b.rows, mask,
                                            p.b_policy);
}

/* The boxes of one piece's operands. */
struct piece_load {
    struct tile_position tile;
    struct operand_tile a, b;
    uint32_t bytes; /* of a stage */
};

static __device__ __forceinline__ struct piece_load piece_load_of(const struct gm_gemm_sm90_params &p, int tile_index,
                                                                  uint32_t rank) {
    struct piece_load load;
    load.tile = tile_at(p, tile_index, rank);
    const int a_z = BATCHED ? load.tile.matrix * p.a_steps : 0, b_z = BATCHED ? load.tile.matrix * p.b_steps : 0;
    load.a = operand_tile_at<TILE_M, A_MN, CLUSTER_N>(p.a, p.a_tail, p.a_tiles, load.tile.m, a_z);
    load.b = operand_tile_at<TILE_N, B_MN, CLUSTER_M>(p.b, p.b_tail, p.b_tiles, load.tile.n, b_z);
    load.bytes = operand_bytes<TILE_M, A_MN, CLUSTER_N>(load.a) + operand_bytes<TILE_N, B_MN, CLUSTER_M>(load.b);
    return load;
}

/* Prefetches the first k-blocks of the first piece into L2, while the previous kernel still runs. It prefetches fewer
 * of a B that is loaded to shared memory at once: a line that is requested twice takes twice as long. For the same
 * reason CTAs that read the same rows prefetch different k-blocks. */
static __device__ __forceinline__ void prefetch_stages(const struct gm_gemm_sm90_params &p, struct piece_load load,
                                                       struct gm_piece piece, uint32_t rank) {
    const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M % CLUSTER_N;
    const int a_end = min(piece.first + p.prefetched, piece.end);
    const int b_end = p.b_early ? min(piece.first + PREFETCHED_EARLY, a_end) : a_end;
#pragma unroll 1
    for (int k = piece.first + load.tile.n / CLUSTER_N; k < a_end; k += p.raster.tiles_n)
        if (load.a.rows)
            prefetch_slabs<TILE_M, A_MN>(*load.a.map, load.a.mn0, k * TILE_K, load.a.z, rank_n, load.a.rows,
                                         p.a_policy);
#pragma unroll 1
    for (int k = piece.first + load.tile.m / CLUSTER_M; k < b_end; k += p.raster.tiles_m)
        if (load.b.rows) {
            if (GATED)
                prefetch_gated_slabs(*load.b.map, load.b.mn0, k * TILE_K, rank_m, load.b.rows, p.b_policy);
            else
                prefetch_slabs<TILE_N, B_MN>(*load.b.map, load.b.mn0, k * TILE_K, load.b.z, rank_m, load.b.rows,
                                             p.b_policy);
        }
}

/* Where the producer is: the piece that is loaded next, and the walk after it. */
struct load_cursor {
    struct gm_piece piece;
    struct piece_load load;
    int rest;  /* the walk after the piece */
    bool more; /* false: there is no piece */
};

static __device__ __forceinline__ void load_next(const struct gm_gemm_sm90_params &p, uint32_t rank,
                                                 struct load_cursor &w) {
    w.more = walk_more(p, w.rest);
    walk_next(p, rank, w.rest, w.piece);
    w.load = piece_load_of(p, w.piece.tile, rank);
}

/* Finds the first piece and prefetches its first k-blocks: it needs no barrier, and no result of the previous
 * kernel. */
static __device__ __forceinline__ struct load_cursor producer_begin(const struct gm_gemm_sm90_params &p,
                                                                    uint32_t rank) {
    struct load_cursor w;
    w.rest = walk_begin(p);
    load_next(p, rank, w);
    if (threadIdx.x == 0 && w.more)
        prefetch_stages(p, w.load, w.piece, rank);
    asm volatile("" ::"l"(p.a_policy), "l"(p.b_policy)); /* so that the first loads find them in the constant cache */
    return w;
}

/* Loads B of the first piece's k-blocks, as many as the ring holds, while the previous kernel still runs; it does not
 * write B. Then it waits for that kernel and loads the same k-blocks of A. A loop of its own: made part of produce()'s
 * loop, it slows that loop by more than the instruction-cache misses cost here. */
static __device__ __forceinline__ void load_b_before_previous_kernel_ends(const struct gm_gemm_sm90_params &p,
                                                                          struct pipeline ring,
                                                                          struct pipeline_state &at, uint32_t base,
                                                                          uint32_t rank, struct load_cursor &w) {
    const int first = w.piece.first, count = min(w.piece.end - first, (int)STAGES);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        pipeline_acquire(ring, {(uint32_t)i, 0}, w.load.bytes);
        load_b(p, base + i * STAGE_BYTES, ring.full_addr + 8 * i, w.load.b, (first + i) * TILE_K, rank);
    }
    griddep_wait();
#pragma unroll 1
    for (int i = 0; i < count; ++i)
        load_a(p, base + i * STAGE_BYTES, ring.full_addr + 8 * i, w.load.a, (first + i) * TILE_K, rank);
    w.piece.first += count;
    pipeline_skip<STAGES>(at, count);
}

/* One thread feeds the ring with every k-block of every piece of this CTA's walk. It alone waits for the previous
 * kernel: the consumers access no global memory before they have multiplied what this thread has loaded. */
static __device__ __forceinline__ void produce(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                               struct load_cursor w) {
    const struct pipeline ring = pipeline_at(base);
    struct pipeline_state at = {0, 0};
    uint32_t parity = 0;
    bool waited = p.b_early && w.more;
    if (waited)
        load_b_before_previous_kernel_ends(p, ring, at, base, rank, w);
    for (; w.more; load_next(p, rank, w)) {
#pragma unroll 1
        for (; w.piece.first < w.piece.end; ++w.piece.first) {
            const uint32_t stage_addr = base + at.slot * STAGE_BYTES, bar = ring.full_addr + 8 * at.slot;
            pipeline_acquire(ring, at, w.load.bytes);
            if (!waited) { /* as late as possible: only the load itself is left to do */
                griddep_wait();
                waited = true;
            }
            load_a(p, stage_addr, bar, w.load.a, w.piece.first * TILE_K, rank);
            load_b(p, stage_addr, bar, w.load.b, w.piece.first * TILE_K, rank);
            pipeline_next<STAGES>(at);
        }
        /* The exchange of partial sums, which uses the ring, has to be over before the next piece. Only then: where all of the
         * first piece was loaded early, its exchange may be over by now. */
        if (CLUSTER_K > 1 && walk_more(p, w.rest)) {
            mbarrier_wait(cluster_k_barriers_at(base).free_addr, parity);
            parity ^= 1;
        }
    }
    if (!waited)
        griddep_wait();
    if (SHARERS > 1)
        pipeline_drain<STAGES>(ring, at);
}

#endif
