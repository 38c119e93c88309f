/* SPDX-License-Identifier: Apache-2.0 */
/* The family dequantize: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/dequantize/dequantize.h"

#include "columns.h"
#include "common/arith.h"
#include "common/dequantize/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

/* A variant's columns, and the elements of a chunk of a problem. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, vectors, elements;
};

static struct variant variant_of(const struct gm_kernel *kernel, const struct gm_dequantize_problem *p) {
    const int32_t *c = kernel->columns;
    const int most = c[GM_DEQUANTIZE_ELEMENTS];
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_DEQUANTIZE_THREADS],
        .vectors = c[GM_DEQUANTIZE_VECTORS],
        .elements = GM_MIN(most, 16 / gm_type_bytes(p->out_type)),
    };
}

/* Rows without anything between, of one scale: they are one row, of any number of elements. */
static int is_packed(const struct gm_dequantize_problem *p) {
    return p->scaling == GM_SCALE_STATIC && p->x_stride == p->columns && p->out_stride == p->columns;
}

static enum gm_reason check(const struct variant *v, const struct gm_dequantize_problem *p,
                            const struct gm_sentence *why) {
    struct gm_matrix matrices[GM_DEQUANTIZE_MATRICES];
    enum gm_reason reason = GM_ACCEPTED;
    gm_dequantize_matrices(p, matrices);
    for (int i = GM_DEQUANTIZE_OUT; i >= GM_DEQUANTIZE_X && reason == GM_ACCEPTED; i--) {
        struct gm_matrix m = matrices[i];
        if (is_packed(p)) /* its alignment only */
            m.rows = 1, m.columns = v->elements;
        reason = gm_check_vectors(&m, v->elements * m.element_bytes, why);
    }
    return reason;
}

static int64_t chunks_of(const struct variant *v, const struct gm_dequantize_problem *p) {
    return is_packed(p) ? GM_CEIL_DIV(p->rows * p->columns, v->elements) : p->rows * (p->columns / v->elements);
}

/* Chunks of a thread at once: as many as let all of them run in one wave, up to what the variant has room for. */
static int taken_of(const struct variant *v, const struct gm_dequantize_problem *p, const struct gm_device *device) {
    const int64_t threads = (int64_t)device->sm_count * gm_ctas_per_sm(v->kernel, device) * v->threads;
    return (int)GM_MAX(1, GM_MIN(v->vectors, GM_CEIL_DIV(chunks_of(v, p), threads)));
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + bytes / min(DRAM, what the SMs hold / time of a chunk)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. Predicted from quantize and permute (docs/TUNING-LOG.md, entry
 * 50). */

#define LAUNCH_US       1.25 /* launch, and the first chunk, */
#define VECTOR_US       0.1  /* for each chunk of a thread, */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.89 /* reachable share of the datasheet's bandwidth, mostly writes */
#define CHUNK_US        2.0  /* of a CTA among others, from its first load to its last store */

static double cost_us(const struct variant *v, const struct gm_dequantize_problem *p, const struct gm_device *device) {
    const double bytes = (double)v->elements * (1 + gm_type_bytes(p->out_type)), chunks = (double)chunks_of(v, p);
    const double at_once = device->sm_count * (double)gm_ctas_per_sm(v->kernel, device) * v->threads * v->vectors;
    const double sms = at_once * bytes / CHUNK_US * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = chunks <= at_once ? dram : fmin(sms, dram);
    return LAUNCH_US + VECTOR_US * taken_of(v, p, device) + (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0) +
           chunks * bytes / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel, question->problem);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d x %d elements in a CTA, %d CTAs on an SM", us,
           v.threads * taken_of(&v, question->problem, question->device), v.elements,
           gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* The binary logarithm of the columns that share a scale; of rows more than there are. */
static int column_shift_of(const struct gm_dequantize_problem *p) {
    if (p->scaling == GM_SCALE_BLOCK)
        return 7;
    return p->scaling != GM_SCALE_GROUP ? 31 : p->group == 128 ? 7 : p->group == 64 ? 6 : 5;
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_dequantize_planned *planned = plan->problem;
    const struct gm_dequantize_problem *p = &planned->problem;
    const struct variant v = variant_of(plan->kernel, p);
    const struct gm_out scales = gm_dequantize_scales(p);
    const int packed = is_packed(p), taken = taken_of(&v, p, &plan->device);
    const int64_t row_chunks = packed ? GM_DEQUANTIZE_SLAB_CHUNKS : p->columns / v.elements;
    const int64_t slab_rows = packed ? 1 : GM_MIN(p->rows, INT32_MAX / row_chunks);
    const int64_t slab = row_chunks * v.elements, out_bytes = gm_type_bytes(p->out_type);
    int64_t down, across;
    (void)verdict;
    gm_scale_pitches(&scales, &down, &across);
    *(struct gm_dequantize_params *)plan->params = (struct gm_dequantize_params){
        .x_pitch = packed ? slab : p->x_stride,
        .out_pitch = (packed ? slab : p->out_stride) * out_bytes,
        .scale_down = p->scaling == GM_SCALE_STATIC ? 0 : down,
        .scale_across = column_shift_of(p) == 31 ? 0 : across,
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .is_packed = packed,
        .slab_rows = (int32_t)slab_rows,
        .row_chunks = gm_divisor_of((uint32_t)row_chunks),
        .x_type = (int32_t)planned->x_type,
        .out_type = (int32_t)p->out_type,
        .is_e8m0 = p->scale_format == GM_SCALE_E8M0,
        .row_shift = p->scaling == GM_SCALE_BLOCK ? 7 : 0,
        .column_shift = column_shift_of(p),
        .chunk = v.elements,
        .taken = taken,
    };
    plan->config.gridDimX =
        gm_plan_ctas(plan, GM_CEIL_DIV(GM_MIN(chunks_of(&v, p), slab_rows * row_chunks), (int64_t)v.threads * taken));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_dequantize_args *args = arguments;
    struct gm_dequantize_params *params = into;
    (void)plan;
    params->x = args->x;
    params->out = args->out;
    params->scales = args->scales;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_dequantize = {
    .name = "dequantize",
    .operation = &gm_operation_dequantize,
    .params_bytes = sizeof(struct gm_dequantize_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
