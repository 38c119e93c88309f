/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/rms_norm.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/norm.h"
#include "host/plan.h"
#include "host/rms_norm/rms_norm.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 30)
#define MOST_HEADS   65535 /* the second dimension of a grid */

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const weights[] = {"same", "fp32", NULL};
static const char *const residuals[] = {"no", "yes", "after", "between", NULL};

#define AT(member) offsetof(struct gm_rms_norm_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_OUT_FUNCTIONS(gm_rms_norm_problem)
GM_ALIGN_FUNCTIONS(gm_rms_norm_problem, x)
GM_ALIGN_FUNCTIONS(gm_rms_norm_problem, residual)
GM_ALIGN_FUNCTIONS(gm_rms_norm_problem, weight)
GM_ALIGN_FUNCTIONS(gm_rms_norm_problem, out)
GM_ALIGN_FUNCTIONS(gm_rms_norm_problem, x_weight)

enum { FIELD_TYPE, FIELD_WEIGHT, FIELD_RESIDUAL, FIELD_SUM, FIELD_NORMALIZED, FIELD_OUT, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x and residual: also --dtype"},
    [FIELD_WEIGHT] = {"weight", GM_FIELD_WORD, SUITES, .offset = AT(fp32_weight), .words = weights,
                      .about = "its type: same (default) or fp32"},
    [FIELD_RESIDUAL] = {"residual", GM_FIELD_WORD, SUITES, .offset = AT(residual), .words = residuals,
                        .about =
                            "no (default); yes: x + residual is normalised, and written back; after: out is residual + "
                            "norm(x); between: that is written back and normalised"},
    [FIELD_SUM] = {"sum", GM_FIELD_WORD, SUITES, .offset = AT(sum_rounding), .words = gm_rounding_words,
                   .about = "when the sum with the residual is rounded: late (default) or early"},
    [FIELD_NORMALIZED] = {"normalized", GM_FIELD_WORD, SUITES, .offset = AT(normalized_rounding),
                          .words = gm_rounding_words, .about = "when x / rms is rounded: late (default) or early"},
    [FIELD_OUT] = GM_OUT_FIELD(SUITES),
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {"eps", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(eps)},
    {"weight_offset", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(weight_offset), .about = "1: Gemma's 1 + weight"},
    GM_STRIDE_FIELD(gm_rms_norm_problem, x),
    GM_STRIDE_FIELD(gm_rms_norm_problem, residual),
    GM_STRIDE_FIELD(gm_rms_norm_problem, out),
    {"heads", GM_FIELD_SIZE, GM_IN_OPTIONS, .offset = AT(heads), .about = "of each row (default: 1)"},
    GM_STRIDE_FIELD(gm_rms_norm_problem, x_head),
    GM_STRIDE_FIELD(gm_rms_norm_problem, out_head),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(residual),
    GM_ALIGN_FIELD(weight),
    GM_ALIGN_FIELD(out),
    {"norm_rounding", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(norm_rounding), .words = gm_rounding_words,
     .about = "when norm(x) is rounded before it is added: late (default) or early"},
    GM_OUT_OPTIONS(gm_rms_norm_problem),
    GM_ALIGN_FIELD(x_weight),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

/* Elements of a row, from its first head to the end of the last one. */
static int64_t reach(const struct gm_rms_norm_problem *p, int64_t head_stride) {
    return p->heads > 1 ? (p->heads - 1) * head_stride + p->columns : p->columns;
}

void gm_rms_norm_matrices(const struct gm_rms_norm_problem *p, struct gm_matrix m[GM_RMS_NORM_MATRICES]) {
    const int bytes = gm_type_bytes(p->type), weight_bytes = p->fp32_weight ? 4 : bytes;
    const struct gm_out out = GM_OUT_OF(p);
    const int out_bytes = gm_out_bytes(&out);
    const int64_t residual_rows = p->residual ? p->rows : 0, of_two = p->residual == GM_RESIDUAL_BETWEEN;
    const int64_t head_rows = p->heads > 1 ? p->heads : 0;
    m[GM_RMS_NORM_X] = (struct gm_matrix){"x", p->rows, reach(p, p->x_head_stride), p->x_stride, bytes, p->x_align};
    m[GM_RMS_NORM_RESIDUAL] =
        (struct gm_matrix){"residual", residual_rows, p->columns, p->residual_stride, bytes, p->residual_align};
    m[GM_RMS_NORM_WEIGHT] = (struct gm_matrix){"weight", 1, p->columns, p->columns, weight_bytes, p->weight_align};
    m[GM_RMS_NORM_OUT] =
        (struct gm_matrix){"out", p->rows, reach(p, p->out_head_stride), p->out_stride, out_bytes, p->out_align};
    m[GM_RMS_NORM_X_WEIGHT] =
        (struct gm_matrix){"x_weight", of_two, p->columns, p->columns, weight_bytes, p->x_weight_align};
    m[GM_RMS_NORM_SCALES] = gm_out_scales(&out);
    m[GM_RMS_NORM_X_HEAD] = (struct gm_matrix){"x_head", head_rows, p->columns, p->x_head_stride, bytes, p->x_align};
    m[GM_RMS_NORM_OUT_HEAD] =
        (struct gm_matrix){"out_head", head_rows, p->columns, p->out_head_stride, bytes, p->out_align};
}

static enum gm_status check_choices(const struct gm_rms_norm_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("fp32_weight", p->fp32_weight, 0, 1);
    if (status == GM_OK)
        status = gm_check_enum("residual", p->residual, GM_RESIDUAL_NONE, GM_RESIDUAL_BETWEEN);
    if (status == GM_OK)
        status = gm_check_enum("sum_rounding", (int)p->sum_rounding, GM_ROUND_LATE, GM_ROUND_EARLY);
    if (status == GM_OK)
        status = gm_check_enum("normalized_rounding", (int)p->normalized_rounding, GM_ROUND_LATE, GM_ROUND_EARLY);
    if (status == GM_OK)
        status = gm_check_enum("norm_rounding", (int)p->norm_rounding, GM_ROUND_LATE, GM_ROUND_EARLY);
    if (status == GM_OK)
        status = gm_check_real("eps", p->eps, 0);
    return status == GM_OK ? gm_check_real("weight_offset", p->weight_offset, -INFINITY) : status;
}

/* Heads are packed within a row, and so are rows of them. One head is none. */
static enum gm_status fill_heads(struct gm_rms_norm_problem *p) {
    const int bytes = gm_type_bytes(p->type);
    if (p->heads == 1)
        p->heads = 0;
    if (p->heads == 0) {
        p->x_head_stride = p->out_head_stride = 0;
        return GM_OK;
    }
    if (p->residual)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "heads is %" PRId64 " beside a residual; there is none of heads",
                       p->heads);
    if (p->out_type != p->type)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "heads is %" PRId64 "; then out_type must be the type", p->heads);
    enum gm_status status = gm_fill_stride("x_head_stride", &p->x_head_stride, p->heads, p->columns, bytes);
    if (status == GM_OK)
        status = gm_fill_stride("out_head_stride", &p->out_head_stride, p->heads, p->columns, bytes);
    if (status == GM_OK && p->x_stride == 0)
        p->x_stride = p->heads * p->x_head_stride;
    if (status == GM_OK && p->out_stride == 0)
        p->out_stride = p->heads * p->out_head_stride;
    return status;
}

