/* SPDX-License-Identifier: Apache-2.0 */
/* The family moe_align: how long a problem should take, and what a launch is told. Every variant takes all problems. */
#include "host/moe_align/moe_align.h"

#include "common/arith.h"
#include "common/moe_align/params.h"
#include "host/occupancy.h"
#include "host/plan.h"

/* ---- how many CTAs, and how long it takes --------------------------------------------------------------------
 *
 *   time = launch + slots that a CTA counts + slots that it stores
 *
 * Each cluster counts all slots, so that more of them shorten the stores alone. The constants are reckoned: an addition to
 * shared memory at random takes 5 clocks for 32 slots, a store at random 1 clock for each. */

#define SLOTS_OF_CTA  2048    /* least that are worth a further CTA */
#define MOST_CTAS     64      /* that count for themselves */
#define MOST_CLUSTERS 32      /* whose CTAs count together */
#define LAUNCH_US     2.0     /* launch; counts cleared, summed up, and the offsets */
#define CLUSTER_US    1.0     /* CTAs that wait for each other */
#define ALONE_US      0.25    /* more where launches do not overlap */
#define COUNTED_US    0.00009 /* of a slot */
#define STORED_US     0.0006

static int64_t ctas_of(const struct gm_kernel *kernel, const struct gm_moe_align_problem *p,
                       const struct gm_device *device) {
    const int cluster = kernel->cluster_ctas;
    const int64_t wanted = GM_CEIL_DIV(p->tokens * p->k, (int64_t)cluster * SLOTS_OF_CTA);
    const int64_t at_once = (int64_t)device->sm_count * gm_ctas_per_sm(kernel, device) / cluster;
    const int64_t most = GM_MIN(cluster > 1 ? MOST_CLUSTERS : MOST_CTAS, at_once);
    const int64_t clusters = GM_MIN(wanted, most);
    return cluster * (clusters > 1 ? clusters : 1);
}

static double cost_us(const struct gm_kernel *kernel, const struct gm_moe_align_problem *p,
                      const struct gm_device *device) {
    const int cluster = kernel->cluster_ctas;
    const double slots = (double)p->tokens * (double)p->k;
    const double counted = slots / cluster, stored = slots / (double)ctas_of(kernel, p, device);
    return LAUNCH_US + (cluster > 1 ? CLUSTER_US : 0) + (kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0) +
           COUNTED_US * counted + STORED_US * stored;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const double us = cost_us(kernel, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d CTAs in clusters of %d", us,
           (int)ctas_of(kernel, question->problem, question->device), kernel->cluster_ctas);
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_moe_align_problem *p = plan->problem;
    (void)verdict;
    *(struct gm_moe_align_params *)plan->params = (struct gm_moe_align_params){
        .tokens = (int32_t)p->tokens,
        .k = (int32_t)p->k,
        .experts = (int32_t)p->experts,
        .alignment = gm_divisor_of((uint32_t)p->alignment),
    };
    plan->config.gridDimX = (unsigned)ctas_of(plan->kernel, p, &plan->device);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_moe_align_args *args = arguments;
    struct gm_moe_align_params *params = into;
    (void)plan;
    params->ids = args->ids;
    params->offsets = args->offsets;
    params->rows = args->rows;
    params->inverse = args->inverse;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_moe_align = {
    .name = "moe_align",
    .operation = &gm_operation_moe_align,
    .params_bytes = sizeof(struct gm_moe_align_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
