/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of convolution, by name: extents around its tiles, every width and height of a filter, edges, alignments,
 * and late operands. */
#include "columns.h"
#include "common/convolution/params.h"
#include "convolution/convolution_tests.h"

enum { WIDTH = GM_CONVOLUTION_TILE_WIDTH, EDGES = 3 };

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t tile; /* rows of it */
};

static struct convolution_case plain(const struct rows *rows, int64_t width, int64_t height, int64_t filter_width,
                                     int64_t filter_height) {
    return (struct convolution_case){.width = width,
                                     .height = height,
                                     .planes = 1,
                                     .filter_width = filter_width,
                                     .filter_height = filter_height,
                                     .type = rows->kernel->type,
                                     .may_refuse = BIT(GM_REASON_NO_IMAGE)};
}

static bool try(struct rows *rows, struct convolution_case cc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_convolution(rows->result, &cc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    const int64_t tile = rows->tile;
    const int64_t sizes[][5] = {
        {1, 1, 1, 1, 1},
        {WIDTH, tile, 1, 3, 3},
        {WIDTH + 1, tile + 1, 1, 5, 5},
        {24, 3, 3, 7, 7},
        {40, 9, 1, 31, 31},
        {2 * WIDTH + 3, 3, 1, 4, 1},
        {WIDTH, tile, 1, 3, 3},
        {WIDTH - 1, tile - 1, 2, 2, 8},
        {2 * WIDTH + 16, 2 * tile + 8, 1, 3, 3},
    };
    for (size_t i = 0; i < (opt.quick ? 6 : COUNT(sizes)); i++) {
        struct convolution_case cc = plain(rows, sizes[i][0], sizes[i][1], sizes[i][3], sizes[i][4]);
        cc.planes = sizes[i][2];
        cc.edge = (int)(i % EDGES);
        cc.x_pad = i % 2 ? (8 - cc.width % 8) % 8 : 0;
        cc.out_pad = 8 * (int64_t)(i % 3);
        cc.x_plane_pad = i % 2 ? 16 : 0;
        cc.out_plane_pad = i % 4;
        cc.repeats = i == 1 ? 2 : 0;
        if (!try(rows, cc))
            return false;
    }
    return true;
}

/* Every width and every height that a filter may have, of both forms, and every shift of its anchor's ends. */
static bool test_filters(struct rows *rows) {
    for (int n = 1; n <= GM_CONVOLUTION_MOST; n++) {
        struct convolution_case wide = plain(rows, 16, 3, n, 1 + n % 2), high = plain(rows, 8, 5, 1 + n % 5, n);
        wide.edge = n % EDGES;
        wide.shift_x = n % 2 ? -(n / 2) : n - 1 - n / 2;
        high.edge = (n + 1) % EDGES;
        high.separable = n % 2;
        wide.separable = n % 4 < 2;
        high.shift_y = n % 4 < 2 ? 0 : n - 1 - n / 2;
        high.inputs = n % 8 == 0 ? CONVOLUTION_SPECIAL : CONVOLUTION_UNIFORM;
        if (!try(rows, wide) || !try(rows, high))
            return false;
    }
    return true;
}

/* Tiles at every edge, and one inside, by boxes where the addresses are aligned; a CTA that takes several. */
static bool test_edges(struct rows *rows) {
    for (int choice = 0; choice < EDGES * 2; choice++) {
        struct convolution_case cc = plain(rows, 2 * WIDTH + 16, rows->tile > 8 ? 40 : 2 * rows->tile + 9, 4, 2);
        cc.edge = choice % EDGES;
        cc.separable = choice / EDGES;
        cc.inputs = choice % 2 ? CONVOLUTION_SPECIAL : CONVOLUTION_UNIFORM;
        cc.sm_budget = 1;
        if (cc.edge != GM_CONVOLUTION_WRAP && !cc.separable) { /* more tiles than an SM has CTAs */
            cc.planes = rows->tile > 8 ? 3 : 4;
            cc.filter_width = 3;
            cc.height = 2 * rows->tile + 1;
        }
        if (!try(rows, cc))
            return false;
    }
    return true;
}

static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct convolution_case cc = plain(rows, 20 + offset, 4, 5, 3);
        cc.planes = 2;
        cc.edge = offset % EDGES;
        cc.x_start = offset;
        cc.out_start = offset * 5 % 8;
        cc.filter_start = offset % 4;
        cc.x_pad = offset * 3 % 8;
        cc.out_pad = offset % 2;
        cc.out_plane_pad = offset * 3 % 8;
        if (!try(rows, cc))
            return false;
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    return (struct rows){.kernel = kernel,
                         .result = result,
                         .tile = GM_CONVOLUTION_TILE_HEIGHT(c[GM_CONVOLUTION_THREADS], c[GM_CONVOLUTION_ROWS])};
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_filters(&rows) && test_edges(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        struct convolution_case cc = plain(&rows, WIDTH + 16, rows.tile + 2, 3, 2);
        cc.edge = seed % EDGES;
        cc.sm_budget = 1;
        try(&rows, cc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct convolution_case cc = plain(&rows, WIDTH, env.simulated ? 8 : 640, 3, 3);
    struct placed_convolution placed = {0};
    cc.separable = true;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_convolution(result, &cc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 6 && rows.failures == 0; i++) {
        const bool is_large = i < 3; /* tiles at every edge, and inside */
        struct convolution_case cc = plain(&rows,
                                           is_large ? 2 * WIDTH + 16
                                           : i < 5  ? 20
                                                    : 100,
                                           is_large ? 2 * rows.tile + 3 : 3, i == 3 || i == 5 ? 11 : 3, i > 3 ? 9 : 3);
        cc.edge = i % EDGES;
        cc.separable = i == 3 || i == 5;
        cc.inputs = i == 5 ? CONVOLUTION_SPECIAL : CONVOLUTION_UNIFORM;
        cc.x_start = i == 4;
        cc.out_pad = i % 2 ? 3 : 0;
        cc.planes = i < 2 || i == 3 ? 3 : 1;
        cc.sm_budget = is_large;
        try(&rows, cc);
    }
    free_operands(&rows.memory);
}

void add_convolution_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_convolution)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
