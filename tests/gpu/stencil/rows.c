/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of stencil, by name: extents around its tiles, shapes, edges, alignments, and a late operand. */
#include "columns.h"
#include "common/stencil/params.h"
#include "stencil/stencil_tests.h"

enum { WIDTH = GM_STENCIL_TILE_WIDTH, EDGES = 3, SHAPES = 4 };

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t tile; /* rows of it */
};

static struct stencil_case plain(const struct rows *rows, int shape, int64_t width, int64_t height, int64_t depth) {
    return (struct stencil_case){.width = width,
                                 .height = height,
                                 .depth = depth,
                                 .grids = 1,
                                 .shape = shape,
                                 .type = rows->kernel->type,
                                 .may_refuse = BIT(GM_REASON_NO_IMAGE)};
}

static bool try(struct rows *rows, struct stencil_case sc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_stencil(rows->result, &sc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* Whole tiles and what is a point more or less, planes and grids, and grids that are smaller than the taps. */
static bool test_sizes(struct rows *rows) {
    const int64_t tile = rows->tile;
    const struct {
        int shape, edge;
        int64_t width, height, depth, grids;
    } sizes[] = {
        {GM_STENCIL_BOX_27, GM_CONVOLUTION_WRAP, 1, 1, 1, 1},
        {GM_STENCIL_BOX_27, GM_CONVOLUTION_ZERO, WIDTH, tile, 2, 1},
        {GM_STENCIL_STAR_7, GM_CONVOLUTION_CLAMP, WIDTH + 1, tile + 1, 1, 1},
        {GM_STENCIL_BOX_9, GM_CONVOLUTION_ZERO, 24, 3, 2, 3},
        {GM_STENCIL_STAR_5, GM_CONVOLUTION_WRAP, WIDTH - 1, 2, 1, 2},
        {GM_STENCIL_BOX_27, GM_CONVOLUTION_CLAMP, 2, 1, 3, 2},
        {GM_STENCIL_STAR_7, GM_CONVOLUTION_ZERO, 40, tile - 1, 2, 2},
    };
    for (size_t i = 0; i < (opt.quick ? 4 : COUNT(sizes)); i++) {
        struct stencil_case sc = plain(rows, sizes[i].shape, sizes[i].width, sizes[i].height, sizes[i].depth);
        sc.edge = sizes[i].edge;
        sc.grids = sizes[i].grids;
        sc.x_pad = i % 2 ? (8 - sc.width % 8) % 8 : 0;
        sc.out_pad = 8 * (int64_t)(i % 3);
        sc.x_plane_pad = i % 2 ? 16 : 0;
        sc.out_plane_pad = (int64_t)(i % 4);
        sc.x_grid_pad = i % 2 ? 8 : 1;
        sc.repeats = i == 1 ? 2 : 0;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

/* A CTA or two take all marches of tiles at every edge and one inside, by boxes where the addresses are aligned; and more
 * planes than are in shared memory at once, in layers of which the last one has fewer. */
static bool test_marches(struct rows *rows) {
    for (int choice = 0; choice < EDGES + 3; choice++) {
        const bool is_deep = choice >= EDGES;
        struct stencil_case sc =
            plain(rows, choice % 2 ? GM_STENCIL_STAR_7 : GM_STENCIL_BOX_27, is_deep ? 24 : 2 * WIDTH + 16,
                  is_deep ? 5 : 2 * rows->tile + 5, is_deep ? 15 : 1);
        if (choice == 0)
            sc.shape = GM_STENCIL_BOX_9;
        if (choice == 1)
            sc.width = 3 * WIDTH; /* ends with a tile */
        sc.edge = choice % EDGES;
        sc.inputs = choice % 2 ? STENCIL_SPECIAL : STENCIL_UNIFORM;
        sc.sm_budget = 1;
        sc.out_grid_pad = 3;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct stencil_case sc = plain(rows, offset % SHAPES, 20 + offset, 3, 2);
        sc.edge = offset % EDGES;
        sc.x_start = offset;
        sc.out_start = offset * 5 % 8;
        sc.x_pad = offset * 3 % 8;
        sc.out_pad = offset % 2;
        sc.out_plane_pad = offset * 3 % 8;
        sc.x_grid_pad = offset;
        sc.grids = 1 + offset % 2;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    return (struct rows){
        .kernel = kernel, .result = result, .tile = GM_STENCIL_TILE_HEIGHT(c[GM_STENCIL_THREADS], c[GM_STENCIL_ROWS])};
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_marches(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        struct stencil_case sc = plain(&rows, seed % 2 ? GM_STENCIL_STAR_7 : GM_STENCIL_STAR_5, WIDTH + 8, 5, 7);
        sc.edge = seed % EDGES;
        sc.sm_budget = 1;
        try(&rows, sc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- a late operand, and replaced images ---------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct stencil_case sc = plain(&rows, GM_STENCIL_STAR_7, WIDTH, env.simulated ? 2 : 160, 4);
    struct placed_stencil placed = {0};
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_stencil(result, &sc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 6 && rows.failures == 0; i++) {
        const bool is_large = i < 2; /* tiles at every edge, and inside */
        struct stencil_case sc =
            plain(&rows, i % 2 ? GM_STENCIL_STAR_7 : GM_STENCIL_BOX_27, is_large ? 2 * WIDTH + 16 : 40,
                  is_large ? 2 * rows.tile + 5 : 6, is_large ? 1 : 11);
        sc.edge = (i + 1) % EDGES;
        sc.inputs = i == 5 ? STENCIL_SPECIAL : STENCIL_UNIFORM;
        sc.x_start = i == 4;
        sc.out_pad = i % 2 ? 3 : 0;
        sc.grids = i == 2 || i == 3 ? 2 : 1;
        sc.sm_budget = 1;
        if (i == 0)
            sc.shape = GM_STENCIL_BOX_9;
        if (i == 1)
            sc.width = 3 * WIDTH; /* ends with a tile */
        try(&rows, sc);
    }
    free_operands(&rows.memory);
}

void add_stencil_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_stencil)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
