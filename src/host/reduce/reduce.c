/* SPDX-License-Identifier: Apache-2.0 */
/* The family reduce: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/reduce/reduce.h"

#include "columns.h"
#include "common/arith.h"
#include "common/reduce/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/random.h"
#include "host/types.h"

#include <inttypes.h>
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
        .threads = c[GM_REDUCE_THREADS],
        .vectors = c[GM_REDUCE_VECTORS],
        .vector_bytes = c[GM_REDUCE_VECTOR_BYTES],
    };
}

/* ---- groups --------------------------------------------------------------------------------------------- */

#define LONG_ROW     4096 /* chunks: beyond, a row has more threads */
#define ROW_THREADS  256  /* that share one, at most; */
#define LONG_THREADS 1024 /* one that is long, by chunks of 16 bytes, */
#define MOST_THREADS 512  /* and by elements */

static int64_t chunks_of(const struct variant *v, const struct gm_reduce_problem *p) {
    return GM_CEIL_DIV(p->columns * gm_type_bytes(p->type), v->vector_bytes);
}

/* The least power of 2 that is no less, between two others. */
static int power_between(int64_t number, int least, int most) {
    int power = least;
    while (power < number && power < most)
        power *= 2;
    return power;
}

/* Threads that share a row: so that each has 4 chunks of 16 bytes, or 8 elements. It decides the order of the sum, so it
 * follows from the row's length and the bytes of a chunk alone. */
static int row_threads(const struct variant *v, const struct gm_reduce_problem *p) {
    const int64_t chunks = chunks_of(v, p);
    if (v->vector_bytes < 16)
        return power_between(GM_CEIL_DIV(chunks, 8), 4, MOST_THREADS);
    return chunks > LONG_ROW ? LONG_THREADS : power_between(GM_CEIL_DIV(chunks, 4), 2, ROW_THREADS);
}

/* Strips beside each other in a CTA: 512 bytes of a row, or all of it. */
static int strips(const struct variant *v, const struct gm_reduce_problem *p) {
    return power_between(chunks_of(v, p), 1, v->vector_bytes == 16 ? 32 : ROW_THREADS);
}

