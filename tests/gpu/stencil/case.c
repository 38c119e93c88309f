/* SPDX-License-Identifier: Apache-2.0 */
/* One stencil: its operands, and what out shall be, to the bit. */
#include <math.h>
#include <stdlib.h>

#include "stencil/stencil_tests.h"

static void describe(const struct stencil_case *sc, char *text, size_t bytes) {
    static const char *const shapes[] = {"star 5", "box 9", "star 7", "box 27"};
    static const char *const edges[] = {"zero", "clamp", "wrap"};
    snprintf(text, bytes, "%s of %lld x %lld x %lld x %lld %s, %s%s pads %lld,%lld %lld,%lld %lld,%lld starts %d,%d",
             shapes[sc->shape], (long long)sc->width, (long long)sc->height, (long long)sc->depth, (long long)sc->grids,
             gm_type_name(sc->type), edges[sc->edge], sc->inputs == STENCIL_SPECIAL ? " special" : "",
             (long long)sc->x_pad, (long long)sc->out_pad, (long long)sc->x_plane_pad, (long long)sc->out_plane_pad,
             (long long)sc->x_grid_pad, (long long)sc->out_grid_pad, sc->x_start, sc->out_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double least = type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {0, -0.0, least, -least, ordinary, ordinary, ordinary};
    const double wild[] = {NAN, INFINITY, -INFINITY};
    return random % 61 == 0 ? wild[random / 64 % COUNT(wild)] : values[random / 64 % COUNT(values)];
}

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct stencil_case *sc = of;
    const uint64_t random = hash64((opt.seed + sc->seed) * 2, (uint64_t)(row * sc->width + column));
    const double factor = sc->factor != 0 ? (double)sc->factor : 1;
    const double ordinary = round_to(sc->type, factor * ((double)(random >> 40) * 0x1p-23 - 1));
    return sc->inputs == STENCIL_SPECIAL ? special(sc->type, random, ordinary) : ordinary;
}

/* Those of a plan stay whatever x is. */
static float coefficient(const struct stencil_case *sc, int tap) {
    const uint64_t random = hash64(opt.seed * 2 + 1, (uint64_t)(tap + 27 * sc->shape));
    return (float)((double)(random >> 40) * 0x1p-23 - 1);
}

/* ---- the model ------------------------------------------------------------------------------------------- */

static bool has_tap(int shape, int dz, int dy, int dx) {
    const bool is_star = shape == GM_STENCIL_STAR_5 || shape == GM_STENCIL_STAR_7;
    const bool is_flat = shape == GM_STENCIL_STAR_5 || shape == GM_STENCIL_BOX_9;
    return !(is_flat && dz) && !(is_star && abs(dz) + abs(dy) + abs(dx) > 1);
}

/* -1: nowhere. */
static int64_t inside(int64_t i, int64_t extent, int edge) {
    if (i >= 0 && i < extent)
        return i;
    if (edge == GM_CONVOLUTION_ZERO)
        return -1;
    return (i < 0) == (edge == GM_CONVOLUTION_CLAMP) ? 0 : extent - 1;
}

static float element(const struct stencil_case *sc, int64_t grid, int64_t z, int64_t y, int64_t x) {
    const int64_t plane = inside(z, sc->depth, sc->edge), row = inside(y, sc->height, sc->edge),
                  column = inside(x, sc->width, sc->edge);
    const bool exists = plane >= 0 && row >= 0 && column >= 0;
    return exists ? (float)x_value(sc, (grid * sc->depth + plane) * sc->height + row, column) : 0;
}

static float modelled(const struct stencil_case *sc, int64_t grid, int64_t z, int64_t y, int64_t x) {
    float sum = 0;
    int tap = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (has_tap(sc->shape, dz, dy, dx))
                    sum = fmaf(coefficient(sc, tap++), element(sc, grid, z + dz, y + dy, x + dx), sum);
    return sum;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct stencil_case *sc = placed->of;
    const int64_t plane = row / sc->height;
    (void)operand;
    for (int64_t column = 0; column < sc->width; column++) {
        const float sum = modelled(sc, plane / sc->depth, plane % sc->depth, row % sc->height, column);
        e->tolerance[column] = 0;
        e->want[column] = round_to(sc->type, (double)sum);
    }
}

