/* SPDX-License-Identifier: Apache-2.0 */
/* The family glu: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/glu/glu.h"

#include "columns.h"
#include "common/arith.h"
#include "common/glu/params.h"
#include "common/makes_tokens.h"
#include "host/gated.h"
#include "host/occupancy.h"
#include "host/out.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, vectors, vector_bytes, is_any;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_GLU_THREADS],
        .vectors = c[GM_GLU_VECTORS],
        .vector_bytes = c[GM_GLU_VECTOR_BYTES],
        .is_any = c[GM_GLU_MAKES] == GM_MAKES_any,
    };
}

/* Rows without anything between: they are one row, of any number of elements. */
static int is_packed(const struct gm_matrix matrices[GM_GLU_MATRICES]) {
    int packed = 1;
    for (int i = 0; i < GM_GLU_ROWS; i++)
        packed &= matrices[i].rows == 0 || matrices[i].stride == matrices[i].columns;
    return packed;
}

static enum gm_reason check_layout(const struct variant *v, const struct gm_glu_problem *p,
                                   const struct gm_sentence *why) {
    struct gm_matrix matrices[GM_GLU_MATRICES];
    enum gm_reason reason = GM_ACCEPTED;
    gm_glu_matrices(p, matrices);
    const int packed = is_packed(matrices);
    for (int i = GM_GLU_ROWS - 1; i >= 0 && reason == GM_ACCEPTED; i--) {
        struct gm_matrix m = matrices[i];
        if (packed && m.rows > 0) /* its alignment only */
            m.rows = 1, m.columns = v->vector_bytes;
        reason = gm_check_vectors(&m, v->vector_bytes, why);
    }
    return reason;
}

/* Variants with any out take every problem; where out is of the type, the others are chosen. */
static enum gm_reason check(const struct variant *v, const struct gm_question *question,
                            const struct gm_sentence *why) {
    const struct gm_glu_problem *p = question->problem;
    const int needs_any = p->out_type != p->type;
    if (!v->is_any && needs_any)
        return gm_say(why, GM_REASON_LAYOUT,
                      "its out has the type of gate and up; kernels whose names end in any have any out");
    if (!v->is_any)
        return check_layout(v, p, why);
    if (!needs_any && !question->options->kernel)
        return gm_say(why, GM_REASON_LAYOUT,
                      "out has the type of gate and up: kernels that make no other are sooner done");
    return GM_ACCEPTED;
}

/* ---- a launch with any out ------------------------------------------------------------------------------
 *
 * A CTA takes a tile of a row. A few chunks are spread over as many threads as there are; of many, a thread has all that it has
 * room for, and a CTA as many threads as waste the fewest. Where a row shares a scale, two CTAs and more of it run on an SM, so
 * that one loads while another stores: what 512 threads do not hold of longer rows is computed twice instead. */

struct shape {
    int is_wide;          /* rows are whole chunks, on multiples of their bytes */
    int shares_row;       /* a CTA takes all tiles of a row */
    int threads, vectors; /* of a CTA; chunks of a thread */
    int64_t row_tiles;    /* of a row */
    double used;          /* share of the threads' chunks that exist */
    double twice;         /* and, of what exists, what is computed twice */
};

enum { MOST_TILE_THREADS = 256, FEW_TILE_THREADS = 128, MOST_ROW_THREADS = 512 };

static int is_wide(const struct gm_glu_problem *p) {
    struct gm_matrix m[GM_GLU_MATRICES];
    int wide = 1;
    gm_glu_matrices(p, m);
    for (int i = 0; i < GM_GLU_ROWS; i++) {
        const int64_t bytes = GM_MIN(16, GLU_ANY_CHUNK * m[i].element_bytes);
        wide &= gm_check_vectors(&m[i], (int)bytes, NULL) == GM_ACCEPTED;
    }
    return wide && p->columns % GLU_ANY_CHUNK == 0;
}

/* Threads of tiles of many rows: those of which most exist on an SM, without those behind the row's end. */
static int tile_threads(int64_t row_chunks, int vectors) {
    int best = 64;
    double most = 0;
    for (int threads = 64; threads <= MOST_TILE_THREADS; threads += 32) {
        const int64_t tile = (int64_t)threads * vectors, all = GM_CEIL_DIV(row_chunks, tile) * tile;
        const double used = (double)row_chunks / (double)all * (1024 / threads * threads);
        if (used >= most)
            best = threads, most = used;
    }
    return best;
}

