/* SPDX-License-Identifier: Apache-2.0 */
/* The transpose ladder: naive, tiled, padded, XOR-swizzled, swizzled by TMA, beside two ways to copy. The
 * library's operation `permute` came of it (docs/PERMUTE.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/kernels/transpose_tile.h"
#include "lab/ladders.h"

#define LAB_SECTORS_ST "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"

enum {
    LARGEST = 8192,
    COUNTED = 2048,
    GUARD_ELEMENTS = 4096, /* after the result: must stay as they were */
    VALUES = 16777213      /* a prime below 2^24: the input is k modulo this, exact in fp32 */
};

/* `article`: GB/s on a V100 at 4096 x 4096; 0: it has no such step. */
struct step {
    const char *label, *kernel;
    double article;
    const char *change;
};

static const struct step steps[TRANSPOSE_STEPS] = {
    [TRANSPOSE_STEP_NAIVE] =
        {"naive", "lab_transpose_naive", 120,
         "One thread an element: a warp reads 32 neighbours, 4 sectors, and writes 32 words each a "
         "row apart, 32 sectors."},
    [TRANSPOSE_STEP_TILED] =
        {"tiled", "lab_transpose_tiled", 580,
         "A tile of 32 x 32 passes through shared memory, in by rows and out by columns: 4 sectors "
         "a write too, but the words of a column share a bank."},
    [TRANSPOSE_STEP_PADDED] = {"padded", "lab_transpose_padded", 750,
                               "One unused word a row moves each row on by one bank: a column lies in 32 banks, at the "
                               "cost of 128 bytes a tile."},
    [TRANSPOSE_STEP_XOR] = {"XOR", "lab_transpose_xor", 0,
                            "Column XOR row orders the 32 words of each row differently instead: no conflicts either, "
                            "and no unused word."},
    [TRANSPOSE_STEP_TMA] =
        {"TMA", "lab_transpose_tma", 0,
         "TMA carries tiles of 64 x 64 in and out, 256 bytes of a row at a time, and swizzles them by "
         "128 bytes as they come: a warp reads 32 rows of a column, 16 bytes each, without conflicts."},
};

/* The matrix of a point. */
struct shape {
    uint32_t rows, columns;
    bool copied; /* the result is the input itself */
};

struct transpose_data {
    CUdeviceptr from, to;
    struct shape shapes[LAB_POINTS_MAX];
    uint32_t *result; /* room for the largest, with its guard */
};

static size_t elements_of(const struct shape *shape) {
    return (size_t)shape->rows * shape->columns;
}

static uint32_t element_value(uint32_t k) {
    return ladder_bits((float)(k % VALUES));
}

/* ---- points --------------------------------------------------------------------------------------- */

static struct lab_point *add_point(struct lab *lab, const char *label, const char *change, struct shape shape) {
    struct transpose_data *data = lab->data;
    char full[64];
    snprintf(full, sizeof full, "%s, %u x %u", label, shape.rows, shape.columns);
    struct lab_point *point = lab_add(lab, full, change);
    if (!point)
        return NULL;
    data->shapes[ladder_index(lab, point)] = shape;
    point->bytes = 2.0 * sizeof(float) * (double)elements_of(&shape);
    return point;
}

static unsigned tiles(uint32_t elements, unsigned tile) {
    return (elements + tile - 1) / tile;
}

/* Steps 1 to 4: a CTA a tile. */
static void launch_tiles(struct lab *lab, struct lab_point *point, const char *kernel, struct shape shape) {
    struct transpose_data *data = lab->data;
    lab_kernel(point, "transpose", kernel, tiles(shape.columns, TRANSPOSE_TILE), TRANSPOSE_TILE);
    point->launch.grid[1] = tiles(shape.rows, TRANSPOSE_TILE);
    point->launch.block[1] = TRANSPOSE_THREAD_ROWS;
    LAB_ARGUMENT(point, data->from);
    LAB_ARGUMENT(point, data->to);
    LAB_ARGUMENT(point, shape.rows);
    LAB_ARGUMENT(point, shape.columns);
}

