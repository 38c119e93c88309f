/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy-worth: a tile whose pad costs a block, the same kernel with ever fewer blocks, and matrix multiplications
 * with many threads and no tile beside few threads and large ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/gemm_matrices.h"
#include "lab/kernels/occupancy.h"
#include "lab/ladders.h"
#include "lab/residency.h"

enum {
    COUNTED_TILES = 2, /* down and across */
    TIMED_TILES = 64,
    SIMULATED_TILES = 2, /* what the simulated GPU launches in their place */
    TILE_WORDS = OCCUPANCY_ROWS * OCCUPANCY_COLUMNS,
    TILE_BYTES = TILE_WORDS * 4,
    PADDED_BYTES = TILE_BYTES + OCCUPANCY_ROWS * 4,
    SIZE = 2048, /* of the multiplications */
    SIMULATED_SIZE = 128
};

enum { BLOCKS = 0 }; /* the first quantity */

enum layout { PLAIN, PADDED, XOR, LAYOUTS };
enum { SAME_BYTES = LAYOUTS }; /* the first step that is a layout again */
static const char *const kernels[LAYOUTS] = {"lab_occupancy_plain", "lab_occupancy_padded", "lab_occupancy_xor"};

static const struct step {
    const char *label;
    enum layout layout;
    unsigned bytes; /* of shared memory */
    const char *change;
} steps[] = {
    {"tile, plain", PLAIN, TILE_BYTES, "128 x 112 floats, 56 KB: columns meet 16 to a bank."},
    {"tile, padded", PADDED, PADDED_BYTES,
     "One float more a row, 0.9 %: no conflicts, and a block an SM less where 56 KB just fit."},
    {"tile, XOR", XOR, TILE_BYTES, "The swizzle does what the pad does, and costs no byte."},
    {"tile, XOR, the pad's bytes", XOR, PADDED_BYTES, "The same kernel, asking for as much as the padded one."},
    {"tile, XOR, 76 KB", XOR, 76 << 10, "The same kernel, asking for more than a third of the SM's."},
    {"tile, XOR, 114 KB", XOR, 114 << 10, "The same kernel, asking for more than half of the SM's."},
};
enum { STEPS = sizeof steps / sizeof *steps };

static const struct product {
    const char *label, *module, *kernel;
    unsigned side, block_x, block_y; /* elements of C down and across, and threads, of a block */
    const char *change;
} products[] = {
    {"product, no tile", "gemm_fp32_elements", "lab_gemm_coalesced", 32, 32, 32,
     "An element a thread, from global memory."},
    {"product, tile 32", "gemm_fp32_elements", "lab_gemm_tiled", 32, 32, 32,
     "An element a thread, by tiles of 32 x 32 in shared memory."},
    {"product, 8 x 8 a thread", "gemm_fp32_registers", "lab_gemm_double_buffer", 128, GEMM_2D_THREADS, 1,
     "64 elements a thread: many registers, so few threads fit."},
};
enum { PRODUCTS = sizeof products / sizeof *products };

struct study {
    CUdeviceptr in, out;
    struct gemm_matrices matrices;
    int rows_of[LAB_POINTS_MAX]; /* of a point that transposes; 0: it multiplies */
};

/* ---- predictions ---------------------------------------------------------------------------------- */

static int place(enum layout layout, int row, int column) {
    return layout == XOR ? OCCUPANCY_XOR(row, column) : OCCUPANCY_PADDED(row, column, layout == PADDED);
}

/* Of a tile: what its stores (row by row) or its loads (column by column) take. NaN: the model refused. */
static double wavefronts_of(enum layout layout, bool store) {
    double sum = 0;
    for (int first = 0; first < TILE_WORDS; first += GM_LANES) {
        struct gm_access access = {.size = sizeof access, .kind = store ? GM_ACCESS_STORE : GM_ACCESS_LOAD, .width = 4};
        struct gm_bank_cost cost = {.size = sizeof cost};
        for (int i = first; i < first + GM_LANES; i++) {
            const int word = store ? place(layout, i / OCCUPANCY_COLUMNS, i % OCCUPANCY_COLUMNS)
                                   : place(layout, i % OCCUPANCY_ROWS, i / OCCUPANCY_ROWS);
            access.address[i - first] = 4u * (unsigned)word;
        }
        sum += gm_bank_cost(&access, &cost) == GM_OK ? cost.wavefronts : NAN;
    }
    return sum;
}