static int group_of(const struct variant *v, const struct gm_reduce_problem *p) {
    if (p->along == GM_REDUCE_ALL)
        return v->threads;
    return p->along == GM_REDUCE_ROWS ? strips(v, p) : row_threads(v, p);
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

static int is_packed(const struct gm_reduce_problem *p) {
    return p->rows <= 1 || p->x_stride == p->columns;
}

/* CTAs without regard to parts. */
static int64_t tiles_of(const struct variant *v, const struct gm_reduce_problem *p) {
    if (p->along == GM_REDUCE_ALL)
        return 1;
    if (p->along == GM_REDUCE_ROWS)
        return GM_CEIL_DIV(chunks_of(v, p), strips(v, p));
    return GM_CEIL_DIV(p->rows, v->threads / row_threads(v, p));
}

/* What is cut into parts: chunks of all elements, or rows; and how much of it all threads of a CTA take at once. */
static int64_t length_of(const struct variant *v, const struct gm_reduce_problem *p) {
    if (p->along == GM_REDUCE_ROWS)
        return p->rows;
    return is_packed(p) ? p->rows * p->columns * gm_type_bytes(p->type) / v->vector_bytes : p->rows * chunks_of(v, p);
}

static int64_t step_of(const struct variant *v, const struct gm_reduce_problem *p) {
    return (int64_t)v->vectors * (p->along == GM_REDUCE_ROWS ? v->threads / strips(v, p) : v->threads);
}

/* Bytes of a CTA in the workspace. */
static size_t slot_bytes(const struct variant *v, const struct gm_reduce_problem *p) {
    const int chunk = v->vector_bytes / gm_type_bytes(p->type);
    return p->along == GM_REDUCE_ALL ? GM_REDUCE_TOTAL_BYTES : (size_t)strips(v, p) * GM_REDUCE_STRIP_BYTES(chunk);
}

static size_t workspace_of(const struct variant *v, const struct gm_reduce_problem *p, int64_t parts) {
    return parts > 1 ? (size_t)(tiles_of(v, p) * parts) * (slot_bytes(v, p) + GM_REDUCE_FLAG_BYTES) : 0;
}

static int64_t ctas_at_once(const struct variant *v, const struct gm_device *device) {
    const int64_t of_sm = GM_MIN(gm_ctas_per_sm(v->kernel, device), GM_REDUCE_CTAS(v->threads));
    return device->sm_count * GM_MAX(of_sm, 1);
}

/* As many as run at once, and no more than have a step of work each. */
static int64_t most_parts(const struct variant *v, const struct gm_reduce_problem *p, const struct gm_device *device,
                          size_t limit) {
    if (p->along == GM_REDUCE_COLUMNS)
        return 1;
    const int64_t room = ctas_at_once(v, device) / tiles_of(v, p);
    int64_t parts = GM_MAX(1, GM_MIN(room, GM_CEIL_DIV(length_of(v, p), step_of(v, p))));
    while (parts > 1 && workspace_of(v, p, parts) > limit)
        parts--;
    return parts;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, steps of a CTA * waves * latency) + what putting parts together takes
 *
 * Constants from glu and rms_norm (docs/TUNING-LOG.md, entries 50 to 53), not yet fitted to this operation. */

#define LAUNCH_US       1.3
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.92 /* reachable share of the datasheet's bandwidth, */
#define FEW_CTAS        0.96 /* of that, along rows by CTAs of which an SM has two */
#define STEP_US         0.8  /* from a step's loads to its last addition */
#define GROUP_US        0.25 /* among the warps of a group */
#define PARTS_US        1.5  /* slots, flags, and the first read of them */
#define READ_US         0.35 /* each further read */
#define ELEMENT_FACTOR  2.0  /* of DRAM's time, by single elements of 2 bytes */

static double parts_us(const struct variant *v, const struct gm_reduce_problem *p, int64_t parts) {
    const int64_t readers = p->along == GM_REDUCE_ALL ? v->threads : v->threads / strips(v, p);
    return parts > 1 ? PARTS_US + READ_US * (double)GM_CEIL_DIV(parts, readers) : 0;
}

static double cost_us(const struct variant *v, const struct gm_reduce_problem *p, const struct gm_device *device,
                      int64_t parts) {
    const double bytes = (double)p->rows * (double)p->columns * gm_type_bytes(p->type);
    const int64_t ctas = tiles_of(v, p) * parts;
    const double waves = fmax(1, (double)ctas / (double)ctas_at_once(v, device));
    const int64_t step = p->along == GM_REDUCE_COLUMNS ? (int64_t)group_of(v, p) * v->vectors : step_of(v, p);
    const int64_t length = p->along == GM_REDUCE_COLUMNS ? chunks_of(v, p) : GM_CEIL_DIV(length_of(v, p), parts);
    const double cta = STEP_US * (double)GM_CEIL_DIV(length, step) + GROUP_US * (group_of(v, p) > 32);
    const double slow = v->vector_bytes == 2 ? ELEMENT_FACTOR : 1, alone = v->kernel->arch == GM_ARCH_SM80;
    const double share = p->along == GM_REDUCE_ROWS && v->threads == LONG_THREADS ? FEW_CTAS : 1;
    const double dram = slow * bytes / (DRAM_EFFICIENCY * share * device->dram_gbs) * 1e-3;
    return LAUNCH_US + ALONE_US * alone + fmax(dram, waves * cta) + parts_us(v, p, parts);
}

/* Of as many parts as fit, a half of them, a quarter, ... the fastest. */
static int64_t best_parts(const struct variant *v, const struct gm_reduce_problem *p, const struct gm_device *device,
                          size_t limit) {
    int64_t best = most_parts(v, p, device, limit);
    for (int64_t parts = best / 2; parts > 0; parts /= 2)
        if (cost_us(v, p, device, parts) < cost_us(v, p, device, best))
            best = parts;
    return best;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

/* Along columns a row alone is as one among others; packed, all elements are one row, whatever the columns. */
static enum gm_reason check(const struct variant *v, const struct gm_reduce_problem *p, const struct gm_sentence *why) {
    struct gm_matrix x = gm_reduce_x(p);
    if (p->rows == 0 || p->columns == 0)
        return GM_ACCEPTED;
    if (p->along == GM_REDUCE_COLUMNS)
        x.rows = 2;
    if (p->along == GM_REDUCE_ALL && is_packed(p))
        x.rows = 1, x.columns = v->vector_bytes; /* its alignment only */
    const enum gm_reason reason = gm_check_vectors(&x, v->vector_bytes, why);
    if (reason == GM_ACCEPTED && group_of(v, p) > v->threads)
        return gm_say(why, GM_REASON_SIZE, "a row of %" PRId64 " columns is added up by %d threads; it has %d",
                      p->columns, group_of(v, p), v->threads);
    return reason;
}

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_reduce_problem *p = question->problem;
    const enum gm_reason reason = check(&v, p, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const int64_t parts =
        gm_reduce_results(p) ? best_parts(&v, p, question->device, question->options->workspace_limit) : 1;
    const double us = gm_reduce_results(p) ? cost_us(&v, p, question->device, parts) : 0;
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d threads side by side of %d, %d x %d B each, in %" PRId64 " parts",
           us, group_of(&v, p), v.threads, v.vectors, v.vector_bytes, parts);
    return (struct gm_verdict){.reason = GM_ACCEPTED,
                               .predicted_us = us,
                               .ranking_us = us,
                               .workspace_bytes = workspace_of(&v, p, parts),
                               .detail = {parts}};
}

static int keeps(enum gm_reduction reduction) {
    static const int of[] = {
        [GM_REDUCTION_SUM] = REDUCE_SUMS,     [GM_REDUCTION_MEAN] = REDUCE_SUMS,  [GM_REDUCTION_MAX] = REDUCE_LARGEST,
        [GM_REDUCTION_MIN] = REDUCE_LARGEST,  [GM_REDUCTION_L2] = REDUCE_SQUARES, [GM_REDUCTION_ARGMAX] = REDUCE_PLACE,
        [GM_REDUCTION_ARGMIN] = REDUCE_PLACE,
    };
    return of[reduction];
}

static int stored_as(const struct gm_reduce_problem *p) {
    switch (gm_reduce_out_type(p)) {
    case GM_INT64:
        return REDUCE_TO_INT64;
    case GM_INT32:
        return REDUCE_TO_INT32;
    case GM_FP32:
        return REDUCE_TO_FP32;
    default:
        return REDUCE_TO_TYPE;
    }
}

static int shift_of(int power) {
    int shift = 0;
    while (1 << shift < power)
        shift++;
    return shift;
}

/* A CTA for each tile and part; of tiles without parts no more than run at once, where the plan may use some SMs only. */
static unsigned grid_of(const struct gm_plan *plan, const struct variant *v, int64_t parts) {
    const int64_t all = tiles_of(v, plan->problem) * parts, most = ctas_at_once(v, &plan->device);
    const int is_limited = gm_plan_is_limited(plan);
    return (unsigned)(is_limited && most < all ? most : all);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_reduce_problem *p = plan->problem;
    const int64_t chunks = chunks_of(&v, p), parts = verdict->detail[0];
    const int is_least = p->reduction == GM_REDUCTION_MIN || p->reduction == GM_REDUCTION_ARGMIN;
    *(struct gm_reduce_params *)plan->params = (struct gm_reduce_params){
        .ready = gm_random_number(),
        .pitch = p->x_stride * gm_type_bytes(p->type),
        .part_size = GM_CEIL_DIV(length_of(&v, p), parts),
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .along = (int32_t)p->along,
        .keeps = keeps(p->reduction),
        .finish = p->reduction == GM_REDUCTION_MEAN ? REDUCE_MEAN
                  : p->reduction == GM_REDUCTION_L2 ? REDUCE_ROOT
                                                    : REDUCE_AS_IT_IS,
        .stored_as = stored_as(p),
        .group = group_of(&v, p),
        .group_shift = shift_of(group_of(&v, p)),
        .parts = (int32_t)parts,
        .is_packed = is_packed(p),
        .chunks = (int32_t)chunks,
        .by_chunks = gm_divisor_of((uint32_t)GM_MAX(chunks, 1)),
        .by_parts = gm_divisor_of((uint32_t)parts),
        .sign = is_least ? -1.0f : 1.0f,
    };
    plan->config.gridDimX = grid_of(plan, &v, parts);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_reduce_args *args = arguments;
    const struct variant v = variant_of(plan->kernel);
    struct gm_reduce_params *params = into;
    params->x = args->x;
    params->out = args->out;
    params->row_count = args->row_count;
    params->slots = args->workspace;
    params->flags = args->workspace +
                    (uint64_t)tiles_of(&v, plan->problem) * (uint64_t)params->parts * slot_bytes(&v, plan->problem);
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_reduce = {
    .name = "reduce",
    .operation = &gm_operation_reduce,
    .params_bytes = sizeof(struct gm_reduce_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
