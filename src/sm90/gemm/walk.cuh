/* SPDX-License-Identifier: Apache-2.0 */
/* Which tile, or piece of one, a CTA computes next. The producer and the consumers walk alike, each for itself. */
#ifndef GM_SM90_GEMM_WALK_CUH
#define GM_SM90_GEMM_WALK_CUH

#include "common/gemm/raster.cuh"
#include "common/gemm/stream_k.h"
#include "common/gemm_sm90/params.h"
#include "common/index.cuh"
#include "sm90/gemm/constants.cuh"

/* ---- tiles ----------------------------------------------------------------------------------------- */

struct tile_position {
    int m, n; /* of this CTA's tile, counted in tiles */
};

static __device__ __forceinline__ int cluster_count(void) {
    return gridDim.x / CLUSTER_SIZE;
}
static __device__ __forceinline__ int cluster_index(void) {
    return (uint32_t)cta_index() / CLUSTER_SIZE;
}

static __device__ __forceinline__ struct tile_position tile_at(const struct gm_raster &raster, int linear,
                                                               uint32_t rank) {
    int tile_m, tile_n;
    raster_tile(raster, linear, &tile_m, &tile_n);
    return {(int)(tile_m * CLUSTER_M + rank % CLUSTER_M), (int)(tile_n * CLUSTER_N + rank / CLUSTER_M % CLUSTER_N)};
}

/* a / b of small numbers: nothing hides the 150 clocks that integers take after the last wgmma. The half keeps
 * quotients a part of 1 / b away from where rounding would matter. */
static __device__ __forceinline__ int quotient(int a, int b) {
    return (int)__fdividef((float)a + 0.5f, (float)b);
}

/* Reduce-scatter: what a CTA has one piece of, and who it adds with: each of its consumers with those of its own
 * number, and its rank in the cluster. */
struct pieces {
    int tile, count, own; /* of all tiles; pieces of each; number of this one */
    int rank;
};
static __device__ __forceinline__ struct pieces pieces_of(const struct gm_stream_k &s, uint32_t rank) {
    const int share = cluster_index(), count = quotient(s.shares, s.even);
    const int own = count > 1 ? quotient(share, s.even) : 0;
    return {share - own * s.even, count, own, (int)rank};
}

/* ---- the walk -------------------------------------------------------------------------------------- */

/* What a CTA computes, piece by piece: some k-blocks of a tile, mostly all. stream_k.h says in which order; a cluster
 * that shares the K of its tiles takes a share of each, which differ by one k-block at most. A CTA that has none takes
 * a block beyond K, which TMA fills with zeros. Where there is but one piece, the walk is -1, then 0. */
static __device__ __forceinline__ int walk_begin(const struct gm_gemm_sm90_params &p) {
    return REDUCES ? -1 : SPLITS > 1 ? cluster_index() : gm_stream_k_begin(&p.stream_k, p.k_blocks, cluster_index());
}

/* Takes the next piece off the walk; behind the last one, any. */
static __device__ __forceinline__ void walk_next(const struct gm_gemm_sm90_params &p, uint32_t rank, int &walk,
                                                 struct gm_piece &piece) {
    if (REDUCES) {
        const struct pieces of = pieces_of(p.stream_k, rank);
        piece = gm_stream_k_piece(&p.stream_k, of.tile, of.own);
        walk = 0;
        return;
    }
    if (SPLITS == 1) {
        gm_stream_k_next(&p.stream_k, p.k_blocks, cluster_index(), cluster_count(), &walk, &piece);
        return;
    }
    const int share = rank / SHARERS, even = p.k_blocks / SPLITS, more = p.k_blocks % SPLITS;
    piece.tile = walk;
    piece.first = share * even + min(share, more);
    piece.end = piece.first + max(even + (share < more), 1);
    walk += cluster_count();
}

/* Whether the walk goes on. */
static __device__ __forceinline__ bool walk_more(const struct gm_gemm_sm90_params &p, int walk) {
    return walk < (REDUCES ? 0 : p.stream_k.whole);
}

/* Whether a piece leaves the ring to its consumers when all of them have multiplied it. The last one of all does; in
 * ping-pong, where the other consumer may still read what it multiplies, if the producer had every slot back since:
 * after as many k-blocks of this one as there are stages. */
static __device__ __forceinline__ bool ring_drained(struct gm_piece piece, bool last) {
    return last && (!PINGPONG || piece.end - piece.first >= STAGES);
}

#endif
