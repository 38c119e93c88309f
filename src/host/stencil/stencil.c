/* SPDX-License-Identifier: Apache-2.0 */
/* The family stencil: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/stencil/stencil.h"

#include "columns.h"
#include "common/arith.h"
#include "common/stencil/params.h"
#include "host/error.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/tensor_map.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define DUMMY_ADDRESS 0x1000000 /* what a template map points at until a call replaces it */

/* ---- marches --------------------------------------------------------------------------------------------
 *
 * A grid is cut into tiles of x and y, and in z into layers of so many planes of out, each of which a CTA marches through:
 * it reads a plane more on each side. As many marches as CTAs fit at once are best; of more, whole rounds. */

#define START_STEPS 1.5 /* as long as the first plane of a march takes to come */

struct marches {
    int64_t columns, rows; /* of tiles */
    int64_t layers, layer; /* of a grid, and planes of out of each */
    int64_t steps, all;
    double rounds;
};

static int tile_height_of(const struct gm_kernel *kernel) {
    return GM_STENCIL_TILE_HEIGHT(kernel->columns[GM_STENCIL_THREADS], kernel->columns[GM_STENCIL_ROWS]);
}

static int64_t at_once(const struct gm_kernel *kernel, const struct gm_device *device) {
    return (int64_t)device->sm_count * gm_ctas_per_sm(kernel, device);
}

static void cut(struct marches *m, const struct gm_stencil_problem *p, int64_t layer, int64_t ctas) {
    m->layer = layer;
    m->layers = GM_CEIL_DIV(p->depth, layer);
    m->steps = gm_stencil_is_flat(p) ? 1 : layer + 2;
    if (__builtin_mul_overflow(m->columns * m->rows, p->grids, &m->all) ||
        __builtin_mul_overflow(m->all, m->layers, &m->all))
        m->all = INT64_MAX;
    m->rounds = ceil((double)m->all / (double)ctas);
}

static double length_of(const struct marches *m) {
    return m->rounds * ((double)m->steps + START_STEPS);
}

static struct marches marches_of(const struct gm_kernel *kernel, const struct gm_stencil_problem *p,
                                 const struct gm_device *device) {
    enum { ROUNDS = 8 }; /* more need no balance */
    const int64_t ctas = at_once(kernel, device), most = gm_stencil_is_flat(p) ? 1 : GM_MIN(p->depth, ROUNDS * ctas);
    struct marches best = {.columns = GM_CEIL_DIV(p->width, GM_STENCIL_TILE_WIDTH),
                           .rows = GM_CEIL_DIV(p->height, tile_height_of(kernel))};
    cut(&best, p, gm_stencil_is_flat(p) ? 1 : GM_MAX(p->depth, 1), ctas);
    for (int64_t layers = 2; layers <= most; layers++) {
        struct marches m = best;
        cut(&m, p, GM_CEIL_DIV(p->depth, layers), ctas);
        if (m.rounds > ROUNDS)
            break;
        if (length_of(&m) < length_of(&best))
            best = m;
    }
    return best;
}

/* ---- how x and out are accessed -------------------------------------------------------------------------- */

/* A plane of a tile with its halo. Strides of what exists once are never used, but must be legal. Without L2 promotion: the
 * halo's 16 bytes at both ends of a row would fetch more of the neighbours' rows, which they may read much later. */
static struct gm_map_desc describe(const struct gm_kernel *kernel, const struct gm_stencil_problem *p) {
    const int bytes = gm_type_bytes(p->type);
    return (struct gm_map_desc){
        .type = gm_type_tma(p->type),
        .rank = 4,
        .address = DUMMY_ADDRESS,
        .dims = {(uint64_t)p->width, (uint64_t)p->height, (uint64_t)p->depth, (uint64_t)p->grids},
        .strides = {p->height > 1 ? (uint64_t)(p->x_row_stride * bytes) : 16,
                    p->depth > 1 ? (uint64_t)(p->x_plane_stride * bytes) : 16,
                    p->grids > 1 ? (uint64_t)(p->x_grid_stride * bytes) : 16},
        .box = {(uint32_t)GM_STENCIL_PITCH(bytes), (uint32_t)tile_height_of(kernel) + 2, 1, 1},
        .element_strides = {1, 1, 1, 1},
        .interleave = CU_TENSOR_MAP_INTERLEAVE_NONE,
        .swizzle = CU_TENSOR_MAP_SWIZZLE_NONE,
        .l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE,
        .oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    };
}

static int has_boxes(const struct gm_kernel *kernel, const struct gm_stencil_problem *p) {
    const struct gm_map_desc desc = describe(kernel, p);
    char why[160];
    return kernel->arch == GM_ARCH_SM90 && p->x_align >= 16 && gm_tensor_map_check(&desc, why, sizeof why);
}

/* Whether a thread's columns of every row of out are one store. */
static int has_vectors(const struct gm_stencil_problem *p) {
    const int bytes = gm_type_bytes(p->type), chunk = GM_STENCIL_COLUMNS * bytes;
    return p->out_align >= chunk && (p->height == 1 || p->out_row_stride * bytes % chunk == 0) &&
           (p->depth == 1 || p->out_plane_stride * bytes % chunk == 0) &&
           (p->grids == 1 || p->out_grid_stride * bytes % chunk == 0);
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, instructions / SMs, rounds of marches * time of a march)
 *
 * 27 taps of 16 bits are bound by the second: 134e6 points of 35 instructions take an H200 200 us, their bytes 130. */

