/* SPDX-License-Identifier: Apache-2.0 */
/* Gated linear units as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/glu.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/gated.h"
#include "host/glu/glu.h"
#include "host/plan.h"
#include "host/types.h"

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 29)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const layouts[] = {"apart", "interleaved", "no_up", NULL};
static const char *const activations[] = {"none", "relu", "gelu_tanh", "gelu_erf", "silu", NULL};

#define AT(member) offsetof(struct gm_glu_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_OUT_FUNCTIONS(gm_glu_problem)
GM_ALIGN_FUNCTIONS(gm_glu_problem, gate)
GM_ALIGN_FUNCTIONS(gm_glu_problem, up)
GM_ALIGN_FUNCTIONS(gm_glu_problem, out)

enum { FIELD_TYPE, FIELD_LAYOUT, FIELD_ACTIVATION, FIELD_ROUNDING, FIELD_OUT, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of gate and up: also --dtype"},
    [FIELD_LAYOUT] = {"layout", GM_FIELD_WORD, SUITES, .offset = AT(layout), .words = layouts,
                      .about = "gate and up apart (default: two operands, or halves of one), interleaved, or no_up"},
    [FIELD_ACTIVATION] = {"activation", GM_FIELD_WORD, SUITES, .offset = AT(activation), .words = activations,
                          .about = "of the gate (default of the bench: silu)"},
    [FIELD_ROUNDING] = {"rounding", GM_FIELD_WORD, SUITES, .offset = AT(rounding), .words = gm_rounding_words,
                        .about = "when the activation is rounded: late (default) or early"},
    [FIELD_OUT] = GM_OUT_FIELD(SUITES),
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {"limit", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(limit), .about = "of gate and up (default: none)"},
    {"sigmoid_factor", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(sigmoid_factor), .about = "1.702: gpt-oss"},
    {"up_offset", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(up_offset), .about = "1: gpt-oss's up + 1"},
    GM_STRIDE_FIELD(gm_glu_problem, gate),
    GM_STRIDE_FIELD(gm_glu_problem, up),
    GM_STRIDE_FIELD(gm_glu_problem, out),
    GM_ALIGN_FIELD(gate),
    GM_ALIGN_FIELD(up),
    GM_ALIGN_FIELD(out),
    GM_OUT_OPTIONS(gm_glu_problem),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

void gm_glu_matrices(const struct gm_glu_problem *p, struct gm_matrix matrices[GM_GLU_MATRICES]) {
    const int bytes = gm_type_bytes(p->type);
    const struct gm_out out = GM_OUT_OF(p);
    const int64_t pairs = p->layout == GM_GLU_INTERLEAVED ? 2 : 1, up_rows = p->layout == GM_GLU_APART ? p->rows : 0;
    matrices[GM_GLU_GATE] =
        (struct gm_matrix){"gate", p->rows, pairs * p->columns, p->gate_stride, bytes, p->gate_align};
    matrices[GM_GLU_UP] = (struct gm_matrix){"up", up_rows, p->columns, p->up_stride, bytes, p->up_align};
    matrices[GM_GLU_OUT] =
        (struct gm_matrix){"out", p->rows, p->columns, p->out_stride, gm_out_bytes(&out), p->out_align};
    matrices[GM_GLU_SCALES] = gm_out_scales(&out);
}

static enum gm_status check_choices(struct gm_glu_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("layout", (int)p->layout, GM_GLU_APART, GM_GLU_NO_UP);
    if (status == GM_OK)
        status = gm_check_enum("activation", (int)p->activation, GM_ACT_NONE, GM_ACT_SILU);
    if (status == GM_OK)
        status = gm_check_enum("rounding", (int)p->rounding, GM_ROUND_LATE, GM_ROUND_EARLY);
    return status == GM_OK ? gm_check_gated(p->activation, p->limit, &p->sigmoid_factor, p->up_offset) : status;
}

static enum gm_status fill(struct gm_glu_problem *p) {
    struct gm_matrix matrices[GM_GLU_MATRICES];
    gm_glu_matrices(p, matrices);
    enum gm_status status = gm_fill_matrix(&matrices[GM_GLU_GATE], &p->gate_stride, &p->gate_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&matrices[GM_GLU_UP], &p->up_stride, &p->up_align);
    return status == GM_OK ? gm_fill_matrix(&matrices[GM_GLU_OUT], &p->out_stride, &p->out_align) : status;
}

/* What has no effect is as if it had not been asked for: an offset of no up, the rounding of an activation alone. */
static enum gm_status normalize(void *problem) {
    struct gm_glu_problem *p = problem;
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
    if (p->layout == GM_GLU_NO_UP) {
        p->up_offset = 0;
        p->rounding = GM_ROUND_LATE;
    }
    return fill(p);
}

