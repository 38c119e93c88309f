/* SPDX-License-Identifier: Apache-2.0 */
/* Families that normalise rows. */
#include "host/norm.h"

#include "common/arith.h"
#include "common/norm.h"
#include "common/makes_tokens.h"
#include "host/occupancy.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, row_threads, vectors, vector_bytes, passes;
    int is_any, is_open; /* any out; as many threads as the row has chunks for */
    int64_t chunk, held; /* elements of a chunk, and of a row that stay in registers, or are under way at once */
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    const int vectors = c[GM_NORM_VECTORS], vector_bytes = c[GM_NORM_VECTOR_BYTES];
    const int64_t chunk = vector_bytes / gm_type_bytes(kernel->type);
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_NORM_THREADS],
        .row_threads = c[GM_NORM_ROW_THREADS],
        .vectors = vectors,
        .vector_bytes = vector_bytes,
        .passes = c[GM_NORM_PASSES],
        .is_any = c[GM_NORM_MAKES] == GM_MAKES_any,
        .is_open = GM_NORM_IS_OPEN(c[GM_NORM_ROW_THREADS], vector_bytes),
        .chunk = chunk,
        .held = c[GM_NORM_ROW_THREADS] * vectors * chunk,
    };
}

int gm_norm_needs_any(const struct gm_norm *norm) {
    return norm->out->type != norm->type || norm->residual > GM_RESIDUAL_BEFORE;
}

/* ---- what it takes -------------------------------------------------------------------------------------- */

/* A wide weight is loaded by elements, wherever it is. Out has as many elements at once as x. */
static enum gm_reason check_layout(const struct variant *v, const struct gm_norm *norm, const struct gm_sentence *why) {
    enum gm_reason reason = GM_ACCEPTED;
    for (int i = 0; i < norm->matrix_count && reason == GM_ACCEPTED; i++) {
        const struct gm_matrix *matrix = &norm->matrices[i];
        const int is_out = matrix->element_bytes != gm_type_bytes(norm->type) && strncmp(matrix->name, "out", 3) == 0;
        reason =
            gm_check_vectors(matrix, is_out ? (int)GM_MIN(v->chunk * matrix->element_bytes, 16) : v->vector_bytes, why);
    }
    return reason;
}

/* Whether it takes rows of so many columns and heads, wherever they are. */
static enum gm_reason check_size(const struct variant *v, const struct gm_norm *norm, const struct gm_sentence *why) {
    if (norm->columns > v->held && v->passes == 1)
        return gm_say(why, GM_REASON_SIZE, "%" PRId64 " columns: its registers hold %" PRId64, norm->columns, v->held);
    if (norm->heads > 1 && (v->is_any || !GM_NORM_TAKES_HEADS(v->row_threads, v->vectors, v->vector_bytes)))
        return gm_say(why, GM_REASON_SIZE, "%" PRId64 " heads: it takes rows of one; kernels of short rows take them",
                      norm->heads);
    return GM_ACCEPTED;
}

/* Why the variant cannot compute the problem at all. */
static enum gm_reason check(const struct variant *v, const struct gm_norm *norm, const struct gm_sentence *why) {
    if (!v->is_any && gm_norm_needs_any(norm))
        return gm_say(why, GM_REASON_LAYOUT,
                      "its out has the type of x, and no residual is added to it; kernels whose "
                      "names end in any have any out");
    const enum gm_reason reason = check_size(v, norm, why);
    return reason == GM_ACCEPTED ? check_layout(v, norm, why) : reason;
}

/* ---- the order of the sum -------------------------------------------------------------------------------
 *
 * A thread of two chunks has one sum, and one of four or six has that of two or three such threads. So the number of threads of
 * two chunks that a row takes, its pairs, says in which order it is summed up. Variants which take the fewest that the problem
 * needs are chosen among, and a row has the same bits whatever the number of rows, the model or a ledger say. Those with any out
 * can sum up in the order of any others. */

struct order {
    int64_t pairs; /* INT64_MAX: single elements, behind all others */
    int64_t
        rest_steps; /* chunks of a thread in one sum after the other, of rows that are longer than what it holds; else 0 */
};

/* Threads that an open variant has for a row: its pairs are two whole warps, so that they may be halved. */
static int threads_for(const struct variant *v, int64_t columns) {
    const int granule = v->vectors % 4 ? 64 : 32;
    const int64_t chunks = GM_CEIL_DIV(columns, v->chunk), threads = GM_CEIL_DIV(chunks, v->vectors);
    return (int)GM_MIN(GM_CEIL_DIV(threads, granule) * granule, v->row_threads);
}

