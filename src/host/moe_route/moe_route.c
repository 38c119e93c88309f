/* SPDX-License-Identifier: Apache-2.0 */
/* The family moe_route: how long a problem should take, and what a launch is told. Every variant takes all problems. */
#include "host/moe_route/moe_route.h"

#include "common/arith.h"
#include "common/moe_route/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

enum { VECTOR_BYTES = 16, LANES = 32 };

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + a token's chain + instructions / what the SMs issue
 *
 * Reckoned from the machine code, not measured. */

#define LAUNCH_US        1.3  /* launch, and the logits of a unit of each lane */
#define UNITS_US         0.5  /* the logits of further units */
#define SLOT_US          0.06 /* of a token's chain: two reductions of a warp, and its owner's search */
#define TOKEN_CLOCKS     250  /* a warp's instructions beside its slots, and */
#define SLOT_CLOCKS      60   /* for each slot */
#define ISSUED_PER_CLOCK 3    /* instructions of warps, on an SM */

static double cost_us(const struct gm_moe_route_problem *p, const struct gm_device *device) {
    const double k = (double)p->k, units = (double)GM_CEIL_DIV(p->experts, LANES * GM_MOE_ROUTE_UNIT);
    const double clocks = units * TOKEN_CLOCKS + k * SLOT_CLOCKS;
    const double mhz = device->sm_clock_mhz > 0 ? device->sm_clock_mhz : 1500;
    const double at_once = ISSUED_PER_CLOCK * device->sm_count * mhz;
    return LAUNCH_US + UNITS_US * (units - 1) + fmax(k * SLOT_US, (double)p->tokens * clocks / at_once);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const double us = cost_us(question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d tokens in a CTA, %d CTAs on an SM", us, kernel->threads / LANES,
           gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* As many lanes as may score a group together. */
static int lanes_log2_of(int64_t groups) {
    int log2 = 0;
    while (groups << (log2 + 1) <= LANES)
        log2++;
    return log2;
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_moe_route_problem *p = plan->problem;
    const struct gm_matrix logits = gm_moe_route_logits(p);
    (void)verdict;
    *(struct gm_moe_route_params *)plan->params = (struct gm_moe_route_params){
        .logits_pitch = p->logits_stride * gm_type_bytes(p->type),
        .tokens = (int32_t)p->tokens,
        .experts = (int32_t)p->experts,
        .k = (int32_t)p->k,
        .by_elements = gm_check_vectors(&logits, VECTOR_BYTES, NULL) != GM_ACCEPTED,
        .is_sigmoid = p->method == GM_ROUTE_SIGMOID_GROUPED,
        .renormalizes = p->renormalize || p->method == GM_ROUTE_TOP_K_SOFTMAX,
        .groups = (int32_t)p->groups,
        .top_groups = (int32_t)p->top_groups,
        .lanes_log2 = lanes_log2_of(p->groups),
        .group_size = (int32_t)(p->experts / p->groups),
        .scale = p->scale,
    };
    plan->config.gridDimX = gm_plan_ctas(plan, GM_CEIL_DIV(p->tokens, plan->kernel->threads / LANES));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_moe_route_args *args = arguments;
    struct gm_moe_route_params *params = into;
    (void)plan;
    params->logits = args->logits;
    params->bias = args->bias;
    params->ids = args->ids;
    params->weights = args->weights;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_moe_route = {
    .name = "moe_route",
    .operation = &gm_operation_moe_route,
    .params_bytes = sizeof(struct gm_moe_route_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