static int is_empty(const void *problem) {
    return ((const struct gm_glu_problem *)problem)->rows == 0;
}

/* Of an element: an activation, some 8 operations, and a multiplication; its size, a maximum and a division in 8 bits. */
static struct gm_work work(const void *problem) {
    const struct gm_glu_problem *p = problem;
    const struct gm_out out = GM_OUT_OF(p);
    const struct gm_matrix scales = gm_out_scales(&out);
    const double elements = (double)p->rows * (double)p->columns, bytes = gm_type_bytes(p->type);
    const double moved = (p->layout == GM_GLU_NO_UP ? 1 : 2) * bytes + gm_out_bytes(&out);
    return (struct gm_work){
        .flops = (9 + 3 * gm_out_has_8_bits(&out)) * elements,
        .least_bytes = moved * elements + (double)scales.rows * (double)scales.columns * scales.element_bytes,
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_glu_problem *p = problem;
    const struct gm_glu_args *args = arguments;
    struct gm_matrix matrices[GM_GLU_MATRICES];
    gm_glu_matrices(p, matrices);
    found[GM_GLU_GATE] = gm_range_of(&matrices[GM_GLU_GATE], args->gate, 0);
    found[GM_GLU_UP] = gm_range_of(&matrices[GM_GLU_UP], args->up, 0);
    found[GM_GLU_OUT] = gm_range_of(&matrices[GM_GLU_OUT], args->out, 1);
    found[GM_GLU_SCALES] = gm_range_of(&matrices[GM_GLU_SCALES], args->scales, p->scaling != GM_SCALE_STATIC);
    found[GM_GLU_MATRICES] = gm_range_of_row_count(args->row_count);
    if (p->layout != GM_GLU_INTERLEAVED && matrices[GM_GLU_OUT].element_bytes == matrices[GM_GLU_GATE].element_bytes)
        found[GM_GLU_GATE].may_equal = found[GM_GLU_UP].may_equal = GM_GLU_OUT;
    *workspace = (struct gm_workspace){0};
    return GM_GLU_MATRICES + 1;
}

const struct gm_operation gm_operation_glu = {
    .name = "glu",
    .computes = "out = act(gate) * up, or act(gate)",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_glu_problem),
    .problem_bytes_least = 96,
    .planned_bytes = sizeof(struct gm_glu_problem),
    .args_bytes = sizeof(struct gm_glu_args),
    .args_bytes_least = 40,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_glu_plan_create(gm_context *context, const struct gm_glu_problem *problem,
                                  const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_glu, context, problem, options, plan);
}

enum gm_status gm_glu_execute(const gm_plan *plan, const struct gm_glu_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_glu, args, stream);
}

enum gm_status gm_glu(gm_context *context, const struct gm_glu_problem *problem, const struct gm_glu_args *args,
                      void *stream) {
    return gm_plan_and_execute(&gm_operation_glu, context, problem, args, stream);
}

enum gm_status gm_glu_explain(const struct gm_device *device, const struct gm_glu_problem *problem,
                              const struct gm_plan_options *options, struct gm_candidate *candidates, size_t capacity,
                              size_t *count) {
    return gm_explain(&gm_operation_glu, device, problem, options, candidates, capacity, count);
}
