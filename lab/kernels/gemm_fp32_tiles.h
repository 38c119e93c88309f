/* SPDX-License-Identifier: Apache-2.0 */
/* The tiles that the experiment gemm-tiles tries: TILE(rows, columns and depth of a CTA's, rows and columns of a thread's,
 * words from one column of A's tile to the next). A pitch is a multiple of 4, since columns are read 16 bytes at a time: rows + 1
 * would be illegal. */
#ifndef LAB_GEMM_FP32_TILES_H
#define LAB_GEMM_FP32_TILES_H

#define GEMM_TILES(TILE)                                                                                               \
    TILE(64, 64, 16, 4, 4, 68)                                                                                         \
    TILE(64, 64, 8, 8, 8, 68)                                                                                          \
    TILE(64, 64, 16, 8, 8, 68)                                                                                         \
    TILE(64, 128, 16, 8, 8, 68)                                                                                        \
    TILE(128, 64, 16, 8, 8, 132)                                                                                       \
    TILE(128, 128, 8, 8, 8, 128)                                                                                       \
    TILE(128, 128, 8, 8, 8, 132)                                                                                       \
    TILE(128, 128, 16, 8, 8, 128)                                                                                      \
    TILE(128, 128, 16, 8, 8, 132)                                                                                      \
    TILE(128, 128, 32, 8, 8, 132)                                                                                      \
    TILE(128, 256, 8, 8, 16, 132)                                                                                      \
    TILE(128, 256, 16, 8, 16, 132)                                                                                     \
    TILE(256, 128, 8, 16, 8, 260)                                                                                      \
    TILE(256, 128, 16, 16, 8, 260)

#endif