static enum gm_status fill(struct gm_rms_norm_problem *p) {
    struct gm_matrix m[GM_RMS_NORM_MATRICES];
    int64_t weight_stride = 0, x_weight_stride = 0;
    enum gm_status status = fill_heads(p);
    if (status != GM_OK)
        return status;
    gm_rms_norm_matrices(p, m);
    status = gm_fill_matrix(&m[GM_RMS_NORM_X], &p->x_stride, &p->x_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_RMS_NORM_RESIDUAL], &p->residual_stride, &p->residual_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_RMS_NORM_OUT], &p->out_stride, &p->out_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_RMS_NORM_WEIGHT], &weight_stride, &p->weight_align);
    return status == GM_OK ? gm_fill_matrix(&m[GM_RMS_NORM_X_WEIGHT], &x_weight_stride, &p->x_weight_align) : status;
}

/* A weight of fp32 beside x of fp32 has the same type, and without a residual there is no sum to round. */
static enum gm_status normalize(void *problem) {
    struct gm_rms_norm_problem *p = problem;
    struct gm_out out = GM_OUT_OF(p);
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = gm_check_size("heads", p->heads, 0, MOST_HEADS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status == GM_OK)
        status = gm_out_normalize(&out);
    if (status != GM_OK)
        return status;
    GM_OUT_TO(p, out);
    p->fp32_weight = p->fp32_weight && p->type != GM_FP32;
    if (!p->residual)
        p->sum_rounding = GM_ROUND_LATE;
    if (p->residual < GM_RESIDUAL_AFTER)
        p->norm_rounding = GM_ROUND_LATE;
    return fill(p);
}

