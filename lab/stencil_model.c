/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the stencil ladder should make the counters show: every warp's addresses, gone through one by one.
 */
#include "lab/stencil_model.h"

#include <math.h>
#include <stdbool.h>

#include "gristmill/smem.h"
#include "lab/kernels/stencil.h"

/* ---- sectors -------------------------------------------------------------------------------------- */

enum { SECTOR_WORDS = 8 };

struct grid {
    int nx, ny, nz;
};

/* The word of a point, or -1 where there is none. */
static long word_of(const struct grid *grid, int x, int y, int z) {
    const bool exists = x >= 0 && x < grid->nx && y >= 0 && y < grid->ny && z >= 0 && z < grid->nz;
    return exists ? ((long)z * grid->ny + y) * grid->nx + x : -1;
}

/* Different sectors among those that 32 lanes ask for. */
static int sectors_of(const long words[GM_LANES]) {
    int count = 0;
    for (int lane = 0; lane < GM_LANES; lane++) {
        bool known = words[lane] < 0;
        for (int other = 0; other < lane && !known; other++)
            known = words[other] >= 0 && words[other] / SECTOR_WORDS == words[lane] / SECTOR_WORDS;
        count += !known;
    }
    return count;
}

/* 32 lanes side by side from (x, y, z) on. */
static int row_sectors(const struct grid *grid, int x, int y, int z) {
    long words[GM_LANES];
    for (int lane = 0; lane < GM_LANES; lane++)
        words[lane] = word_of(grid, x + lane, y, z);
    return sectors_of(words);
}

/* The seven loads of a warp. */
static int naive_sectors(const struct grid *grid, int x, int y, int z) {
    return row_sectors(grid, x, y, z) + row_sectors(grid, x - 1, y, z) + row_sectors(grid, x + 1, y, z) +
           row_sectors(grid, x, y - 1, z) + row_sectors(grid, x, y + 1, z) + row_sectors(grid, x, y, z - 1) +
           row_sectors(grid, x, y, z + 1);
}

/* The 64 x 16 points of a tile in one plane. */
static int own_sectors(const struct grid *grid, int x, int y, int z) {
    int sum = 0;
    for (int row = 0; row < STENCIL_Y; row++) {
        for (int column = 0; column < STENCIL_X; column += GM_LANES)
            sum += row_sectors(grid, x + column, y + row, z);
    }
    return sum;
}

/* Its rim: two rows, and two columns that one warp reads. */
static int rim_sectors(const struct grid *grid, int x, int y, int z) {
    int sum = 0;
    long words[GM_LANES];
    for (int column = 0; column < STENCIL_X; column += GM_LANES)
        sum += row_sectors(grid, x + column, y - 1, z) + row_sectors(grid, x + column, y + STENCIL_Y, z);
    for (int lane = 0; lane < GM_LANES; lane++)
        words[lane] = word_of(grid, lane < STENCIL_Y ? x - 1 : x + STENCIL_X, y + lane % STENCIL_Y, z);
    return sum + sectors_of(words);
}

/* A CTA that marches: its own points of the plane below and of the first, and, when its threads load the planes
 * themselves, every plane from the first to the one above the last. */
static double march_sectors(const struct grid *grid, int x, int y, int first, bool loads_planes) {
    const int end = first + STENCIL_PLANES < grid->nz ? first + STENCIL_PLANES : grid->nz;
    double sum = own_sectors(grid, x, y, first - 1) + own_sectors(grid, x, y, first);
    for (int z = first; loads_planes && z <= end; z++)
        sum += own_sectors(grid, x, y, z) + rim_sectors(grid, x, y, z);
    return sum;
}

