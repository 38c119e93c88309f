/* SPDX-License-Identifier: Apache-2.0 */
/* The family axpby: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/axpby/axpby.h"

#include "columns.h"
#include "common/arith.h"
#include "common/axpby/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

/* A variant's columns, and what a problem makes of them. */
struct variant {
    const struct gm_kernel *kernel;
    struct gm_matrix matrices[GM_AXPBY_MATRICES];
    int threads;
    int operands; /* that are read */
    int chunk;    /* elements */
    int packed;   /* rows without anything between: they are one row, of any number of elements */
    int taken;    /* chunks of a thread at once, at most */
};

static struct variant variant_of(const struct gm_kernel *kernel, const struct gm_axpby_planned *planned) {
    const int32_t *c = kernel->columns;
    struct variant v = {.kernel = kernel, .threads = c[GM_AXPBY_THREADS], .packed = 1};
    int widest = 1;
    gm_axpby_matrices(&planned->problem, planned->x_type, v.matrices);
    for (int i = 0; i < GM_AXPBY_MATRICES; i++) {
        const struct gm_matrix *m = &v.matrices[i];
        if (m->rows == 0)
            continue;
        v.packed &= m->stride == m->columns;
        v.operands += i != GM_AXPBY_OPERAND_OUT;
        widest = GM_MAX(widest, m->element_bytes);
    }
    const int elements = c[GM_AXPBY_ELEMENTS];
    v.chunk = GM_MIN(elements, widest == 4 ? 4 : 8);
    v.taken = c[GM_AXPBY_SLOTS] / GM_MAX(1, v.operands);
    return v;
}

static enum gm_reason check(const struct variant *v, const struct gm_sentence *why) {
    enum gm_reason reason = GM_ACCEPTED;
    for (int i = GM_AXPBY_MATRICES - 1; i >= 0 && reason == GM_ACCEPTED; i--) {
        struct gm_matrix m = v->matrices[i];
        if (v->packed && m.rows > 0) /* its alignment only */
            m.rows = 1, m.columns = v->chunk;
        reason = gm_check_vectors(&m, v->chunk * m.element_bytes, why);
    }
    return reason;
}

static int64_t chunks_of(const struct variant *v, const struct gm_axpby_problem *p) {
    return v->packed ? GM_CEIL_DIV(p->rows * p->columns, v->chunk) : p->rows * (p->columns / v->chunk);
}

/* Chunks of a thread at once: as many as let all of them run in one wave, up to what the variant has room for. */
static int taken_of(const struct variant *v, const struct gm_axpby_problem *p, const struct gm_device *device) {
    const int64_t threads = (int64_t)device->sm_count * gm_ctas_per_sm(v->kernel, device) * v->threads;
    return (int)GM_MAX(1, GM_MIN(v->taken, GM_CEIL_DIV(chunks_of(v, p), threads)));
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + bytes / min(DRAM, what the SMs hold / time of a chunk)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. Predicted from glu and permute (docs/TUNING-LOG.md, entries 50
 * and 52). */

#define LAUNCH_US       1.25 /* launch, and the first chunk, */
#define VECTOR_US       0.1  /* for each chunk of a thread, */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.89 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        3.0  /* of a CTA among others, from its first load to its last store */

static double chunk_bytes(const struct variant *v) {
    double bytes = 0;
    for (int i = 0; i < GM_AXPBY_MATRICES; i++)
        bytes += v->matrices[i].rows > 0 ? (double)v->chunk * v->matrices[i].element_bytes : 0;
    return bytes;
}

static double cost_us(const struct variant *v, const struct gm_axpby_problem *p, const struct gm_device *device) {
    const double chunks = (double)chunks_of(v, p);
    const double at_once = device->sm_count * (double)gm_ctas_per_sm(v->kernel, device) * v->threads * v->taken;
    const double sms = at_once * chunk_bytes(v) / CHUNK_US * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = chunks <= at_once ? dram : fmin(sms, dram);
    return LAUNCH_US + VECTOR_US * taken_of(v, p, device) + (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0) +
           chunks * chunk_bytes(v) / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct gm_axpby_planned *planned = question->problem;
    const struct variant v = variant_of(kernel, planned);
    const enum gm_reason reason = check(&v, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, &planned->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d x %d elements in a CTA, %d CTAs on an SM", us,
           v.threads * taken_of(&v, &planned->problem, question->device), v.chunk,
           gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static int log_bytes(int bytes) {
    return bytes == 4 ? 2 : bytes == 2;
}

static struct gm_axpby_operand operand_of(const struct variant *v, int matrix, int64_t slab, enum gm_type type,
                                          float factor) {
    const struct gm_matrix *m = &v->matrices[matrix];
    return (struct gm_axpby_operand){.pitch = (v->packed ? slab : m->stride) * m->element_bytes,
                                     .type = (int32_t)type,
                                     .log_bytes = log_bytes(m->element_bytes),
                                     .factor = factor};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_axpby_planned *planned = plan->problem;
    const struct gm_axpby_problem *p = &planned->problem;
    const struct variant v = variant_of(plan->kernel, planned);
    const int taken = taken_of(&v, p, &plan->device);
    const int64_t row_chunks = v.packed ? GM_AXPBY_SLAB_CHUNKS : p->columns / v.chunk;
    const int64_t slab_rows = v.packed ? 1 : GM_MIN(p->rows, INT32_MAX / row_chunks), slab = row_chunks * v.chunk;
    struct gm_axpby_params *params = plan->params;
    (void)verdict;
    *params = (struct gm_axpby_params){
        .out_pitch = (v.packed ? slab : p->out_stride) * gm_type_bytes(p->out_type),
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .is_packed = v.packed,
        .slab_rows = (int32_t)slab_rows,
        .row_chunks = gm_divisor_of((uint32_t)row_chunks),
        .out_type = (int32_t)p->out_type,
        .out_log_bytes = log_bytes(gm_type_bytes(p->out_type)),
        .chunk = v.chunk,
        .taken = taken,
        .gamma = p->gamma == 0 && v.operands > 0 ? -0.0f : p->gamma,
    };
    if (p->terms == GM_AXPBY_X_AND_Y)
        params->operand[params->operands++] = operand_of(&v, GM_AXPBY_OPERAND_Y, slab, p->y_type, p->beta);
    if (p->terms != GM_AXPBY_NEITHER)
        params->operand[params->operands++] = operand_of(&v, GM_AXPBY_OPERAND_X, slab, planned->x_type, p->alpha);
    plan->config.gridDimX =
        gm_plan_ctas(plan, GM_CEIL_DIV(GM_MIN(chunks_of(&v, p), slab_rows * row_chunks), (int64_t)v.threads * taken));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_axpby_args *args = arguments;
    struct gm_axpby_params *params = into;
    (void)plan;
    params->operand[0].address = params->operands == 2 ? args->y : args->x;
    params->operand[1].address = args->x;
    params->out = args->out;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_axpby = {
    .name = "axpby",
    .operation = &gm_operation_axpby,
    .params_bytes = sizeof(struct gm_axpby_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
