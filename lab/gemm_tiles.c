/* SPDX-License-Identifier: Apache-2.0 */
/* gemm-tiles: the vectorised step of the fp32 ladder with many tiles, the best of which an autotuner would keep. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/gemm_matrices.h"
#include "lab/gemm_peak.h"
#include "lab/gemm_tiles.h"
#include "lab/kernels/gemm_fp32_tiles.h"

static const struct gemm_tile tiles[] = {
#define ROW(rows, columns, depth, down, across, pitch)                                                                 \
    {"lab_gemm_tile_" #rows "x" #columns "x" #depth "_" #down "x" #across "_" #pitch,                                  \
     rows,                                                                                                             \
     columns,                                                                                                          \
     depth,                                                                                                            \
     down,                                                                                                             \
     across,                                                                                                           \
     pitch},
    GEMM_TILES(ROW)
#undef ROW
};
enum { TILES = sizeof tiles / sizeof *tiles };

/* The tile of the vectorised step. */
enum { USUAL_ROWS = 128, USUAL_DEPTH = 8, USUAL_PITCH = 132 };

enum { SIZES = 4, COUNTED = 2, TIMED = 3 };
static const int sizes[SIZES][3] = {{70, 70, 70}, {129, 257, 65}, {256, 256, 256}, {4096, 4096, 4096}};

struct study {
    struct gemm_matrices sizes[SIZES];
    int size_of[LAB_POINTS_MAX]; /* of every point */
};

/* ---- points --------------------------------------------------------------------------------------- */

static void label_of(const struct gemm_tile *tile, char *label, size_t bytes) {
    snprintf(label, bytes, "%d x %d x %d, %d x %d%s", tile->rows, tile->columns, tile->depth, tile->down, tile->across,
             tile->pitch == tile->rows ? ", no pad" : "");
}

static void describe(const struct gemm_tile *tile, char *change, size_t bytes) {
    const int multiplications = tile->down * tile->across, words = tile->down + tile->across;
    snprintf(change, bytes,
             "%d threads; %d words read serve %d multiplications; %.1f operations a byte fetched; %.1f KB",
             gemm_tile_threads(tile), words, multiplications,
             2.0 * tile->rows * tile->columns / (4.0 * (tile->rows + tile->columns)),
             tile->depth * (tile->pitch + tile->columns) / 256.0);
}

static int add_tile(struct lab *lab, const struct gemm_tile *tile, int size) {
    struct study *study = lab->data;
    const struct gemm_fp32 *problem = &study->sizes[size].problem;
    char name[64], label[64], change[200] = "";
    label_of(tile, name, sizeof name);
    if (size == TIMED)
        describe(tile, change, sizeof change);
    snprintf(label, sizeof label, size == TIMED ? "%s" : "%s, %d x %d x %d", name, problem->m, problem->n, problem->k);
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    study->size_of[point - lab->points] = size;
    lab_kernel(point, "gemm_fp32_tiles", tile->kernel, (unsigned)((problem->n + tile->columns - 1) / tile->columns),
               (unsigned)gemm_tile_threads(tile));
    point->launch.grid[1] = (unsigned)((problem->m + tile->rows - 1) / tile->rows);
    LAB_ARGUMENT(point, *problem);
    point->timed = size == TIMED;
    point->too_large = size == TIMED && lab->simulated;
    point->flops = size == TIMED ? 2.0 * problem->m * problem->n * problem->k : 0;
    if (size == COUNTED) {
        const struct gemm_counts counts = gemm_tile_predict(tile, problem->m);
        lab_quantity(point, "load sectors", LAB_SECTORS_LD, counts.sectors, 0);
        lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, counts.load.all, 0);
        lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, counts.store.all, 0);
    }
    if (size == TIMED)
        gemm_peak_add(lab, point);
    return 0;
}

