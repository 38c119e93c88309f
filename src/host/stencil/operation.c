/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "common/stencil/params.h"
#include "gristmill/stencil.h"
#include "host/check_problem.h"
#include "host/plan.h"
#include "host/stencil/stencil.h"
#include "host/text.h"
#include "host/types.h"

#include <math.h>

#define MOST_EXTENT (INT32_C(1) << 30)

_Static_assert(sizeof((struct gm_stencil_problem *)0)->coefficients == sizeof(float[GM_STENCIL_MOST]),
               "a coefficient for every tap");

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const shapes[] = {"star_5", "box_9", "star_7", "box_27", NULL};
static const char *const edges[] = {"zero", "clamp", "wrap", NULL};

#define AT(member) offsetof(struct gm_stencil_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)
#define STRIDE(operand, of)                                                                                            \
    {.name = #operand "_" #of "_stride",                                                                               \
     .kind = GM_FIELD_SIZE,                                                                                            \
     .uses = GM_IN_OPTIONS,                                                                                            \
     .offset = AT(operand##_##of##_stride),                                                                            \
     .about = "elements from " #of " to " #of " (default: packed)"}
#define STRIDES(operand) STRIDE(operand, row), STRIDE(operand, plane), STRIDE(operand, grid)

GM_ALIGN_FUNCTIONS(gm_stencil_problem, x)
GM_ALIGN_FUNCTIONS(gm_stencil_problem, out)

enum { FIELD_TYPE, FIELD_SHAPE, FIELD_EDGE, FIELD_WIDTH, FIELD_HEIGHT };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x and out: also --dtype"},
    [FIELD_SHAPE] = {"shape", GM_FIELD_WORD, SUITES, .offset = AT(shape), .words = shapes,
                     .about = "of the taps: star_5 (default) or box_9 in two dimensions, star_7 or box_27 in three"},
    [FIELD_EDGE] = {"edge", GM_FIELD_WORD, SUITES, .offset = AT(edge), .words = edges,
                    .about = "what is beyond x: zero (default), clamp, wrap"},
    [FIELD_WIDTH] = {.name = "width", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(width)},
    [FIELD_HEIGHT] = {.name = "height", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(height)},
    {.name = "depth", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(depth)},
    {.name = "grids", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(grids)},
    STRIDES(x),
    STRIDES(out),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

int gm_stencil_points(const struct gm_stencil_problem *p) {
    static const int points[] = {5, 9, 7, 27};
    return points[p->shape];
}

int gm_stencil_is_flat(const struct gm_stencil_problem *p) {
    return p->shape == GM_STENCIL_STAR_5 || p->shape == GM_STENCIL_BOX_9;
}

void gm_stencil_operands(const struct gm_stencil_problem *p, struct gm_strided operands[GM_STENCIL_OPERANDS]) {
#define OPERAND(name)                                                                                                  \
    (struct gm_strided) {                                                                                              \
        #name,                                                                                                         \
            {{"grid", p->grids, p->name##_grid_stride},                                                                \
             {"plane", p->depth, p->name##_plane_stride},                                                              \
             {"row", p->height, p->name##_row_stride}},                                                                \
            3, p->width, gm_type_bytes(p->type), p->name##_align                                                       \
    }
    operands[GM_STENCIL_X] = OPERAND(x);
    operands[GM_STENCIL_OUT] = OPERAND(out);
#undef OPERAND
}

static enum gm_status check_coefficients(const struct gm_stencil_problem *p) {
    enum gm_status status = GM_OK;
    for (int i = 0; i < gm_stencil_points(p) && status == GM_OK; i++) {
        char name[32];
        gm_print(name, sizeof name, "coefficients[%d]", i);
        status = gm_check_real(name, p->coefficients[i], -INFINITY);
    }
    return status;
}

static enum gm_status check(const struct gm_stencil_problem *p) {
    enum gm_status status = gm_check_size("width", p->width, 0, MOST_EXTENT);
    if (status == GM_OK)
        status = gm_check_size("height", p->height, 0, MOST_EXTENT);
    if (status == GM_OK)
        status = gm_check_size("depth", p->depth, 0, MOST_EXTENT);
    if (status == GM_OK)
        status = gm_check_size("grids", p->grids, 0, MOST_EXTENT);
    if (status == GM_OK)
        status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("shape", (int)p->shape, GM_STENCIL_STAR_5, GM_STENCIL_BOX_27);
    if (status == GM_OK)
        status = gm_check_enum("edge", (int)p->edge, GM_CONVOLUTION_ZERO, GM_CONVOLUTION_WRAP);
    return status == GM_OK ? check_coefficients(p) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_stencil_problem *p = problem;
    struct gm_strided operands[GM_STENCIL_OPERANDS], *x = &operands[GM_STENCIL_X], *out = &operands[GM_STENCIL_OUT];
    enum gm_status status = check(p);
    if (status != GM_OK)
        return status;
    gm_stencil_operands(p, operands);
    status = gm_fill_strided(x);
    if (status == GM_OK)
        status = gm_fill_strided(out);
    p->x_grid_stride = x->dimension[0].stride;
    p->x_plane_stride = x->dimension[1].stride;
    p->x_row_stride = x->dimension[2].stride;
    p->x_align = x->align;
    p->out_grid_stride = out->dimension[0].stride;
    p->out_plane_stride = out->dimension[1].stride;
    p->out_row_stride = out->dimension[2].stride;
    p->out_align = out->align;
    return status;
}

static int is_empty(const void *problem) {
    const struct gm_stencil_problem *p = problem;
    return p->width == 0 || p->height == 0 || p->depth == 0 || p->grids == 0;
}

static struct gm_work work(const void *problem) {
    const struct gm_stencil_problem *p = problem;
    const double points = (double)p->width * (double)p->height * (double)p->depth * (double)p->grids;
    return (struct gm_work){
        .flops = 2 * points * gm_stencil_points(p),
        .least_bytes = 2 * points * gm_type_bytes(p->type),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_stencil_args *args = arguments;
    struct gm_strided operands[GM_STENCIL_OPERANDS];
    gm_stencil_operands(problem, operands);
    const struct gm_matrix x = gm_matrix_of(&operands[GM_STENCIL_X]);
    const struct gm_matrix out = gm_matrix_of(&operands[GM_STENCIL_OUT]);
    found[0] = gm_range_of(&x, args->x, 0);
    found[1] = gm_range_of(&out, args->out, 1);
    *workspace = (struct gm_workspace){0};
    return 2;
}

const struct gm_operation gm_operation_stencil = {
    .name = "stencil",
    .computes = "out[z, y, x] = sum of coefficients[tap] * x[z + dz, y + dy, x + dx]",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_HEIGHT,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_stencil_problem),
    .problem_bytes_least = 216,
    .planned_bytes = sizeof(struct gm_stencil_problem),
    .args_bytes = sizeof(struct gm_stencil_args),
    .args_bytes_least = 24,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_stencil_plan_create(gm_context *context, const struct gm_stencil_problem *problem,
                                      const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_stencil, context, problem, options, plan);
}

enum gm_status gm_stencil_execute(const gm_plan *plan, const struct gm_stencil_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_stencil, args, stream);
}

enum gm_status gm_stencil(gm_context *context, const struct gm_stencil_problem *problem,
                          const struct gm_stencil_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_stencil, context, problem, args, stream);
}

enum gm_status gm_stencil_explain(const struct gm_device *device, const struct gm_stencil_problem *problem,
                                  const struct gm_plan_options *options, struct gm_candidate *candidates,
                                  size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_stencil, device, problem, options, candidates, capacity, count);
}
