/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of the attention ladder should make the counters show: bytes by the tile, and the wavefronts of
 * their own addresses by the bank model. */
#include "lab/attention_model.h"

#include <math.h>
#include <stdbool.h>

#include "gristmill/smem.h"
#include "lab/kernels/attention.h"

enum {
    HEAD = ATTENTION_HEAD,
    TILE = ATTENTION_TILE,
    SQUARE = ATTENTION_SQUARE,
    SIDE = ATTENTION_SIDE,
    SECTOR = 32,
    ROW_SECTORS = ATTENTION_ROW_BYTES / SECTOR, /* of a row of q, k, v or out */
    SCORE_BYTES = 4,
    CTA_OVERHEAD = 1024 /* of shared memory, the system's own */
};

/* ---- tiles ---------------------------------------------------------------------------------------- */

/* Rows and tokens of a CTA's tile; `walks`: a CTA goes through all tokens, block by block, and else has one block. */
static const struct shape {
    int rows, tokens, threads;
    bool walks;
} shapes[ATTENTION_KERNELS] = {
    [ATTENTION_TILED_SCORES] = {TILE, TILE, TILE *TILE, false},
    [ATTENTION_PADDED_SCORES] = {TILE, TILE, TILE *TILE, false},
    [ATTENTION_TILED_VALUES] = {TILE, TILE, TILE *TILE, true},
    [ATTENTION_REGISTER_SCORES] = {SQUARE, SQUARE, ATTENTION_THREADS, false},
    [ATTENTION_REGISTER_VALUES] = {SQUARE, SQUARE, ATTENTION_THREADS, true},
    [ATTENTION_ONLINE_64X64] = {64, 64, ATTENTION_THREADS, true},
    [ATTENTION_ONLINE_128X64] = {128, 64, ATTENTION_THREADS, true},
    [ATTENTION_ONLINE_128X128] = {128, 128, ATTENTION_THREADS, true},
    [ATTENTION_WGMMA] = {ATTENTION_WGMMA_ROWS, ATTENTION_WGMMA_TOKENS, ATTENTION_WGMMA_THREADS, true},
};

/* ---- shared memory -------------------------------------------------------------------------------- */

/* One instruction of all warps: thread (x, y) of rows of `side` threads touches `bytes` from word x * of_x + y * of_y
 * on. What is added to that is the same for a whole warp, and turns the banks without changing what meets in them; so
 * one warp stands for all. */
struct access {
    enum gm_access_kind kind;
    unsigned bytes;
    int side, of_x, of_y;
};

static const struct access
    /* a warp a row */
    two_of_a_row = {GM_ACCESS_STORE, 8, TILE, 2, HEAD},
    two_of_a_padded_row = {GM_ACCESS_STORE, 8, TILE, 2, ATTENTION_K_PITCH},
    one_weight = {GM_ACCESS_STORE, 4, TILE, 1, TILE}, own_row = {GM_ACCESS_LOAD, 16, TILE, 0, HEAD},
    down_a_column = {GM_ACCESS_LOAD, 16, TILE, HEAD, 0}, down_padded = {GM_ACCESS_LOAD, 16, TILE, ATTENTION_K_PITCH, 0},
    own_weights = {GM_ACCESS_LOAD, 16, TILE, 0, TILE}, two_of_a_token = {GM_ACCESS_LOAD, 8, TILE, 2, 0},
    /* half a warp a row */
    four_of_a_row = {GM_ACCESS_STORE, 16, SIDE, 4, HEAD},
    four_of_a_padded_row = {GM_ACCESS_STORE, 16, SIDE, 4, ATTENTION_K_PITCH},
    half_own_row = {GM_ACCESS_LOAD, 16, SIDE, 0, HEAD}, half_padded = {GM_ACCESS_LOAD, 16, SIDE, ATTENTION_K_PITCH, 0},
    four_of_a_token = {GM_ACCESS_LOAD, 16, SIDE, 4, 0};

/* Rows of weights are as long as a block has tokens, and a pad. */
static struct access weights_by(enum gm_access_kind kind, unsigned bytes, int of_x, int tokens) {
    return (struct access){kind, bytes, SIDE, of_x, ATTENTION_W_PITCH(tokens)};
}

struct sum {
    struct attention_wavefronts load, store;
    double weight; /* what one instruction of one warp counts for */
};

