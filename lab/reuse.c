/* SPDX-License-Identifier: Apache-2.0 */
/* The reuse model of tiling: with tiles of T x T every element is fetched from global memory once for T
 * multiplications. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/gemm_matrices.h"
#include "lab/gemm_model.h"

#define LAB_REQUESTS_LD "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"

enum { SIZE = 1024, SMALL = 128, RAGGED = 70 };

/*  Words loaded for N^3 multiplications, and floating-point operations for a byte of them:
 *      no tile     2 N^3          2 N^3 / (8 N^3)     = 0.25
 *      tile T      2 N^3 / T      2 N^3 / (8 N^3 / T) = 0.25 T
 *  A worked table in print has the sectors of a small case fall from 9,800 to 1,200 and the intensity rise from 1.5 to
 * 8; its sizes are not given, so only the factors compare: 8.2 and 5.3.  */
static const struct tile {
    const char *label, *kernel;
    int tile;
    const char *change;
} tiles[] = {
    {"no tile", "lab_gemm_coalesced", 1,
     "2 N^3 words, 0.25 operations a byte; but a warp's 32 lanes share their word of A, so it is 5 sectors, not 8, for "
     "64 "
     "words."},
    {"tile 8", "lab_gemm_tiled_8", 8, "2 N^3 / 8 words, 2 operations a byte."},
    {"tile 16", "lab_gemm_tiled_16", 16, "2 N^3 / 16 words, 4 operations a byte."},
    {"tile 32", "lab_gemm_tiled", 32, "2 N^3 / 32 words, 8 operations a byte."},
};

enum { TILES = sizeof tiles / sizeof *tiles };

struct reuse_data {
    struct gemm_matrices whole, ragged;
};

/* ---- points --------------------------------------------------------------------------------------- */

static struct lab_point *add(struct lab *lab, const struct tile *tile, const struct gemm_matrices *matrices) {
    const struct gemm_fp32 *problem = &matrices->problem;
    const unsigned side = tile->tile == 1 ? GEMM_TILE : (unsigned)tile->tile;
    const unsigned grid = ((unsigned)problem->n + side - 1) / side;
    char label[64];
    snprintf(label, sizeof label, problem->n == RAGGED ? "%s, 70 x 70 x 70" : "%s", tile->label);
    struct lab_point *point = lab_add(lab, label, problem->n == RAGGED ? "" : tile->change);
    if (!point)
        return NULL;
    lab_kernel(point, "gemm_fp32_elements", tile->kernel, grid, side);
    point->launch.grid[1] = grid;
    point->launch.block[1] = side;
    LAB_ARGUMENT(point, *problem);
    return point;
}

static int reuse_setup(struct lab *lab) {
    /* To stand beside numbers that were counted, a simulated GPU has to launch the same. */
    const int size = lab->simulated && !lab->launching_only ? SMALL : SIZE;
    struct reuse_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    if (gemm_matrices_make(lab, &data->whole, size, size, size) != 0 ||
        gemm_matrices_make(lab, &data->ragged, RAGGED, RAGGED, RAGGED) != 0)
        return -1;
    for (int i = 0; i < TILES; i++) {
        struct lab_point *point = add(lab, &tiles[i], &data->whole);
        if (!point || !add(lab, &tiles[i], &data->ragged))
            return -1;
        point->timed = true;
        point->flops = 2.0 * size * size * size;
        lab_quantity(point, "sectors", LAB_SECTORS_LD, gemm_reuse_sectors(tiles[i].tile, size), 0);
        lab_quantity(point, "requests", LAB_REQUESTS_LD, gemm_reuse_requests(tiles[i].tile, size), 0);
    }
    return 0;
}

/* Points of the two sizes take turns. */
static const struct gemm_matrices *matrices_of(struct lab *lab, const struct lab_point *point) {
    struct reuse_data *data = lab->data;
    return (point - lab->points) % 2 ? &data->ragged : &data->whole;
}

static int reuse_prepare(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_poison(lab, matrices_of(lab, point));
}

static int reuse_check(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_check(lab, point, matrices_of(lab, point));
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static void claim_counts(struct lab *lab) {
    const struct lab_point *none = lab_find(lab, tiles[0].label);
    for (int i = 1; i < TILES; i++) {
        const struct lab_point *point = lab_find(lab, tiles[i].label);
        const double factor = lab_counted(none, "requests") / lab_counted(point, "requests");
        lab_claim(lab, factor == tiles[i].tile, false,
                  "%s divides the words fetched by %.0f, and the sectors by %.1f: without tiles a warp shares some",
                  tiles[i].label, factor, lab_counted(none, "sectors") / lab_counted(point, "sectors"));
    }
}

/* TFLOPS, of the first tile and the last. */
static double reuse_article(const char *step) {
    return strcmp(step, tiles[0].label) == 0 ? 0.015 : strcmp(step, tiles[TILES - 1].label) == 0 ? 0.17 : NAN;
}

static int reuse_conclude(struct lab *lab) {
    if (lab->has_counts)
        claim_counts(lab);
    const double none = lab_tflops(lab_find(lab, tiles[0].label)),
                 most = lab_tflops(lab_find(lab, tiles[TILES - 1].label));
    lab_claim(lab, most > none, true,
              "32 times fewer words: %.2f times as fast, %.2f to %.2f TFLOPS; without tiles the L1 serves most of them "
              "(a table in print: sectors 9,800 to 1,200, %.0f to %.0f GFLOPS, intensity 1.5 to 8)",
              most / none, none, most, 1e3 * reuse_article(tiles[0].label),
              1e3 * reuse_article(tiles[TILES - 1].label));
    return 0;
}

static void reuse_teardown(struct lab *lab) {
    struct reuse_data *data = lab->data;
    if (!data)
        return;
    gemm_matrices_free(&data->whole);
    gemm_matrices_free(&data->ragged);
}

const struct lab_experiment reuse = {
    .name = "reuse",
    .title = "What a tile saves",
    .question = "Do tiles of T x T divide the global loads of a matrix multiplication by T, as the reuse model says?",
    .page = "worth-fixing",
    .setup = reuse_setup,
    .prepare = reuse_prepare,
    .check = reuse_check,
    .conclude = reuse_conclude,
    .teardown = reuse_teardown,
    .article = reuse_article,
};