/* Of a variant of one out. */
static struct order order_of(const struct variant *v, int64_t columns) {
    if (v->vector_bytes < 16)
        return (struct order){.pairs = INT64_MAX};
    const int64_t threads = v->is_open ? threads_for(v, columns) : v->row_threads;
    return (struct order){threads * v->vectors / 2, columns > v->held ? v->vectors : 0};
}

static int is_before(const struct order *order, const struct order *other) {
    return order->pairs < other->pairs || (order->pairs == other->pairs && order->rest_steps < other->rest_steps);
}

static int may_be_chosen(const struct gm_kernel *kernel, const struct gm_question *question) {
    const uint32_t mask = question->options->arch_mask;
    return kernel->production && (mask == 0 || mask & kernel->arch) &&
           gm_kernel_runs_on(kernel, question->device->cc_major, question->device->cc_minor);
}

/* Variant number i, where it is of the same family and type as v and may be chosen; else it has no kernel. */
static struct variant rival_of(const struct variant *v, size_t i, const struct gm_question *question) {
    const struct gm_kernel *kernel = &gm_kernels[i];
    const int is_rival = kernel->family == v->kernel->family && kernel->type == v->kernel->type;
    return is_rival && may_be_chosen(kernel, question) ? variant_of(kernel) : (struct variant){0};
}

/* The least order of variants of 16-byte chunks and one out that take so many columns: that of those with any out. */
static struct order order_of_any(const struct variant *v, const struct gm_question *question,
                                 const struct gm_norm *norm) {
    struct order least = {INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct variant other = rival_of(v, i, question);
        if (!other.kernel || other.is_any || other.vector_bytes < 16 || check_size(&other, norm, NULL) != GM_ACCEPTED)
            continue;
        const struct order order = order_of(&other, norm->columns);
        if (is_before(&order, &least))
            least = order;
    }
    return least.pairs < INT64_MAX ? least : order_of(v, norm->columns); /* the latter in a build of some variants */
}

static struct order order_for(const struct variant *v, const struct gm_question *question, const struct gm_norm *norm) {
    return v->is_any && v->is_open ? order_of_any(v, question, norm) : order_of(v, norm->columns);
}

/* The least of all that take the problem. */
static struct order least_order(const struct variant *v, const struct gm_question *question,
                                const struct gm_norm *norm) {
    struct order least = {INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct variant other = rival_of(v, i, question);
        if (!other.kernel || check(&other, norm, NULL) != GM_ACCEPTED)
            continue;
        const struct order order = order_for(&other, question, norm);
        if (is_before(&order, &least))
            least = order;
    }
    return least;
}

/* With a kernel's name the caller has chosen the order. */
static enum gm_reason check_order(const struct variant *v, const struct gm_question *question,
                                  const struct gm_norm *norm, const struct gm_sentence *why) {
    if (question->options->kernel)
        return GM_ACCEPTED;
    if (v->is_any && !gm_norm_needs_any(norm))
        return gm_say(why, GM_REASON_LAYOUT, "out has the type of x: kernels that make no other are sooner done");
    const struct order least = least_order(v, question, norm), order = order_for(v, question, norm);
    if (!is_before(&least, &order))
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_ORDER,
                  "its sum has another order than that of %" PRId64
                  " threads with two chunks each; variants that sum up so are chosen, for any number of rows",
                  least.pairs);
}

/* ---- a launch -------------------------------------------------------------------------------------------
 *
 * A few rows have as many threads as they can use. Of many rows a thread has more chunks, and more of them are under way. */

struct shape {
    int threads, row_threads; /* of a CTA, whole warps of them; that share a row */
    int32_t flags;            /* how a thread adds up, of enum gm_norm_flag */
};
enum { THREADS, ROW_THREADS, FLAGS }; /* its members, in a verdict's detail */

/* Of a variant with any out: threads of one sum, or half as many of two. */
static struct shape any_shape(const struct variant *v, const struct gm_question *question, const struct gm_norm *norm) {
    const struct order order = order_of_any(v, question, norm);
    const int is_few = norm->rows <= question->device->sm_count;
    const int is_one = order.pairs < 64 || (is_few && order.pairs <= v->row_threads && order.rest_steps == 0);
    const int row_threads = (int)(is_one ? order.pairs : order.pairs / 2);
    return (struct shape){
        .threads = row_threads < 32 ? 32 : row_threads,
        .row_threads = row_threads,
        .flags = (is_one ? GM_NORM_ONE_CHAIN : 0) | (order.rest_steps == 4 ? GM_NORM_REST_ONE_CHAIN : 0) |
                 (is_few ? GM_NORM_FETCHES_VECTORS : 0),
    };
}