static void add(struct sum *sum, struct access access, int times) {
    struct gm_access lanes = {.size = sizeof lanes, .kind = access.kind, .width = access.bytes};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (int lane = 0; lane < GM_LANES; lane++)
        lanes.address[lane] = 4u * (unsigned)(lane % access.side * access.of_x + lane / access.side * access.of_y);
    const bool known = gm_bank_cost(&lanes, &cost) == GM_OK;
    struct attention_wavefronts *to = access.kind == GM_ACCESS_STORE ? &sum->store : &sum->load;
    to->all += known ? sum->weight * times * cost.wavefronts : NAN;
    to->ideal += known ? sum->weight * times * cost.ideal : NAN;
}

/* q, a block of k, and their product. */
static void add_tiled_scores(struct sum *sum, bool padded) {
    add(sum, two_of_a_row, 1);
    add(sum, padded ? two_of_a_padded_row : two_of_a_row, 1);
    add(sum, own_row, HEAD / 4);
    add(sum, padded ? down_padded : down_a_column, HEAD / 4);
}

static void add_tiled_values(struct sum *sum) {
    add(sum, one_weight, 1);
    add(sum, two_of_a_row, 1);
    add(sum, own_weights, TILE / 4);
    add(sum, two_of_a_token, TILE);
}

static void add_q(struct sum *sum, int rows) {
    add(sum, four_of_a_row, rows / SIDE);
}

/* A block of k, and q times it. */
static void add_scores(struct sum *sum, int rows, int tokens) {
    add(sum, four_of_a_padded_row, tokens / SIDE);
    add(sum, half_own_row, rows / SIDE * HEAD / 4);
    add(sum, half_padded, tokens / SIDE * HEAD / 4);
}

/* Weights as scores become them, or as a tile of them is copied; a block of v, and their product. */
static void add_values(struct sum *sum, int rows, int tokens, bool copied) {
    if (copied)
        add(sum, weights_by(GM_ACCESS_STORE, 16, 4, tokens), rows / SIDE * tokens / SIDE / 4);
    else
        add(sum, weights_by(GM_ACCESS_STORE, 4, 1, tokens), rows / SIDE * tokens / SIDE);
    add(sum, four_of_a_row, tokens / SIDE);
    add(sum, weights_by(GM_ACCESS_LOAD, 16, 0, tokens), rows / SIDE * tokens / 4);
    add(sum, four_of_a_token, tokens);
}

/* What a CTA does once stands in `once`, what it does for every block of tokens in `sum`. */
static void add_kernel(enum attention_kernel kernel, struct sum *once, struct sum *sum) {
    const struct shape *shape = &shapes[kernel];
    switch (kernel) {
    case ATTENTION_TILED_SCORES:
    case ATTENTION_PADDED_SCORES:
        add_tiled_scores(sum, kernel == ATTENTION_PADDED_SCORES);
        return;
    case ATTENTION_TILED_VALUES:
        add_tiled_values(sum);
        return;
    case ATTENTION_REGISTER_VALUES:
        add_values(sum, shape->rows, shape->tokens, true);
        return;
    case ATTENTION_REGISTER_SCORES:
        add_q(once, shape->rows);
        add_scores(sum, shape->rows, shape->tokens);
        return;
    default:
        add_q(once, shape->rows);
        add_scores(sum, shape->rows, shape->tokens);
        add_values(sum, shape->rows, shape->tokens, false);
    }
}

static void predict_wavefronts(enum attention_kernel kernel, double ctas, double blocks,
                               struct attention_counts *counts) {
    const double warps = shapes[kernel].threads / GM_LANES;
    struct sum once = {.weight = ctas * warps}, sum = {.weight = ctas * blocks * warps};
    add_kernel(kernel, &once, &sum);
    counts->load = (struct attention_wavefronts){once.load.all + sum.load.all, once.load.ideal + sum.load.ideal};
    counts->store = (struct attention_wavefronts){once.store.all + sum.store.all, once.store.ideal + sum.store.ideal};
}

/* ---- global memory -------------------------------------------------------------------------------- */

/*  Without tiles, of a warp:
 *      scores    32 tokens of a row: for each of 64 elements one word of q and 32 rows of k     33 sectors
 *      softmax   its row three times; once written
 *      values    32 columns of a row: for each token its weight and 32 neighbours of v          3 sectors  */
