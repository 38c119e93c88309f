/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the fp32 GEMM ladder should make the counters show: the kernels' own address lists, priced by the
 * bank model, times how often they occur. */
#include "lab/gemm_model.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "gristmill/smem.h"
#include "lab/kernels/gemm_fp32.h"

/* ---- address lists -------------------------------------------------------------------------------- */

/* The word of its tile that thread t touches in the i-th such instruction of a k-block. The names say the step, the
 * tile and the direction; each line is the subscript that the kernel has. */
typedef int word_of(int t, int i);

#define WORD(name, word)                                                                                               \
    static int name(int t, int i) {                                                                                    \
        (void)i;                                                                                                       \
        return (word);                                                                                                 \
    }

enum { DEPTH = GEMM_DEPTH, TILE_1D = GEMM_1D_TILE, TILE_2D = GEMM_2D_TILE };

/* clang-format off */

/* One element a thread: x = t % 32, y = t / 32. The tile itself, then read by row and by column. */
WORD(own_place, t)
WORD(row_of_a, t / GEMM_TILE * GEMM_TILE + 4 * i)
WORD(row_of_b, i * GEMM_TILE + t % GEMM_TILE)
WORD(turned_place, t % GEMM_TILE * GEMM_TILE + t / GEMM_TILE)
WORD(turned_a, i * GEMM_TILE + t / GEMM_TILE)
WORD(padded_place, t % GEMM_TILE * (GEMM_TILE + 1) + t / GEMM_TILE)
WORD(padded_a, i * (GEMM_TILE + 1) + t / GEMM_TILE)

/* 8 elements a thread. */
WORD(store_a_1d, t % DEPTH * GEMM_1D_PITCH + t / DEPTH)
WORD(load_a_1d, i / 2 * GEMM_1D_PITCH + t / TILE_1D * GEMM_1D_ROWS + i % 2 * 4)
WORD(load_b_1d, i * TILE_1D + t % TILE_1D)

/* 8 x 8 elements a thread, word by word. */
WORD(store_a_2d, t % DEPTH * GEMM_2D_PITCH + t / DEPTH + 32 * i)
WORD(store_b_2d, (t / TILE_2D + 2 * i) * TILE_2D + t % TILE_2D)
WORD(load_a_2d, i / 8 * GEMM_2D_PITCH + t / 16 + 16 * (i % 8))
WORD(load_b_2d, i / 8 * TILE_2D + t % 16 + 16 * (i % 8))

/* The same by fours. */
WORD(store_a_four, (t % 2 * 4 + i) * GEMM_2D_PITCH + t / 2)
WORD(store_b_four, t / 32 * TILE_2D + t % 32 * 4)
WORD(load_a_four, i / 2 * GEMM_2D_PITCH + t / 16 * 4 + i % 2 * 64)
WORD(load_b_four, i / 2 * TILE_2D + t % 16 * 4 + i % 2 * 64)

/* clang-format on */

static int load_a_warp(int t, int i) {
    const int lane = t % 32, row = t / 32 / 4 * 64 + ((lane >> 1 & 1) + (lane >> 3) * 2) * 4;
    return i / 2 * GEMM_2D_PITCH + row + i % 2 * 32;
}

static int load_b_warp(int t, int i) {
    const int lane = t % 32, column = t / 32 % 4 * 64 + ((lane & 1) + (lane >> 1 & 2)) * 4;
    return i / 4 * GEMM_WARP_COLUMNS + column + i % 4 * 16;
}

/* ---- steps ---------------------------------------------------------------------------------------- */

#define LOAD  GM_ACCESS_LOAD
#define STORE GM_ACCESS_STORE

/* One instruction, executed `times` times a k-block by every warp, and `ahead` times before the first. Where a thread
 * loads neighbouring words the compiler joins them by fours (`tiled` and `1D tile`, from A): they stand here as it
 * compiles them. cp.async is not here: it is neither a load nor a store to the counters. */
static const struct access {
    enum gemm_step step;
    enum gm_access_kind kind;
    unsigned bytes;
    int times, ahead;
    word_of *word;
} accesses[] = {
    {GEMM_TILED, STORE, 4, 1, 0, own_place},
    {GEMM_TILED, STORE, 4, 1, 0, own_place},
    {GEMM_TILED, LOAD, 16, 8, 0, row_of_a},
    {GEMM_TILED, LOAD, 4, 32, 0, row_of_b},
    {GEMM_TRANSPOSED, STORE, 4, 1, 0, turned_place},
    {GEMM_TRANSPOSED, STORE, 4, 1, 0, own_place},
    {GEMM_TRANSPOSED, LOAD, 4, 32, 0, turned_a},
    {GEMM_TRANSPOSED, LOAD, 4, 32, 0, row_of_b},
    {GEMM_PADDED, STORE, 4, 1, 0, padded_place},
    {GEMM_PADDED, STORE, 4, 1, 0, own_place},
    {GEMM_PADDED, LOAD, 4, 32, 0, padded_a},
    {GEMM_PADDED, LOAD, 4, 32, 0, row_of_b},
    {GEMM_1D, STORE, 4, 1, 0, store_a_1d},
    {GEMM_1D, STORE, 4, 1, 0, own_place},
    {GEMM_1D, LOAD, 16, 16, 0, load_a_1d},
    {GEMM_1D, LOAD, 4, 8, 0, load_b_1d},
    {GEMM_2D, STORE, 4, 4, 0, store_a_2d},
    {GEMM_2D, STORE, 4, 4, 0, store_b_2d},
    {GEMM_2D, LOAD, 4, 64, 0, load_a_2d},
    {GEMM_2D, LOAD, 4, 64, 0, load_b_2d},
    {GEMM_VECTORISED, STORE, 4, 4, 0, store_a_four},
    {GEMM_VECTORISED, STORE, 16, 1, 0, store_b_four},
    {GEMM_VECTORISED, LOAD, 16, 16, 0, load_a_four},
    {GEMM_VECTORISED, LOAD, 16, 16, 0, load_b_four},
    {GEMM_DOUBLE_BUFFER, STORE, 4, 4, 0, store_a_four},
    {GEMM_DOUBLE_BUFFER, STORE, 16, 1, 0, store_b_four},
    {GEMM_DOUBLE_BUFFER, LOAD, 16, 16, 0, load_a_four},
    {GEMM_DOUBLE_BUFFER, LOAD, 16, 16, 0, load_b_four},
    {GEMM_CP_ASYNC, LOAD, 16, 16, 0, load_a_four},
    {GEMM_CP_ASYNC, LOAD, 16, 16, 0, load_b_four},
    {GEMM_WARP_TILE, LOAD, 16, 16, 2, load_a_warp},
    {GEMM_WARP_TILE, LOAD, 16, 32, 4, load_b_warp},
};

