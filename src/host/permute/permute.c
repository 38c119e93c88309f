/* SPDX-License-Identifier: Apache-2.0 */
/* The family permute, chunk by chunk: which problems a variant takes and how long it should take, and what a launch of one
 * is told. */
#include "columns.h"
#include "common/arith.h"
#include "common/permute/params.h"
#include "host/occupancy.h"
#include "host/permute/permute.h"
#include "host/plan.h"

#include <math.h>

enum { RANK = GM_PERMUTE_RANK };

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int x_bytes, out_bytes, threads, vectors, elements;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .x_bytes = c[GM_PERMUTE_X_BYTES],
        .out_bytes = c[GM_PERMUTE_OUT_BYTES],
        .threads = c[GM_PERMUTE_THREADS],
        .vectors = c[GM_PERMUTE_VECTORS],
        .elements = c[GM_PERMUTE_ELEMENTS],
    };
}

static enum gm_reason check(const struct variant *v, const struct gm_permute_problem *p,
                            const struct gm_sentence *why) {
    enum gm_reason reason = gm_permute_check_bytes(p, v->x_bytes, v->out_bytes, why);
    if (reason == GM_ACCEPTED)
        reason = gm_permute_check_x(p, (int)p->rank - 1, v->elements, why);
    return reason == GM_ACCEPTED ? gm_permute_check_out(p, v->elements, why) : reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + bytes / min(DRAM, what the SMs hold of x and out / time of a chunk)
 *
 * Elements that are no neighbours cost a sector of 32 bytes each. The form is glu's (docs/TUNING-LOG.md, entry 52). */

#define LAUNCH_US       1.25 /* launch, and the first chunk */
#define VECTOR_US       0.15 /* more for each chunk of a thread */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.91 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        2.6  /* of a CTA among others, from its first load to its last store */
#define SECTOR_BYTES    32.0

/* Bytes that one element costs on a side where the next one is so many elements away. */
static double element_bytes(int64_t stride, int bytes) {
    return fmax(bytes, fmin((double)stride * bytes, SECTOR_BYTES));
}

static double cost_us(const struct variant *v, const struct gm_permute_problem *p, const struct gm_device *device) {
    const int inner = (int)p->rank - 1;
    const double bytes =
        element_bytes(gm_permute_x_stride(p, inner), v->x_bytes) + element_bytes(p->out_strides[inner], v->out_bytes);
    const double elements = gm_operation_permute.work(p).least_bytes / (v->x_bytes + v->out_bytes);
    const double ctas = fmax(1, fmin(gm_ctas_per_sm(v->kernel, device), GM_PERMUTE_CTAS(v->threads, v->vectors)));
    const double at_once = device->sm_count * ctas * v->threads * v->vectors * v->elements; /* elements */
    const double sms = at_once * bytes / CHUNK_US * 1e-3;                                   /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = elements <= at_once ? dram : fmin(sms, dram);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + VECTOR_US * v->vectors + alone + elements * bytes / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d x %d B in a CTA, %d CTAs on an SM", us, v.threads * v.vectors,
           v.elements * v.x_bytes, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* The walk over chunks: out's dimensions, the last one first, in chunks. */
static struct gm_permute_walk walk_of(const struct gm_permute_problem *p, const struct variant *v) {
    int dimensions[RANK];
    for (int i = 0; i < p->rank; i++)
        dimensions[i] = (int)p->rank - 1 - i;
    struct gm_permute_walk walk = gm_permute_walk_of(p, dimensions, (int)p->rank);
    walk.extent[0] = gm_divisor_of(walk.extent[0].divisor / (uint32_t)v->elements);
    walk.x_pitch[0] *= v->elements;
    walk.out_pitch[0] *= v->elements;
    return walk;
}

/* As many dimensions as have no more than 2^31 - 1 chunks are counted by numbers, and as much of the next as fits. */
static void divide_into_slabs(struct gm_permute_params *params) {
    struct gm_permute_walk *w = &params->walk;
    int64_t inner = 1, slabs = 1;
    int last = 0;
    while (last + 1 < w->rank && inner * w->extent[last].divisor * w->extent[last + 1].divisor <= INT32_MAX)
        inner *= w->extent[last++].divisor;
    if (last + 1 < w->rank && inner * w->extent[last].divisor <= INT32_MAX / 2)
        inner *= w->extent[last++].divisor;
    const int64_t extent = w->extent[last].divisor;
    params->slab_extent = (int32_t)GM_MIN(extent, INT32_MAX / inner);
    params->pieces = (int32_t)GM_CEIL_DIV(extent, params->slab_extent);
    params->inner_chunks = (uint32_t)inner;
    for (int d = last + 1; d < w->rank; d++)
        slabs *= w->extent[d].divisor;
    params->slabs = slabs * params->pieces;
    w->rank = last + 1;
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_permute_planned *planned = plan->problem;
    struct gm_permute_params *params = plan->params;
    (void)verdict;
    *params = (struct gm_permute_params){
        .walk = walk_of(&planned->problem, &v),
        .from = (int32_t)planned->from,
        .to = (int32_t)planned->to,
    };
    divide_into_slabs(params);
    plan->config.gridDimX =
        gm_plan_ctas(plan, GM_CEIL_DIV((int64_t)params->inner_chunks * params->slab_extent, v.threads * v.vectors));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_permute_args *args = arguments;
    struct gm_permute_params *params = into;
    (void)plan;
    params->x = args->x;
    params->out = args->out;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_permute = {
    .name = "permute",
    .operation = &gm_operation_permute,
    .params_bytes = sizeof(struct gm_permute_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