/* ---- points --------------------------------------------------------------------------------------- */

/* The number of blocks an SM holds, predicted, and as the driver says. */
static int add_blocks(struct lab *lab, struct lab_point *point) {
    const struct lab_launch *launch = &point->launch;
    const int threads = (int)(launch->block[0] * launch->block[1]);
    CUlibrary library;
    CUfunction function;
    struct residency taken;
    int said;
    if (residency_open(lab, launch->module, &library) != 0)
        return -1;
    const int status = residency_function(lab, library, launch->kernel, launch->shared_bytes, &function) != 0 ||
                       residency_prefer_shared(lab, function) != 0 ||
                       residency_of(lab, function, threads, launch->shared_bytes, &taken) != 0 ||
                       residency_by_driver(lab, function, threads, launch->shared_bytes, &said) != 0;
    lab->gpu.drv->cuLibraryUnload(library);
    if (status)
        return -1;
    point->launch.carve_out = RESIDENCY_CARVE_OUT;
    lab_quantity(point, "blocks an SM", NULL, residency_model(&lab->gpu.device, &taken), 0);
    residency_answer(lab, &point->quantities[BLOCKS], said);
    return 0;
}

static int add_step(struct lab *lab, const struct step *step, int tiles, bool timed) {
    struct study *study = lab->data;
    const int rows = tiles * OCCUPANCY_ROWS, columns = tiles * OCCUPANCY_COLUMNS;
    char label[64];
    if ((int)step->bytes > lab->gpu.device.smem_per_block_bytes)
        return 0;
    snprintf(label, sizeof label, timed ? "%s" : "%s, %d x %d", step->label, rows, columns);
    struct lab_point *point = lab_add(lab, label, timed ? step->change : "");
    if (!point)
        return -1;
    study->rows_of[ladder_index(lab, point)] = rows;
    lab_kernel(point, "occupancy", kernels[step->layout], (unsigned)tiles, OCCUPANCY_THREADS);
    point->launch.grid[1] = (unsigned)tiles;
    point->launch.shared_bytes = step->bytes;
    LAB_ARGUMENT(point, study->out);
    LAB_ARGUMENT(point, study->in);
    LAB_ARGUMENT(point, rows);
    LAB_ARGUMENT(point, columns);
    if (add_blocks(lab, point) != 0)
        return -1;
    if (timed) {
        point->timed = true;
        point->bytes = 2.0 * rows * columns * sizeof(float);
        return 0;
    }
    lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, tiles * tiles * wavefronts_of(step->layout, false),
                 0);
    lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, tiles * tiles * wavefronts_of(step->layout, true),
                 0);
    return 0;
}

static int add_product(struct lab *lab, const struct product *product) {
    const struct study *study = lab->data;
    const struct gemm_fp32 *problem = &study->matrices.problem;
    struct lab_point *point = lab_add(lab, product->label, product->change);
    if (!point)
        return -1;
    lab_kernel(point, product->module, product->kernel, (unsigned)problem->n / product->side, product->block_x);
    point->launch.grid[1] = (unsigned)problem->m / product->side;
    point->launch.block[1] = product->block_y;
    LAB_ARGUMENT(point, *problem);
    point->timed = true;
    point->flops = 2.0 * problem->m * problem->n * problem->k;
    return add_blocks(lab, point);
}

static int setup(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    const size_t tiles = lab->simulated ? SIMULATED_TILES : TIMED_TILES, words = tiles * tiles * TILE_WORDS;
    const int size = lab->simulated ? SIMULATED_SIZE : SIZE;
    if (!study)
        return complain("out of host memory");
    if (lab_alloc(lab, &study->in, words * sizeof(float), 0) != 0 ||
        lab_alloc(lab, &study->out, words * sizeof(float), 0) != 0 ||
        (!lab->launching_only && ladder_fill(lab, study->in, words, ladder_hash) != 0) ||
        gemm_matrices_make(lab, &study->matrices, size, size, size) != 0)
        return -1;
    for (int i = 0; i < STEPS; i++) {
        const bool counts = i < LAYOUTS; /* the others are the last of these again */
        if ((counts && add_step(lab, &steps[i], COUNTED_TILES, false) != 0) ||
            add_step(lab, &steps[i], (int)tiles, true) != 0)
            return -1;
    }
    for (int i = 0; i < PRODUCTS; i++) {
        if (add_product(lab, &products[i]) != 0)
            return -1;
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static size_t words_of(int rows) {
    return (size_t)rows * (size_t)(rows / OCCUPANCY_ROWS * OCCUPANCY_COLUMNS);
}

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    const int rows = study->rows_of[ladder_index(lab, point)];
    if (!rows)
        return gemm_matrices_poison(lab, &study->matrices);
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->out, 0xff, words_of(rows) * sizeof(float), lab->gpu.stream);
    return 0;
}

