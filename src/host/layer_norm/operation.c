/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/layer_norm.h"
#include "host/check_problem.h"
#include "host/norm.h"
#include "host/plan.h"
#include "host/layer_norm/layer_norm.h"
#include "host/types.h"

#include <math.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 30)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const weights[] = {"same", "fp32", NULL};
static const char *const residuals[] = {"no", "yes", "after", "between", NULL};

#define AT(member) offsetof(struct gm_layer_norm_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_OUT_FUNCTIONS(gm_layer_norm_problem)
GM_ALIGN_FUNCTIONS(gm_layer_norm_problem, x)
GM_ALIGN_FUNCTIONS(gm_layer_norm_problem, residual)
GM_ALIGN_FUNCTIONS(gm_layer_norm_problem, weight)
GM_ALIGN_FUNCTIONS(gm_layer_norm_problem, bias)
GM_ALIGN_FUNCTIONS(gm_layer_norm_problem, out)
GM_ALIGN_FUNCTIONS(gm_layer_norm_problem, x_weight)

enum { FIELD_TYPE, FIELD_WEIGHT, FIELD_RESIDUAL, FIELD_SUM, FIELD_NORMALIZED, FIELD_OUT, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x and residual: also --dtype"},
    [FIELD_WEIGHT] = {"weight", GM_FIELD_WORD, SUITES, .offset = AT(fp32_weight), .words = weights,
                      .about = "the type of weight and bias: same (default) or fp32"},
    [FIELD_RESIDUAL] = {"residual", GM_FIELD_WORD, SUITES, .offset = AT(residual), .words = residuals,
                        .about =
                            "no (default); yes: x + residual is normalised, and written back; after: out is residual + "
                            "norm(x); between: that is written back and normalised"},
    [FIELD_SUM] = {"sum", GM_FIELD_WORD, SUITES, .offset = AT(sum_rounding), .words = gm_rounding_words,
                   .about = "when the sum with the residual is rounded: late (default) or early"},
    [FIELD_NORMALIZED] = {"normalized", GM_FIELD_WORD, SUITES, .offset = AT(normalized_rounding),
                          .words = gm_rounding_words,
                          .about = "when (x - mean) / deviation is rounded: late (default) or early"},
    [FIELD_OUT] = GM_OUT_FIELD(SUITES),
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {"eps", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(eps)},
    {"weight_offset", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(weight_offset)},
    GM_STRIDE_FIELD(gm_layer_norm_problem, x),
    GM_STRIDE_FIELD(gm_layer_norm_problem, residual),
    GM_STRIDE_FIELD(gm_layer_norm_problem, out),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(residual),
    GM_ALIGN_FIELD(weight),
    GM_ALIGN_FIELD(bias),
    GM_ALIGN_FIELD(out),
    {"norm_rounding", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(norm_rounding), .words = gm_rounding_words,
     .about = "when norm(x) is rounded before it is added: late (default) or early"},
    GM_OUT_OPTIONS(gm_layer_norm_problem),
    GM_ALIGN_FIELD(x_weight),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

void gm_layer_norm_matrices(const struct gm_layer_norm_problem *p, struct gm_matrix m[GM_LAYER_NORM_MATRICES]) {
    const int bytes = gm_type_bytes(p->type), weight_bytes = p->fp32_weight ? 4 : bytes;
    const struct gm_out out = GM_OUT_OF(p);
    const int out_bytes = gm_out_bytes(&out);
    const int64_t residual_rows = p->residual ? p->rows : 0, of_two = p->residual == GM_RESIDUAL_BETWEEN;
    m[GM_LAYER_NORM_X] = (struct gm_matrix){"x", p->rows, p->columns, p->x_stride, bytes, p->x_align};
    m[GM_LAYER_NORM_RESIDUAL] =
        (struct gm_matrix){"residual", residual_rows, p->columns, p->residual_stride, bytes, p->residual_align};
    m[GM_LAYER_NORM_WEIGHT] = (struct gm_matrix){"weight", 1, p->columns, p->columns, weight_bytes, p->weight_align};
    m[GM_LAYER_NORM_BIAS] = (struct gm_matrix){"bias", 1, p->columns, p->columns, weight_bytes, p->bias_align};
    m[GM_LAYER_NORM_OUT] = (struct gm_matrix){"out", p->rows, p->columns, p->out_stride, out_bytes, p->out_align};
    m[GM_LAYER_NORM_X_WEIGHT] =
        (struct gm_matrix){"x_weight", of_two, p->columns, p->columns, weight_bytes, p->x_weight_align};
    m[GM_LAYER_NORM_X_BIAS] =
        (struct gm_matrix){"x_bias", of_two, p->columns, p->columns, weight_bytes, p->x_weight_align};
    m[GM_LAYER_NORM_SCALES] = gm_out_scales(&out);
}

static enum gm_status check_choices(const struct gm_layer_norm_problem *p) {
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

static enum gm_status fill(struct gm_layer_norm_problem *p) {
    struct gm_matrix m[GM_LAYER_NORM_MATRICES];
    int64_t strides[3] = {0};
    gm_layer_norm_matrices(p, m);
    enum gm_status status = gm_fill_matrix(&m[GM_LAYER_NORM_X], &p->x_stride, &p->x_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_LAYER_NORM_RESIDUAL], &p->residual_stride, &p->residual_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_LAYER_NORM_OUT], &p->out_stride, &p->out_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_LAYER_NORM_WEIGHT], &strides[0], &p->weight_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_LAYER_NORM_BIAS], &strides[1], &p->bias_align);
    return status == GM_OK ? gm_fill_matrix(&m[GM_LAYER_NORM_X_WEIGHT], &strides[2], &p->x_weight_align) : status;
}

