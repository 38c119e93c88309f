/* SPDX-License-Identifier: Apache-2.0 */
/* Families that normalise rows. */
#include "host/norm.h"

#include "common/norm.h"
#include "host/occupancy.h"
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
    const int vectors = c[GM_NORM_VECTORS], vector_bytes = c[GM_NORM_VECTOR_BYTES];
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_NORM_THREADS],
        .row_threads = c[GM_NORM_ROW_THREADS],
        .vectors = vectors,
        .vector_bytes = vector_bytes,
        .passes = c[GM_NORM_PASSES],
        .held = (int64_t)c[GM_NORM_ROW_THREADS] * vectors * vector_bytes / gm_type_bytes(kernel->type),
    };
}

/* ---- what it takes -------------------------------------------------------------------------------------- */

/* A wide weight is loaded by elements, wherever it is. */
static enum gm_reason check_layout(const struct variant *v, const struct gm_norm *norm, const struct gm_sentence *why) {
    enum gm_reason reason = GM_ACCEPTED;
    for (int i = 0; i < norm->matrix_count && reason == GM_ACCEPTED; i++)
        reason = gm_check_vectors(&norm->matrices[i], v->vector_bytes, why);
    return reason;
}

/* Why the variant cannot compute the problem at all. */
static enum gm_reason check(const struct variant *v, const struct gm_norm *norm, const struct gm_sentence *why) {
    if (norm->columns > v->held && v->passes == 1)
        return gm_say(why, GM_REASON_SIZE, "%" PRId64 " columns: its registers hold %" PRId64, norm->columns, v->held);
    if (norm->heads > 1 && !GM_NORM_TAKES_HEADS(v->row_threads, v->vectors, v->vector_bytes))
        return gm_say(why, GM_REASON_SIZE, "%" PRId64 " heads: it takes rows of one; kernels of short rows take them",
                      norm->heads);
    return check_layout(v, norm, why);
}

/* ---- the order of the sum -------------------------------------------------------------------------------
 *
 * Variants that hold as many columns sum a row in one order, others do not. So those that hold the fewest which the problem
 * needs are chosen among, and a row has the same bits whatever the number of rows, the model or a ledger say. */

/* Variants of single elements are behind all others. */
static int64_t width_of(const struct variant *v) {
    return v->vector_bytes < 16 ? INT64_MAX : v->held;
}

static int may_be_chosen(const struct gm_kernel *kernel, const struct gm_question *question) {
    const uint32_t mask = question->options->arch_mask;
    return kernel->production && (mask == 0 || mask & kernel->arch) &&
           gm_kernel_runs_on(kernel, question->device->cc_major, question->device->cc_minor);
}

/* The least of the variants that may be chosen. */
static int64_t least_width(const struct variant *v, const struct gm_question *question, const struct gm_norm *norm) {
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != v->kernel->family || kernel->type != v->kernel->type || !may_be_chosen(kernel, question))
            continue;
        const struct variant other = variant_of(kernel);
        if (width_of(&other) < least && check(&other, norm, NULL) == GM_ACCEPTED)
            least = width_of(&other);
    }
    return least;
}

