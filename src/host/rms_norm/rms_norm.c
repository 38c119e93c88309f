/* SPDX-License-Identifier: Apache-2.0 */
/* The family rms_norm: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/rms_norm/rms_norm.h"

#include "columns.h"
#include "common/rms_norm/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, row_threads, vectors, vector_bytes, passes;
    int64_t held; /* elements of a row that stay in registers */
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    const int vectors = c[GM_RMS_NORM_VECTORS], vector_bytes = c[GM_RMS_NORM_VECTOR_BYTES];
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_RMS_NORM_THREADS],
        .row_threads = c[GM_RMS_NORM_ROW_THREADS],
        .vectors = vectors,
        .vector_bytes = vector_bytes,
        .passes = c[GM_RMS_NORM_PASSES],
        .held = (int64_t)c[GM_RMS_NORM_ROW_THREADS] * vectors * vector_bytes / gm_type_bytes(kernel->type),
    };
}

/* ---- what it takes -------------------------------------------------------------------------------------- */

/* A wide weight is loaded by elements, wherever it is. */
static enum gm_reason check_layout(const struct variant *v, const struct gm_rms_norm_problem *p,
                                   const struct gm_sentence *why) {
    static const int in_order[] = {GM_RMS_NORM_X, GM_RMS_NORM_OUT, GM_RMS_NORM_RESIDUAL, GM_RMS_NORM_WEIGHT};
    struct gm_matrix matrices[GM_RMS_NORM_MATRICES];
    enum gm_reason reason = GM_ACCEPTED;
    gm_rms_norm_matrices(p, matrices);
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order && reason == GM_ACCEPTED; i++)
        reason = gm_check_vectors(&matrices[in_order[i]], v->vector_bytes, why);
    return reason;
}

/* Why the variant cannot compute the problem at all. */
static enum gm_reason check(const struct variant *v, const struct gm_rms_norm_problem *p,
                            const struct gm_sentence *why) {
    if (p->columns > v->held && v->passes == 1)
        return gm_say(why, GM_REASON_SIZE, "%" PRId64 " columns: its registers hold %" PRId64, p->columns, v->held);
    return check_layout(v, p, why);
}

/* ---- the order of the sum -------------------------------------------------------------------------------
 *
 * Variants that hold as many columns sum a row in one order, others do not. So those that hold the fewest which the problem
 * needs are chosen among, and a row has the same bits whatever the number of rows, the model or a ledger say. */

/* Variants of single elements are behind all others. */
static int64_t width_of(const struct variant *v) {
    return v->vector_bytes < 16 ? INT64_MAX : v->held;
}

/* The least of the variants that may be chosen, of the same architecture. */
static int64_t least_width(const struct variant *v, const struct gm_rms_norm_problem *p) {
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != v->kernel->family || kernel->arch != v->kernel->arch || kernel->type != v->kernel->type ||
            !kernel->production)
            continue;
        const struct variant other = variant_of(kernel);
        if (width_of(&other) < least && check(&other, p, NULL) == GM_ACCEPTED)
            least = width_of(&other);
    }
    return least;
}

/* With a kernel's name the caller has chosen the order. */
static enum gm_reason check_order(const struct variant *v, const struct gm_question *question,
                                  const struct gm_sentence *why) {
    const int64_t least = question->options->kernel ? INT64_MAX : least_width(v, question->problem);
    if (width_of(v) <= least)
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_ORDER,
                  "its sum has another order than that of the variants which hold %" PRId64
                  " columns; these are chosen, for any number of rows",
                  least);
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = first row + rows * bytes of a row / min(DRAM, what the SMs hold of rows / time of a row)
 *
 * Rows that run all at once are bound by DRAM only.
 * Fitted to 1 to 16384 rows of 128 to 16384 columns on an H200 (docs/TUNING-LOG.md, entry 51). */

