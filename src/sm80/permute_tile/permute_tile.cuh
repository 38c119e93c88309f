/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations whose innermost dimension is another one in x than in out: tiles of these two go through shared memory.
 * One registry row per compilation; permute_tile.cu of each architecture is the entry.
 *
 *   a CTA takes a tile: COLUMNS neighbours in x of each of ROWS rows, which are neighbours in out
 *   in:    rows of x, 16 bytes an access, past registers (cp.async), so that all of a tile is under way at once
 *   out:   columns of the tile, 16 bytes an access, that is STORE_ROWS elements of one column
 *
 * The 16-byte chunks of a row in shared memory are exchanged by XOR with a number of 0 to 7, in_row(), that differs among
 * the eight rows that an access of 8 lanes reads: in them it meets all banks once, as the lanes that write a row do.
 *
 *   elements of 1, 2 bytes       matrices.cuh    ldmatrix.trans: a lane receives pairs of rows of its column
 *   elements of 4, 8, 16 bytes   columns.cuh     a lane reads its elements of a column one by one
 *   accesses of one element      elements.cuh    of any size and alignment, with padded rows in the place of XOR */
#ifndef GM_SM80_PERMUTE_TILE_CUH
#define GM_SM80_PERMUTE_TILE_CUH

#include "sm80/permute_tile/tile.cuh"
#if GM_X_BYTES * GM_ELEMENTS != 16
#include "sm80/permute_tile/elements.cuh"
#elif GM_X_BYTES <= 2
#include "sm80/permute_tile/matrices.cuh"
#else
#include "sm80/permute_tile/columns.cuh"
#endif

extern __shared__ __align__(128) unsigned char tile_memory[];

static __device__ __forceinline__ void permute_tiles(const struct gm_permute_tile_params &p) {
    const uint32_t memory = (uint32_t)__cvta_generic_to_shared(tile_memory);
    uint32_t number = cta_index();
    while (true) {
        const struct tile t = tile_of(p, number);
        load_tile(p, t, memory);
        __syncthreads();
        store_tile(p, t, memory);
        number += gridDim.x;
        if (number >= (uint32_t)p.tiles)
            break;
        __syncthreads(); /* the next tile takes this one's place */
    }
}

#endif
