/* SPDX-License-Identifier: Apache-2.0 */
/* row-major-pads: a tiled matrix product whose tiles lie by rows, with a pad that no access needs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/bank_access.h"
#include "lab/gemm_matrices.h"

enum { TIMED = 2048, COUNTED = 128, RAGGED = 70, SIZES = 3 };

static const int sizes[SIZES] = {RAGGED, COUNTED, TIMED};

/* Pitches of the tiles, in words. */
static const struct way {
    const char *label, *kernel, *change;
    uint32_t a, b;
} ways[] = {
    {"no pad", "lab_gemm_pad_none",
     "All lanes read one word of A, and 32 side by side of B: no conflicts. A thread's next words of A are neighbours, "
     "and "
     "one 16-byte load brings four.",
     32, 32},
    {"pad of B", "lab_gemm_pad_b", "One word more a row of B: nothing changes, but for 128 bytes.", 32, 33},
    {"pad of A", "lab_gemm_pad_a",
     "One word more a row of A: rows no longer begin on 16 bytes, and every word of A is a load of its own.", 33, 32},
    {"pad of both", "lab_gemm_pad_both", "As an article has it.", 33, 33},
};

enum { WAYS = sizeof ways / sizeof *ways, NONE = 0, BOTH = WAYS - 1 };

struct pads_data {
    struct gemm_matrices matrices[SIZES];
};

/* ---- prediction ----------------------------------------------------------------------------------- */

/* Wavefronts of an access of 32 lanes, `apart` bytes from lane to lane. */
static double wavefronts(enum bank_instruction instruction, uint32_t apart) {
    struct bank_shot shot;
    uint32_t address[GM_LANES];
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = lane * apart;
    return bank_shot_fill(&shot, instruction, address, 0) == 0 ? shot.cost.wavefronts : NAN;
}

/* A warp stores a row of each tile and loads all of A's row, by fours where it begins on 16 bytes, and of B's rows a word. */
static void predict(struct lab_point *point, const struct way *way) {
    const double blocks = COUNTED / GEMM_TILE, warps = blocks * blocks * blocks * GEMM_TILE;
    const double a = way->a % 4 == 0 ? GEMM_TILE / 4 * wavefronts(LOAD_V4, 0) : GEMM_TILE * wavefronts(LOAD_B32, 0);
    lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, warps * (a + GEMM_TILE * wavefronts(LOAD_B32, 4)),
                 0);
    lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, warps * 2 * wavefronts(STORE_B32, 4), 0);
}

/* ---- points --------------------------------------------------------------------------------------- */

static int add(struct lab *lab, const struct way *way, int size) {
    const struct pads_data *data = lab->data;
    const struct gemm_fp32 *problem = &data->matrices[size].problem;
    const unsigned grid = (unsigned)(sizes[size] + GEMM_TILE - 1) / GEMM_TILE;
    char label[64];
    snprintf(label, sizeof label, "%s, %d x %d x %d", way->label, sizes[size], sizes[size], sizes[size]);
    struct lab_point *point = lab_add(lab, label, way->change);
    if (!point)
        return -1;
    lab_kernel(point, "gemm_fp32_pads", way->kernel, grid, GEMM_TILE);
    point->launch.grid[1] = grid;
    point->launch.block[1] = GEMM_TILE;
    LAB_ARGUMENT(point, *problem);
    if (sizes[size] == COUNTED)
        predict(point, way);
    point->timed = sizes[size] == TIMED;
    point->too_large = point->timed && lab->simulated;
    point->flops = point->timed ? 2.0 * TIMED * TIMED * TIMED : 0;
    return 0;
}

static int setup(struct lab *lab) {
    struct pads_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    for (int size = 0; size < SIZES; size++) { /* a simulated GPU does not look at the largest */
        const int side = sizes[size] == TIMED && lab->simulated ? RAGGED : sizes[size];
        if (gemm_matrices_make(lab, &data->matrices[size], side, side, side) != 0)
            return -1;
    }
    for (int way = 0; way < WAYS; way++) {
        for (int size = 0; size < SIZES; size++) {
            if (add(lab, &ways[way], size) != 0)
                return -1;
        }
    }
    return 0;
}

/* The sizes take turns. */
static const struct gemm_matrices *matrices_of(struct lab *lab, const struct lab_point *point) {
    const struct pads_data *data = lab->data;
    return &data->matrices[(point - lab->points) % SIZES];
}

static int prepare(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_poison(lab, matrices_of(lab, point));
}

static int check(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_check(lab, point, matrices_of(lab, point));
}

static void teardown(struct lab *lab) {
    struct pads_data *data = lab->data;
    for (int size = 0; data && size < SIZES; size++)
        gemm_matrices_free(&data->matrices[size]);
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static const struct lab_point *point_of(struct lab *lab, int way, int size) {
    return &lab->points[way * SIZES + size];
}

static int conclude(struct lab *lab) {
    const double none = lab_counted(point_of(lab, NONE, 1), "load wavefronts");
    const double both = lab_counted(point_of(lab, BOTH, 1), "load wavefronts");
    const double fast = lab_tflops(point_of(lab, NONE, 2)), slow = lab_tflops(point_of(lab, BOTH, 2));
    if (lab->has_counts)
        lab_claim(
            lab, both * 3 == none * 4, false,
            "A pad of both tiles removes no conflict, for there is none, and costs a third more wavefronts of loads: "
            "%.0f for %.0f.",
            both, none);
    lab_claim(lab, slow < fast, true, "With it the product runs at %.2f times the speed: %.2f and %.2f TFLOPS.",
              slow / fast, slow, fast);
    return 0;
}

const struct lab_experiment row_major_pads = {
    .name = "row-major-pads",
    .title = "A pad for nothing",
    .question = "What does a pad do to a tiled matrix product whose tiles nobody reads by columns?",
    .page = "padding",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
