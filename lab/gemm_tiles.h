/* SPDX-License-Identifier: Apache-2.0 */
/* The tiles of the experiment gemm-tiles, and what they should make the counters show. */
#ifndef LAB_GEMM_TILES_H
#define LAB_GEMM_TILES_H

#include "lab/gemm_model.h"

struct gemm_tile {
    const char *kernel;
    int rows, columns, depth; /* of a CTA */
    int down, across;         /* rows and columns of a thread */
    int pitch;                /* words from one column of A's tile to the next */
};

int gemm_tile_threads(const struct gemm_tile *tile);
/* Per launch at M = N = K = size, a multiple of the tile. */
struct gemm_counts gemm_tile_predict(const struct gemm_tile *tile, int size);

#endif