static int is_empty(const void *problem) {
    return ((const struct gm_rms_norm_problem *)problem)->rows == 0;
}

/* Of an element: a multiplication and an addition for the sum, two multiplications, and an addition with a residual. */
static struct gm_work work(const void *problem) {
    const struct gm_rms_norm_problem *p = problem;
    const struct gm_out out = GM_OUT_OF(p);
    const struct gm_norm norm = {.columns = p->columns, .type = p->type, .residual = p->residual, .out = &out};
    const struct gm_matrix scales = gm_out_scales(&out);
    const double rows = (double)p->rows * (p->heads > 1 ? (double)p->heads : 1), bytes = gm_type_bytes(p->type);
    const double weight_bytes = p->fp32_weight ? 4 : bytes, norms = p->residual == GM_RESIDUAL_BETWEEN ? 2 : 1;
    const double flops = 4 * norms + (p->residual != GM_RESIDUAL_NONE) + 3 * gm_out_has_8_bits(&out);
    return (struct gm_work){
        .flops = flops * rows * (double)p->columns,
        .least_bytes = rows * gm_norm_row_bytes(&norm) + norms * (double)p->columns * weight_bytes +
                       (double)scales.rows * (double)scales.columns * scales.element_bytes,
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_rms_norm_problem *p = problem;
    const struct gm_rms_norm_args *args = arguments;
    struct gm_matrix m[GM_RMS_NORM_MATRICES];
    gm_rms_norm_matrices(p, m);
    found[GM_RMS_NORM_X_HEAD] = found[GM_RMS_NORM_OUT_HEAD] =
        (struct gm_range){.may_equal = -1}; /* x and out have them */
    found[GM_RMS_NORM_X] = gm_range_of(&m[GM_RMS_NORM_X], args->x, 0);
    found[GM_RMS_NORM_RESIDUAL] =
        gm_range_of(&m[GM_RMS_NORM_RESIDUAL], args->residual, p->residual != GM_RESIDUAL_AFTER);
    found[GM_RMS_NORM_WEIGHT] = gm_range_of(&m[GM_RMS_NORM_WEIGHT], args->weight, 0);
    found[GM_RMS_NORM_OUT] = gm_range_of(&m[GM_RMS_NORM_OUT], args->out, 1);
    found[GM_RMS_NORM_X_WEIGHT] = gm_range_of(&m[GM_RMS_NORM_X_WEIGHT], args->x_weight, 0);
    found[GM_RMS_NORM_SCALES] = gm_range_of(&m[GM_RMS_NORM_SCALES], args->scales, p->scaling != GM_SCALE_STATIC);
    found[GM_RMS_NORM_MATRICES] = gm_range_of_row_count(args->row_count);
    if (m[GM_RMS_NORM_OUT].element_bytes == m[GM_RMS_NORM_X].element_bytes)
        found[GM_RMS_NORM_OUT].may_equal = p->residual == GM_RESIDUAL_AFTER ? GM_RMS_NORM_RESIDUAL : GM_RMS_NORM_X;
    *workspace = (struct gm_workspace){0};
    return GM_RMS_NORM_MATRICES + 1;
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