/* Elements of C a CTA; a k-block; threads. */
static const struct shape {
    int rows, columns, depth, threads;
} shapes[GEMM_STEPS] = {
    [GEMM_NAIVE] = {32, 32, 32, 1024},
    [GEMM_COALESCED] = {32, 32, 32, 1024},
    [GEMM_TILED] = {32, 32, 32, 1024},
    [GEMM_TRANSPOSED] = {32, 32, 32, 1024},
    [GEMM_PADDED] = {32, 32, 32, 1024},
    [GEMM_1D] = {64, 64, 8, 512},
    [GEMM_2D] = {128, 128, 8, 256},
    [GEMM_VECTORISED] = {128, 128, 8, 256},
    [GEMM_DOUBLE_BUFFER] = {128, 128, 8, 256},
    [GEMM_CP_ASYNC] = {128, 128, 8, 256},
    [GEMM_WARP_TILE] = {128, 256, 8, 256},
};

/* Adds what the i-th such instruction costs a CTA's warps, `weight` times. */
static void add_cost(struct gemm_wavefronts *sum, const struct access *access, int i, double weight) {
    for (int warp = 0; warp < shapes[access->step].threads / GM_LANES; warp++) {
        struct gm_access lanes = {.size = sizeof lanes, .kind = access->kind, .width = access->bytes};
        struct gm_bank_cost cost = {.size = sizeof cost};
        for (int lane = 0; lane < GM_LANES; lane++)
            lanes.address[lane] = 4u * (unsigned)access->word(warp * GM_LANES + lane, i);
        const bool known = gm_bank_cost(&lanes, &cost) == GM_OK;
        sum->all += known ? weight * cost.wavefronts : NAN;
        sum->ideal += known ? weight * cost.ideal : NAN;
    }
}

/* All of a step's accesses of one kind. */
static struct gemm_wavefronts wavefronts_of(enum gemm_step step, enum gm_access_kind kind, double ctas, double blocks) {
    struct gemm_wavefronts sum = {0, 0};
    if (step < GEMM_TILED)
        return (struct gemm_wavefronts){NAN, NAN};
    for (size_t a = 0; a < sizeof accesses / sizeof *accesses; a++) {
        const struct access *access = &accesses[a];
        if (access->step != step || access->kind != kind)
            continue;
        for (int i = 0; i < access->times; i++)
            add_cost(&sum, access, i, ctas * (blocks + (i < access->ahead)));
    }
    return sum;
}

/* ---- sectors -------------------------------------------------------------------------------------- */

/*  Without tiles a warp asks for 64 words for one step along k:
 *      naive       32 rows of A, each its own sector, and one word of B     33 sectors
 *      coalesced   one word of A and 32 side by side of B                    5
 *  With tiles the CTAs of C fetch N^3 / columns words of A and N^3 / rows of B, 8 to a sector since all rows begin on
 *  one. cp.async is not counted as a load. */
static double sectors_of(enum gemm_step step, int size) {
    const double cube = (double)size * size * size;
    switch (step) {
    case GEMM_NAIVE:
        return cube / 32 * 33;
    case GEMM_COALESCED:
        return cube / 32 * 5;
    case GEMM_CP_ASYNC:
    case GEMM_WARP_TILE:
        return NAN;
    default:
        return cube / shapes[step].columns / 8 + cube / shapes[step].rows / 8;
    }
}

struct gemm_counts gemm_predict(enum gemm_step step, int size) {
    const struct shape *shape = &shapes[step];
    const double ctas = (double)size / shape->rows * size / shape->columns, blocks = (double)size / shape->depth;
    return (struct gemm_counts){.sectors = sectors_of(step, size),
                                .load = wavefronts_of(step, GM_ACCESS_LOAD, ctas, blocks),
                                .store = wavefronts_of(step, GM_ACCESS_STORE, ctas, blocks)};
}

double gemm_reuse_sectors(int tile, int size) {
    const double cube = (double)size * size * size;
    return tile == 1 ? cube / 32 * 5 : 2 * cube / tile / 8;
}

/* A request is one load instruction of a warp: 32 words, whatever the tile. */
double gemm_reuse_requests(int tile, int size) {
    return 2.0 * size * size * size / tile / 32;
}
