/* SPDX-License-Identifier: Apache-2.0 */
/* matrix-sums: the sums of a matrix's rows and of its columns, by threads, by tiles and by warps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/bank_access.h"
#include "lab/kernels/matrix_sums.h"
#include "lab/ladders.h"

enum { TIMED = 16384 /* rows and columns: 1 GiB */, WARPS = MATRIX_THREADS / GM_LANES };

enum step { ROW_THREADS, ROW_TILES, ROW_PADDED, ROW_WARPS, COLUMN_WARPS, COLUMN_THREADS, STEPS };

/* `of_cta`: rows or columns of a CTA. */
static const struct {
    const char *label, *kernel, *change;
    uint32_t of_cta;
    bool columns, scattered; /* whose sums; whether the lanes read a column of the matrix */
} steps[STEPS] = {
    [ROW_THREADS] = {"rows, a thread each", "lab_rows_by_threads",
                     "The lanes of a warp walk along 32 rows: every load asks for 32 sectors.", MATRIX_THREADS, false,
                     true},
    [ROW_TILES] =
        {"rows, tiles", "lab_rows_by_tiles",
         "Tiles of 32 x 32 are loaded by rows, 4 sectors a load, and read by columns in shared memory: 32-way.",
         MATRIX_TILE, false, false},
    [ROW_PADDED] = {"rows, padded tiles", "lab_rows_by_padded_tiles",
                    "One word of pad a row of the tile: no conflicts.", MATRIX_TILE, false, false},
    [ROW_WARPS] = {"rows, a warp each", "lab_rows_by_warps",
                   "The lanes read a row side by side and add up by shuffles: no shared memory at all.", WARPS, false,
                   false},
    [COLUMN_WARPS] = {"columns, a warp each", "lab_columns_by_warps",
                      "The same for a column: the lanes read words a row apart, 32 sectors a load.", WARPS, true, true},
    [COLUMN_THREADS] = {"columns, a thread each", "lab_columns_by_threads",
                        "Side by side walk the lanes down 32 columns: 4 sectors a load, and nothing to exchange.",
                        MATRIX_THREADS, true, false},
};

struct shape {
    uint32_t rows, columns;
};

struct sums_data {
    CUdeviceptr from, sums;
    struct shape shapes[LAB_POINTS_MAX];
    enum step steps[LAB_POINTS_MAX];
    int32_t expected[2][TIMED]; /* of the timed matrix: rows, columns */
    float result[TIMED];
};

static int value_of(uint32_t k) {
    return (int)(ladder_hash(k) % 5) - 2;
}

static uint32_t word_of(uint32_t k) {
    return ladder_bits((float)value_of(k));
}

/* ---- prediction ----------------------------------------------------------------------------------- */

/* Of a warp that reads a column of a tile. */
static double column_wavefronts(enum step step) {
    struct bank_shot shot;
    uint32_t address[GM_LANES];
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = 4 * (step == ROW_PADDED ? MATRIX_PADDED(lane, 0) : MATRIX_PLAIN(lane, 0));
    return bank_shot_fill(&shot, LOAD_B32, address, 0) == 0 ? shot.cost.wavefronts : NAN;
}

/* Whole CTAs only. A tile is 32 stores and 32 loads of a warp, and a CTA's last sums are a store a warp, all loaded by one. */
static void predict(struct lab_point *point, enum step step, const struct shape *shape) {
    const double elements = (double)shape->rows * shape->columns;
    const double ctas = elements / (MATRIX_TILE * MATRIX_STRIP), tiles = elements / (MATRIX_TILE * MATRIX_TILE);
    const bool by_tiles = step == ROW_TILES || step == ROW_PADDED;
    lab_quantity(point, "load sectors", LAB_SECTORS_LD, steps[step].scattered ? elements : elements / 8, 0);
    lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD,
                 by_tiles ? tiles * MATRIX_TILE * column_wavefronts(step) + ctas * WARPS : 0, 0);
    lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, by_tiles ? tiles * MATRIX_TILE + ctas * WARPS : 0,
                 0);
}

/* ---- points --------------------------------------------------------------------------------------- */

static uint32_t pieces(uint32_t count, uint32_t piece) {
    return (count + piece - 1) / piece;
}

static struct lab_point *add(struct lab *lab, enum step step, struct shape shape) {
    struct sums_data *data = lab->data;
    char label[64];
    snprintf(label, sizeof label, "%s, %u x %u", steps[step].label, shape.rows, shape.columns);
    struct lab_point *point = lab_add(lab, label, steps[step].change);
    if (!point)
        return NULL;
    const uint32_t across = steps[step].columns ? shape.columns : shape.rows;
    const uint32_t along = steps[step].columns ? shape.rows : shape.columns;
    data->shapes[ladder_index(lab, point)] = shape;
    data->steps[ladder_index(lab, point)] = step;
    lab_kernel(point, "matrix_sums", steps[step].kernel, pieces(across, steps[step].of_cta), MATRIX_THREADS);
    point->launch.grid[1] = pieces(along, MATRIX_STRIP);
    LAB_ARGUMENT(point, data->from);
    LAB_ARGUMENT(point, data->sums);
    LAB_ARGUMENT(point, shape.rows);
    LAB_ARGUMENT(point, shape.columns);
    point->bytes = (double)sizeof(float) * shape.rows * shape.columns;
    return point;
}

