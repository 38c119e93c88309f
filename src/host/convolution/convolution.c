/* SPDX-License-Identifier: Apache-2.0 */
/* The family convolution: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/convolution/convolution.h"

#include "columns.h"
#include "common/arith.h"
#include "common/convolution/params.h"
#include "host/error.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/tensor_map.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

#define DUMMY_ADDRESS 0x1000000 /* what a template map points at until a call replaces it */

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, rows, tile_height, stages;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int threads = kernel->columns[GM_CONVOLUTION_THREADS], rows = kernel->columns[GM_CONVOLUTION_ROWS];
    return (struct variant){
        .kernel = kernel,
        .threads = threads,
        .rows = rows,
        .tile_height = GM_CONVOLUTION_TILE_HEIGHT(threads, rows),
        .stages = kernel->arch == GM_ARCH_SM90 ? 2 : 1,
    };
}

/* Tiles in each direction. */
struct tiling {
    int64_t columns, rows, all;
};

static struct tiling tiling_of(const struct variant *v, const struct gm_convolution_problem *p) {
    struct tiling t = {GM_CEIL_DIV(p->width, GM_CONVOLUTION_TILE_WIDTH), GM_CEIL_DIV(p->height, v->tile_height), 0};
    if (__builtin_mul_overflow(t.columns * t.rows, p->planes, &t.all))
        t.all = INT64_MAX;
    return t;
}

static int stage_bytes_of(const struct variant *v, const struct gm_convolution_problem *p) {
    return (int)GM_CONVOLUTION_STAGE_BYTES(gm_type_bytes(p->type), v->threads, v->rows, p->filter_width,
                                           p->filter_height);
}

static int smem_of(const struct variant *v, const struct gm_convolution_problem *p) {
    return GM_CONVOLUTION_FIRST_STAGE + v->stages * stage_bytes_of(v, p);
}

/* CTAs on an SM with as much shared memory as this filter needs. */
static int ctas_of(const struct variant *v, const struct gm_convolution_problem *p, const struct gm_device *device) {
    struct gm_kernel kernel = *v->kernel;
    kernel.smem_bytes = smem_of(v, p);
    return gm_ctas_per_sm(&kernel, device);
}

/* ---- how x and out are accessed -------------------------------------------------------------------------- */

/* A tile of x with its halo. Strides of what exists once are never used, but must be legal. */
static struct gm_map_desc describe(const struct variant *v, const struct gm_convolution_problem *p) {
    const int bytes = gm_type_bytes(p->type);
    return (struct gm_map_desc){
        .type = gm_type_tma(p->type),
        .rank = 3,
        .address = DUMMY_ADDRESS,
        .dims = {(uint64_t)p->width, (uint64_t)p->height, (uint64_t)p->planes},
        .strides = {p->height > 1 ? (uint64_t)(p->x_row_stride * bytes) : 16,
                    p->planes > 1 ? (uint64_t)(p->x_plane_stride * bytes) : 16},
        .box = {(uint32_t)GM_CONVOLUTION_PITCH(bytes, p->filter_width),
                (uint32_t)(v->tile_height + p->filter_height - 1), 1},
        .element_strides = {1, 1, 1},
        .interleave = CU_TENSOR_MAP_INTERLEAVE_NONE,
        .swizzle = CU_TENSOR_MAP_SWIZZLE_NONE,
        .l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        .oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    };
}

static int has_boxes(const struct variant *v, const struct gm_convolution_problem *p) {
    const struct gm_map_desc desc = describe(v, p);
    char why[160];
    return v->kernel->arch == GM_ARCH_SM90 && p->x_align >= 16 && gm_tensor_map_check(&desc, why, sizeof why);
}

/* Whether a thread's columns of every row of out are one store. */
static int has_vectors(const struct gm_convolution_problem *p) {
    const int bytes = gm_type_bytes(p->type), chunk = GM_CONVOLUTION_COLUMNS * bytes;
    return p->out_align >= chunk && (p->height == 1 || p->out_row_stride * bytes % chunk == 0) &&
           (p->planes == 1 || p->out_plane_stride * bytes % chunk == 0);
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, instructions / SMs, rounds of tiles * time of a tile)
 *
 * Large filters are bound by the second: an H200 multiplies and adds 33.5e12 times a second in fp32, that is 31 x 31 taps of
 * 35e9 outputs, 0.28 TB/s of fp32. The other instructions are counted after the loops of convolution.cuh. */

#define LAUNCH_US           2.0  /* launch, the filter, and what follows the last tile */
#define ALONE_US            0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY     0.86 /* reachable share of the datasheet's bandwidth, reads and writes, */
#define ELEMENTS_EFFICIENCY 0.55 /* and where x is loaded by elements */
#define ISSUE_EFFICIENCY    0.80 /* reachable share of the instructions that SMs can issue */
#define TILE_US             0.9  /* of a CTA: until a tile is there, */
#define INSTRUCTION_US      1e-3 /* and for each instruction of a thread */
#define CLOCK_MHZ           1700 /* where the device says none */

/* On sm90 filters of these widths, with their anchor in the middle or whole loads of 4 beside it, have loops of their own. */
static int is_compiled(const struct variant *v, const struct gm_convolution_problem *p) {
    return v->kernel->arch == GM_ARCH_SM90 && (p->filter_width == 3 || p->filter_width == 5 || p->filter_width == 7) &&
           p->shift_x % 4 == 0;
}

