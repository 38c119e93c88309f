/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/rms_norm.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 30)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const weights[] = {"same", "fp32", NULL};
static const char *const residuals[] = {"no", "yes", NULL};
static const char *const roundings[] = {"late", "early", NULL};

#define AT(member) offsetof(struct gm_rms_norm_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

/* Alignments are 32 bits wide. */
#define ALIGN_OF(operand)                                                                                              \
    static int64_t get_##operand##_align(const void *problem) {                                                        \
        return ((const struct gm_rms_norm_problem *)problem)->operand##_align;                                         \
    }                                                                                                                  \
    static int set_##operand##_align(void *problem, int64_t bytes) {                                                   \
        ((struct gm_rms_norm_problem *)problem)->operand##_align = (int32_t)bytes;                                     \
        return 1;                                                                                                      \
    }
ALIGN_OF(x)
ALIGN_OF(residual)
ALIGN_OF(weight)
ALIGN_OF(out)

enum { FIELD_TYPE, FIELD_WEIGHT, FIELD_RESIDUAL, FIELD_SUM, FIELD_NORMALIZED, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x, residual and out: also --dtype"},
    [FIELD_WEIGHT] = {"weight", GM_FIELD_WORD, SUITES, .offset = AT(fp32_weight), .words = weights,
                      .about = "its type: same (default) or fp32"},
    [FIELD_RESIDUAL] = {"residual", GM_FIELD_WORD, SUITES, .offset = AT(residual), .words = residuals,
                        .about = "yes: x + residual is normalised, and written back (default: no)"},
    [FIELD_SUM] = {"sum", GM_FIELD_WORD, SUITES, .offset = AT(sum_rounding), .words = roundings,
                   .about = "when x + residual is rounded: late (default) or early"},
    [FIELD_NORMALIZED] = {"normalized", GM_FIELD_WORD, SUITES, .offset = AT(normalized_rounding), .words = roundings,
                          .about = "when x / rms is rounded: late (default) or early"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {"eps", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(eps)},
    {"weight_offset", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(weight_offset), .about = "1: Gemma's 1 + weight"},
    {"x_stride", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(x_stride),
     .about = "elements from row to row (default: packed)"},
    {"residual_stride", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(residual_stride)},
    {"out_stride", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(out_stride)},
    {"x_align", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_x_align, .set = set_x_align,
     .about = "bytes of alignment promised of the pointers: 16 (default), 8, 4, 2"},
    {"residual_align", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_residual_align, .set = set_residual_align},
    {"weight_align", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_weight_align, .set = set_weight_align},
    {"out_align", GM_FIELD_SIZE, GM_IN_OPTIONS, .get = get_out_align, .set = set_out_align},
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

static enum gm_status check_real(const char *name, float value, float least) {
    if (isfinite(value) && value >= least)
        return GM_OK;
    return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %g; it must be finite%s", name, (double)value,
                   least == 0 ? " and 0 or more" : "");
}

static enum gm_status check_choices(const struct gm_rms_norm_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("fp32_weight", p->fp32_weight, 0, 1);
    if (status == GM_OK)
        status = gm_check_enum("residual", p->residual, 0, 1);
    if (status == GM_OK)
        status = gm_check_enum("sum_rounding", (int)p->sum_rounding, GM_ROUND_LATE, GM_ROUND_EARLY);
    if (status == GM_OK)
        status = gm_check_enum("normalized_rounding", (int)p->normalized_rounding, GM_ROUND_LATE, GM_ROUND_EARLY);
    if (status == GM_OK)
        status = check_real("eps", p->eps, 0);
    return status == GM_OK ? check_real("weight_offset", p->weight_offset, -INFINITY) : status;
}

static enum gm_status fill(struct gm_rms_norm_problem *p) {
    const int bytes = gm_type_bytes(p->type), weight_bytes = p->fp32_weight ? 4 : bytes;
    enum gm_status status = gm_fill_stride("x_stride", &p->x_stride, p->rows, p->columns, bytes);
    if (status == GM_OK)
        status = gm_fill_stride("residual_stride", &p->residual_stride, p->rows, p->columns, bytes);
    if (status == GM_OK)
        status = gm_fill_stride("out_stride", &p->out_stride, p->rows, p->columns, bytes);
    if (status == GM_OK)
        status = gm_fill_alignment("x_align", &p->x_align, bytes);
    if (status == GM_OK)
        status = gm_fill_alignment("residual_align", &p->residual_align, bytes);
    if (status == GM_OK)
        status = gm_fill_alignment("weight_align", &p->weight_align, weight_bytes);
    return status == GM_OK ? gm_fill_alignment("out_align", &p->out_align, bytes) : status;
}

/* A weight of fp32 beside x of fp32 has the same type, and without a residual there is no sum to round. */
static enum gm_status normalize(void *problem) {
    struct gm_rms_norm_problem *p = problem;
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    p->fp32_weight = p->fp32_weight && p->type != GM_FP32;
    if (!p->residual)
        p->sum_rounding = GM_ROUND_LATE;
    return fill(p);
}

static int is_empty(const void *problem) {
    return ((const struct gm_rms_norm_problem *)problem)->rows == 0;
}

/* Of an element: a multiplication and an addition for the sum, two multiplications, and an addition with a residual. */
static struct gm_work work(const void *problem) {
    const struct gm_rms_norm_problem *p = problem;
    const double elements = (double)p->rows * (double)p->columns, bytes = gm_type_bytes(p->type);
    const double weight_bytes = p->fp32_weight ? 4 : bytes;
    return (struct gm_work){
        .flops = (p->residual ? 5 : 4) * elements,
        .least_bytes = (p->residual ? 4 : 2) * elements * bytes + (double)p->columns * weight_bytes,
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

enum { X, RESIDUAL, WEIGHT, OUT, RANGES };

static void set_range(struct gm_range *range, const char *name, gm_device_ptr address, int64_t rows, int64_t columns,
                      int64_t stride, int element_bytes, int align) {
    range->name = name;
    range->address = address;
    range->rows = rows;
    range->row_bytes = columns * element_bytes;
    range->pitch_bytes = stride * element_bytes;
    range->align = align;
    range->element_bytes = element_bytes;
    range->written = 0;
    range->may_equal = -1;
}

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_rms_norm_problem *p = problem;
    const struct gm_rms_norm_args *args = arguments;
    const int bytes = gm_type_bytes(p->type), weight_bytes = p->fp32_weight ? 4 : bytes;
    set_range(&found[X], "x", args->x, p->rows, p->columns, p->x_stride, bytes, p->x_align);
    set_range(&found[RESIDUAL], "residual", args->residual, p->residual ? p->rows : 0, p->columns, p->residual_stride,
              bytes, p->residual_align);
    set_range(&found[WEIGHT], "weight", args->weight, 1, p->columns, p->columns, weight_bytes, p->weight_align);
    set_range(&found[OUT], "out", args->out, p->rows, p->columns, p->out_stride, bytes, p->out_align);
    found[RESIDUAL].written = found[OUT].written = 1;
    found[OUT].may_equal = X;
    *workspace = (struct gm_workspace){0};
    return RANGES;
}

const struct gm_operation gm_operation_rms_norm = {
    .name = "rms_norm",
    .computes = "out = s * rsqrt(mean(s^2) + eps) * (offset + weight), s = x or x + residual",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_rms_norm_problem),
    .problem_bytes_least = 96,
    .planned_bytes = sizeof(struct gm_rms_norm_problem),
    .args_bytes = sizeof(struct gm_rms_norm_args),
    .args_bytes_least = 40,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_rms_norm_plan_create(gm_context *context, const struct gm_rms_norm_problem *problem,
                                       const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_rms_norm, context, problem, options, plan);
}

enum gm_status gm_rms_norm_execute(const gm_plan *plan, const struct gm_rms_norm_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_rms_norm, args, stream);
}

enum gm_status gm_rms_norm(gm_context *context, const struct gm_rms_norm_problem *problem,
                           const struct gm_rms_norm_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_rms_norm, context, problem, args, stream);
}

enum gm_status gm_rms_norm_explain(const struct gm_device *device, const struct gm_rms_norm_problem *problem,
                                   const struct gm_plan_options *options, struct gm_candidate *candidates,
                                   size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_rms_norm, device, problem, options, candidates, capacity, count);
}