#define LAUNCH_US       1.45   /* launch, and the first row, */
#define THREAD_US       0.0013 /* for each thread of a row, */
#define WEIGHT_US       0.75   /* and where the weight is loaded after the reduction */
#define ALONE_US        0.25   /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.9    /* reachable share of the datasheet's bandwidth, reads and writes */
#define ROW_US          3.05   /* of a row among others, from its first load to its last store, */
#define RESIDUAL_FACTOR 1.9    /* and how much longer with a residual */
#define ELEMENT_FACTOR  4.0    /* how much longer a thread takes for chunks of one element */

static double bytes_of_row(const struct gm_rms_norm_problem *p) {
    return (p->residual ? 4.0 : 2.0) * (double)p->columns * gm_type_bytes(p->type);
}

static double first_row_us(const struct variant *v) {
    return LAUNCH_US + THREAD_US * v->row_threads + (v->vectors > 2 ? WEIGHT_US : 0) +
           (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0);
}

static double cost_us(const struct variant *v, const struct gm_rms_norm_problem *p, const struct gm_device *device) {
    const double ctas =
        fmin(gm_ctas_per_sm(v->kernel, device), GM_RMS_NORM_CTAS(v->threads, v->vectors, v->vector_bytes));
    const double at_once = device->sm_count * fmax(ctas, 1) * v->threads / v->row_threads;
    const double passes = fmax(1, (double)p->columns / (double)v->held); /* of a thread over its registers */
    const double slow = v->vector_bytes < 16 ? ELEMENT_FACTOR : 1;
    const double row_us = ROW_US * (p->residual ? RESIDUAL_FACTOR : 1) * passes * slow;
    const double sms = at_once * bytes_of_row(p) / row_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs;
    const double rate = (double)p->rows <= at_once ? dram : fmin(sms, dram);
    return first_row_us(v) + (double)p->rows * bytes_of_row(p) / rate * 1e-3;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_rms_norm_problem *p = question->problem;
    enum gm_reason reason = check(&v, p, why);
    if (reason == GM_ACCEPTED)
        reason = check_order(&v, question, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, p, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d rows in a CTA, %d CTAs on an SM", us, v.threads / v.row_threads,
           gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* A row for every warp or CTA; or, where the plan may use some SMs only, as many as run on these at once. */
static unsigned grid_of(const struct gm_plan *plan, const struct variant *v) {
    const struct gm_rms_norm_problem *p = plan->problem;
    const int64_t together = v->threads / v->row_threads, all = (p->rows + together - 1) / together;
    const int64_t most = (int64_t)plan->device.sm_count * gm_ctas_per_sm(v->kernel, &plan->device);
    const int is_limited = plan->device.sm_count < plan->context->device.sm_count;
    return (unsigned)(is_limited && most < all ? most : all);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_rms_norm_problem *p = plan->problem;
    const int64_t bytes = gm_type_bytes(p->type);
    (void)verdict;
    *(struct gm_rms_norm_params *)plan->params = (struct gm_rms_norm_params){
        .x_pitch = p->x_stride * bytes,
        .residual_pitch = p->residual_stride * bytes,
        .out_pitch = p->out_stride * bytes,
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .eps = p->eps,
        .weight_offset = p->weight_offset,
        .inverse_columns = 1.0f / (float)p->columns,
        .flags = (p->residual ? GM_RMS_NORM_HAS_RESIDUAL : 0) | (p->sum_rounding ? GM_RMS_NORM_ROUNDS_SUM : 0) |
                 (p->normalized_rounding ? GM_RMS_NORM_ROUNDS_NORMALIZED : 0) |
                 (p->fp32_weight ? GM_RMS_NORM_WIDE_WEIGHT : 0),
    };
    plan->config.gridDimX = grid_of(plan, &v);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_rms_norm_args *args = arguments;
    struct gm_rms_norm_params *params = into;
    (void)plan;
    params->x = args->x;
    params->residual = args->residual;
    params->weight = args->weight;
    params->out = args->out;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_rms_norm = {
    .name = "rms_norm",
    .operation = &gm_operation_rms_norm,
    .params_bytes = sizeof(struct gm_rms_norm_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