static void predict_naive(enum attention_kernel kernel, double heads, double tokens, struct attention_counts *counts) {
    const double pairs = heads * tokens * tokens, score_sectors = pairs * SCORE_BYTES / SECTOR;
    const double out_sectors = heads * tokens * ROW_SECTORS;
    switch (kernel) {
    case ATTENTION_NAIVE_SCORES:
        counts->loaded = pairs / 32 * HEAD * 33;
        counts->stored = score_sectors;
        return;
    case ATTENTION_SOFTMAX:
        counts->loaded = 3 * score_sectors;
        counts->stored = score_sectors;
        return;
    default:
        counts->loaded = pairs * HEAD / 32 * 3;
        counts->stored = out_sectors;
    }
}

/* With tiles: q once, then for every block what the CTA brings of k, v or the weights. */
static void predict_tiles(enum attention_kernel kernel, double ctas, double blocks, struct attention_counts *counts) {
    const struct shape *shape = &shapes[kernel];
    const double rows = shape->rows * ROW_SECTORS, block = shape->tokens * ROW_SECTORS;
    const double square = (double)shape->rows * shape->tokens * SCORE_BYTES / SECTOR;
    switch (kernel) {
    case ATTENTION_TILED_SCORES:
    case ATTENTION_PADDED_SCORES:
    case ATTENTION_REGISTER_SCORES:
        counts->loaded = ctas * (rows + block);
        counts->stored = ctas * square;
        return;
    case ATTENTION_TILED_VALUES:
    case ATTENTION_REGISTER_VALUES:
        counts->loaded = ctas * blocks * (square + block);
        counts->stored = ctas * rows;
        return;
    default:
        counts->loaded = ctas * (rows + blocks * 2 * block);
        counts->stored = ctas * rows;
    }
}

/*  TMA loads are no loads to the counters of L1. The accumulators go out by quads of 16 bytes, half a sector each. A
 *  core matrix, 8 rows of 16 bytes, is a wavefront:
 *      S   64 rows and 128 tokens of 16 elements, 4 times      4 x (16 + 32)
 *      O   16 tokens of 64 columns, 8 times                    8 x 16  */
static void predict_wgmma(double ctas, double blocks, struct attention_counts *counts) {
    enum { ROWS = ATTENTION_WGMMA_ROWS, TOKENS = ATTENTION_WGMMA_TOKENS, CORE_ROWS = 8, CORES_OF_STEP = 2 };
    counts->received = ctas * (ROWS + blocks * 2 * TOKENS) * ROW_SECTORS;
    counts->stored = ctas * ROWS * 2 * ROW_SECTORS;
    counts->wgmma =
        ctas * blocks * CORES_OF_STEP * (HEAD / 16 * (ROWS + TOKENS) / CORE_ROWS + TOKENS / 16 * HEAD / CORE_ROWS);
}

struct attention_counts attention_predict(enum attention_kernel kernel, int heads, int tokens) {
    const struct shape *shape = &shapes[kernel];
    struct attention_counts counts = {NAN, NAN, NAN, {NAN, NAN}, {NAN, NAN}, NAN};
    if (shape->threads == 0) {
        predict_naive(kernel, heads, tokens, &counts);
        return counts;
    }
    const double columns = (double)tokens / shape->tokens, ctas = (double)heads * tokens / shape->rows;
    const double blocks = shape->walks ? columns : 1;
    if (kernel == ATTENTION_WGMMA) {
        predict_wgmma(ctas, blocks, &counts);
        return counts;
    }
    predict_tiles(kernel, shape->walks ? ctas : ctas * columns, blocks, &counts);
    predict_wavefronts(kernel, shape->walks ? ctas : ctas * columns, blocks, &counts);
    return counts;
}

/* ---- occupancy ------------------------------------------------------------------------------------ */

unsigned attention_shared_bytes(enum attention_kernel kernel) {
    switch (kernel) {
    case ATTENTION_ONLINE_64X64:
    case ATTENTION_ONLINE_128X64:
    case ATTENTION_ONLINE_128X128:
        return ATTENTION_BYTES(shapes[kernel].rows, shapes[kernel].tokens);
    case ATTENTION_WGMMA:
        return ATTENTION_WGMMA_BYTES;
    default:
        return 0;
    }
}

int attention_ctas_per_sm(enum attention_kernel kernel, int bytes) {
    return bytes / ((int)attention_shared_bytes(kernel) + CTA_OVERHEAD);
}
