/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: how the k-blocks of a GEMM's last tiles are divided among all CTAs, written once for the host (C11) and the
 * kernels.
 *
 * The first `whole` tiles are not divided: CTA c computes tiles c, c + CTAs, ... The k-blocks of the other tiles form
 * one line of units, tile by tile, cut into `shares` contiguous shares, one per CTA:
 *
 *   3 tiles of 8 k-blocks, 4 shares of 6      |0 1 2 3 4 5 6 7|0 1 2 3 4 5 6 7|0 1 2 3 4 5 6 7|
 *                                             |-- share 0 --|-- share 1 --|-- share 2 --|-- share 3 --|
 *
 * The k-blocks that a share has of one tile are a piece. The share with a tile's last k-block finishes the tile: it
 * collects the partial sums of the shares before it, nearest first, adds them, and stores. So a share publishes at most
 * one piece, its last, and collects only for its first tile. It computes its pieces from last to first. The piece that
 * another share waits for comes first. The piece that has to wait for other shares comes last; those have as much to
 * do, and have published by then. Whole tiles come after.
 *
 * There is no deadlock, whatever else runs on the GPU and however few CTAs it holds: a CTA publishes before it ever
 * waits, and waits for CTAs of lower blockIdx only. CTAs are started in the order of blockIdx, so CTAs of lower
 * blockIdx run or have ended, and none of them waits for this one. GPUs and the simulator start them so, though no
 * manual promises it; with no other kernel on the GPU all CTAs are resident anyway.
 *
 * A cut that would leave a piece of fewer than `least` k-blocks moves to the tile's edge: such a piece is not worth its
 * traffic through memory.
 *
 * Split-K, in variants made for it, cuts every tile into the same number of equal pieces, one a share:
 *
 *   2 tiles, 6 shares                         |0 1 2 3 4 5 6 7|0 1 2 3 4 5 6 7|
 *   (shares with the same k-blocks of all     |- 0 -|- 2 -|-4-|- 1 -|- 3 -|-5-|
 *   tiles have neighbouring numbers)
 *
 * Then every share of a tile adds up one part of the tile, of the partial sums of all its shares (reduce-scatter). Here
 * a share may wait for a share of higher number, which may not be resident. So it does not wait for long: it hands its
 * part over to a share whose piece is missing.
 */
#ifndef GM_STREAM_K_H
#define GM_STREAM_K_H

#include "common/gemm/params.h"

#if defined(__CUDACC__)
#define GM_STREAM_K_FUNCTION static __device__ __forceinline__
#else
#define GM_STREAM_K_FUNCTION static inline
#endif

/* k-blocks [first, end) of the `tile`th of all tiles. */
struct gm_piece {
    int32_t tile, first, end;
};

/* The first unit of a share; of share `shares`, the number of all units. tile_blocks: k-blocks of a tile, not 0. */
GM_STREAM_K_FUNCTION int32_t gm_stream_k_cut(const struct gm_stream_k *s, int32_t tile_blocks, int32_t share) {
    const int32_t even = share * s->blocks + (share < s->more ? share : s->more);
    const int32_t before = even % tile_blocks, behind = tile_blocks - before;
    if (before <= behind)
        return before < s->least ? even - before : even;
    return behind < s->least ? even + behind : even;
}

/* A CTA's walk over its pieces is one number, because it costs the kernel a register throughout. A negative walk: the
 * units of the CTA's share that are left end before unit -walk. Any other walk is the next whole tile. */
GM_STREAM_K_FUNCTION int32_t gm_stream_k_begin(const struct gm_stream_k *s, int32_t tile_blocks, int32_t cta) {
    if (cta >= s->shares)
        return cta;
    const int32_t end = gm_stream_k_cut(s, tile_blocks, cta + 1);
    return gm_stream_k_cut(s, tile_blocks, cta) < end ? -end : cta;
}

/* Takes the next piece off the walk. Returns 0 if there is none. */
GM_STREAM_K_FUNCTION int gm_stream_k_next(const struct gm_stream_k *s, int32_t tile_blocks, int32_t cta, int32_t ctas,
                                          int32_t *walk, struct gm_piece *piece) {
    if (*walk < 0) {
        const int32_t low = gm_stream_k_cut(s, tile_blocks, cta), tile = (-*walk - 1) / tile_blocks;
        const int32_t start = tile * tile_blocks;
        piece->tile = s->whole + tile;
        piece->first = low > start ? low - start : 0;
        piece->end = -*walk - start;
        *walk = low < start ? -start : cta;
        return 1;
    }
    piece->tile = *walk;
    piece->first = 0;
    piece->end = tile_blocks;
    *walk += ctas;
    return piece->tile < s->whole;
}

/* Split-K: the k-blocks of piece `number` of a tile. It is share number * split_k_tiles + tile. */
GM_STREAM_K_FUNCTION struct gm_piece gm_split_k_piece(const struct gm_stream_k *s, int32_t tile, int32_t number) {
    const int32_t first = number * s->blocks + (number < s->more ? number : s->more);
    const struct gm_piece piece = {tile, first, first + s->blocks + (number < s->more)};
    return piece;
}

/* How many shares before `share` have k-blocks of the tile that it finishes, so many partial sums it collects. Some of
 * these shares may be empty. */
GM_STREAM_K_FUNCTION int32_t gm_stream_k_partials(const struct gm_stream_k *s, int32_t tile_blocks, int32_t share) {
    const int32_t cut = gm_stream_k_cut(s, tile_blocks, share), start = cut - cut % tile_blocks;
    int32_t partials = 0;
    for (int32_t at = cut; at > start; partials++)
        at = gm_stream_k_cut(s, tile_blocks, share - partials - 1);
    return partials;
}

/* Workspace: the fp32 accumulators of a tile per share, in one slot for each group of threads that hold some of them.
 * Then flags of 8 bytes. Stream-K has one flag for each slot, split-K one for each CTA of a share and each piece that
 * reads from it. */
#define GM_STREAM_K_TILE_BYTES(tile_m, tile_n) (4 * (tile_m) * (tile_n))
#define GM_STREAM_K_FLAG_BYTES                 8
#define GM_SPLIT_K_MAX_PIECES                  8  /* pieces of a tile */
#define GM_STREAM_K_ALIGN                      16 /* of the workspace */

#endif