static int add_step(struct lab *lab, enum step step) {
    static const struct shape ragged[] = {{1, 1}, {33, 1025}, {1025, 33}};
    /* Both walks in whole CTAs and strips. */
    const struct shape counted = {MATRIX_STRIP, MATRIX_STRIP}, timed = {TIMED, TIMED};
    for (size_t i = 0; i < sizeof ragged / sizeof *ragged; i++) {
        if (!add(lab, step, ragged[i]))
            return -1;
    }
    struct lab_point *point = add(lab, step, counted);
    if (!point)
        return -1;
    predict(point, step, &counted);
    point = add(lab, step, timed);
    if (!point)
        return -1;
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static void add_up(struct shape shape, int32_t *of_rows, int32_t *of_columns) {
    for (uint32_t column = 0; column < shape.columns; column++)
        of_columns[column] = 0;
    for (uint32_t row = 0; row < shape.rows; row++) {
        of_rows[row] = 0;
        for (uint32_t column = 0; column < shape.columns; column++) {
            const int value = value_of(row * shape.columns + column);
            of_rows[row] += value;
            of_columns[column] += value;
        }
    }
}

static int setup(struct lab *lab) {
    const size_t side = lab->simulated ? MATRIX_STRIP + 1 : TIMED, elements = side * side;
    struct sums_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    if (lab_alloc(lab, &data->from, elements * sizeof(float), 0) != 0 ||
        lab_alloc(lab, &data->sums, side * sizeof(float), 0) != 0)
        return -1;
    if (!lab->launching_only && ladder_fill(lab, data->from, elements, word_of) != 0)
        return -1;
    if (!lab->launching_only && !lab->simulated)
        add_up((struct shape){TIMED, TIMED}, data->expected[0], data->expected[1]);
    for (int step = 0; step < STEPS; step++) {
        if (add_step(lab, (enum step)step) != 0)
            return -1;
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static uint32_t sums_of(struct lab *lab, const struct lab_point *point) {
    const struct sums_data *data = lab->data;
    const struct shape *shape = &data->shapes[ladder_index(lab, point)];
    return steps[data->steps[ladder_index(lab, point)]].columns ? shape->columns : shape->rows;
}

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct sums_data *data = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->sums, 0, sums_of(lab, point) * sizeof(float), lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct sums_data *data = lab->data;
    const size_t index = ladder_index(lab, point);
    const struct shape shape = data->shapes[index];
    static int32_t small[2][MATRIX_STRIP + 1];
    const bool large = shape.rows == TIMED, columns = steps[data->steps[index]].columns;
    if (!large)
        add_up(shape, small[0], small[1]);
    const int32_t *expected = large ? data->expected[columns] : small[columns];
    if (lab_download(lab, data->result, data->sums, sums_of(lab, point) * sizeof(float)) != 0)
        return -1;
    for (uint32_t i = 0; i < sums_of(lab, point); i++) {
        if (data->result[i] != (float)expected[i]) {
            lab_wrong(point, "the sum of %s %u is %.9g, not %d", columns ? "column" : "row", i, (double)data->result[i],
                      (int)expected[i]);
            return 0;
        }
    }
    lab_correct(point);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static double rate_of(struct lab *lab, enum step step) {
    char label[64];
    snprintf(label, sizeof label, "%s, %d x %d", steps[step].label, TIMED, TIMED);
    return lab_gbs(lab_find(lab, label));
}

static int conclude(struct lab *lab) {
    double rates[STEPS];
    for (int step = 0; step < STEPS; step++)
        rates[step] = rate_of(lab, (enum step)step);
    lab_claim(lab, rates[ROW_PADDED] > rates[ROW_TILES], true,
              "The pad of the tile makes the sums of rows %.2f times as fast: %.0f and %.0f GB/s.",
              rates[ROW_PADDED] / rates[ROW_TILES], rates[ROW_PADDED], rates[ROW_TILES]);
    lab_claim(lab, rates[ROW_WARPS] > rates[ROW_PADDED], true,
              "And a warp a row, without shared memory, is %.2f times as fast as that: %.0f GB/s.",
              rates[ROW_WARPS] / rates[ROW_PADDED], rates[ROW_WARPS]);
    lab_claim(
        lab, rates[ROW_WARPS] > rates[ROW_THREADS] && rates[COLUMN_THREADS] > rates[COLUMN_WARPS], true,
        "Rows want a warp each, columns a thread each: %.0f and %.0f GB/s. The other way round it is %.0f and %.0f.",
        rates[ROW_WARPS], rates[COLUMN_THREADS], rates[ROW_THREADS], rates[COLUMN_WARPS]);
    return 0;
}

const struct lab_experiment matrix_sums = {
    .name = "matrix-sums",
    .title = "Sums of rows and of columns",
    .question = "Who should walk along a row, and who down a column, and does a tile in shared memory help?",
    .page = "worth-fixing",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
