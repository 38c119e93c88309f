/* SPDX-License-Identifier: Apache-2.0 */
/* Which tile, or piece of a tile, a CTA computes next. The producer and the consumers find the same pieces, each for
 * itself. */
#ifndef GM_SM90_GEMM_WALK_CUH
#define GM_SM90_GEMM_WALK_CUH

#include "common/gemm/batch.cuh"
#include "common/gemm/raster.cuh"
#include "common/gemm/stream_k.h"
#include "common/gemm_sm90/params.h"
#include "common/index.cuh"
#include "sm90/gemm/constants.cuh"

/* ---- tiles ----------------------------------------------------------------------------------------- */

struct tile_position {
    int m, n;   /* of this CTA's tile, counted in tiles */
    int matrix; /* of a batch; else 0 */
};

static __device__ __forceinline__ int cluster_count(void) {
    return gridDim.x / CLUSTER_SIZE;
}
static __device__ __forceinline__ int cluster_index(void) {
    return (uint32_t)cta_index() / CLUSTER_SIZE;
}

static __device__ __forceinline__ struct tile_position tile_at(const struct gm_gemm_sm90_params &p, int linear,
                                                               uint32_t rank) {
    int tile_m, tile_n;
    const int matrix = BATCHED ? batch_matrix(p.batch, linear) : 0;
    raster_tile(p.raster, linear, &tile_m, &tile_n);
    return {(int)(tile_m * CLUSTER_M + rank % CLUSTER_M), (int)(tile_n * CLUSTER_N + rank / CLUSTER_M % CLUSTER_N),
            matrix};
}

/* a / b of small numbers, in floating point: nothing would hide the 150 clocks of an integer division after the last
 * wgmma. The half keeps quotients so far from whole numbers that rounding does not matter. */
static __device__ __forceinline__ int quotient(int a, int b) {
    return (int)__fdividef((float)a + 0.5f, (float)b);
}

/* Split-K: the piece of a tile that a CTA computes. It adds up with the CTAs of its rank in the clusters that have the
 * other pieces of the tile, each consumer with the consumers of its own number. */
struct split_k_piece {
    int tile, pieces, number; /* number of the tile; pieces of a tile; number of this piece */
    int rank;                 /* of this CTA in its cluster */
};
static __device__ __forceinline__ struct split_k_piece split_k_piece_of(const struct gm_stream_k &s, uint32_t rank) {
    const int share = cluster_index(), pieces = quotient(s.shares, s.split_k_tiles);
    const int number = pieces > 1 ? quotient(share, s.split_k_tiles) : 0;
    return {share - number * s.split_k_tiles, pieces, number, (int)rank};
}

/* ---- the walk -------------------------------------------------------------------------------------- */

/* The walk is what a CTA has left to compute, piece by piece, as one number. A piece is some k-blocks of a tile, mostly
 * all of them. stream_k.h says in which order pieces come. With cluster-k every CTA of the cluster takes a share of
 * each tile's k-blocks; shares differ by one k-block at most. A CTA whose share is empty takes a k-block beyond K,
 * which TMA fills with zeros. With split-K there is one piece only: the walk is -1, then 0. */
static __device__ __forceinline__ int walk_begin(const struct gm_gemm_sm90_params &p) {
    return SPLIT_K ? -1 : CLUSTER_K > 1 ? cluster_index() : gm_stream_k_begin(&p.stream_k, p.k_blocks, cluster_index());
}

/* Takes the next piece off the walk. After the last piece the result is any piece. */
static __device__ __forceinline__ void walk_next(const struct gm_gemm_sm90_params &p, uint32_t rank, int &walk,
                                                 struct gm_piece &piece) {
    if (SPLIT_K) {
        const struct split_k_piece own = split_k_piece_of(p.stream_k, rank);
        piece = gm_split_k_piece(&p.stream_k, own.tile, own.number);
        walk = 0;
        return;
    }
    if (CLUSTER_K == 1) {
        gm_stream_k_next(&p.stream_k, p.k_blocks, cluster_index(), cluster_count(), &walk, &piece);
        return;
    }
    const int share = rank / SHARERS, even = p.k_blocks / CLUSTER_K, more = p.k_blocks % CLUSTER_K;
    piece.tile = walk;
    piece.first = share * even + min(share, more);
    piece.end = piece.first + max(even + (share < more), 1);
    walk += cluster_count();
}

/* Whether the walk goes on. */
static __device__ __forceinline__ bool walk_more(const struct gm_gemm_sm90_params &p, int walk) {
    return walk < (SPLIT_K ? 0 : p.stream_k.whole);
}

/* Whether the ring is drained, and free for other use, when all consumers of a piece have multiplied it. It is after a
 * CTA's last piece. In ping-pong the other consumer may still read the stages of the piece before; it has read them if
 * the producer has had every slot back since, which takes as many k-blocks of this piece as there are stages. */
static __device__ __forceinline__ bool ring_drained(struct gm_piece piece, bool last) {
    return last && (!PINGPONG || piece.end - piece.first >= STAGES);
}

#endif
