/* SPDX-License-Identifier: Apache-2.0 */
/* The family softmax: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/softmax/softmax.h"

#include "columns.h"
#include "common/arith.h"
#include "common/softmax/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, row_threads, row_ctas, vectors, vector_bytes, passes;
    int64_t tile; /* elements of a row that its threads hold at a time */
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    const int64_t chunks = (int64_t)c[GM_SOFTMAX_ROW_THREADS] * c[GM_SOFTMAX_ROW_CTAS] * c[GM_SOFTMAX_VECTORS];
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_SOFTMAX_THREADS],
        .row_threads = c[GM_SOFTMAX_ROW_THREADS],
        .row_ctas = c[GM_SOFTMAX_ROW_CTAS],
        .vectors = c[GM_SOFTMAX_VECTORS],
        .vector_bytes = c[GM_SOFTMAX_VECTOR_BYTES],
        .passes = c[GM_SOFTMAX_PASSES],
        .tile = chunks * c[GM_SOFTMAX_VECTOR_BYTES] / gm_type_bytes(kernel->type),
    };
}

/* An fp32 out beside a 16-bit x is stored 16 bytes at once too. */
static enum gm_reason check(const struct variant *v, const struct gm_softmax_problem *p,
                            const struct gm_sentence *why) {
    struct gm_matrix matrices[GM_SOFTMAX_MATRICES];
    enum gm_reason reason = GM_ACCEPTED;
    if (p->columns > v->tile && v->passes == 1)
        return gm_say(why, GM_REASON_SIZE, "%" PRId64 " columns: its registers hold %" PRId64, p->columns, v->tile);
    if (p->cap > 0 && !GM_SOFTMAX_CAPS(v->kernel->type, v->vectors, v->vector_bytes))
        return gm_say(why, GM_REASON_SIZE, "a cap: variants of %d elements a thread have none",
                      v->vectors * v->vector_bytes / gm_type_bytes(v->kernel->type));
    gm_softmax_matrices(p, matrices);
    for (int i = 0; i < GM_SOFTMAX_MATRICES && reason == GM_ACCEPTED; i++)
        reason = gm_check_vectors(&matrices[i], v->vector_bytes, why);
    return reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = first row + rows * bytes of a row / min(DRAM, what the SMs hold of rows / time of a row)
 *
 * Rows that run all at once are bound by DRAM only. The constants are estimates after those of rms_norm. */

#define LAUNCH_US       1.35   /* launch, and the first row, */
#define THREAD_US       0.0011 /* for each thread of a CTA, */
#define VECTOR_US       0.1    /* for each chunk of a thread, */
#define CLUSTER_US      0.6    /* where a cluster meets twice, */
#define CLUSTER_CTA_US  0.1    /* for each CTA of it, */
#define SM_BYTES_PER_US 40e3   /* and by what a CTA has of it, in and out */
#define ALONE_US        0.25   /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.9    /* reachable share of the datasheet's bandwidth, reads and writes; */
#define CLUSTER_SHARE   0.85   /* that of clusters, whose rows do not come to L2 ahead */
#define ROW_US          2.4    /* of a tile among others, from its first load to its last store, */
#define CHUNK_US        0.2    /* and for each chunk of a thread */
#define STREAM_FACTOR   2.0    /* how much longer where rows are read three times, */
#define ELEMENT_FACTOR  3.0    /* and for chunks of one element */

static double bytes_of_row(const struct gm_softmax_problem *p) {
    return gm_operation_softmax.work(p).least_bytes / (double)p->rows;
}

static double factor_of(const struct variant *v) {
    return (v->passes > 1 ? STREAM_FACTOR : 1) * (v->vector_bytes < 16 ? ELEMENT_FACTOR : 1);
}

static double cluster_us(const struct variant *v) {
    return v->row_ctas > 1 ? CLUSTER_US + CLUSTER_CTA_US * v->row_ctas : 0;
}

/* In and out, of the largest share of a row that a CTA has. */
static double bytes_of_cta(const struct variant *v, const struct gm_softmax_problem *p) {
    const double ctas = fmin(v->row_ctas, ceil((double)p->columns * v->row_ctas / (double)v->tile));
    return bytes_of_row(p) / ctas * (v->threads / v->row_threads);
}

static double first_row_us(const struct variant *v, const struct gm_softmax_problem *p, double tiles) {
    return LAUNCH_US + THREAD_US * v->threads + VECTOR_US * v->vectors * tiles * factor_of(v) +
           bytes_of_cta(v, p) * factor_of(v) / SM_BYTES_PER_US + cluster_us(v) +
           (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0);
}

/* Rows that run on the device at once. */
static int64_t rows_at_once(const struct variant *v, const struct gm_device *device) {
    if (v->row_ctas > 1)
        return gm_clusters_at_once(v->kernel, device);
    return (int64_t)device->sm_count * gm_ctas_per_sm(v->kernel, device) * (v->threads / v->row_threads);
}

static double cost_us(const struct variant *v, const struct gm_softmax_problem *p, const struct gm_device *device) {
    const double at_once = (double)rows_at_once(v, device), tiles = ceil((double)p->columns / (double)v->tile);
    const double row_us = (ROW_US + CHUNK_US * v->vectors + cluster_us(v)) * tiles * factor_of(v);
    const double sms = at_once * bytes_of_row(p) / row_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs;
    const double share = v->row_ctas > 1 ? CLUSTER_SHARE : 1;
    const double rate = (double)p->rows <= at_once ? dram : fmin(sms, dram * share);
    return first_row_us(v, p, tiles) + (double)p->rows * bytes_of_row(p) / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    if (v.row_ctas > 1)
        gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d CTAs share a row, %d CTAs on an SM", us, v.row_ctas,
               gm_ctas_per_sm(kernel, question->device));
    else
        gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d rows in a CTA, %d CTAs on an SM", us, v.threads / v.row_threads,
               gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* CTAs for all rows; or, where the plan may use some SMs only, as many as run on these at once. A grid has fewer than 2^31
 * CTAs: of more rows a CTA takes several. */
static unsigned grid_of(const struct gm_plan *plan, const struct variant *v) {
    const struct gm_softmax_problem *p = plan->problem;
    const int64_t of_cta = v->threads / v->row_threads, all = GM_CEIL_DIV(p->rows, of_cta);
    const int64_t most = gm_plan_is_limited(plan) ? rows_at_once(v, &plan->device) / of_cta : INT32_MAX / v->row_ctas;
    return (unsigned)(GM_MIN(most, all) * v->row_ctas);
}

/* Half of the rows at once: soon enough for DRAM, and late enough that L2 still has it. Clusters do not begin in the order of
 * their numbers. */
static int32_t rows_ahead(const struct variant *v, const struct gm_device *device) {
    return v->row_ctas > 1 ? 0 : (int32_t)(rows_at_once(v, device) / 2);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_softmax_problem *p = plan->problem;
    const int64_t bytes = gm_type_bytes(p->type);
    (void)verdict;
    *(struct gm_softmax_params *)plan->params = (struct gm_softmax_params){
        .x_pitch = p->x_stride * bytes,
        .out_pitch = p->out_stride * (p->fp32_out ? 4 : bytes),
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .temperature = p->temperature,
        .cap = p->cap,
        .cap_exponent = p->cap > 0 ? -2.88539008f / p->cap : 0, /* -2 / ln 2 */
        .flags = (p->log ? GM_SOFTMAX_LOG : 0) | (p->fp32_out ? GM_SOFTMAX_WIDE_OUT : 0) |
                 (p->cap > 0 ? GM_SOFTMAX_CAPPED : 0),
        .rows_ahead = rows_ahead(&v, &plan->device),
    };
    plan->config.gridDimX = grid_of(plan, &v);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_softmax_args *args = arguments;
    struct gm_softmax_params *params = into;
    (void)plan;
    params->x = args->x;
    params->out = args->out;
    params->lse = args->lse;
    params->temperatures = args->temperatures;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_softmax = {
    .name = "softmax",
    .operation = &gm_operation_softmax,
    .params_bytes = sizeof(struct gm_softmax_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