#define LAUNCH_US           2.0  /* launch, and what follows the last march */
#define ALONE_US            0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY     0.80 /* reachable share of the datasheet's bandwidth, reads, writes and the halo, */
#define ELEMENTS_EFFICIENCY 0.65 /* and where x is loaded by elements */
#define ISSUE_EFFICIENCY    0.80 /* reachable share of the instructions that SMs can issue */
#define STEP_US             0.25 /* of a CTA that is alone: barriers, and what waits for shared memory, */
#define INSTRUCTION_US      1e-3 /* and for each instruction of a thread */
#define CLOCK_MHZ           1700 /* where the device says none */

/* Of a thread, in a step. */
static double instructions_of(const struct gm_kernel *kernel, const struct gm_stencil_problem *p, int by_elements) {
    const int rows = kernel->columns[GM_STENCIL_ROWS];
    return 60 + 8 * rows + rows * GM_STENCIL_COLUMNS * gm_stencil_points(p) + (p->type == GM_FP32 ? 0 : 10 * rows) +
           (by_elements ? 80 * rows : 0);
}

static double cost_us(const struct gm_kernel *kernel, const struct gm_stencil_problem *p,
                      const struct gm_device *device, const struct marches *m) {
    const int by_elements = !has_boxes(kernel, p), threads = kernel->columns[GM_STENCIL_THREADS];
    const double instructions = instructions_of(kernel, p, by_elements), steps = (double)m->steps;
    const double lanes = device->cc_major == 8 && device->cc_minor == 0 ? 64 : 128;
    const double clock = device->sm_clock_mhz > 0 ? device->sm_clock_mhz : CLOCK_MHZ;
    const double share = by_elements ? ELEMENTS_EFFICIENCY : DRAM_EFFICIENCY;
    const double dram = gm_operation_stencil.work(p).least_bytes / (share * device->dram_gbs) * 1e-3;
    const double issue =
        (double)m->all * steps * threads * instructions / (device->sm_count * lanes * clock * ISSUE_EFFICIENCY);
    const double alone = kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    const double march = m->rounds * (steps + START_STEPS) * (STEP_US + INSTRUCTION_US * instructions);
    return LAUNCH_US + alone + fmax(fmax(dram, issue), march);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct gm_stencil_problem *p = question->problem;
    const struct marches m = marches_of(kernel, p, question->device);
    if (m.all > INT32_MAX)
        return (struct gm_verdict){.reason = gm_say(why, GM_REASON_SIZE,
                                                    "%" PRId64 " marches through tiles of %d x %d are more than the "
                                                    "2^31 - 1 that it counts",
                                                    m.all, GM_STENCIL_TILE_WIDTH, tile_height_of(kernel))};
    const double us = cost_us(kernel, p, question->device, &m);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " marches through %" PRId64 " planes of %d x %d by %s", us,
           m.all, m.steps, GM_STENCIL_TILE_WIDTH, tile_height_of(kernel), has_boxes(kernel, p) ? "boxes" : "elements");
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static enum gm_status encode(const struct gm_plan *plan, struct gm_tensor_map *map) {
    const struct gm_map_desc desc = describe(plan->kernel, plan->problem);
    const CUresult result = gm_tensor_map_encode(plan->context->driver, &desc, map);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "%s: the driver refused the tensor map of x", plan->kernel->name);
    return GM_OK;
}

static struct gm_stencil_side side_of(int64_t extent, enum gm_convolution_edge edge) {
    const int32_t first = edge == GM_CONVOLUTION_ZERO ? GM_STENCIL_NOWHERE : 0;
    const int32_t last = edge == GM_CONVOLUTION_ZERO ? GM_STENCIL_NOWHERE : (int32_t)extent - 1;
    return edge == GM_CONVOLUTION_WRAP ? (struct gm_stencil_side){(int32_t)extent, last, first}
                                       : (struct gm_stencil_side){(int32_t)extent, first, last};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_stencil_problem *p = plan->problem;
    const struct marches m = marches_of(plan->kernel, p, &plan->device);
    const int64_t bytes = gm_type_bytes(p->type);
    struct gm_stencil_params *params = plan->params;
    (void)verdict;
    *params = (struct gm_stencil_params){
        .x_pitch = p->x_row_stride * bytes,
        .x_plane = p->x_plane_stride * bytes,
        .x_grid = p->x_grid_stride * bytes,
        .out_pitch = p->out_row_stride * bytes,
        .out_plane = p->out_plane_stride * bytes,
        .out_grid = p->out_grid_stride * bytes,
        .columns = side_of(p->width, p->edge),
        .rows = side_of(p->height, p->edge),
        .planes = side_of(p->depth, p->edge),
        .points = gm_stencil_points(p),
        .boxes = has_boxes(plan->kernel, p),
        .vectors = has_vectors(p),
        .layer = (int32_t)m.layer,
        .steps = (int32_t)m.steps,
        .marches = (int32_t)m.all,
        .column_tiles = gm_divisor_of((uint32_t)m.columns),
        .row_tiles = gm_divisor_of((uint32_t)m.rows),
        .layers = gm_divisor_of((uint32_t)m.layers),
    };
    memcpy(params->coefficients, p->coefficients, sizeof(float) * (size_t)params->points);
    plan->config.gridDimX = (unsigned)GM_MIN(at_once(plan->kernel, &plan->device), gm_plan_ctas(plan, m.all));
    return params->boxes ? encode(plan, &params->map) : GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_stencil_args *args = arguments;
    struct gm_stencil_params *params = into;
    params->x = args->x;
    params->out = args->out;
    if (!params->boxes)
        return CUDA_SUCCESS;
    return plan->context->driver->cuTensorMapReplaceAddress(params->map.bytes, (void *)(uintptr_t)args->x);
}

const struct gm_family gm_family_stencil = {
    .name = "stencil",
    .operation = &gm_operation_stencil,
    .params_bytes = sizeof(struct gm_stencil_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