/* Boxes of 64 rows in a matrix with packed rows. */
static int box_map(struct lab *lab, CUdeviceptr matrix, uint32_t rows, uint32_t columns, uint32_t box_columns,
                   enum gm_swizzle_mode swizzle, struct lab_map *map) {
    const struct gm_tensor_map_request request = {
        .size = sizeof request,
        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        .rank = 2,
        .address = matrix,
        .dims = {columns, rows},
        .strides = {columns * sizeof(float)},
        .box = {box_columns, TRANSPOSE_TMA_TILE},
        .swizzle = swizzle,
    };
    return lab_tensor_map(lab, &request, map);
}

/* Step 5: a CTA a tile as well, but the tiles go down the columns of the input, along the rows of the result. */
static int launch_tma(struct lab *lab, struct lab_point *point, struct shape shape) {
    struct transpose_data *data = lab->data;
    struct lab_map from, to;
    if (box_map(lab, data->from, shape.rows, shape.columns, TRANSPOSE_BOX_COLUMNS, GM_SWIZZLE_128B, &from) != 0 ||
        box_map(lab, data->to, shape.columns, shape.rows, TRANSPOSE_TMA_TILE, GM_SWIZZLE_NONE, &to) != 0)
        return -1;
    lab_kernel(point, "transpose_tma", steps[TRANSPOSE_STEP_TMA].kernel, tiles(shape.rows, TRANSPOSE_TMA_TILE),
               TRANSPOSE_TMA_THREADS);
    point->launch.grid[1] = tiles(shape.columns, TRANSPOSE_TMA_TILE);
    point->launch.shared_bytes = TRANSPOSE_TMA_BYTES;
    LAB_ARGUMENT(point, from);
    LAB_ARGUMENT(point, to);
    return 0;
}

/* Whole tiles only. A warp of the naive step writes 32 sectors, a sector a word; the others write 4. TMA's writes are
 * not the load/store unit's. */
static void predict(struct lab_point *point, enum transpose_step step, struct shape shape) {
    const double elements = (double)elements_of(&shape);
    const double whole_tiles = elements / (TRANSPOSE_TILE * TRANSPOSE_TILE);
    const struct ladder_wavefronts tile = transpose_wavefronts(step);
    lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, tile.load * whole_tiles, 0);
    lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, tile.store * whole_tiles, 0);
    lab_quantity(point, "sectors written", LAB_SECTORS_ST,
                 step == TRANSPOSE_STEP_NAIVE ? elements
                 : step == TRANSPOSE_STEP_TMA ? 0
                                              : elements / 8,
                 0);
}

static struct lab_point *add_step(struct lab *lab, enum transpose_step step, struct shape shape) {
    struct lab_point *point = add_point(lab, steps[step].label, steps[step].change, shape);
    if (!point)
        return NULL;
    if (step == TRANSPOSE_STEP_TMA)
        return launch_tma(lab, point, shape) == 0 ? point : NULL;
    launch_tiles(lab, point, steps[step].kernel, shape);
    return point;
}

/* Ragged, counted and timed. TMA wants rows of whole 16 bytes on both sides. */
static int add_steps(struct lab *lab, enum transpose_step step) {
    static const struct shape any[] = {{70, 70, false}, {1, 1, false}, {33, 4097, false}};
    static const struct shape of_tma[] = {{68, 132, false}, {4, 4, false}, {36, 4100, false}};
    static const struct shape timed[] = {{4096, 4096, false}, {LARGEST, LARGEST, false}};
    const struct shape counted = {COUNTED, COUNTED, false}, *ragged = step == TRANSPOSE_STEP_TMA ? of_tma : any;
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        if (!add_step(lab, step, ragged[i]))
            return -1;
    }
    struct lab_point *point = add_step(lab, step, counted);
    if (!point)
        return -1;
    predict(point, step, counted);
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
        point = add_step(lab, step, timed[i]);
        if (!point)
            return -1;
        point->timed = true;
        point->too_large = lab->simulated;
    }
    return 0;
}