static struct shape shape_of(const struct variant *v, const struct gm_glu_problem *p, const struct gm_device *device) {
    const struct gm_out out = GM_OUT_OF(p);
    const int64_t chunks = GM_CEIL_DIV(p->columns, GLU_ANY_CHUNK), warps = GM_CEIL_DIV(chunks, 32) * 32;
    struct shape shape = {.is_wide = is_wide(p), .shares_row = gm_out_store(&out).scaling == SCALE_ROW};
    if (shape.shares_row) {
        const int is_few = p->rows <= device->sm_count;
        const int64_t share = is_few ? warps : GM_CEIL_DIV(GM_CEIL_DIV(chunks, v->vectors), 32) * 32;
        shape.threads = (int)GM_MIN(share, is_few ? v->threads : MOST_ROW_THREADS);
        shape.vectors = (int)GM_MIN(GM_CEIL_DIV(chunks, shape.threads), v->vectors);
    } else {
        const int is_few = p->rows <= (int64_t)device->sm_count * v->threads / warps;
        shape.threads = is_few ? (int)GM_MIN(warps, FEW_TILE_THREADS) : tile_threads(chunks, v->vectors);
        shape.vectors = is_few ? 1 : v->vectors;
    }
    const int64_t tile = (int64_t)shape.threads * shape.vectors;
    shape.row_tiles = GM_CEIL_DIV(chunks, tile);
    shape.used = (double)chunks / (double)(shape.row_tiles * tile);
    shape.twice = shape.shares_row ? 1 - fmin(1, (double)tile / (double)chunks) : 0;
    return shape;
}

