/* SPDX-License-Identifier: Apache-2.0 */
/* Where element (row, column) of a tile of fp32 lies in shared memory, in words of 4 bytes, at each step of the transpose
 * ladder. One definition for the kernels and for the model that predicts their wavefronts.
 *
 *   bank of a column's elements, first rows:    plain  padded   xor   tma (16-byte chunks move together)
 *     row 0, column 4                               4       4     4     4
 *     row 1, column 4                               4       5     5     0
 *     row 2, column 4                               4       6     6    12
 *     row 3, column 4                               4       7     7     8                                          */
#ifndef LAB_TRANSPOSE_TILE_H
#define LAB_TRANSPOSE_TILE_H

#define TRANSPOSE_TILE                32
#define TRANSPOSE_THREAD_ROWS         8 /* a CTA is 32 x 8 threads: each warp moves every eighth row */
#define TRANSPOSE_COPY_THREADS        256
#define TRANSPOSE_PLAIN(row, column)  ((row) * 32 + (column))
#define TRANSPOSE_PADDED(row, column) ((row) * 33 + (column))
#define TRANSPOSE_XOR(row, column)    ((row) * 32 + ((column) ^ (row)))

/* The TMA step: tiles of 64 x 64. A tile comes in as two boxes of 64 rows x 32 columns, one after the other, for 128 bytes
 * are what TMA can swizzle: chunk column / 4 of row r lies at chunk column / 4 ^ r % 8. It goes out as one plain box. */
#define TRANSPOSE_TMA_TILE    64
#define TRANSPOSE_TMA_THREADS 256
#define TRANSPOSE_BOX_COLUMNS 32
#define TRANSPOSE_BOX_WORDS   (TRANSPOSE_TMA_TILE * TRANSPOSE_BOX_COLUMNS)
#define TRANSPOSE_TMA_IN(row, column)                                                                                  \
    ((column) / TRANSPOSE_BOX_COLUMNS * TRANSPOSE_BOX_WORDS + (row) * 32 + (((column) % 32) ^ (((row) % 8) * 4)))
#define TRANSPOSE_TMA_OUT(row, column) ((row) * TRANSPOSE_TMA_TILE + (column))

/* Its shared memory: the tile as it comes, the tile as it goes, an mbarrier. */
#define TRANSPOSE_TILE_BYTES (TRANSPOSE_TMA_TILE * TRANSPOSE_TMA_TILE * 4)
#define TRANSPOSE_TMA_BYTES  (2 * TRANSPOSE_TILE_BYTES + 8)

#endif