static int run_copy(struct lab *lab, const struct lab_point *point) {
    const struct transpose_data *data = lab->data;
    const size_t bytes = elements_of(&data->shapes[ladder_index(lab, point)]) * sizeof(float);
    GPU_TRY(&lab->gpu, cuMemcpyDtoDAsync, data->to, data->from, bytes, lab->gpu.stream);
    return 0;
}

static int add_copies(struct lab *lab, uint32_t size) {
    struct transpose_data *data = lab->data;
    const struct shape shape = {size, size, true};
    const uint32_t vectors = (uint32_t)(elements_of(&shape) / 4);
    struct lab_point *driver = add_point(lab, "copy", "No step: the driver's copy of as many bytes.", shape);
    struct lab_point *kernel = add_point(lab, "copy kernel", "No step: a kernel that copies 16 bytes a thread.", shape);
    if (!driver || !kernel)
        return -1;
    driver->run = run_copy;
    lab_kernel(kernel, "transpose", "lab_transpose_copy", tiles(vectors, TRANSPOSE_COPY_THREADS),
               TRANSPOSE_COPY_THREADS);
    LAB_ARGUMENT(kernel, data->from);
    LAB_ARGUMENT(kernel, data->to);
    LAB_ARGUMENT(kernel, vectors);
    driver->timed = kernel->timed = true;
    driver->too_large = kernel->too_large = lab->simulated;
    return 0;
}

static int transpose_setup(struct lab *lab) {
    const size_t side = lab->simulated ? COUNTED : LARGEST, elements = side * side;
    struct transpose_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    if (lab_alloc(lab, &data->from, elements * sizeof(float), 0) != 0 ||
        lab_alloc(lab, &data->to, (elements + GUARD_ELEMENTS) * sizeof(float), 0xff) != 0)
        return -1;
    if (!lab->launching_only) {
        data->result = malloc((elements + GUARD_ELEMENTS) * sizeof *data->result);
        if (!data->result)
            return complain("out of host memory");
        if (ladder_fill(lab, data->from, elements, element_value) != 0)
            return -1;
    }
    for (int step = 0; step < (ladder_is_hopper(lab) ? TRANSPOSE_STEPS : TRANSPOSE_STEP_TMA); step++) {
        if (add_steps(lab, (enum transpose_step)step) != 0)
            return -1;
    }
    return add_copies(lab, LARGEST / 2) != 0 ? -1 : add_copies(lab, LARGEST);
}

/* ---- results -------------------------------------------------------------------------------------- */

static size_t bytes_to_check(const struct shape *shape) {
    return (elements_of(shape) + GUARD_ELEMENTS) * sizeof(float);
}

static int transpose_prepare(struct lab *lab, struct lab_point *point) {
    const struct transpose_data *data = lab->data;
    const struct shape *shape = &data->shapes[ladder_index(lab, point)];
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->to, 0xff, bytes_to_check(shape), lab->gpu.stream);
    return 0;
}

/* The first element of the result that is not what it should be; their number: none. */
static size_t first_wrong(const struct shape *shape, const uint32_t *result) {
    const uint32_t rows = shape->copied ? 1 : shape->rows, columns = (uint32_t)(elements_of(shape) / rows);
    const uint32_t *at = result;
    for (uint32_t column = 0; column < columns; column++) {
        for (uint32_t row = 0; row < rows; row++, at++) {
            if (*at != element_value(row * columns + column))
                return (size_t)(at - result);
        }
    }
    for (size_t i = 0; i < GUARD_ELEMENTS; i++, at++) {
        if (*at != UINT32_MAX)
            return (size_t)(at - result);
    }
    return SIZE_MAX;
}

