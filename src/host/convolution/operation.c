/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "common/convolution/params.h"
#include "gristmill/convolution.h"
#include "host/check_problem.h"
#include "host/convolution/convolution.h"
#include "host/plan.h"
#include "host/types.h"

#define MOST_EXTENT (INT32_C(1) << 30)

_Static_assert(GM_CONVOLUTION_EDGE_zero == GM_CONVOLUTION_ZERO && GM_CONVOLUTION_EDGE_clamp == GM_CONVOLUTION_CLAMP &&
                   GM_CONVOLUTION_EDGE_wrap == GM_CONVOLUTION_WRAP,
               "host and device agree");

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const edges[] = {"zero", "clamp", "wrap", NULL};
static const char *const forms[] = {"whole", "separable", NULL};

#define AT(member) offsetof(struct gm_convolution_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)
#define OPTION(member, text)                                                                                           \
    {.name = #member, .kind = GM_FIELD_SIZE, .uses = GM_IN_OPTIONS, .offset = AT(member), .about = text}
#define STRIDES(operand)                                                                                               \
    OPTION(operand##_row_stride, "elements from row to row (default: packed)"),                                        \
        OPTION(operand##_plane_stride, "elements from plane to plane (default: packed)")

GM_ALIGN_FUNCTIONS(gm_convolution_problem, x)
GM_ALIGN_FUNCTIONS(gm_convolution_problem, out)

enum { FIELD_TYPE, FIELD_FORM, FIELD_EDGE, FIELD_WIDTH, FIELD_HEIGHT };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x and out: also --dtype"},
    [FIELD_FORM] = {"form", GM_FIELD_WORD, SUITES, .offset = AT(separable), .words = forms,
                    .about = "of the filter: whole (default), or separable: one along x and one along y"},
    [FIELD_EDGE] = {"edge", GM_FIELD_WORD, SUITES, .offset = AT(edge), .words = edges,
                    .about = "what is beyond x: zero (default), clamp, wrap"},
    [FIELD_WIDTH] = {.name = "width", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(width)},
    [FIELD_HEIGHT] = {.name = "height", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(height)},
    {.name = "planes", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(planes)},
    {.name = "filter_width", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(filter_width)},
    {.name = "filter_height", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(filter_height)},
    OPTION(shift_x, "of the filter's anchor from the middle of a row"),
    OPTION(shift_y, "of the filter's anchor from the middle of a column"),
    STRIDES(x),
    STRIDES(out),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

void gm_convolution_planes(const struct gm_convolution_problem *p, struct gm_strided planes[GM_CONVOLUTION_PLANES]) {
    const int bytes = gm_type_bytes(p->type);
    planes[GM_CONVOLUTION_X] = (struct gm_strided){
        "x",       {{"plane", p->planes, p->x_plane_stride}, {"row", p->height, p->x_row_stride}}, 2, p->width, bytes,
        p->x_align};
    planes[GM_CONVOLUTION_OUT] =
        (struct gm_strided){"out", {{"plane", p->planes, p->out_plane_stride}, {"row", p->height, p->out_row_stride}},
                            2,     p->width,
                            bytes, p->out_align};
}

static enum gm_status check_shift(const char *name, int64_t shift, int64_t elements) {
    return gm_check_size(name, shift, -(elements / 2), elements - 1 - elements / 2);
}

static enum gm_status check(const struct gm_convolution_problem *p) {
    enum gm_status status = gm_check_size("width", p->width, 0, MOST_EXTENT);
    if (status == GM_OK)
        status = gm_check_size("height", p->height, 0, MOST_EXTENT);
    if (status == GM_OK)
        status = gm_check_size("planes", p->planes, 0, MOST_EXTENT);
    if (status == GM_OK)
        status = gm_check_size("filter_width", p->filter_width, 1, GM_CONVOLUTION_MOST);
    if (status == GM_OK)
        status = gm_check_size("filter_height", p->filter_height, 1, GM_CONVOLUTION_MOST);
    if (status == GM_OK)
        status = check_shift("shift_x", p->shift_x, p->filter_width);
    if (status == GM_OK)
        status = check_shift("shift_y", p->shift_y, p->filter_height);
    if (status == GM_OK)
        status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("edge", (int)p->edge, GM_CONVOLUTION_ZERO, GM_CONVOLUTION_WRAP);
    return status == GM_OK ? gm_check_enum("separable", p->separable, 0, 1) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_convolution_problem *p = problem;
    struct gm_strided planes[GM_CONVOLUTION_PLANES], *x = &planes[GM_CONVOLUTION_X], *out = &planes[GM_CONVOLUTION_OUT];
    enum gm_status status = check(p);
    if (status != GM_OK)
        return status;
    gm_convolution_planes(p, planes);
    status = gm_fill_strided(x);
    if (status == GM_OK)
        status = gm_fill_strided(out);
    p->x_plane_stride = x->dimension[0].stride;
    p->x_row_stride = x->dimension[1].stride;
    p->x_align = x->align;
    p->out_plane_stride = out->dimension[0].stride;
    p->out_row_stride = out->dimension[1].stride;
    p->out_align = out->align;
    return status;
}

static int is_empty(const void *problem) {
    const struct gm_convolution_problem *p = problem;
    return p->width == 0 || p->height == 0 || p->planes == 0;
}

static double taps_of(const struct gm_convolution_problem *p) {
    const double width = (double)p->filter_width, height = (double)p->filter_height;
    return p->separable ? width + height : width * height;
}

static struct gm_work work(const void *problem) {
    const struct gm_convolution_problem *p = problem;
    const double elements = (double)p->width * (double)p->height * (double)p->planes;
    return (struct gm_work){
        .flops = 2 * elements * taps_of(p),
        .least_bytes = 2 * elements * gm_type_bytes(p->type) + 4 * taps_of(p),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_convolution_problem *p = problem;
    const struct gm_convolution_args *args = arguments;
    const struct gm_matrix filter = {
        "filter", p->separable ? 1 : p->filter_height, p->filter_width, p->filter_width, sizeof(float), sizeof(float)};
    const struct gm_matrix filter_y = {"filter_y",       p->separable,  p->filter_height,
                                       p->filter_height, sizeof(float), sizeof(float)};
    struct gm_strided planes[GM_CONVOLUTION_PLANES];
    int count = 0;
    gm_convolution_planes(p, planes);
    const struct gm_matrix x = gm_matrix_of(&planes[GM_CONVOLUTION_X]);
    const struct gm_matrix out = gm_matrix_of(&planes[GM_CONVOLUTION_OUT]);
    found[count++] = gm_range_of(&x, args->x, 0);
    found[count++] = gm_range_of(&filter, args->filter, 0);
    found[count++] = gm_range_of(&filter_y, args->filter_y, 0);
    found[count++] = gm_range_of(&out, args->out, 1);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_convolution = {
    .name = "convolution",
    .computes = "out[y, x] = sum of filter[i, j] * x[y + i - anchor_y, x + j - anchor_x]",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_HEIGHT,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_convolution_problem),
    .problem_bytes_least = 120,
    .planned_bytes = sizeof(struct gm_convolution_problem),
    .args_bytes = sizeof(struct gm_convolution_args),
    .args_bytes_least = 40,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_convolution_plan_create(gm_context *context, const struct gm_convolution_problem *problem,
                                          const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_convolution, context, problem, options, plan);
}

enum gm_status gm_convolution_execute(const gm_plan *plan, const struct gm_convolution_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_convolution, args, stream);
}

enum gm_status gm_convolution(gm_context *context, const struct gm_convolution_problem *problem,
                              const struct gm_convolution_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_convolution, context, problem, args, stream);
}

enum gm_status gm_convolution_explain(const struct gm_device *device, const struct gm_convolution_problem *problem,
                                      const struct gm_plan_options *options, struct gm_candidate *candidates,
                                      size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_convolution, device, problem, options, candidates, capacity, count);
}
