/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels that permute tile by tile, and a tile in shared memory, for host and device. */
#ifndef GM_PERMUTE_TILE_H
#define GM_PERMUTE_TILE_H

#include "common/permute/walk.h"

/* A tile is `columns` elements of x's innermost dimension, times `rows` of out's: a row of it is neighbours in x, a column
 * of it neighbours in out. */
struct gm_permute_tile_params {
    uint64_t x, out;            /* addresses */
    int64_t x_pitch, out_pitch; /* bytes from row to row in x, from column to column in out */
    int32_t rows, columns;      /* extents of the two dimensions */
    struct gm_divisor row_tiles, column_tiles;
    int32_t tiles;               /* of the whole problem; those along out's innermost dimension follow each other */
    int32_t from, to;            /* types of a cast; the same: bits are moved */
    struct gm_permute_walk rest; /* the dimensions beside the two, whose numbers are those of matrices */
};

/* Shared memory. With accesses of 16 bytes a tile is panels of 128 bytes of its rows, one behind the other, whose chunks of
 * 16 bytes are exchanged by XOR. With accesses of one element it is rows, each longer by as much as moves the next one
 * on by a bank, or by an element if that is more. */
#define GM_PERMUTE_TILE_IS_VECTOR(x_bytes, elements) ((x_bytes) * (elements) == 16)
#define GM_PERMUTE_TILE_PITCH(x_bytes, columns)      ((x_bytes) * (columns) + ((x_bytes) > 4 ? (x_bytes) : 4))
#define GM_PERMUTE_TILE_BYTES(x_bytes, columns, rows, elements)                                                        \
    ((rows) *                                                                                                          \
     (GM_PERMUTE_TILE_IS_VECTOR(x_bytes, elements) ? (x_bytes) * (columns) : GM_PERMUTE_TILE_PITCH(x_bytes, columns)))
/* CTAs on an SM that registers leave room for: all threads that it holds, with 32 registers each. */
#define GM_PERMUTE_TILE_CTAS(threads) (2048 / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_permute_tile_params) == 224, "host and device agree");
#endif

#endif