/* With a kernel's name the caller has chosen the order. */
static enum gm_reason check_order(const struct variant *v, const struct gm_question *question,
                                  const struct gm_norm *norm, const struct gm_sentence *why) {
    const int64_t least = question->options->kernel ? INT64_MAX : least_width(v, question, norm);
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
#define REDUCTION_US    0.25   /* for each reduction but the first */
#define ALONE_US        0.25   /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.9    /* reachable share of the datasheet's bandwidth, reads and writes */
#define ROW_US          3.05   /* of a row among others, from its first load to its last store, */
#define RESIDUAL_FACTOR 1.9    /* and how much longer with a residual */
#define ELEMENT_FACTOR  4.0    /* how much longer a thread takes for chunks of one element */

static double bytes_of_row(const struct gm_norm *norm) {
    return (norm->residual ? 4.0 : 2.0) * (double)norm->columns * gm_type_bytes(norm->type);
}

static double first_row_us(const struct variant *v, const struct gm_norm *norm) {
    return LAUNCH_US + THREAD_US * v->row_threads + (v->vectors > 2 ? WEIGHT_US : 0) +
           REDUCTION_US * (norm->reductions - 1) + (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0);
}

static double cost_us(const struct variant *v, const struct gm_norm *norm, const struct gm_device *device) {
    const double ctas = fmin(gm_ctas_per_sm(v->kernel, device),
                             GM_NORM_CTAS(v->threads, v->vectors, v->vector_bytes, norm->reductions));
    const double at_once = device->sm_count * fmax(ctas, 1) * v->threads / v->row_threads;
    const double passes = fmax(1, (double)norm->columns / (double)v->held); /* of a thread over its registers */
    const double slow = v->vector_bytes < 16 ? ELEMENT_FACTOR : 1;
    const double row_us = ROW_US * (norm->residual ? RESIDUAL_FACTOR : 1) * passes * slow;
    const double sms = at_once * bytes_of_row(norm) / row_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs;
    const double rows = (double)norm->rows * (double)norm->heads;
    const double rate = rows <= at_once ? dram : fmin(sms, dram);
    return first_row_us(v, norm) + rows * bytes_of_row(norm) / rate * 1e-3;
}

/* ---- for the families ----------------------------------------------------------------------------------- */

struct gm_verdict gm_norm_judge(const struct gm_kernel *kernel, const struct gm_question *question,
                                const struct gm_norm *norm, const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    enum gm_reason reason = check(&v, norm, why);
    if (reason == GM_ACCEPTED)
        reason = check_order(&v, question, norm, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, norm, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d rows in a CTA, %d CTAs on an SM", us, v.threads / v.row_threads,
           gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* A row for every warp or CTA, of each head; or, where the plan may use some SMs only, as many as run on these at once. */
static void set_grid(struct gm_plan *plan, const struct variant *v, const struct gm_norm *norm) {
    const int64_t together = v->threads / v->row_threads, all = (norm->rows + together - 1) / together;
    const int64_t most = (int64_t)plan->device.sm_count * gm_ctas_per_sm(v->kernel, &plan->device);
    const int is_limited = gm_plan_is_limited(plan);
    const int64_t heads = is_limited && most < norm->heads ? most : norm->heads, room = most / heads;
    plan->config.gridDimX = (unsigned)(is_limited && room < all ? room : all);
    plan->config.gridDimY = (unsigned)heads;
}

void gm_norm_prepare(struct gm_plan *plan, const struct gm_norm *norm) {
    const struct variant v = variant_of(plan->kernel);
    const int64_t bytes = gm_type_bytes(norm->type);
    *(struct gm_norm_params *)plan->params = (struct gm_norm_params){
        .x_pitch = norm->x_stride * bytes,
        .residual_pitch = norm->residual_stride * bytes,
        .out_pitch = norm->out_stride * bytes,
        .x_head_pitch = norm->x_head_stride * bytes,
        .out_head_pitch = norm->out_head_stride * bytes,
        .heads = (int32_t)norm->heads,
        .rows = (int32_t)norm->rows,
        .columns = (int32_t)norm->columns,
        .eps = norm->eps,
        .weight_offset = norm->weight_offset,
        .inverse_columns = 1.0f / (float)norm->columns,
        .flags = (norm->residual ? GM_NORM_HAS_RESIDUAL : 0) | (norm->sum_rounding ? GM_NORM_ROUNDS_SUM : 0) |
                 (norm->normalized_rounding ? GM_NORM_ROUNDS_NORMALIZED : 0) |
                 (norm->fp32_weight ? GM_NORM_WIDE_WEIGHT : 0),
    };
    set_grid(plan, &v, norm);
}
