/* SPDX-License-Identifier: Apache-2.0 */
/* One convolution: its operands, and what out shall be, to the bit. */
#include <math.h>

#include "convolution/convolution_tests.h"

static void describe(const struct convolution_case *cc, char *text, size_t bytes) {
    static const char *const edges[] = {"zero", "clamp", "wrap"};
    snprintf(
        text, bytes,
        "%lld x %lld x %lld %s, filter %lld x %lld%s, shift %lld,%lld, %s%s pads %lld,%lld,%lld,%lld starts %d,%d,%d",
        (long long)cc->width, (long long)cc->height, (long long)cc->planes, gm_type_name(cc->type),
        (long long)cc->filter_width, (long long)cc->filter_height, cc->separable ? " separable" : "",
        (long long)cc->shift_x, (long long)cc->shift_y, edges[cc->edge],
        cc->inputs == CONVOLUTION_SPECIAL ? " special" : "", (long long)cc->x_pad, (long long)cc->out_pad,
        (long long)cc->x_plane_pad, (long long)cc->out_plane_pad, cc->x_start, cc->out_start, cc->filter_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double least = type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {0, -0.0, least, -least, ordinary, ordinary, ordinary};
    const double wild[] = {NAN, INFINITY, -INFINITY};
    return random % 61 == 0 ? wild[random / 64 % COUNT(wild)] : values[random / 64 % COUNT(values)];
}

static double drawn(const struct convolution_case *cc, enum gm_type type, uint64_t stream, int64_t index) {
    const uint64_t random = hash64((opt.seed + cc->seed) * 4 + stream, (uint64_t)index);
    const double factor = stream == 0 && cc->factor != 0 ? (double)cc->factor : 1;
    const double ordinary = round_to(type, factor * ((double)(random >> 40) * 0x1p-23 - 1));
    return cc->inputs == CONVOLUTION_SPECIAL && stream == 0 ? special(type, random, ordinary) : ordinary;
}

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct convolution_case *cc = of;
    return drawn(cc, cc->type, 0, row * cc->width + column);
}

static double filter_value(const void *of, int64_t row, int64_t column) {
    return drawn(of, GM_FP32, 1, row * ((const struct convolution_case *)of)->filter_width + column);
}

static double filter_y_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return drawn(of, GM_FP32, 2, column);
}

/* ---- the model ------------------------------------------------------------------------------------------- */

static int64_t inside(int64_t i, int64_t extent, int edge) {
    if (i >= 0 && i < extent)
        return i;
    if (edge == GM_CONVOLUTION_ZERO)
        return -1;
    return edge == GM_CONVOLUTION_CLAMP ? (i < 0 ? 0 : extent - 1) : (i % extent + extent) % extent;
}

static float element(const struct convolution_case *cc, int64_t plane, int64_t y, int64_t x) {
    const int64_t row = inside(y, cc->height, cc->edge), column = inside(x, cc->width, cc->edge);
    return row < 0 || column < 0 ? 0 : (float)x_value(cc, plane * cc->height + row, column);
}

