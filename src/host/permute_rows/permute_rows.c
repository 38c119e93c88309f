/* SPDX-License-Identifier: Apache-2.0 */
/* The family permute_rows: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "common/permute_rows/params.h"
#include "columns.h"
#include "common/arith.h"
#include "host/occupancy.h"
#include "host/permute/permute.h"
#include "host/plan.h"

#include <inttypes.h>
#include <math.h>

enum { RANK = GM_PERMUTE_RANK, CHUNK = 16 };

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, vectors;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel, .threads = c[GM_PERMUTE_ROWS_THREADS], .vectors = c[GM_PERMUTE_ROWS_VECTORS]};
}

/* ---- a problem as rows ---------------------------------------------------------------------------------- */

/* Out's last dimension is that of the rows. Out has room for all of them, so that their number fits an int64. */
static int64_t rows_of(const struct gm_permute_problem *p) {
    int64_t rows = 1;
    for (int k = 0; k < p->rank - 1; k++)
        rows *= gm_permute_extent(p, k);
    return rows;
}

static int64_t row_bytes_of(const struct gm_permute_problem *p) {
    return gm_permute_extent(p, (int)p->rank - 1) * gm_permute_x_bytes(p);
}

static int64_t chunks_of_row(const struct gm_permute_problem *p) {
    return GM_CEIL_DIV(row_bytes_of(p), CHUNK);
}

/* From x's first byte to its last. */
static int64_t x_span_of(const struct gm_permute_problem *p) {
    int64_t last = 0;
    for (int d = 0; d < p->rank; d++)
        last += (p->extents[d] - 1) * p->x_strides[d];
    return (last + 1) * gm_permute_x_bytes(p);
}

/* ---- what it takes -------------------------------------------------------------------------------------- */

static enum gm_reason check_elements(const struct gm_permute_planned *planned, const struct gm_sentence *why) {
    const int x_bytes = gm_permute_x_bytes(&planned->problem), out_bytes = gm_permute_out_bytes(&planned->problem);
    if (planned->from != planned->to || x_bytes != out_bytes)
        return gm_say(why, GM_REASON_TYPE, "moves bits of rows, and this is a cast");
    if (x_bytes >= CHUNK)
        return gm_say(why, GM_REASON_TYPE,
                      "shifts rows of elements below %d B; what stays together here has %d, and needs no shift", CHUNK,
                      x_bytes);
    return GM_ACCEPTED;
}

/* x may begin anywhere, and so may its rows. */
static enum gm_reason check_layout(const struct gm_permute_problem *p, const struct gm_sentence *why) {
    const int last = (int)p->rank - 1, bytes = gm_permute_out_bytes(p);
    if (gm_permute_x_stride(p, last) != 1 || p->out_strides[last] != 1)
        return gm_say(why, GM_REASON_LAYOUT,
                      "copies rows; along out's innermost dimension the stride of x is %" PRId64
                      " elements, that of out %" PRId64,
                      gm_permute_x_stride(p, last), p->out_strides[last]);
    if (p->out_align < CHUNK)
        return gm_say(why, GM_REASON_ALIGNMENT,
                      "out_align promises %d bytes: it stores 16 at once; align the pointer to that and say so, or a "
                      "kernel of single elements takes it",
                      p->out_align);
    for (int k = 0; k < last; k++)
        if (p->out_strides[k] * bytes % CHUNK)
            return gm_say(why, GM_REASON_STRIDE,
                          "a stride of out, %" PRId64 " x %d B, is no multiple of the 16 B that it stores at once",
                          p->out_strides[k], bytes);
    return GM_ACCEPTED;
}

/* Beyond this, single elements go chunk by chunk, where slabs have any number of them. */
static enum gm_reason check_count(const struct gm_permute_problem *p, const struct gm_sentence *why) {
    const int64_t rows = rows_of(p), chunks = chunks_of_row(p);
    if (rows <= INT32_MAX / chunks)
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_SIZE,
                  "%" PRId64 " rows of %" PRId64 " chunks of 16 B are more than the 2^31 - 1 chunks that it counts",
                  rows, chunks);
}

static enum gm_reason check(const struct gm_permute_planned *planned, const struct gm_sentence *why) {
    enum gm_reason reason = check_elements(planned, why);
    if (reason == GM_ACCEPTED)
        reason = check_layout(&planned->problem, why);
    return reason == GM_ACCEPTED ? check_count(&planned->problem, why) : reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, chunks / chunks at once * time of a chunk)
 *
 * The form is that of permutations chunk by chunk; a chunk has more instructions. The constants are estimates: of elements
 * one by one, even 8 bytes never reach the same share of DRAM. */

#define LAUNCH_US       1.25 /* launch, and the first chunk */
#define VECTOR_US       0.15 /* more for each chunk of a thread */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.92 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        2.7  /* of a CTA among others, from its first load to its last store */

static double cost_us(const struct variant *v, const struct gm_permute_problem *p, const struct gm_device *device) {
    const double bytes = gm_operation_permute.work(p).least_bytes, chunks = (double)(rows_of(p) * chunks_of_row(p));
    const double ctas = fmax(1, fmin(gm_ctas_per_sm(v->kernel, device), GM_PERMUTE_ROWS_CTAS(v->threads, v->vectors)));
    const double at_once = device->sm_count * ctas * v->threads * v->vectors; /* chunks */
    const double sms_us = chunks > at_once ? chunks / at_once * CHUNK_US : 0;
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + VECTOR_US * v->vectors + alone +
           fmax(bytes / (DRAM_EFFICIENCY * device->dram_gbs) * 1e-3, sms_us);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_permute_planned *planned = question->problem;
    const enum gm_reason reason = check(planned, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const struct gm_permute_problem *p = &planned->problem;
    const double us = cost_us(&v, p, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " rows of %" PRId64 " chunks of 16 B, %d CTAs on an SM", us,
           rows_of(p), chunks_of_row(p), gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* Out's dimensions but the last, which is that of the rows; the fastest first. */
static struct gm_permute_walk walk_of(const struct gm_permute_problem *p) {
    int dimensions[RANK], count = 0;
    for (int k = (int)p->rank - 2; k >= 0; k--)
        dimensions[count++] = k;
    return gm_permute_walk_of(p, dimensions, count);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_permute_problem *p = plan->problem;
    const int64_t chunks = chunks_of_row(p), span = x_span_of(p), count = rows_of(p) * chunks;
    (void)verdict;
    *(struct gm_permute_rows_params *)plan->params = (struct gm_permute_rows_params){
        .inner_bytes = GM_MAX(span - 2 * CHUNK + 1, 0),
        .chunks = gm_divisor_of((uint32_t)chunks),
        .last_bytes = (int32_t)(row_bytes_of(p) - (chunks - 1) * CHUNK),
        .count = (int32_t)count,
        .rows = walk_of(p),
    };
    plan->config.gridDimX = gm_plan_ctas(plan, GM_CEIL_DIV(count, v.threads * v.vectors));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_permute_args *args = arguments;
    struct gm_permute_rows_params *params = into;
    (void)plan;
    params->x = args->x;
    params->out = args->out;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_permute_rows = {
    .name = "permute_rows",
    .operation = &gm_operation_permute,
    .params_bytes = sizeof(struct gm_permute_rows_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
