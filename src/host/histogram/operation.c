/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/histogram.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/histogram/histogram.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT64_C(1) << 40)
#define MOST_BINS    131072
#define WORD_VALUES  (INT64_C(1) << 32)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const ofs[] = {"all", "rows", NULL};
static const char *const widths[] = {"uint32", "int64", NULL};
static const char *const ways[] = {"write", "add", NULL};

#define AT(member) offsetof(struct gm_histogram_problem, member)
#define TYPES                                                                                                          \
    (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32) | GM_TYPE_SET(GM_UINT8) |                      \
     GM_TYPE_SET(GM_INT32) | GM_TYPE_SET(GM_INT64))
#define SUITES (GM_IN_SUITES | GM_IN_LEDGERS)

enum { FIELD_TYPE, FIELD_COUNTS, FIELD_OF, FIELD_ROWS, FIELD_COLUMNS, FIELD_BINS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x: also --dtype"},
    [FIELD_COUNTS] = {"counts", GM_FIELD_WORD, SUITES, .offset = AT(int64_counts), .words = widths,
                      .about = "type of counts: uint32 (default) or int64"},
    [FIELD_OF] = {"of", GM_FIELD_WORD, SUITES, .offset = AT(of), .words = ofs,
                  .about = "all (default: one histogram), or rows"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    [FIELD_COLUMNS] = {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    [FIELD_BINS] = {.name = "bins", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(bins)},
    {.name = "width",
     .kind = GM_FIELD_SIZE,
     .uses = SUITES,
     .offset = AT(width),
     .about = "values of a bin, of integers (default: 1)"},
    {.name = "lower",
     .kind = GM_FIELD_REAL,
     .uses = SUITES,
     .offset = AT(lower),
     .about = "end of the bins, of floats"},
    {.name = "upper", .kind = GM_FIELD_REAL, .uses = SUITES, .offset = AT(upper), .about = "the other end"},
    {.name = "first",
     .kind = GM_FIELD_SIZE,
     .uses = GM_IN_OPTIONS,
     .offset = AT(first),
     .about = "value of the first bin, of integers (default: 0)"},
    {"way", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(accumulate), .words = ways,
     .about = "write counts (default), or add to them"},
    GM_STRIDE_FIELD(gm_histogram_problem, x),
    {.name = "counts_stride",
     .kind = GM_FIELD_SIZE,
     .uses = GM_IN_OPTIONS,
     .offset = AT(counts_stride),
     .about = "counts from one histogram to the next (default: packed)"},
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

/* Rows may begin wherever their elements may. */
struct gm_matrix gm_histogram_x(const struct gm_histogram_problem *p) {
    const int bytes = gm_type_bytes(p->type);
    return (struct gm_matrix){"x", p->rows, p->columns, p->x_stride, bytes, bytes};
}

struct gm_matrix gm_histogram_counts(const struct gm_histogram_problem *p) {
    const int bytes = p->int64_counts ? 8 : 4;
    return (struct gm_matrix){"counts", gm_histogram_results(p), p->bins, p->counts_stride, bytes, bytes};
}

int64_t gm_histogram_results(const struct gm_histogram_problem *p) {
    return p->of == GM_HISTOGRAM_ROWS ? p->rows : 1;
}

int gm_histogram_is_of_floats(const struct gm_histogram_problem *p) {
    return p->type == GM_BF16 || p->type == GM_FP16 || p->type == GM_FP32;
}

float gm_histogram_scale(const struct gm_histogram_problem *p) {
    return (float)((double)p->bins / ((double)p->upper - (double)p->lower));
}

static enum gm_status check_choices(const struct gm_histogram_problem *p) {
    if ((unsigned)p->type > GM_INT64 || !(TYPES >> p->type & 1))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "type is %d; histograms are of bf16, fp16, fp32, uint8, int32 and int64", (int)p->type);
    enum gm_status status = gm_check_enum("of", (int)p->of, GM_HISTOGRAM_ALL, GM_HISTOGRAM_ROWS);
    if (status == GM_OK)
        status = gm_check_enum("int64_counts", p->int64_counts, 0, 1);
    return status == GM_OK ? gm_check_enum("accumulate", p->accumulate, 0, 1) : status;
}

/* The range of integers: within 64 bits, and of 32-bit ones within those of a signed or an unsigned word. */
static enum gm_status check_integers(struct gm_histogram_problem *p) {
    if (p->lower != 0 || p->upper != 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "lower is %g and upper %g; the bins of integers are said by first and width", (double)p->lower,
                       (double)p->upper);
    if (p->width == 0)
        p->width = 1;
    const enum gm_status status = gm_check_size("width", p->width, 1, WORD_VALUES / (p->bins > 1 ? p->bins : 2));
    if (status != GM_OK)
        return status;
    if (p->type == GM_INT64)
        return gm_check_size("first", p->first, INT64_MIN, INT64_MAX - p->bins * p->width + 1);
    const int64_t most = p->first < 0 ? WORD_VALUES / 2 : WORD_VALUES;
    return gm_check_size("first", p->first, -WORD_VALUES / 2, most - p->bins * p->width);
}

static enum gm_status check_floats(struct gm_histogram_problem *p) {
    if (p->first != 0 || p->width < 0 || p->width > 1)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "first is %" PRId64 " and width %" PRId64 "; the bins of floats are said by lower and upper",
                       p->first, p->width);
    p->width = 1;
    enum gm_status status = gm_check_real("lower", p->lower, -INFINITY);
    if (status == GM_OK)
        status = gm_check_real("upper", p->upper, -INFINITY);
    if (status != GM_OK)
        return status;
    if (!(p->lower < p->upper))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "upper is %g; it must be above lower, %g", (double)p->upper,
                       (double)p->lower);
    if (!isfinite(p->upper - p->lower) || !isfinite(gm_histogram_scale(p)))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "lower is %g and upper %g; their difference, and bins / that, must be finite in fp32",
                       (double)p->lower, (double)p->upper);
    return GM_OK;
}

