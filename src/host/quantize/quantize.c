/* SPDX-License-Identifier: Apache-2.0 */
/* The family quantize: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/quantize/quantize.h"

#include "columns.h"
#include "common/arith.h"
#include "common/quantize/params.h"
#include "host/occupancy.h"
#include "host/out.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns, and the elements of x that a CTA takes at once. */
struct variant {
    const struct gm_kernel *kernel;
    int share, threads, vectors, vector_bytes;
    int64_t elements;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .share = c[GM_QUANTIZE_SHARE],
        .threads = c[GM_QUANTIZE_THREADS],
        .vectors = c[GM_QUANTIZE_VECTORS],
        .vector_bytes = c[GM_QUANTIZE_VECTOR_BYTES],
        .elements = (int64_t)c[GM_QUANTIZE_THREADS] * c[GM_QUANTIZE_VECTORS] * QUANTIZE_CHUNK,
    };
}

/* ---- what it takes -------------------------------------------------------------------------------------- */

static int share_of(enum gm_scaling scaling) {
    return scaling == GM_SCALE_ROW ? GM_SHARE_row : scaling == GM_SCALE_BLOCK ? GM_SHARE_block : GM_SHARE_chunks;
}

/* A chunk is 8 elements of either operand: of x one load of 16 bytes or two, of out one store of 8. */
static enum gm_reason check(const struct variant *v, const struct gm_quantize_problem *p,
                            const struct gm_sentence *why) {
    static const char *const takes[] = {"chunks, for scales of groups or of all", "rows", "blocks"};
    struct gm_matrix matrices[GM_QUANTIZE_MATRICES];
    gm_quantize_matrices(p, matrices);
    if (v->share != share_of(p->scaling))
        return gm_say(why, GM_REASON_LAYOUT, "it takes %s", takes[v->share]);
    if (v->vector_bytes < 16)
        return GM_ACCEPTED;
    if (p->columns % QUANTIZE_CHUNK)
        return gm_say(why, GM_REASON_SIZE, "%" PRId64 " columns are no multiple of the %d that it loads at once",
                      p->columns, QUANTIZE_CHUNK);
    const enum gm_reason reason = gm_check_vectors(&matrices[GM_QUANTIZE_X], 16, why);
    return reason == GM_ACCEPTED ? gm_check_vectors(&matrices[GM_QUANTIZE_OUT], QUANTIZE_CHUNK, why) : reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + bytes / min(DRAM, what the SMs hold of x / time of a CTA)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. A row that is longer than what a CTA holds is read twice, and
 * of a shorter one fewer bytes are under way. Predicted from glu and rms_norm (docs/TUNING-LOG.md, entries 50 and 52). */

#define LAUNCH_US       1.25 /* launch, and the first chunk, */
#define VECTOR_US       0.1  /* for each chunk of a thread, or each of its elements, */
#define SHARED_US       0.35 /* more where a CTA finds a maximum, */
#define ALONE_US        0.25 /* and where launches do not overlap */
#define DRAM_EFFICIENCY 0.91 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        2.4  /* of a CTA among others, from its first load to its last store, */
#define ELEMENT_FACTOR  3.0  /* and how much longer with loads of one element */

/* Elements that a CTA has under way, and how often it reads them. */
static double held(const struct variant *v, const struct gm_quantize_problem *p, double *reads) {
    *reads = v->share == GM_SHARE_row ? 2 - fmin(1, (double)v->elements / (double)p->columns) : 1;
    return v->share == GM_SHARE_row ? fmin((double)v->elements, (double)p->columns) : (double)v->elements;
}

static double cost_us(const struct variant *v, const struct gm_quantize_problem *p, const struct gm_device *device) {
    double reads;
    const double bytes = gm_type_bytes(p->type), elements = (double)p->rows * (double)p->columns;
    const double at_once = device->sm_count * (double)gm_ctas_per_sm(v->kernel, device) * held(v, p, &reads);
    const double moved = bytes * reads + (p->scaling != GM_SCALE_AMAX_ONLY);
    const double chunk_us = CHUNK_US * (v->vector_bytes < 16 ? ELEMENT_FACTOR : 1);
    const double sms = at_once * moved / chunk_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = elements <= at_once ? dram : fmin(sms, dram);
    return LAUNCH_US + VECTOR_US * v->vectors * (v->vector_bytes < 16 ? QUANTIZE_CHUNK : 1) +
           (v->share == GM_SHARE_chunks ? 0 : SHARED_US) + (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0) +
           elements * moved / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " elements in a CTA, %d CTAs on an SM", us, v.elements,
           gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* Of the chunks of a span, the binary logarithm: a group, or as short rows need it. */
static int span_shift(const struct gm_quantize_problem *p) {
    const int64_t columns = p->scaling == GM_SCALE_GROUP ? p->group : p->columns;
    return columns > 64 ? 4 : columns > 32 ? 3 : 2;
}

/* Units of a row, or of 128 rows of blocks: chunks of whole spans, or blocks. */
static int64_t row_units(const struct gm_quantize_problem *p) {
    if (p->scaling == GM_SCALE_BLOCK)
        return GM_CEIL_DIV(p->columns, QUANTIZE_BLOCK);
    return GM_CEIL_DIV(p->columns, QUANTIZE_CHUNK << span_shift(p)) << span_shift(p);
}

/* A CTA for all that it takes at a time; or as many as run at once, on the SMs that the plan may use if these are not all, or
 * where each of them adds its maximum to one number. */
static unsigned grid_of(const struct gm_plan *plan, const struct variant *v, int64_t slab_units) {
    const struct gm_quantize_problem *p = plan->problem;
    const int64_t chunk_ctas = GM_CEIL_DIV(slab_units, (int64_t)v->threads * v->vectors);
    const int64_t all = v->share == GM_SHARE_row ? p->rows : v->share == GM_SHARE_block ? slab_units : chunk_ctas;
    const int64_t most = (int64_t)plan->device.sm_count * gm_ctas_per_sm(v->kernel, &plan->device);
    const int is_limited = gm_plan_is_limited(plan) || p->scaling == GM_SCALE_AMAX_ONLY;
    return (unsigned)(is_limited && most < all ? most : all);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_quantize_problem *p = plan->problem;
    const struct gm_out out = gm_quantize_out(p);
    const int64_t units = row_units(p);
    const int64_t unit_rows = v.share == GM_SHARE_block ? GM_CEIL_DIV(p->rows, QUANTIZE_BLOCK) : p->rows;
    const int64_t slab_rows = GM_MIN(unit_rows, INT32_MAX / units);
    int64_t down, across;
    (void)verdict;
    gm_scale_pitches(&out, &down, &across);
    *(struct gm_quantize_params *)plan->params = (struct gm_quantize_params){
        .x_pitch = p->x_stride * gm_type_bytes(p->type),
        .out_pitch = p->out_stride,
        .scale_down = down,
        .scale_across = across,
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .slab_rows = (int32_t)slab_rows,
        .row_units = gm_divisor_of((uint32_t)units),
        .span_shift = span_shift(p),
        .scaling = (int32_t)p->scaling,
        .scale_format = (int32_t)p->scale_format,
        .out_type = (int32_t)p->out_type,
        .by_reciprocal = p->division == GM_DIVIDE_BY_RECIPROCAL,
        .limit = gm_out_limit(p->out_type),
        .one_by_limit = 1 / gm_out_limit(p->out_type),
        .scale_floor = p->scale_floor,
    };
    plan->config.gridDimX = grid_of(plan, &v, slab_rows * units);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_quantize_args *args = arguments;
    struct gm_quantize_params *params = into;
    (void)plan;
    params->x = args->x;
    params->out = args->out;
    params->scales = args->scales;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_quantize = {
    .name = "quantize",
    .operation = &gm_operation_quantize,
    .params_bytes = sizeof(struct gm_quantize_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