static float modelled(const struct convolution_case *cc, int64_t plane, int64_t y, int64_t x) {
    float sum = 0;
    for (int64_t i = 0; i < cc->filter_height; i++) {
        float along_x = cc->separable ? 0 : sum;
        for (int64_t j = 0; j < cc->filter_width; j++)
            along_x = fmaf((float)filter_value(cc, cc->separable ? 0 : i, j),
                           element(cc, plane, y + i - cc->filter_height / 2 - cc->shift_y,
                                   x + j - cc->filter_width / 2 - cc->shift_x),
                           along_x);
        sum = cc->separable ? fmaf((float)filter_y_value(cc, 0, i), along_x, sum) : along_x;
    }
    return sum;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct convolution_case *cc = placed->of;
    (void)operand;
    for (int64_t column = 0; column < cc->width; column++) {
        e->tolerance[column] = 0;
        e->want[column] = round_to(cc->type, (double)modelled(cc, row / cc->height, row % cc->height, column));
    }
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static int64_t at(const struct convolution_case *cc, int64_t pad, int64_t plane_pad, int64_t row, int64_t column) {
    const int64_t pitch = cc->width + pad;
    return row / cc->height * (cc->height * pitch + plane_pad) + row % cc->height * pitch + column;
}

static int64_t x_at(const void *of, int64_t row, int64_t column) {
    const struct convolution_case *cc = of;
    return at(cc, cc->x_pad, cc->x_plane_pad, row, column);
}

static int64_t out_at(const void *of, int64_t row, int64_t column) {
    const struct convolution_case *cc = of;
    return at(cc, cc->out_pad, cc->out_plane_pad, row, column);
}

static void list_operands(struct operand *o, const struct convolution_case *cc) {
    const int64_t rows = cc->planes * cc->height, width = cc->filter_width, height = cc->filter_height;
#define ARGUMENT(member) offsetof(struct gm_convolution_args, member)
    o[CONVOLUTION_X] = (struct operand){"x",
                                        ARGUMENT(x),
                                        cc->type,
                                        rows,
                                        cc->width,
                                        cc->width + cc->x_pad,
                                        cc->x_start,
                                        .offset = x_at,
                                        .extent = x_at(cc, rows - 1, cc->width),
                                        .value = x_value};
    o[CONVOLUTION_FILTER] =
        (struct operand){"filter",         ARGUMENT(filter),     GM_FP32, cc->separable ? 1 : height, width, width,
                         cc->filter_start, .value = filter_value};
    o[CONVOLUTION_FILTER_Y] =
        (struct operand){"filter_y",       ARGUMENT(filter_y),     GM_FP32, cc->separable, height, height,
                         cc->filter_start, .value = filter_y_value};
    o[CONVOLUTION_OUT] = (struct operand){"out",
                                          ARGUMENT(out),
                                          cc->type,
                                          rows,
                                          cc->width,
                                          cc->width + cc->out_pad,
                                          cc->out_start,
                                          .written = true,
                                          .offset = out_at,
                                          .extent = out_at(cc, rows - 1, cc->width)};
}

bool place_convolution(struct result *result, const struct convolution_case *cc, struct operand_memory *memory,
                       struct placed_convolution *placed) {
    uint8_t *const before = placed->placed.before;
    const int64_t x_pitch = cc->width + cc->x_pad, out_pitch = cc->width + cc->out_pad;
    *placed = (struct placed_convolution){.args = {.size = sizeof placed->args}};
    struct gm_convolution_problem *p = &placed->problem;
    *p = (struct gm_convolution_problem){.size = sizeof *p,
                                         .width = cc->width,
                                         .height = cc->height,
                                         .planes = cc->planes,
                                         .filter_width = cc->filter_width,
                                         .filter_height = cc->filter_height,
                                         .shift_x = cc->shift_x,
                                         .shift_y = cc->shift_y,
                                         .x_row_stride = x_pitch,
                                         .x_plane_stride = cc->height * x_pitch + cc->x_plane_pad,
                                         .out_row_stride = out_pitch,
                                         .out_plane_stride = cc->height * out_pitch + cc->out_plane_pad,
                                         .type = cc->type,
                                         .edge = (enum gm_convolution_edge)cc->edge,
                                         .separable = cc->separable};
    placed->placed = (struct placed_operands){
        .call = {.operation = &convolution_tests, .problem = p, .args = &placed->args},
        .of = cc,
        .args = &placed->args,
        .count = CONVOLUTION_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed->placed.operands, cc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, CONVOLUTION_X);
    p->out_align = alignment_of(&placed->placed, CONVOLUTION_OUT);
    return true;
}

bool run_convolution(struct result *result, const struct convolution_case *cc, const char *kernel, uint32_t mask,
                     struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = cc->sm_budget};
    char what[320];
    struct placed_convolution placed = {0};
    describe(cc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_convolution(result, cc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, cc->repeats, cc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
