/* SPDX-License-Identifier: Apache-2.0 */
/* The family moe_finalize: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/moe_finalize/moe_finalize.h"

#include "columns.h"
#include "common/arith.h"
#include "common/moe_finalize/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, slots, vector_bytes;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_MOE_FINALIZE_THREADS],
        .slots = c[GM_MOE_FINALIZE_SLOTS],
        .vector_bytes = c[GM_MOE_FINALIZE_VECTOR_BYTES],
    };
}

static enum gm_reason check(const struct variant *v, const struct gm_moe_finalize_problem *p,
                            const struct gm_sentence *why) {
    struct gm_matrix matrices[GM_FINALIZE_MATRICES];
    enum gm_reason reason = GM_ACCEPTED;
    gm_moe_finalize_matrices(p, matrices);
    for (int i = GM_FINALIZE_MATRICES - 1; i >= 0 && reason == GM_ACCEPTED; i--)
        reason = gm_check_vectors(&matrices[i], v->vector_bytes, why);
    return reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + rounds of slots + bytes / min(DRAM, what the SMs hold of x / time of a round)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. The constants are those of glu (docs/TUNING-LOG.md, entry
 * 52), which loads and stores alike; the latency of the inverse is reckoned. */

#define LAUNCH_US       1.75 /* launch, the inverse, and the first chunks of x */
#define ROUND_US        0.6  /* for each further round of slots */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.91 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        2.4  /* of a CTA among others, from its first load to its last */
#define ELEMENT_FACTOR  0.75 /* of that, with chunks of one element */

static double cost_us(const struct variant *v, const struct gm_moe_finalize_problem *p,
                      const struct gm_device *device) {
    const double ctas = fmax(1, fmin(gm_ctas_per_sm(v->kernel, device), GM_MOE_FINALIZE_CTAS(v->threads)));
    const double at_once = device->sm_count * ctas * v->threads, k = (double)p->k, rounds = ceil(k / v->slots);
    const double chunks = (double)p->tokens * (double)p->columns * gm_type_bytes(p->type) / v->vector_bytes;
    const double chunk_us = CHUNK_US * rounds * (v->vector_bytes < 16 ? ELEMENT_FACTOR : 1);
    const double bytes = (k + 1) * v->vector_bytes, sms = at_once * bytes / chunk_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = chunks <= at_once ? dram : fmin(sms, dram);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + ROUND_US * (rounds - 1) + alone + chunks * bytes / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d x %d B of x in a CTA, %d CTAs on an SM", us, v.threads * v.slots,
           v.vector_bytes, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_moe_finalize_problem *p = plan->problem;
    const int64_t bytes = gm_type_bytes(p->type), row_chunks = GM_CEIL_DIV(p->columns * bytes, v.vector_bytes);
    const int64_t slab_rows = GM_MIN(p->tokens, INT32_MAX / row_chunks);
    (void)verdict;
    *(struct gm_moe_finalize_params *)plan->params = (struct gm_moe_finalize_params){
        .x_pitch = p->x_stride * bytes,
        .residual_pitch = p->residual_stride * bytes,
        .out_pitch = p->out_stride * bytes,
        .tokens = (int32_t)p->tokens,
        .k = (int32_t)p->k,
        .x_rows = (uint32_t)p->x_rows,
        .slab_rows = (int32_t)slab_rows,
        .row_chunks = gm_divisor_of((uint32_t)row_chunks),
    };
    plan->config.gridDimX = gm_plan_ctas(plan, GM_CEIL_DIV(slab_rows * row_chunks, v.threads));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_moe_finalize_args *args = arguments;
    struct gm_moe_finalize_params *params = into;
    (void)plan;
    params->x = args->x;
    params->inverse = args->inverse;
    params->weights = args->weights;
    params->residual = args->residual;
    params->out = args->out;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_moe_finalize = {
    .name = "moe_finalize",
    .operation = &gm_operation_moe_finalize,
    .params_bytes = sizeof(struct gm_moe_finalize_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