/* Of a thread, for a tile. */
static double instructions_of(const struct variant *v, const struct gm_convolution_problem *p) {
    const double width = (double)p->filter_width, height = (double)p->filter_height, rows = v->rows;
    const double blocks = is_compiled(v, p) ? 1 : ceil(width / 8),
                 taps = is_compiled(v, p) ? width : ceil(width / 4) * 4;
    const double window = (p->type == GM_FP32 ? 8 : 20) + (is_compiled(v, p) ? 0 : 28);
    const double fma = GM_CONVOLUTION_COLUMNS * taps + ceil(taps / 4);
    const double down = height + rows - 1, around = 60 + 8 * rows;
    if (p->separable)
        return around + down * (blocks * window + fma + 2 * rows) + height * rows * (GM_CONVOLUTION_COLUMNS + 1);
    return around + down * blocks * (window + 2 * rows) + height * rows * fma;
}

static double cost_us(const struct variant *v, const struct gm_convolution_problem *p, const struct gm_device *device) {
    const double tiles = (double)tiling_of(v, p).all, instructions = instructions_of(v, p), sms = device->sm_count;
    const double lanes = device->cc_major == 8 && device->cc_minor == 0 ? 64 : 128;
    const double clock = device->sm_clock_mhz > 0 ? device->sm_clock_mhz : CLOCK_MHZ;
    const double share = has_boxes(v, p) ? DRAM_EFFICIENCY : ELEMENTS_EFFICIENCY;
    const double dram = gm_operation_convolution.work(p).least_bytes / (share * device->dram_gbs) * 1e-3;
    const double issue = tiles * v->threads * instructions / (sms * lanes * clock * ISSUE_EFFICIENCY);
    const double rounds = ceil(tiles / (sms * ctas_of(v, p, device)));
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + alone + fmax(fmax(dram, issue), rounds * (TILE_US + INSTRUCTION_US * instructions));
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_convolution_problem *p = question->problem;
    const struct tiling t = tiling_of(&v, p);
    if (t.all > INT32_MAX)
        return (struct gm_verdict){.reason =
                                       gm_say(why, GM_REASON_SIZE,
                                              "%" PRId64 " tiles of %d x %d are more than the 2^31 - 1 that it counts",
                                              t.all, GM_CONVOLUTION_TILE_WIDTH, v.tile_height)};
    const double us = cost_us(&v, p, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " tiles of %d x %d by %s, %d CTAs on an SM", us, t.all,
           GM_CONVOLUTION_TILE_WIDTH, v.tile_height, has_boxes(&v, p) ? "boxes" : "elements",
           ctas_of(&v, p, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static enum gm_status encode(const struct gm_plan *plan, const struct variant *v, struct gm_tensor_map *map) {
    const struct gm_map_desc desc = describe(v, plan->problem);
    const CUresult result = gm_tensor_map_encode(plan->context->driver, &desc, map);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "%s: the driver refused the tensor map of x", plan->kernel->name);
    return GM_OK;
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_convolution_problem *p = plan->problem;
    const struct tiling t = tiling_of(&v, p);
    const int64_t bytes = gm_type_bytes(p->type),
                  at_once = (int64_t)plan->device.sm_count * ctas_of(&v, p, &plan->device);
    const int anchor_x = (int)(p->filter_width / 2 + p->shift_x), chunk = 16 / (int)bytes;
    struct gm_convolution_params *params = plan->params;
    (void)verdict;
    *params = (struct gm_convolution_params){
        .x_pitch = p->x_row_stride * bytes,
        .x_plane = p->x_plane_stride * bytes,
        .out_pitch = p->out_row_stride * bytes,
        .out_plane = p->out_plane_stride * bytes,
        .width = (int32_t)p->width,
        .height = (int32_t)p->height,
        .filter_width = (int32_t)p->filter_width,
        .filter_height = (int32_t)p->filter_height,
        .origin_x = (int32_t)GM_CEIL_DIV(anchor_x, chunk) * chunk,
        .origin_y = (int32_t)(p->filter_height / 2 + p->shift_y),
        .lead = (int32_t)GM_CEIL_DIV(anchor_x, chunk) * chunk - anchor_x,
        .edge = (int32_t)p->edge,
        .separable = p->separable,
        .pitch = (int32_t)GM_CONVOLUTION_PITCH(bytes, p->filter_width),
        .stage_bytes = stage_bytes_of(&v, p),
        .boxes = has_boxes(&v, p),
        .vectors = has_vectors(p),
        .tiles = (int32_t)t.all,
        .column_tiles = gm_divisor_of((uint32_t)t.columns),
        .row_tiles = gm_divisor_of((uint32_t)t.rows),
    };
    plan->config.gridDimX = (unsigned)GM_MIN(at_once, gm_plan_ctas(plan, t.all));
    plan->config.sharedMemBytes = (unsigned)smem_of(&v, p);
    return params->boxes ? encode(plan, &v, &params->map) : GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_convolution_args *args = arguments;
    struct gm_convolution_params *params = into;
    params->x = args->x;
    params->filter = args->filter;
    params->filter_y = args->filter_y;
    params->out = args->out;
    if (!params->boxes)
        return CUDA_SUCCESS;
    return plan->context->driver->cuTensorMapReplaceAddress(params->map.bytes, (void *)(uintptr_t)args->x);
}

const struct gm_family gm_family_convolution = {
    .name = "convolution",
    .operation = &gm_operation_convolution,
    .params_bytes = sizeof(struct gm_convolution_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