/* ---- placing -------------------------------------------------------------------------------------------- */

/* Elements from one to the next. */
struct strides {
    int64_t row, plane, grid;
};

static struct strides strides_of(const struct stencil_case *sc, int64_t pad, int64_t plane_pad, int64_t grid_pad) {
    const int64_t row = sc->width + pad, plane = sc->height * row + plane_pad;
    return (struct strides){row, plane, sc->depth * plane + grid_pad};
}

static struct strides x_strides(const struct stencil_case *sc) {
    return strides_of(sc, sc->x_pad, sc->x_plane_pad, sc->x_grid_pad);
}

static struct strides out_strides(const struct stencil_case *sc) {
    return strides_of(sc, sc->out_pad, sc->out_plane_pad, sc->out_grid_pad);
}

static int64_t at(const struct stencil_case *sc, const struct strides *strides, int64_t row, int64_t column) {
    const int64_t plane = row / sc->height;
    return plane / sc->depth * strides->grid + plane % sc->depth * strides->plane + row % sc->height * strides->row +
           column;
}

static int64_t x_at(const void *of, int64_t row, int64_t column) {
    const struct strides strides = x_strides(of);
    return at(of, &strides, row, column);
}

static int64_t out_at(const void *of, int64_t row, int64_t column) {
    const struct strides strides = out_strides(of);
    return at(of, &strides, row, column);
}

static void list_operands(struct operand *o, const struct stencil_case *sc) {
    const int64_t rows = sc->grids * sc->depth * sc->height;
    o[STENCIL_X] = (struct operand){"x",
                                    offsetof(struct gm_stencil_args, x),
                                    sc->type,
                                    rows,
                                    sc->width,
                                    x_strides(sc).row,
                                    sc->x_start,
                                    .offset = x_at,
                                    .extent = x_at(sc, rows - 1, sc->width),
                                    .value = x_value};
    o[STENCIL_OUT] = (struct operand){"out",
                                      offsetof(struct gm_stencil_args, out),
                                      sc->type,
                                      rows,
                                      sc->width,
                                      out_strides(sc).row,
                                      sc->out_start,
                                      .written = true,
                                      .offset = out_at,
                                      .extent = out_at(sc, rows - 1, sc->width)};
}

bool place_stencil(struct result *result, const struct stencil_case *sc, struct operand_memory *memory,
                   struct placed_stencil *placed) {
    const struct strides x = x_strides(sc), out = out_strides(sc);
    struct gm_stencil_problem *p = &placed->problem;
    uint8_t *before = placed->placed.before;
    placed->args = (struct gm_stencil_args){.size = sizeof placed->args};
    *p = (struct gm_stencil_problem){.size = sizeof *p,
                                     .width = sc->width,
                                     .height = sc->height,
                                     .depth = sc->depth,
                                     .grids = sc->grids,
                                     .x_row_stride = x.row,
                                     .x_plane_stride = x.plane,
                                     .x_grid_stride = x.grid,
                                     .out_row_stride = out.row,
                                     .out_plane_stride = out.plane,
                                     .out_grid_stride = out.grid,
                                     .type = sc->type,
                                     .shape = (enum gm_stencil_shape)sc->shape,
                                     .edge = (enum gm_convolution_edge)sc->edge};
    for (size_t i = 0; i < COUNT(p->coefficients); i++)
        p->coefficients[i] = coefficient(sc, (int)i);
    placed->placed = (struct placed_operands){
        .call = {.operation = &stencil_tests, .problem = p, .args = &placed->args},
        .of = sc,
        .args = &placed->args,
        .count = STENCIL_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed->placed.operands, sc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, STENCIL_X);
    p->out_align = alignment_of(&placed->placed, STENCIL_OUT);
    return true;
}

bool run_stencil(struct result *result, const struct stencil_case *sc, const char *kernel, uint32_t mask,
                 struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = sc->sm_budget};
    char what[320];
    struct placed_stencil placed = {0};
    describe(sc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_stencil(result, sc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, sc->repeats, sc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
