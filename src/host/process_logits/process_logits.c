/* SPDX-License-Identifier: Apache-2.0 */
/* The family process_logits: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/process_logits/process_logits.h"

#include "columns.h"
#include "common/arith.h"
#include "common/process_logits/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, vectors, vector_bytes;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_PROCESS_LOGITS_THREADS],
        .vectors = c[GM_PROCESS_LOGITS_VECTORS],
        .vector_bytes = c[GM_PROCESS_LOGITS_VECTOR_BYTES],
    };
}

/* Elements of a chunk. */
static int chunk_of(const struct variant *v) {
    return v->vector_bytes / gm_type_bytes(v->kernel->type);
}

/* A chunk of logits is 16 bytes or an element of each operand, but 8 bytes of counts beside fp32; of the mask it is bits. */
static enum gm_reason check(const struct variant *v, const struct gm_process_logits_problem *p,
                            const struct gm_sentence *why) {
    struct gm_matrix matrices[GM_PROCESS_LOGITS_MATRICES];
    enum gm_reason reason = GM_ACCEPTED;
    gm_process_logits_matrices(p, matrices);
    for (int i = 0; i < GM_PROCESS_LOGITS_MASK && reason == GM_ACCEPTED; i++)
        reason = gm_check_vectors(&matrices[i], GM_MIN(16, chunk_of(v) * matrices[i].element_bytes), why);
    return reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + bytes / min(DRAM, what the SMs hold of logits and counts / time of a chunk)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. The constants are those of glu (docs/TUNING-LOG.md, entry
 * 52), which loads and stores alike; the latency of a row's request is reckoned. */

#define LAUNCH_US       1.95 /* launch, a row's request, and the first chunk, */
#define VECTOR_US       0.2  /* for each chunk of a thread, */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.91 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        4.0  /* of a CTA among others, from its first load to its last store */
#define ELEMENT_FACTOR  0.75 /* of that, with chunks of one element */

static double cost_us(const struct variant *v, const struct gm_process_logits_problem *p,
                      const struct gm_device *device) {
    const double ctas =
        fmax(1, fmin(gm_ctas_per_sm(v->kernel, device), GM_PROCESS_LOGITS_CTAS(v->threads, v->vectors)));
    const double at_once = device->sm_count * ctas * v->threads * v->vectors; /* chunks */
    const double chunks = (double)p->rows * (double)p->columns / chunk_of(v);
    const double bytes = gm_operation_process_logits.work(p).least_bytes;
    const double chunk_us = CHUNK_US * (v->vector_bytes < 16 ? ELEMENT_FACTOR : 1);
    const double sms = at_once * bytes / chunks / chunk_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = chunks <= at_once ? dram : fmin(sms, dram);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + VECTOR_US * v->vectors + alone + bytes / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d x %d B of logits in a CTA, %d CTAs on an SM", us,
           v.threads * v.vectors, v.vector_bytes, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_process_logits_problem *p = plan->problem;
    const int64_t bytes = gm_type_bytes(p->type), tile = (int64_t)v.threads * v.vectors * chunk_of(&v);
    const int64_t row_tiles = GM_CEIL_DIV(p->columns, tile), slab_rows = GM_MIN(p->rows, INT32_MAX / row_tiles);
    (void)verdict;
    *(struct gm_process_logits_params *)plan->params = (struct gm_process_logits_params){
        .logits_pitch = p->logits_stride * bytes,
        .out_pitch = p->out_stride * (p->fp32_out ? 4 : bytes),
        .counts_pitch = p->counts_stride * 2,
        .bias_pitch = p->bias_stride * 4,
        .mask_pitch = p->mask_stride * 4,
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .slot_count = (uint32_t)p->slots,
        .is_wide = p->fp32_out,
        .slab_rows = (int32_t)slab_rows,
        .row_tiles = gm_divisor_of((uint32_t)row_tiles),
        .cap = p->cap,
        .cap_exponent = p->cap > 0 ? -2.88539008f / p->cap : 0, /* -2 / ln 2 */
        .temperature = p->temperature,
        .repetition = p->repetition,
        .frequency = p->frequency,
        .presence = p->presence,
    };
    plan->config.gridDimX = gm_plan_ctas(plan, slab_rows * row_tiles);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_process_logits_args *args = arguments;
    struct gm_process_logits_params *params = into;
    (void)plan;
    params->logits = args->logits;
    params->out = args->out;
    params->counts = args->counts;
    params->bias = args->bias;
    params->mask = args->mask;
    params->slots = args->slots;
    params->bias_slots = args->bias_slots;
    params->mask_slots = args->mask_slots;
    params->last_ids = args->last_ids;
    params->temperatures = args->temperatures;
    params->repetitions = args->repetitions;
    params->frequencies = args->frequencies;
    params->presences = args->presences;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_process_logits = {
    .name = "process_logits",
    .operation = &gm_operation_process_logits,
    .params_bytes = sizeof(struct gm_process_logits_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