static struct shape shape_of(const struct variant *v, const struct gm_question *question, const struct gm_norm *norm) {
    if (v->is_any && v->is_open)
        return any_shape(v, question, norm);
    if (v->is_open) {
        const int threads = threads_for(v, norm->columns);
        return (struct shape){threads, threads, 0};
    }
    return (struct shape){v->threads, v->row_threads, 0};
}

/* CTAs of so many threads on an SM. */
static int ctas_per_sm(const struct variant *v, const struct shape *shape, const struct gm_device *device) {
    struct gm_kernel launched = *v->kernel;
    launched.threads = shape->threads;
    return gm_ctas_per_sm(&launched, device);
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
#define AGAIN_US        0.4    /* for each visit of a row that L1 has, */
#define AGAIN_FACTOR    3.6    /* and how much longer a row takes with them, */
#define HELD_FACTOR     1.5    /* or without, to 8 bits (entry 64) */

double gm_norm_row_bytes(const struct gm_norm *norm) {
    const int visits[] = {
        [GM_RESIDUAL_NONE] = 0, [GM_RESIDUAL_BEFORE] = 2, [GM_RESIDUAL_AFTER] = 1, [GM_RESIDUAL_BETWEEN] = 2};
    return (double)norm->columns * ((1 + visits[norm->residual]) * gm_type_bytes(norm->type) + gm_out_bytes(norm->out));
}

/* Visits of a row behind the first, of variants with any out: one for each further sum, for the largest size, to store. */
static int visits_again(const struct gm_norm *norm) {
    const int norms = norm->residual == GM_RESIDUAL_BETWEEN ? 2 : 1;
    return norms * norm->reductions + (gm_out_has_8_bits(norm->out) && norm->out->scaling == GM_SCALE_ROW);
}

static int32_t flags_of(const struct gm_norm *norm) {
    static const int32_t residuals[] = {
        [GM_RESIDUAL_NONE] = 0,
        [GM_RESIDUAL_BEFORE] = GM_NORM_HAS_RESIDUAL,
        [GM_RESIDUAL_AFTER] = GM_NORM_RESIDUAL_AFTER,
        [GM_RESIDUAL_BETWEEN] = GM_NORM_RESIDUAL_BETWEEN,
    };
    return residuals[norm->residual] | (norm->sum_rounding ? GM_NORM_ROUNDS_SUM : 0) |
           (norm->normalized_rounding ? GM_NORM_ROUNDS_NORMALIZED : 0) |
           (norm->norm_rounding ? GM_NORM_ROUNDS_NORM : 0) | (norm->out->rounding ? GM_NORM_ROUNDS_OUT : 0) |
           (norm->fp32_weight ? GM_NORM_WIDE_WEIGHT | GM_NORM_WIDE_X_WEIGHT : 0);
}

static int holds_any(const struct variant *v, const struct shape *shape, const struct gm_norm *norm) {
    const int bytes = gm_type_bytes(norm->type);
    const int64_t room = (int64_t)v->vectors * shape->row_threads * v->vector_bytes / bytes;
    return v->kernel->arch == GM_ARCH_SM90 && v->vector_bytes == 16 &&
           GM_NORM_ANY_HOLDS(norm->columns, room, flags_of(norm), norm->reductions, bytes);
}

static double first_row_us(const struct variant *v, const struct shape *shape, const struct gm_norm *norm) {
    const int visits = v->is_any && !holds_any(v, shape, norm) ? visits_again(norm) : 0;
    const double later = visits ? AGAIN_US * visits : v->vectors > 2 ? WEIGHT_US : 0;
    return LAUNCH_US + THREAD_US * shape->row_threads + later + REDUCTION_US * (norm->reductions - 1) +
           (v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0);
}

static double cost_us(const struct variant *v, const struct shape *shape, const struct gm_norm *norm,
                      const struct gm_device *device) {
    const double most =
        v->is_any ? INFINITY : (double)GM_NORM_CTAS(shape->threads, v->vectors, v->vector_bytes, norm->reductions);
    const double ctas = fmin(ctas_per_sm(v, shape, device), most);
    const double together = v->is_open ? 1 : (double)v->threads / v->row_threads;
    const double at_once = device->sm_count * fmax(ctas, 1) * together;
    const double passes = fmax(1, (double)norm->columns / (double)v->held); /* of a thread over its registers */
    const double any = holds_any(v, shape, norm) ? HELD_FACTOR : AGAIN_FACTOR;
    const double slow = (v->vector_bytes < 16 ? ELEMENT_FACTOR : 1) * (v->is_any ? any : 1);
    const double row_us = ROW_US * (norm->residual ? RESIDUAL_FACTOR : 1) * passes * slow;
    const double sms = at_once * gm_norm_row_bytes(norm) / row_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs;
    const double rows = (double)norm->rows * (double)norm->heads;
    const double rate = rows <= at_once ? dram : fmin(sms, dram);
    return first_row_us(v, shape, norm) + rows * gm_norm_row_bytes(norm) / rate * 1e-3;
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
    const struct shape shape = shape_of(&v, question, norm);
    const double us = cost_us(&v, &shape, norm, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d rows in a CTA of %d threads, %d CTAs on an SM", us,
           v.is_open ? 1 : v.threads / v.row_threads, shape.threads, ctas_per_sm(&v, &shape, question->device));
    return (struct gm_verdict){
        .reason = GM_ACCEPTED,
        .predicted_us = us,
        .ranking_us = us,
        .detail = {[THREADS] = shape.threads, [ROW_THREADS] = shape.row_threads, [FLAGS] = shape.flags},
    };
}

/* A row for every warp or CTA, of each head; or, where the plan may use some SMs only, as many as run on these at once. */
static void set_grid(struct gm_plan *plan, const struct variant *v, const struct shape *shape,
                     const struct gm_norm *norm) {
    const int64_t together = v->is_open ? 1 : v->threads / v->row_threads;
    const int64_t all = (norm->rows + together - 1) / together;
    const int64_t most = (int64_t)plan->device.sm_count * ctas_per_sm(v, shape, &plan->device);
    const int is_limited = gm_plan_is_limited(plan);
    const int64_t heads = is_limited && most < norm->heads ? most : norm->heads, room = most / heads;
    plan->config.gridDimX = (unsigned)(is_limited && room < all ? room : all);
    plan->config.gridDimY = (unsigned)heads;
    plan->config.blockDimX = (unsigned)shape->threads;
}

/* A quarter of the rows at once: soon enough for DRAM, and late enough that L2 still has it beside what is stored. Those with
 * any out wait for instructions, not for memory. */
static int32_t rows_ahead(const struct variant *v, const struct shape *shape, const struct gm_norm *norm,
                          const struct gm_device *device) {
    const int64_t at_once = (int64_t)device->sm_count * ctas_per_sm(v, shape, device);
    return v->is_open && !v->is_any && norm->heads == 1 ? (int32_t)(at_once / 4) : 0;
}

void gm_norm_prepare(struct gm_plan *plan, const struct gm_verdict *verdict, const struct gm_norm *norm) {
    const struct variant v = variant_of(plan->kernel);
    const int64_t *detail = verdict->detail;
    const struct shape shape = {(int)detail[THREADS], (int)detail[ROW_THREADS], (int32_t)detail[FLAGS]};
    const int64_t bytes = gm_type_bytes(norm->type), out_bytes = gm_out_bytes(norm->out);
    *(struct gm_norm_any_params *)plan->params = (struct gm_norm_any_params){
        .norm = {.x_pitch = norm->x_stride * bytes,
                 .residual_pitch = norm->residual_stride * bytes,
                 .out_pitch = norm->out_stride * out_bytes,
                 .x_head_pitch = norm->x_head_stride * bytes,
                 .out_head_pitch = norm->out_head_stride * out_bytes,
                 .heads = (int32_t)norm->heads,
                 .row_threads = shape.row_threads,
                 .rows_ahead = rows_ahead(&v, &shape, norm, &plan->device),
                 .rows = (int32_t)norm->rows,
                 .columns = (int32_t)norm->columns,
                 .eps = norm->eps,
                 .weight_offset = norm->weight_offset,
                 .inverse_columns = 1.0f / (float)norm->columns,
                 .flags = flags_of(norm) | shape.flags},
        .store = gm_out_store(norm->out),
        .x_weight_offset = norm->weight_offset,
    };
    set_grid(plan, &v, &shape, norm);
}