static int setup(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    if (!study)
        return complain("out of host memory");
    for (int i = 0; i < SIZES; i++) {
        const int *s = sizes[i];
        if (i == TIMED && lab->simulated)
            study->sizes[i].problem = (struct gemm_fp32){.m = s[0], .n = s[1], .k = s[2]};
        else if (gemm_matrices_make(lab, &study->sizes[i], s[0], s[1], s[2]) != 0)
            return -1;
    }
    for (int size = 0; size < SIZES; size++) {
        for (int i = 0; i < TILES; i++) {
            if (add_tile(lab, &tiles[i], size) != 0)
                return -1;
        }
    }
    return 0;
}

static const struct gemm_matrices *matrices_of(struct lab *lab, const struct lab_point *point) {
    struct study *study = lab->data;
    return &study->sizes[study->size_of[point - lab->points]];
}

static int prepare(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_poison(lab, matrices_of(lab, point));
}

static int check(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_check(lab, point, matrices_of(lab, point));
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static const struct lab_point *timed(struct lab *lab, const struct gemm_tile *tile) {
    char label[64];
    label_of(tile, label, sizeof label);
    return lab_find(lab, label);
}

static bool is_usual(const struct gemm_tile *tile) {
    return tile->rows == USUAL_ROWS && tile->columns == USUAL_ROWS && tile->depth == USUAL_DEPTH &&
           tile->pitch == USUAL_PITCH;
}

static void claim_best(struct lab *lab) {
    const struct lab_point *best = NULL, *usual = NULL, *first = timed(lab, &tiles[0]);
    for (int i = 0; i < TILES; i++) {
        const struct lab_point *point = timed(lab, &tiles[i]);
        best = !best || lab_tflops(point) > lab_tflops(best) ? point : best;
        usual = is_usual(&tiles[i]) ? point : usual;
    }
    lab_claim(
        lab, lab_tflops(best) >= lab_tflops(usual), true,
        "the best of %d tiles is %s: %.1f TFLOPS, %.1f %% of the fp32 peak, %.2f times the ladder's vectorised step "
        "(the ladder of an A6000, autotuned: 1.08)",
        TILES, best->label, lab_tflops(best), 100 * lab_tflops(best) / gemm_peak_tflops(&lab->gpu.device),
        lab_tflops(best) / lab_tflops(usual));
    lab_claim(
        lab, lab_tflops(usual) > lab_tflops(first), true,
        "%s: %.1f TFLOPS, %.1f %% of the fp32 peak (an article on an A100: 6.2 TFLOPS, 32 %%); 8 x 8 a thread %.1f",
        first->label, lab_tflops(first), 100 * lab_tflops(first) / gemm_peak_tflops(&lab->gpu.device),
        lab_tflops(usual));
}

/* Tiles that differ by their pads. */
static void claim_pads(struct lab *lab) {
    for (int i = 0; i + 1 < TILES; i++) {
        if (tiles[i].pitch != tiles[i].rows)
            continue;
        const struct gemm_wavefronts without = gemm_tile_predict(&tiles[i], sizes[COUNTED][0]).store,
                                     with = gemm_tile_predict(&tiles[i + 1], sizes[COUNTED][0]).store;
        const double ratio = lab_tflops(timed(lab, &tiles[i + 1])) / lab_tflops(timed(lab, &tiles[i]));
        lab_claim(lab, ratio > 0.97, true,
                  "%d x %d x %d: a pad of 4 words takes %.0f %% of the stores' conflicts away, %.2f times the speed",
                  tiles[i].rows, tiles[i].columns, tiles[i].depth,
                  100 * (without.all - with.all) / (without.all - without.ideal), ratio);
    }
}

static int conclude(struct lab *lab) {
    gemm_peak_fill(lab);
    claim_best(lab);
    claim_pads(lab);
    return 0;
}

static void teardown(struct lab *lab) {
    struct study *study = lab->data;
    for (int i = 0; study && i < SIZES; i++)
        gemm_matrices_free(&study->sizes[i]);
}

const struct lab_experiment gemm_tiles = {
    .name = "gemm-tiles",
    .title = "Tiles of an fp32 multiplication",
    .question =
        "Which tile is the fastest, of those that an autotuner would try, and how much of the peak does it reach?",
    .page = "padding",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