static double step_sectors(enum stencil_step step, const struct grid *grid) {
    if (step == STENCIL_CP_ASYNC)
        return NAN;
    const bool naive = step == STENCIL_NAIVE;
    const int step_x = naive ? STENCIL_NAIVE_X : STENCIL_X, step_y = naive ? 1 : STENCIL_Y;
    double sum = 0;
    for (int z = 0; z < grid->nz; z += naive ? 1 : STENCIL_PLANES) {
        for (int y = 0; y < grid->ny; y += step_y) {
            for (int x = 0; x < grid->nx; x += step_x)
                sum += naive ? naive_sectors(grid, x, y, z) : march_sectors(grid, x, y, z, step == STENCIL_SHARED);
        }
    }
    return sum;
}

/* ---- wavefronts ----------------------------------------------------------------------------------- */

/* A warp's access to a plane: a word a lane. Wavefronts in all, and those due to conflicts. */
static void add_cost(struct stencil_counts *counts, enum gm_access_kind kind, const int words[GM_LANES]) {
    struct gm_access access = {.size = sizeof access, .kind = kind, .width = 4};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (int lane = 0; lane < GM_LANES; lane++)
        access.address[lane] = 4u * (unsigned)words[lane];
    const bool known = gm_bank_cost(&access, &cost) == GM_OK, store = kind == GM_ACCESS_STORE;
    *(store ? &counts->store_wavefronts : &counts->load_wavefronts) += known ? cost.wavefronts : NAN;
    counts->store_conflicts += store ? cost.conflicts : 0;
}

/* 32 lanes side by side in a plane, lane 0 at `word`. */
static void add_row(struct stencil_counts *counts, enum gm_access_kind kind, int word) {
    int words[GM_LANES];
    for (int lane = 0; lane < GM_LANES; lane++)
        words[lane] = word + lane;
    add_cost(counts, kind, words);
}

/* Around each of a tile's points four words, and one in the plane above; below and here are in registers. */
static void add_loads(struct stencil_counts *counts) {
    static const int around[] = {-1, 1, -STENCIL_PITCH, STENCIL_PITCH, 0};
    for (int row = 1; row <= STENCIL_Y; row++) {
        for (int column = 0; column < STENCIL_X; column += GM_LANES) {
            for (int i = 0; i < 5; i++)
                add_row(counts, GM_ACCESS_LOAD, row * STENCIL_PITCH + STENCIL_FIRST + column + around[i]);
        }
    }
}

/* A plane that the threads store word by word: the tile's rows and the rim's, and both columns of the rim by one warp.
 */
static void add_stores(struct stencil_counts *counts) {
    int words[GM_LANES];
    for (int row = 0; row < STENCIL_ROWS; row++) {
        for (int column = 0; column < STENCIL_X; column += GM_LANES)
            add_row(counts, GM_ACCESS_STORE, row * STENCIL_PITCH + STENCIL_FIRST + column);
    }
    for (int lane = 0; lane < GM_LANES; lane++)
        words[lane] = (1 + lane % STENCIL_Y) * STENCIL_PITCH + STENCIL_FIRST + (lane < STENCIL_Y ? -1 : STENCIL_X);
    add_cost(counts, GM_ACCESS_STORE, words);
}

struct stencil_counts stencil_predict(enum stencil_step step, int nx, int ny, int nz) {
    const struct grid grid = {nx, ny, nz};
    const double columns = (double)(nx / STENCIL_X) * (ny / STENCIL_Y);
    const double stored =
        step == STENCIL_SHARED ? nz + (nz + STENCIL_PLANES - 1) / STENCIL_PLANES : 0; /* 1 more a march */
    struct stencil_counts plane = {0};
    if (step == STENCIL_NAIVE)
        return (struct stencil_counts){step_sectors(step, &grid), NAN, NAN, NAN};
    add_loads(&plane);
    add_stores(&plane);
    return (struct stencil_counts){.sectors = step_sectors(step, &grid),
                                   .load_wavefronts = columns * nz * plane.load_wavefronts,
                                   .store_wavefronts = columns * stored * plane.store_wavefronts,
                                   .store_conflicts = columns * stored * plane.store_conflicts};
}