static int transpose_check(struct lab *lab, struct lab_point *point) {
    const struct transpose_data *data = lab->data;
    const struct shape *shape = &data->shapes[ladder_index(lab, point)];
    if (lab_download(lab, data->result, data->to, bytes_to_check(shape)) != 0)
        return -1;
    const size_t wrong = first_wrong(shape, data->result);
    if (wrong == SIZE_MAX)
        lab_correct(point);
    else
        lab_wrong(point, "element %zu of the result, of %zu, has the bits 0x%08x", wrong, elements_of(shape),
                  data->result[wrong]);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static void conclude_conflicts(struct lab *lab) {
    const double tiled = lab_counted(lab_find(lab, "tiled, 2048 x 2048"), "load wavefronts");
    const double padded = lab_counted(lab_find(lab, "padded, 2048 x 2048"), "load wavefronts");
    lab_claim(lab, tiled == TRANSPOSE_TILE * padded, false,
              "the pad takes %.0f of the %.0f wavefronts of tiled's loads away: all conflicts, 31 of 32",
              tiled - padded, tiled);
}

/* GB/s at 4096 x 4096. */
static double transpose_article(const char *step) {
    for (int i = 0; i < TRANSPOSE_STEPS; i++) {
        if (strcmp(steps[i].label, step) == 0 && steps[i].article > 0)
            return steps[i].article;
    }
    return NAN;
}

static int transpose_conclude(struct lab *lab) {
    if (lab->has_counts)
        conclude_conflicts(lab);
    const char *size = "8192 x 8192", *of_articles = "4096 x 4096";
    const double naive = ladder_gbs(lab, "naive", size), tiled = ladder_gbs(lab, "tiled", size);
    const double padded = ladder_gbs(lab, "padded", size), swizzled = ladder_gbs(lab, "XOR", size);
    lab_claim(lab, naive < tiled && tiled < padded, true,
              "naive < tiled < padded: %.0f, %.0f, %.0f GB/s at %s (a V100 in the articles: %.0f, %.0f, %.0f)", naive,
              tiled, padded, size, transpose_article("naive"), transpose_article("tiled"), transpose_article("padded"));
    lab_claim(lab, fabs(swizzled / padded - 1) < 0.1, true,
              "the XOR swizzle does what the pad does: %.0f and %.0f GB/s, within 10 %%", swizzled, padded);
    const double naive_small = ladder_gbs(lab, "naive", of_articles);
    lab_claim(lab, ladder_gbs(lab, "tiled", of_articles) > naive_small, true,
              "at %s tiled is %.1f and padded %.1f times naive (the articles: 4.8 and 6.3)", of_articles,
              ladder_gbs(lab, "tiled", of_articles) / naive_small,
              ladder_gbs(lab, "padded", of_articles) / naive_small);
    if (!ladder_is_hopper(lab))
        return 0;
    const double copy = fmax(ladder_gbs(lab, "copy", size), ladder_gbs(lab, "copy kernel", size));
    const double last = ladder_gbs(lab, "TMA", size);
    lab_claim(lab, last > fmax(padded, swizzled), true, "the TMA step is the fastest: %.0f GB/s", last);
    lab_claim(lab, last >= 0.9 * copy, true, "it reaches %.1f %% of the faster copy, %.0f GB/s (to reach: 90 %%)",
              100 * last / copy, copy);
    return 0;
}

static void transpose_teardown(struct lab *lab) {
    struct transpose_data *data = lab->data;
    if (data)
        free(data->result);
}

const struct lab_experiment transpose = {
    .name = "transpose",
    .title = "Matrix transpose in fp32",
    .question = "What does each way through shared memory cost, and how near does the best come to a plain copy?",
    .page = "padding",
    .setup = transpose_setup,
    .prepare = transpose_prepare,
    .check = transpose_check,
    .conclude = transpose_conclude,
    .teardown = transpose_teardown,
    .article = transpose_article,
};