/* CTAs of so many threads on an SM. */
static int any_ctas_per_sm(const struct variant *v, const struct shape *shape, const struct gm_device *device) {
    struct gm_kernel launched = *v->kernel;
    launched.threads = shape->threads;
    return gm_ctas_per_sm(&launched, device);
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

/* With any out: an SM's instructions are what 8 bits are bound by, beside DRAM. Predicted from quantize and the above. */
#define ANY_PER_CLOCK      3.6  /* elements on an SM, */
#define GROUP_FACTOR       1.15 /* and how much longer where groups have scales, */
#define ANY_ERF_FACTOR     2.0  /* with GELU_ERF, */
#define ANY_SLOWER_FACTOR  1.2  /* with GELU_TANH or early roundings, */
#define ANY_ELEMENT_FACTOR 3.0  /* and with loads of one element */
#define MAXIMUM_US         0.35 /* of a CTA, where a row shares a scale */

static double any_cost_us(const struct variant *v, const struct gm_glu_problem *p, const struct gm_device *device) {
    const struct shape shape = shape_of(v, p, device);
    const double ctas = fmin(any_ctas_per_sm(v, &shape, device), v->threads / shape.threads);
    const double elements = (double)p->rows * (double)p->columns, least_bytes = gm_operation_glu.work(p).least_bytes;
    const int is_slower = p->activation == GM_ACT_GELU_TANH || p->rounding == GM_ROUND_EARLY;
    const double slow = (p->activation == GM_ACT_GELU_ERF ? ANY_ERF_FACTOR
                         : is_slower                      ? ANY_SLOWER_FACTOR
                                                          : 1) *
                        (p->scaling == GM_SCALE_GROUP ? GROUP_FACTOR : 1) * (shape.is_wide ? 1 : ANY_ELEMENT_FACTOR);
    const double at_once =
        device->sm_count * fmax(ctas, 1) * shape.threads * shape.vectors * GLU_ANY_CHUNK * shape.used;
    const double dram = DRAM_EFFICIENCY * device->dram_gbs;
    const double sms = at_once * least_bytes / elements / (CHUNK_US * slow) * 1e-3; /* GB/s */
    const double clock = device->sm_clock_mhz > 0 ? device->sm_clock_mhz : 1500;
    const double instructions = elements * slow * (1 + shape.twice) / (ANY_PER_CLOCK * device->sm_count * clock);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + VECTOR_US * shape.vectors * (shape.is_wide ? 1 : ANY_ELEMENT_FACTOR) + alone +
           (shape.shares_row ? MAXIMUM_US : 0) +
           fmax(least_bytes / (elements <= at_once ? dram : fmin(sms, dram)) * 1e-3, instructions);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge_any(const struct variant *v, const struct gm_question *question,
                                   const struct gm_sentence *why) {
    const struct shape shape = shape_of(v, question->problem, question->device);
    const double us = any_cost_us(v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d threads with %d chunks each, %s, %d CTAs on an SM", us,
           shape.threads, shape.vectors, shape.is_wide ? "16 bytes at once" : "element by element",
           any_ctas_per_sm(v, &shape, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const enum gm_reason reason = check(&v, question, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    if (v.is_any)
        return judge_any(&v, question, why);
    const double us = cost_us(&v, question->problem, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d x %d B of each operand in a CTA, %d CTAs on an SM", us,
           v.threads * v.vectors, v.vector_bytes, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* What a launch is told beside its chunks. */
static struct gm_glu_params told(const struct gm_glu_problem *p) {
    const int64_t bytes = gm_type_bytes(p->type);
    const struct gm_out out = GM_OUT_OF(p);
    return (struct gm_glu_params){
        .gate_pitch = p->gate_stride * bytes,
        .up_pitch = p->up_stride * bytes,
        .out_pitch = p->out_stride * gm_out_bytes(&out),
        .rows = (int32_t)p->rows,
        .columns = (int32_t)p->columns,
        .layout = (int32_t)p->layout,
        .activation = (int32_t)p->activation,
        .rounds_early = p->rounding == GM_ROUND_EARLY,
        .has_limit = p->limit > 0,
        .limit = p->limit,
        .silu_exponent = gm_silu_exponent(p->sigmoid_factor),
        .up_offset = p->up_offset,
    };
}

static void prepare_any(struct gm_plan *plan, const struct variant *v) {
    const struct gm_glu_problem *p = plan->problem;
    const struct gm_out out = GM_OUT_OF(p);
    const struct shape shape = shape_of(v, p, &plan->device);
    const int64_t row_units = shape.shares_row ? 1 : shape.row_tiles,
                  slab_rows = GM_MIN(p->rows, INT32_MAX / row_units);
    const int64_t units = slab_rows * row_units;
    const int64_t most = (int64_t)plan->device.sm_count * any_ctas_per_sm(v, &shape, &plan->device);
    struct gm_glu_any_params *params = plan->params;
    *params = (struct gm_glu_any_params){
        .glu = told(p),
        .store = gm_out_store(&out),
        .vectors = shape.vectors,
        .row_tiles = (int32_t)shape.row_tiles,
        .is_wide = shape.is_wide,
        .rounds_out = p->out_rounding == GM_ROUND_EARLY,
        .column_bytes = gm_type_bytes(p->type) * (p->layout == GM_GLU_INTERLEAVED ? 2 : 1),
        .out_bytes = gm_out_bytes(&out),
    };
    params->glu.slab_rows = (int32_t)slab_rows;
    params->glu.row_chunks = gm_divisor_of((uint32_t)row_units);
    if (p->layout == GM_GLU_INTERLEAVED)
        params->glu.up_pitch = params->glu.gate_pitch;
    plan->config.blockDimX = (unsigned)shape.threads;
    plan->config.gridDimX = (unsigned)(gm_plan_is_limited(plan) ? GM_MIN(most, units) : units);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_glu_problem *p = plan->problem;
    struct gm_matrix m[GM_GLU_MATRICES];
    (void)verdict;
    if (v.is_any) {
        prepare_any(plan, &v);
        return GM_OK;
    }
    gm_glu_matrices(p, m);
    const int packed = is_packed(m);
    const int64_t bytes = gm_type_bytes(p->type), chunk = v.vector_bytes / bytes;
    const int64_t row_chunks = packed ? GM_GLU_SLAB_CHUNKS : p->columns / chunk;
    const int64_t slab_rows = packed ? 1 : GM_MIN(p->rows, INT32_MAX / row_chunks);
    const int64_t chunks = packed ? GM_CEIL_DIV(p->rows * p->columns, chunk) : slab_rows * row_chunks;
    const int64_t slab_bytes = row_chunks * v.vector_bytes, pairs = p->layout == GM_GLU_INTERLEAVED ? 2 : 1;
    struct gm_glu_params params = told(p);
    if (packed) {
        params.gate_pitch = pairs * slab_bytes;
        params.up_pitch = params.out_pitch = slab_bytes;
    }
    params.is_packed = packed;
    params.slab_rows = (int32_t)slab_rows;
    params.row_chunks = gm_divisor_of((uint32_t)row_chunks);
    ((struct gm_glu_any_params *)plan->params)->glu = params;
    plan->config.gridDimX =
        gm_plan_ctas(plan, GM_CEIL_DIV(GM_MIN(chunks, slab_rows * row_chunks), v.threads * v.vectors));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_glu_args *args = arguments;
    struct gm_glu_any_params *any = into;
    struct gm_glu_params *params = &any->glu;
    params->gate = args->gate;
    params->up = args->up;
    if (any->column_bytes > gm_type_bytes(plan->kernel->type)) /* the second chunk of pairs, of variants with any out */
        params->up = args->gate + GLU_ANY_CHUNK * (uint64_t)gm_type_bytes(plan->kernel->type);
    params->out = args->out;
    params->row_count = args->row_count;
    any->store.scales = args->scales;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_glu = {
    .name = "glu",
    .operation = &gm_operation_glu,
    .params_bytes = sizeof(struct gm_glu_any_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
