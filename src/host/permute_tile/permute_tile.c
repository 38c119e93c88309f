/* SPDX-License-Identifier: Apache-2.0 */
/* The family permute_tile: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "columns.h"
#include "common/arith.h"
#include "common/permute_tile/tile.h"
#include "host/occupancy.h"
#include "host/permute/permute.h"
#include "host/plan.h"

#include <inttypes.h>
#include <math.h>

enum { RANK = GM_PERMUTE_RANK };

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int x_bytes, out_bytes, threads, columns, rows, elements;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .x_bytes = c[GM_PERMUTE_TILE_X_BYTES],
        .out_bytes = c[GM_PERMUTE_TILE_OUT_BYTES],
        .threads = c[GM_PERMUTE_TILE_THREADS],
        .columns = c[GM_PERMUTE_TILE_WIDTH],
        .rows = c[GM_PERMUTE_TILE_HEIGHT],
        .elements = c[GM_PERMUTE_TILE_ELEMENTS],
    };
}

static int is_vector(const struct variant *v) {
    return GM_PERMUTE_TILE_IS_VECTOR(v->x_bytes, v->elements);
}

/* A problem as tiles: out's dimensions that are its columns and rows, and how many tiles there are. Out has room for all
 * elements, so that their number, and with it that of tiles, fits an int64. */
struct tiling {
    int column_dimension, row_dimension;
    int64_t row_tiles, column_tiles, matrices;
};

static struct tiling tiling_of(const struct variant *v, const struct gm_permute_problem *p) {
    struct tiling t = {.column_dimension = gm_permute_x_innermost(p), .row_dimension = (int)p->rank - 1, .matrices = 1};
    t.row_tiles = GM_CEIL_DIV(gm_permute_extent(p, t.row_dimension), v->rows);
    t.column_tiles = GM_CEIL_DIV(gm_permute_extent(p, t.column_dimension), v->columns);
    for (int k = 0; k < p->rank; k++)
        if (k != t.column_dimension && k != t.row_dimension)
            t.matrices *= gm_permute_extent(p, k);
    return t;
}

static int64_t tiles_of(const struct tiling *t) {
    return t->row_tiles * t->column_tiles * t->matrices;
}

static enum gm_reason check_layout(const struct gm_permute_problem *p, const struct gm_sentence *why) {
    const int inner = gm_permute_x_innermost(p), last = (int)p->rank - 1;
    if (inner < 0 || p->out_strides[last] != 1)
        return gm_say(why, GM_REASON_LAYOUT, "%s has no dimension with a stride of 1, along which it accesses it",
                      inner < 0 ? "x" : "out");
    if (inner == last)
        return gm_say(why, GM_REASON_LAYOUT, "x and out have the same innermost dimension: there is nothing to turn");
    return GM_ACCEPTED;
}

/* Beyond this, single elements go chunk by chunk, where slabs have any number of them. */
static enum gm_reason check_count(const struct variant *v, const struct gm_permute_problem *p,
                                  const struct gm_sentence *why) {
    const struct tiling t = tiling_of(v, p);
    if (tiles_of(&t) <= INT32_MAX)
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_SIZE, "%" PRId64 " tiles of %d x %d are more than the 2^31 - 1 that it counts",
                  tiles_of(&t), v->columns, v->rows);
}

static enum gm_reason check(const struct variant *v, const struct gm_permute_problem *p,
                            const struct gm_sentence *why) {
    enum gm_reason reason = gm_permute_check_bytes(p, v->x_bytes, v->out_bytes, why);
    if (reason == GM_ACCEPTED)
        reason = check_layout(p, why);
    if (reason == GM_ACCEPTED && is_vector(v)) {
        reason = gm_permute_check_x(p, gm_permute_x_innermost(p), v->elements, why);
        if (reason == GM_ACCEPTED)
            reason = gm_permute_check_out(p, 16 / v->out_bytes, why);
    }
    return reason == GM_ACCEPTED ? check_count(v, p, why) : reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, tiles / CTAs at once * time of a tile) */

#define LAUNCH_US           1.25 /* launch, and what follows the last tile */
#define ALONE_US            0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY     0.88 /* reachable share of the datasheet's bandwidth, reads and writes, */
#define ELEMENTS_EFFICIENCY 0.45 /* and with accesses of one element */
#define TILE_US             1.0  /* of a CTA among others, for a tile of which little exists, */
#define TILE_BYTES_US       1.0  /* and so much more for every 16 KB of it that are read; */
#define ELEMENTS_TILE_US    8.0  /* with accesses of one element, whatever exists of it */

static double cost_us(const struct variant *v, const struct gm_permute_problem *p, const struct gm_device *device) {
    const struct tiling t = tiling_of(v, p);
    const double tiles = (double)tiles_of(&t), bytes = gm_operation_permute.work(p).least_bytes;
    const double share = is_vector(v) ? DRAM_EFFICIENCY : ELEMENTS_EFFICIENCY;
    const double tile_bytes = bytes / tiles * v->x_bytes / (v->x_bytes + v->out_bytes); /* that are read */
    const double tile_us = is_vector(v) ? TILE_US + TILE_BYTES_US * tile_bytes / 16384 : ELEMENTS_TILE_US;
    const double waves = ceil(tiles / (gm_ctas_per_sm(v->kernel, device) * (double)device->sm_count));
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + alone + fmax(bytes / (share * device->dram_gbs) * 1e-3, waves * tile_us);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    const struct tiling t = tiling_of(&v, question->problem);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " tiles of %d x %d, %d CTAs on an SM", us, tiles_of(&t),
           v.columns, v.rows, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* The dimensions beside columns and rows, out's innermost first. */
static struct gm_permute_walk rest_of(const struct gm_permute_problem *p, const struct tiling *t) {
    int dimensions[RANK], count = 0;
    for (int k = (int)p->rank - 1; k >= 0; k--)
        if (k != t->column_dimension && k != t->row_dimension)
            dimensions[count++] = k;
    return gm_permute_walk_of(p, dimensions, count);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_permute_planned *planned = plan->problem;
    const struct gm_permute_problem *p = &planned->problem;
    const struct tiling t = tiling_of(&v, p);
    (void)verdict;
    *(struct gm_permute_tile_params *)plan->params = (struct gm_permute_tile_params){
        .x_pitch = gm_permute_x_stride(p, t.row_dimension) * v.x_bytes,
        .out_pitch = p->out_strides[t.column_dimension] * v.out_bytes,
        .rows = (int32_t)gm_permute_extent(p, t.row_dimension),
        .columns = (int32_t)gm_permute_extent(p, t.column_dimension),
        .row_tiles = gm_divisor_of((uint32_t)t.row_tiles),
        .column_tiles = gm_divisor_of((uint32_t)t.column_tiles),
        .tiles = (int32_t)tiles_of(&t),
        .from = (int32_t)planned->from,
        .to = (int32_t)planned->to,
        .rest = rest_of(p, &t),
    };
    plan->config.gridDimX = gm_plan_ctas(plan, tiles_of(&t));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_permute_args *args = arguments;
    struct gm_permute_tile_params *params = into;
    (void)plan;
    params->x = args->x;
    params->out = args->out;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_permute_tile = {
    .name = "permute_tile",
    .operation = &gm_operation_permute,
    .params_bytes = sizeof(struct gm_permute_tile_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
