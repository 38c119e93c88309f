/* SPDX-License-Identifier: Apache-2.0 */
/* The family attention_merge: which problems a variant takes and how long it should take, and what a launch of one is
 * told. */
#include "host/attention_merge/attention_merge.h"

#include "columns.h"
#include "common/arith.h"
#include "common/attention_merge/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

enum { WARP_LOG2 = 5 };

/* A variant's columns, and how a head of a problem is divided among lanes. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, tokens, vector_bytes;
    int chunk; /* elements */
    int head_chunks;
    int lanes_log2; /* the least power of 2 with a chunk for each, or a warp */
    int groups;     /* of lanes, of a CTA */
};

static struct variant variant_of(const struct gm_kernel *kernel, const struct gm_attention_merge_problem *p) {
    const int32_t *c = kernel->columns;
    struct variant v = {
        .kernel = kernel,
        .threads = c[GM_ATTENTION_MERGE_THREADS],
        .tokens = c[GM_ATTENTION_MERGE_TOKENS],
        .vector_bytes = c[GM_ATTENTION_MERGE_VECTOR_BYTES],
        .chunk = c[GM_ATTENTION_MERGE_VECTOR_BYTES] / gm_type_bytes(kernel->type),
    };
    v.head_chunks = (int)GM_CEIL_DIV(p->head_dim, v.chunk);
    while (v.lanes_log2 < WARP_LOG2 && 1 << v.lanes_log2 < v.head_chunks)
        v.lanes_log2++;
    v.groups = v.threads >> v.lanes_log2;
    return v;
}

/* Out's chunk is one store or two of 16 bytes, or fewer bytes. */
static enum gm_reason check(const struct variant *v, const struct gm_attention_merge_problem *p,
                            const struct gm_sentence *why) {
    struct gm_strided s[GM_MERGE_OPERANDS];
    enum gm_reason reason = GM_ACCEPTED;
    gm_attention_merge_operands(p, s);
    for (int i = 0; i < GM_MERGE_HEADS && reason == GM_ACCEPTED; i++)
        reason = gm_check_strided_vectors(&s[i], GM_MIN(16, v->chunk * s[i].element_bytes), why);
    return reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + further parts of a head + bytes / min(DRAM, what the SMs hold of a and b / time of a chunk)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. The constants are those of moe_finalize, which loads and stores
 * alike; they are not fitted to this family yet. */

#define LAUNCH_US       1.75 /* launch, and the first chunks */
#define PART_US         0.6  /* for each further chunk of a lane */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.91 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        2.4  /* of a CTA among others, from its first load to its last store */
#define ELEMENT_FACTOR  0.75 /* of that, with chunks of one element */

static double cost_us(const struct variant *v, const struct gm_attention_merge_problem *p,
                      const struct gm_device *device) {
    const double ctas = fmax(1, gm_ctas_per_sm(v->kernel, device));
    const double parts = (double)GM_CEIL_DIV(v->head_chunks, 1 << v->lanes_log2);
    const double heads = (double)p->tokens * (double)p->heads,
                 at_once = device->sm_count * ctas * v->groups * v->tokens;
    const double bytes = gm_operation_attention_merge.work(p).least_bytes;
    const double head_us = CHUNK_US * parts * (v->chunk == 1 ? ELEMENT_FACTOR : 1);
    const double sms = at_once * bytes / heads / head_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = heads <= at_once ? dram : fmin(sms, dram);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + PART_US * (parts - 1) + alone + bytes / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel, question->problem);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d lanes for a head of %d tokens, %d CTAs on an SM", us,
           1 << v.lanes_log2, v.tokens, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static struct gm_attention_merge_operand told(const struct gm_strided *s) {
    return (struct gm_attention_merge_operand){.token = s->dimension[0].stride * s->element_bytes,
                                               .head = s->dimension[1].stride * s->element_bytes};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_attention_merge_problem *p = plan->problem;
    const struct variant v = variant_of(plan->kernel, p);
    const int64_t slab_tokens = GM_MIN(p->tokens, GM_ATTENTION_MERGE_SLAB / p->heads * v.tokens);
    const int64_t turns = GM_CEIL_DIV(slab_tokens, v.tokens) * p->heads;
    struct gm_strided s[GM_MERGE_OPERANDS];
    (void)verdict;
    gm_attention_merge_operands(p, s);
    *(struct gm_attention_merge_params *)plan->params = (struct gm_attention_merge_params){
        .a = told(&s[GM_MERGE_A]),
        .b = told(&s[GM_MERGE_B]),
        .out = told(&s[GM_MERGE_OUT]),
        .lse_a = told(&s[GM_MERGE_LSE_A]),
        .lse_b = told(&s[GM_MERGE_LSE_B]),
        .lse = told(&s[GM_MERGE_LSE]),
        .tokens = (int32_t)p->tokens,
        .slab_tokens = (int32_t)slab_tokens,
        .heads = gm_divisor_of((uint32_t)p->heads),
        .head_chunks = v.head_chunks,
        .lanes_log2 = v.lanes_log2,
        .parts = (int32_t)GM_CEIL_DIV(v.head_chunks, 1 << v.lanes_log2),
        .out_type = (int32_t)p->out_type,
    };
    plan->config.gridDimX = gm_plan_ctas(plan, GM_CEIL_DIV(turns, v.groups));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_attention_merge_args *args = arguments;
    struct gm_attention_merge_params *params = into;
    (void)plan;
    params->a.address = args->a;
    params->b.address = args->b;
    params->out.address = args->out;
    params->lse_a.address = args->lse_a;
    params->lse_b.address = args->lse_b;
    params->lse.address = args->lse;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_attention_merge = {
    .name = "attention_merge",
    .operation = &gm_operation_attention_merge,
    .params_bytes = sizeof(struct gm_attention_merge_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
