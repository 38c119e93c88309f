/* SPDX-License-Identifier: Apache-2.0 */
/* The family sample: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/sample/sample.h"

#include "columns.h"
#include "common/arith.h"
#include "common/sample/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, row_ctas, vectors, vector_bytes;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_SAMPLE_THREADS],
        .row_ctas = c[GM_SAMPLE_ROW_CTAS],
        .vectors = c[GM_SAMPLE_VECTORS],
        .vector_bytes = c[GM_SAMPLE_VECTOR_BYTES],
    };
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + rounds of rows * time of a row, or DRAM
 *
 * A CTA reads its share of a row a tile at a time, each waited for; a row that is not greedy is read twice. The constants are
 * estimates. */

#define LAUNCH_US       1.6  /* launch, and the reduction over a CTA, */
#define CLUSTER_US      0.5  /* more for each time that a cluster meets, */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define TILE_US         0.8  /* from the first load of a tile to its last comparison */
#define FILTER_US       3.0  /* of a row that is not greedy, beside its reads */
#define MEETINGS        6    /* of a cluster in such a row */
#define L2_SHARE        0.7  /* of L2 that holds rows until they are read again */
#define DRAM_EFFICIENCY 0.9  /* reachable share of the datasheet's bandwidth */

static double rows_at_once(const struct variant *v, const struct gm_device *device) {
    return v->row_ctas > 1 ? (double)gm_clusters_at_once(v->kernel, device)
                           : (double)device->sm_count * gm_ctas_per_sm(v->kernel, device);
}

static double cost_us(const struct variant *v, const struct gm_sample_problem *p, const struct gm_device *device) {
    const double row_bytes = (double)p->columns * gm_type_bytes(p->type);
    const double tile_bytes = (double)v->threads * v->vectors * v->vector_bytes * v->row_ctas;
    const int is_greedy = p->temperature == 0;
    const double tiles = ceil(row_bytes / tile_bytes) * (is_greedy ? 1 : 2);
    const double meetings = v->row_ctas > 1 ? (is_greedy ? 1 : MEETINGS) * CLUSTER_US : 0;
    const double row_us = tiles * TILE_US + meetings + (is_greedy ? 0 : FILTER_US);
    const double rounds = fmax(1, (double)p->rows / rows_at_once(v, device));
    const double in_work = fmin((double)p->rows, rows_at_once(v, device)) * row_bytes;
    const int reads = !is_greedy && in_work > L2_SHARE * (double)device->l2_bytes ? 2 : 1; /* of DRAM */
    const double dram_us = reads * (double)p->rows * row_bytes / (DRAM_EFFICIENCY * device->dram_gbs) * 1e-3;
    return LAUNCH_US + (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0) + fmax(rounds * row_us, dram_us);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_matrix logits = gm_sample_logits(question->problem);
    const enum gm_reason reason = gm_check_vectors(&logits, v.vector_bytes, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d CTA%s share%s a row, %d CTAs on an SM", us, v.row_ctas,
           v.row_ctas > 1 ? "s" : "", v.row_ctas > 1 ? "" : "s", gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* CTAs for all rows; or, where the plan may use some SMs only, as many as run on these at once. A grid has fewer than 2^31
 * CTAs: of more rows each takes several. */
static unsigned grid_of(const struct gm_plan *plan, const struct variant *v) {
    const struct gm_sample_problem *p = plan->problem;
    const int is_limited = gm_plan_is_limited(plan);
    const int64_t most = is_limited ? (int64_t)rows_at_once(v, &plan->device) : INT32_MAX / v->row_ctas;
    return (unsigned)(GM_MIN(most, p->rows) * v->row_ctas);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_sample_problem *p = plan->problem;
    (void)verdict;
    *(struct gm_sample_params *)plan->params = (struct gm_sample_params){
        .pitch = p->logits_stride * gm_type_bytes(p->type),
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .top_k = (int32_t)p->top_k,
        .temperature = p->temperature,
        .top_p = p->top_p,
        .min_p = p->min_p,
    };
    plan->config.gridDimX = grid_of(plan, &v);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_sample_args *args = arguments;
    struct gm_sample_params *params = into;
    (void)plan;
    params->logits = args->logits;
    params->ids = args->ids;
    params->logprobs = args->logprobs;
    params->temperatures = args->temperatures;
    params->top_ks = args->top_ks;
    params->top_ps = args->top_ps;
    params->min_ps = args->min_ps;
    params->seeds = args->seeds;
    params->steps = args->steps;
    params->step = args->step;
    params->row_count = args->row_count;
    params->seed = args->seed;
    params->first_step = args->first_step;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_sample = {
    .name = "sample",
    .operation = &gm_operation_sample,
    .params_bytes = sizeof(struct gm_sample_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
