/* SPDX-License-Identifier: Apache-2.0 */
/* What the tiles of the experiment gemm-tiles should make the counters show: the kernel's own subscripts, priced by the
 * bank model, times how often they occur. */
#include "lab/gemm_tiles.h"

#include <math.h>
#include <stdbool.h>

#include "gristmill/smem.h"

int gemm_tile_threads(const struct gemm_tile *tile) {
    return tile->rows / tile->down * (tile->columns / tile->across);
}

/* What one instruction of a CTA's warps takes; lane i of the CTA touches word word(tile, i, n). */
static struct gemm_wavefronts cost_of(const struct gemm_tile *tile, enum gm_access_kind kind, unsigned bytes,
                                      int (*word)(const struct gemm_tile *tile, int thread, int n), int n) {
    struct gemm_wavefronts sum = {0, 0};
    for (int first = 0; first < gemm_tile_threads(tile); first += GM_LANES) {
        struct gm_access access = {.size = sizeof access, .kind = kind, .width = bytes};
        struct gm_bank_cost cost = {.size = sizeof cost};
        for (int lane = 0; lane < GM_LANES; lane++)
            access.address[lane] = 4u * (unsigned)word(tile, first + lane, n);
        const bool known = gm_bank_cost(&access, &cost) == GM_OK;
        sum.all += known ? cost.wavefronts : NAN;
        sum.ideal += known ? cost.ideal : NAN;
    }
    return sum;
}

/* The subscripts of the kernel, the n-th time that it has them in a k-block. */
static int stored_a(const struct gemm_tile *tile, int thread, int n) {
    const int i = thread + n / 4 * gemm_tile_threads(tile), fours = tile->depth / 4;
    return (i % fours * 4 + n % 4) * tile->pitch + i / fours;
}

static int stored_b(const struct gemm_tile *tile, int thread, int n) {
    return 4 * (thread + n * gemm_tile_threads(tile));
}

static int loaded_a(const struct gemm_tile *tile, int thread, int n) {
    const int fours = tile->down / 4, y = thread / (tile->columns / tile->across);
    return n / fours * tile->pitch + n % fours * (tile->rows / fours) + 4 * y;
}

static int loaded_b(const struct gemm_tile *tile, int thread, int n) {
    const int fours = tile->across / 4, x = thread % (tile->columns / tile->across);
    return n / fours * tile->columns + n % fours * (tile->columns / fours) + 4 * x;
}

static void add(struct gemm_wavefronts *sum, struct gemm_wavefronts part) {
    sum->all += part.all;
    sum->ideal += part.ideal;
}

/* As in the ladder: an element of A is fetched once a column of tiles, and one of B once a row of them. */
struct gemm_counts gemm_tile_predict(const struct gemm_tile *tile, int size) {
    const double cube = (double)size * size * size;
    const double blocks = cube / tile->rows / tile->columns / tile->depth; /* k-blocks of all CTAs */
    const int threads = gemm_tile_threads(tile);
    struct gemm_counts counts = {.sectors = cube / tile->columns / 8 + cube / tile->rows / 8};
    for (int n = 0; n < tile->rows * tile->depth / threads; n++)
        add(&counts.store, cost_of(tile, GM_ACCESS_STORE, 4, stored_a, n));
    for (int n = 0; n < tile->columns * tile->depth / 4 / threads; n++)
        add(&counts.store, cost_of(tile, GM_ACCESS_STORE, 16, stored_b, n));
    for (int n = 0; n < tile->depth * tile->down / 4; n++)
        add(&counts.load, cost_of(tile, GM_ACCESS_LOAD, 16, loaded_a, n));
    for (int n = 0; n < tile->depth * tile->across / 4; n++)
        add(&counts.load, cost_of(tile, GM_ACCESS_LOAD, 16, loaded_b, n));
    counts.load.all *= blocks, counts.load.ideal *= blocks;
    counts.store.all *= blocks, counts.store.ideal *= blocks;
    return counts;
}