static int check(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    const int rows = study->rows_of[ladder_index(lab, point)], columns = rows / OCCUPANCY_ROWS * OCCUPANCY_COLUMNS;
    if (!rows)
        return gemm_matrices_check(lab, point, &study->matrices);
    uint32_t *out = malloc(words_of(rows) * sizeof *out);
    if (!out || lab_download(lab, out, study->out, words_of(rows) * sizeof *out) != 0) {
        free(out);
        return complain("no memory, or no result");
    }
    lab_correct(point);
    for (size_t i = 0; i < words_of(rows) && point->result == LAB_CORRECT; i++) {
        const uint32_t row = (uint32_t)(i % (size_t)rows), column = (uint32_t)(i / (size_t)rows);
        if (out[i] != ladder_hash(row * (uint32_t)columns + column))
            lab_wrong(point, "row %u of column %u is another element's", row, column);
    }
    free(out);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static double blocks_of(const struct lab *lab, const struct lab_point *point) {
    const struct lab_quantity *blocks = point ? &point->quantities[BLOCKS] : NULL;
    return !blocks ? NAN : lab->simulated ? blocks->simulated : blocks->counted;
}

static void claim_steps(struct lab *lab) {
    const struct lab_point *plain = lab_find(lab, steps[PLAIN].label), *padded = lab_find(lab, steps[PADDED].label);
    const struct lab_point *swizzled = lab_find(lab, steps[XOR].label), *fewer = lab_find(lab, steps[SAME_BYTES].label);
    if (!plain || !padded || !swizzled || !fewer)
        return;
    lab_claim(lab, blocks_of(lab, swizzled) == blocks_of(lab, plain) && blocks_of(lab, fewer) == blocks_of(lab, padded),
              false, "an SM holds %.0f blocks of the tile as it is or swizzled, and %.0f of the padded one",
              blocks_of(lab, plain), blocks_of(lab, padded));
    lab_claim(lab, padded->us < plain->us, true, "the pad is worth its block: %.2f times the speed of plain",
              plain->us / padded->us);
    lab_claim(
        lab, swizzled->us < plain->us && swizzled->us < fewer->us, true,
        "the swizzle, which keeps the block, takes %.3f of its own time with the pad's bytes; of the pad's, whose "
        "indices cost less, %.3f",
        swizzled->us / fewer->us, swizzled->us / padded->us);
    for (int i = SAME_BYTES; i < STEPS; i++) {
        const struct lab_point *point = lab_find(lab, steps[i].label);
        if (point)
            lab_claim(lab, point->us >= 0.97 * swizzled->us, true, "%s: %.0f blocks take %.3f times as long as %.0f",
                      steps[i].label, blocks_of(lab, point), point->us / swizzled->us, blocks_of(lab, swizzled));
    }
}

static double warps_of(const struct lab *lab, const struct lab_point *point) {
    return blocks_of(lab, point) * point->launch.block[0] * point->launch.block[1] / GM_LANES;
}

static void claim_products(struct lab *lab) {
    const struct lab_point *none = lab_find(lab, products[0].label),
                           *most = lab_find(lab, products[PRODUCTS - 1].label);
    const double whole = lab->gpu.device.max_threads_per_sm / GM_LANES;
    lab_claim(lab, lab_tflops(most) > lab_tflops(none), true,
              "%.0f %% of the warps with tiles beat %.0f %% without: %.1f and %.1f TFLOPS (an article: 50 and 100 %%)",
              100 * warps_of(lab, most) / whole, 100 * warps_of(lab, none) / whole, lab_tflops(most), lab_tflops(none));
}

static int conclude(struct lab *lab) {
    claim_steps(lab);
    claim_products(lab);
    return 0;
}

static void teardown(struct lab *lab) {
    struct study *study = lab->data;
    if (study)
        gemm_matrices_free(&study->matrices);
}

const struct lab_experiment occupancy_worth = {
    .name = "occupancy-worth",
    .title = "What a block is worth",
    .question = "What does a block an SM less cost, when it is lost to a pad, and when to registers?",
    .page = "occupancy",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