/* No count passes its type. */
static enum gm_status check_counts(const struct gm_histogram_problem *p) {
    const int64_t elements = p->of == GM_HISTOGRAM_ROWS ? p->columns : p->rows * p->columns;
    if (!p->int64_counts && elements >= WORD_VALUES)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "a histogram of %" PRId64 " elements may have counts beyond 2^32 - 1; int64_counts has room",
                       elements);
    return GM_OK;
}

static enum gm_status fill_strides(struct gm_histogram_problem *p) {
    const struct gm_matrix x = gm_histogram_x(p), counts = gm_histogram_counts(p);
    const enum gm_status status = gm_fill_stride("x_stride", &p->x_stride, x.rows, x.columns, x.element_bytes);
    if (status != GM_OK)
        return status;
    return gm_fill_stride("counts_stride", &p->counts_stride, counts.rows, counts.columns, counts.element_bytes);
}

static enum gm_status normalize(void *problem) {
    struct gm_histogram_problem *p = problem;
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 0, MOST_COLUMNS);
    if (status == GM_OK)
        status = gm_check_size("bins", p->bins, 1, MOST_BINS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status == GM_OK)
        status = fill_strides(p);
    if (status == GM_OK)
        status = gm_histogram_is_of_floats(p) ? check_floats(p) : check_integers(p);
    return status == GM_OK ? check_counts(p) : status;
}

static int is_empty(const void *problem) {
    const struct gm_histogram_problem *p = problem;
    const int has_elements = p->rows > 0 && p->columns > 0;
    return gm_histogram_results(p) == 0 || (p->accumulate && !has_elements);
}

static struct gm_work work(const void *problem) {
    const struct gm_histogram_problem *p = problem;
    const double elements = (double)p->rows * (double)p->columns;
    const double counts = (double)gm_histogram_results(p) * (double)p->bins * (p->int64_counts ? 8 : 4);
    return (struct gm_work){
        .flops = elements,
        .least_bytes = elements * gm_type_bytes(p->type) + (p->accumulate ? 2 : 1) * counts,
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_histogram_problem *p = problem;
    const struct gm_histogram_args *args = arguments;
    const struct gm_matrix x = gm_histogram_x(p), counts = gm_histogram_counts(p);
    found[0] = gm_range_of(&x, args->x, 0);
    found[1] = gm_range_of(&counts, args->counts, 1);
    found[2] = gm_range_of_row_count(args->row_count);
    workspace->address = args->workspace;
    workspace->bytes = args->workspace_bytes;
    return 3;
}

const struct gm_operation gm_operation_histogram = {
    .name = "histogram",
    .computes = "counts[bin] = elements of x in the bin, of rows or of all",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_BINS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_histogram_problem),
    .problem_bytes_least = 88,
    .planned_bytes = sizeof(struct gm_histogram_problem),
    .args_bytes = sizeof(struct gm_histogram_args),
    .args_bytes_least = 48,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_histogram_plan_create(gm_context *context, const struct gm_histogram_problem *problem,
                                        const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_histogram, context, problem, options, plan);
}

enum gm_status gm_histogram_execute(const gm_plan *plan, const struct gm_histogram_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_histogram, args, stream);
}

enum gm_status gm_histogram(gm_context *context, const struct gm_histogram_problem *problem,
                            const struct gm_histogram_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_histogram, context, problem, args, stream);
}

enum gm_status gm_histogram_explain(const struct gm_device *device, const struct gm_histogram_problem *problem,
                                    const struct gm_plan_options *options, struct gm_candidate *candidates,
                                    size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_histogram, device, problem, options, candidates, capacity, count);
}