/* A weight of fp32 beside x of fp32 has the same type, and without a residual there is no sum to round. */
static enum gm_status normalize(void *problem) {
    struct gm_layer_norm_problem *p = problem;
    struct gm_out out = GM_OUT_OF(p);
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
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
    return ((const struct gm_layer_norm_problem *)problem)->rows == 0;
}

/* Of an element: an addition for the mean, three operations for its square, and four for out; an addition with a residual. */
static struct gm_work work(const void *problem) {
    const struct gm_layer_norm_problem *p = problem;
    const struct gm_out out = GM_OUT_OF(p);
    const struct gm_norm norm = {.columns = p->columns, .type = p->type, .residual = p->residual, .out = &out};
    const struct gm_matrix scales = gm_out_scales(&out);
    const double elements = (double)p->rows * (double)p->columns, bytes = gm_type_bytes(p->type);
    const double weight_bytes = p->fp32_weight ? 4 : bytes, norms = p->residual == GM_RESIDUAL_BETWEEN ? 2 : 1;
    return (struct gm_work){
        .flops = (8 * norms + (p->residual != GM_RESIDUAL_NONE) + 3 * gm_out_has_8_bits(&out)) * elements,
        .least_bytes = (double)p->rows * gm_norm_row_bytes(&norm) + 2 * norms * (double)p->columns * weight_bytes +
                       (double)scales.rows * (double)scales.columns * scales.element_bytes,
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_layer_norm_problem *p = problem;
    const struct gm_layer_norm_args *args = arguments;
    struct gm_matrix m[GM_LAYER_NORM_MATRICES];
    gm_layer_norm_matrices(p, m);
    m[GM_LAYER_NORM_WEIGHT].rows = args->weight != 0;
    m[GM_LAYER_NORM_BIAS].rows = args->bias != 0;
    m[GM_LAYER_NORM_X_WEIGHT].rows &= args->x_weight != 0;
    m[GM_LAYER_NORM_X_BIAS].rows &= args->x_bias != 0;
    found[GM_LAYER_NORM_X] = gm_range_of(&m[GM_LAYER_NORM_X], args->x, 0);
    found[GM_LAYER_NORM_RESIDUAL] =
        gm_range_of(&m[GM_LAYER_NORM_RESIDUAL], args->residual, p->residual != GM_RESIDUAL_AFTER);
    found[GM_LAYER_NORM_WEIGHT] = gm_range_of(&m[GM_LAYER_NORM_WEIGHT], args->weight, 0);
    found[GM_LAYER_NORM_BIAS] = gm_range_of(&m[GM_LAYER_NORM_BIAS], args->bias, 0);
    found[GM_LAYER_NORM_OUT] = gm_range_of(&m[GM_LAYER_NORM_OUT], args->out, 1);
    found[GM_LAYER_NORM_X_WEIGHT] = gm_range_of(&m[GM_LAYER_NORM_X_WEIGHT], args->x_weight, 0);
    found[GM_LAYER_NORM_X_BIAS] = gm_range_of(&m[GM_LAYER_NORM_X_BIAS], args->x_bias, 0);
    found[GM_LAYER_NORM_SCALES] = gm_range_of(&m[GM_LAYER_NORM_SCALES], args->scales, p->scaling != GM_SCALE_STATIC);
    found[GM_LAYER_NORM_MATRICES] = gm_range_of_row_count(args->row_count);
    if (m[GM_LAYER_NORM_OUT].element_bytes == m[GM_LAYER_NORM_X].element_bytes)
        found[GM_LAYER_NORM_OUT].may_equal =
            p->residual == GM_RESIDUAL_AFTER ? GM_LAYER_NORM_RESIDUAL : GM_LAYER_NORM_X;
    *workspace = (struct gm_workspace){0};
    return GM_LAYER_NORM_MATRICES + 1;
}

const struct gm_operation gm_operation_layer_norm = {
    .name = "layer_norm",
    .computes = "out = (s - mean(s)) * rsqrt(var(s) + eps) * (offset + weight) + bias, s = x or x + residual",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_layer_norm_problem),
    .problem_bytes_least = 96,
    .planned_bytes = sizeof(struct gm_layer_norm_problem),
    .args_bytes = sizeof(struct gm_layer_norm_args),
    .args_bytes_least = 56,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_layer_norm_plan_create(gm_context *context, const struct gm_layer_norm_problem *problem,
                                         const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_layer_norm, context, problem, options, plan);
}

enum gm_status gm_layer_norm_execute(const gm_plan *plan, const struct gm_layer_norm_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_layer_norm, args, stream);
}

enum gm_status gm_layer_norm(gm_context *context, const struct gm_layer_norm_problem *problem,
                             const struct gm_layer_norm_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_layer_norm, context, problem, args, stream);
}

enum gm_status gm_layer_norm_explain(const struct gm_device *device, const struct gm_layer_norm_problem *problem,
                                     const struct gm_plan_options *options, struct gm_candidate *candidates,
                                     size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_layer_norm, device, problem, options, candidates, capacity, count);
}
