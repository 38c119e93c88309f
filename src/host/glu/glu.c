/* SPDX-License-Identifier: Apache-2.0 */
/* The family glu: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/glu/glu.h"

#include "columns.h"
#include "common/arith.h"
#include "common/glu/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

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
        .threads = c[GM_GLU_THREADS],
        .vectors = c[GM_GLU_VECTORS],
        .vector_bytes = c[GM_GLU_VECTOR_BYTES],
    };
}

/* Rows without anything between: they are one row, of any number of elements. */
static int is_packed(const struct gm_matrix matrices[GM_GLU_MATRICES]) {
    int packed = 1;
    for (int i = 0; i < GM_GLU_MATRICES; i++)
        packed &= matrices[i].rows == 0 || matrices[i].stride == matrices[i].columns;
    return packed;
}

static enum gm_reason check(const struct variant *v, const struct gm_glu_problem *p, const struct gm_sentence *why) {
    struct gm_matrix matrices[GM_GLU_MATRICES];
    enum gm_reason reason = GM_ACCEPTED;
    gm_glu_matrices(p, matrices);
    const int packed = is_packed(matrices);
    for (int i = GM_GLU_MATRICES - 1; i >= 0 && reason == GM_ACCEPTED; i--) {
        struct gm_matrix m = matrices[i];
        if (packed && m.rows > 0) /* its alignment only */
            m.rows = 1, m.columns = v->vector_bytes;
        reason = gm_check_vectors(&m, v->vector_bytes, why);
    }
    return reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / min(DRAM, what the SMs hold of the operands / time of a chunk), instructions)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. Fitted to the suite glu on an H200 (docs/TUNING-LOG.md, entry
 * 52). */

#define LAUNCH_US       1.15 /* launch, and the first chunk, */
#define VECTOR_US       0.25 /* for each chunk of a thread, */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.91 /* reachable share of the datasheet's bandwidth, reads and writes */
#define CHUNK_US        3.1  /* of a CTA among others, from its first load to its last store, at 700 W */
#define ERF_FACTOR      1.6  /* and how much longer with GELU_ERF, */
#define SLOWER_FACTOR   1.3  /* with GELU_TANH or early roundings, */
#define ELEMENT_FACTOR  0.75 /* and with chunks of one element */
#define ERF_PER_CLOCK   2.3  /* elements of GELU_ERF on an SM */

static double chunk_us(const struct variant *v, const struct gm_glu_problem *p) {
    const int is_slower = p->activation == GM_ACT_GELU_TANH || p->rounding == GM_ROUND_EARLY;
    const double activation = p->activation == GM_ACT_GELU_ERF ? ERF_FACTOR : is_slower ? SLOWER_FACTOR : 1;
    return CHUNK_US * activation * (v->vector_bytes < 16 ? ELEMENT_FACTOR : 1);
}

static double instructions_us(const struct gm_glu_problem *p, const struct gm_device *device) {
    if (p->activation != GM_ACT_GELU_ERF || device->sm_clock_mhz == 0)
        return 0;
    return (double)p->rows * (double)p->columns / (ERF_PER_CLOCK * device->sm_count * device->sm_clock_mhz);
}

static double cost_us(const struct variant *v, const struct gm_glu_problem *p, const struct gm_device *device) {
    const double ctas = fmax(1, fmin(gm_ctas_per_sm(v->kernel, device), GM_GLU_CTAS(v->threads, v->vectors)));
    const double at_once = device->sm_count * ctas * v->threads * v->vectors; /* chunks */
    const double chunks = (double)p->rows * (double)p->columns * gm_type_bytes(p->type) / v->vector_bytes;
    const double chunk_bytes = (p->layout == GM_GLU_NO_UP ? 2.0 : 3.0) * v->vector_bytes;
    const double sms = at_once * chunk_bytes / chunk_us(v, p) * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = chunks <= at_once ? dram : fmin(sms, dram);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + VECTOR_US * v->vectors + alone +
           fmax(chunks * chunk_bytes / rate * 1e-3, instructions_us(p, device));
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question->problem, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d x %d B of each operand in a CTA, %d CTAs on an SM", us,
           v.threads * v.vectors, v.vector_bytes, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_glu_problem *p = plan->problem;
    struct gm_matrix m[GM_GLU_MATRICES];
    gm_glu_matrices(p, m);
    const int packed = is_packed(m);
    const int64_t bytes = gm_type_bytes(p->type), chunk = v.vector_bytes / bytes;
    const int64_t row_chunks = packed ? GM_GLU_SLAB_CHUNKS : p->columns / chunk;
    const int64_t slab_rows = packed ? 1 : GM_MIN(p->rows, INT32_MAX / row_chunks);
    const int64_t chunks = packed ? GM_CEIL_DIV(p->rows * p->columns, chunk) : slab_rows * row_chunks;
    const int64_t slab_bytes = row_chunks * v.vector_bytes, pairs = p->layout == GM_GLU_INTERLEAVED ? 2 : 1;
    (void)verdict;
    *(struct gm_glu_params *)plan->params = (struct gm_glu_params){
        .gate_pitch = packed ? pairs * slab_bytes : p->gate_stride * bytes,
        .up_pitch = packed ? slab_bytes : p->up_stride * bytes,
        .out_pitch = packed ? slab_bytes : p->out_stride * bytes,
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .is_packed = packed,
        .slab_rows = (int32_t)slab_rows,
        .row_chunks = gm_divisor_of((uint32_t)row_chunks),
        .layout = (int32_t)p->layout,
        .activation = (int32_t)p->activation,
        .rounds_early = p->rounding == GM_ROUND_EARLY,
        .has_limit = p->limit > 0,
        .limit = p->limit,
        .silu_exponent = -0.72134752f * p->sigmoid_factor, /* of act_gate(): 1 / (2 ln 2) */
        .up_offset = p->up_offset,
    };
    plan->config.gridDimX =
        gm_plan_ctas(plan, GM_CEIL_DIV(GM_MIN(chunks, slab_rows * row_chunks), v.threads * v.vectors));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_glu_args *args = arguments;
    struct gm_glu_params *params = into;
    (void)plan;
    params->gate = args->gate;
    params->up = args->up;
    params->out = args->out;
    params->row_count = args->row_count;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_glu = {
    .name = "glu",
    .operation = &gm_operation_glu,
    .params_bytes = sizeof(struct gm_glu_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
