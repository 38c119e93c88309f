/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: how the k-blocks of a GEMM's last tiles are divided among all CTAs, written once for the host (C11) and
 * the kernels.
 *
 * The first `whole` tiles are computed as ever: CTA c takes tiles c, c + CTAs, ... The k-blocks of the tiles behind
 * them form one line of units, tile by tile, cut into `shares` contiguous shares, one per CTA:
 *
 *   3 tiles of 8 k-blocks, 4 shares of 6      |0 1 2 3 4 5 6 7|0 1 2 3 4 5 6 7|0 1 2 3 4 5 6 7|
 *                                             |-- share 0 --|-- share 1 --|-- share 2 --|-- share 3 --|
 *
 * What a share has of one tile is a piece. The share with a tile's last k-block finishes it: it adds the partial sums
 * of the shares before it, nearest first, and stores. So a share gives away at most one piece, its last, and takes
 * only for its first tile. It computes its pieces from last to first: what others wait for at once, and what itself
 * has to wait for at the end, when the others, who have as much to do, have long given. Whole tiles come after.
 *
 * No deadlock, whatever else runs on the GPU and however few CTAs it holds: a CTA gives before it ever waits, and waits
 * for CTAs of lower blockIdx only. CTAs are started in the order of blockIdx (so GPUs do, and the simulator, though no
 * manual promises it; with no other kernel about they are all resident anyway), so those run or are done, and none of
 * them needs this one before it gives.
 *
 * A cut that would leave a piece of fewer than `least` k-blocks moves to the tile's edge: such a piece is not worth
 * its way through memory.
 *
 * Or, in rows made for it, every tile is cut into the same number of equal pieces, one a share, which is split-K:
 *
 *   2 tiles, 6 shares                         |0 1 2 3 4 5 6 7|0 1 2 3 4 5 6 7|
 *   (those of one piece side by side, for     |- 0 -|- 2 -|-4-|- 1 -|- 3 -|-5-|
 *   they read the same k-blocks)
 *
 * Then all shares of a tile add up a part of it each, of what all of them have (reduce-scatter). Here a share waits for
 * higher numbers, too, so it does not wait for long: what is its part to add it leaves to one whose piece is missing.
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

/* A CTA's walk over its pieces is one number, for it costs the kernel a register throughout: negative, the units of
 * its share that are left end before unit -walk; otherwise, the next whole tile. */
GM_STREAM_K_FUNCTION int32_t gm_stream_k_begin(const struct gm_stream_k *s, int32_t tile_blocks, int32_t cta) {
    if (cta >= s->shares)
        return cta;
    const int32_t end = gm_stream_k_cut(s, tile_blocks, cta + 1);
    return gm_stream_k_cut(s, tile_blocks, cta) < end ? -end : cta;
}

/* Takes the next piece off the walk; 0: there is none. */
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

/* Tiles cut evenly: piece `number` of a tile, which is share number * even + tile. */
GM_STREAM_K_FUNCTION struct gm_piece gm_stream_k_piece(const struct gm_stream_k *s, int32_t tile, int32_t number) {
    const int32_t first = number * s->blocks + (number < s->more ? number : s->more);
    const struct gm_piece piece = {tile, first, first + s->blocks + (number < s->more)};
    return piece;
}

/* How many shares before `share` hold the beginning of the tile that it finishes, some of them perhaps empty. */
GM_STREAM_K_FUNCTION int32_t gm_stream_k_givers(const struct gm_stream_k *s, int32_t tile_blocks, int32_t share) {
    const int32_t cut = gm_stream_k_cut(s, tile_blocks, share), start = cut - cut % tile_blocks;
    int32_t givers = 0;
    for (int32_t at = cut; at > start; givers++)
        at = gm_stream_k_cut(s, tile_blocks, share - givers - 1);
    return givers;
}

/* Workspace: the fp32 accumulators of a tile per share, in a slot for each gang of threads that hold some of them, then
 * flags of 8 bytes: one per slot, or, of tiles cut evenly, one for each CTA of a share and piece that reads it. */
#define GM_STREAM_K_TILE_BYTES(tile_m, tile_n) (4 * (tile_m) * (tile_n))
#define GM_STREAM_K_FLAG_BYTES                 8
#define GM_STREAM_K_MOST_PIECES                8 /* of a tile that is cut evenly */
#define GM_STREAM_K_ALIGN                      16 /* of the workspace */

#endif
