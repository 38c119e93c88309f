/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of dequantize, by name: sizes around what a CTA takes, every type and scale, values that go wrong elsewhere,
 * guards, alignments, and late operands. */
#include "columns.h"
#include "dequantize/dequantize_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, tile; /* elements of a chunk at most, and of a CTA */
};

static const enum gm_scaling scalings[] = {GM_SCALE_GROUP, GM_SCALE_ROW, GM_SCALE_STATIC, GM_SCALE_BLOCK};

static struct dequantize_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    return (struct dequantize_case){.rows = count,
                                    .columns = columns,
                                    .scaling = GM_SCALE_GROUP,
                                    .may_refuse =
                                        BIT(GM_REASON_NO_IMAGE) | (columns % rows->chunk ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct dequantize_case dc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_dequantize(rows->result, &dc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][2] = {{1, chunk}, {1, tile + chunk}, {3, tile / 2 - chunk}, {97, 3 * chunk}, {5, 97}};
    for (size_t i = 0; i < (opt.quick ? 3 : COUNT(sizes)); i++) {
        struct dequantize_case dc = plain(rows, sizes[i][0], sizes[i][1]);
        dc.scaling = scalings[i % 2];
        dc.x_pad = chunk * (int64_t)(i % 2);
        dc.out_pad = chunk;
        dc.scales_pad = (int64_t)i;
        dc.repeats = i == 1 ? 2 : 0;
        dc.out_type = (enum gm_type)(i % 3);
        if (!try(rows, dc))
            return false;
    }
    return true;
}

/* Packed operands of one scale are one row, whatever the columns. */
static bool test_packed(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][2] = {{1, 1}, {3, chunk + 1}, {2, tile / 2 + 3}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct dequantize_case dc = plain(rows, sizes[i][0], sizes[i][1]);
        dc.scaling = GM_SCALE_STATIC;
        dc.out_type = (enum gm_type)(i % 3);
        dc.counted = i % 2;
        dc.count = 2;
        if (!try(rows, dc))
            return false;
    }
    return true;
}

/* Every type of x and out with every kind of scale, and with values of each kind. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 36; choice++) {
        if (opt.quick && choice % 5)
            continue;
        struct dequantize_case dc = plain(rows, 5, 264);
        dc.type = (enum gm_type)(GM_E4M3 + choice % 3);
        dc.out_type = (enum gm_type)(choice / 3 % 3);
        dc.scaling = scalings[choice / 9];
        dc.rows = dc.scaling == GM_SCALE_BLOCK ? 131 : 5;
        dc.columns = dc.scaling == GM_SCALE_BLOCK ? 136 : 264;
        dc.format = (enum gm_scale_format)(dc.scaling == GM_SCALE_STATIC ? 0 : (choice + choice / 3) % 3);
        dc.order = (enum gm_scale_order)(choice / 2 % 2);
        dc.group = choice % 4 ? 16 << choice % 4 : 0;
        dc.inputs = (enum dequantize_inputs)((choice + choice / 9) % DEQUANTIZE_INPUTS);
        dc.scales_pad = choice % 3;
        dc.x_pad = dc.out_pad = 8 * (choice % 2);
        dc.seed = (uint64_t)choice;
        if (!try(rows, dc))
            return false;
    }
    return true;
}

static bool test_inputs(struct rows *rows) {
    static const int counts[] = {0, 3, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct dequantize_case counted = plain(rows, 7, 24);
        counted.scaling = scalings[i % 2];
        counted.counted = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    struct dequantize_case few_sms =
        plain(rows, env.simulated ? 17 : 40, rows->tile); /* each CTA takes several tiles */
    few_sms.sm_budget = 1;
    return try(rows, few_sms);
}

/* Variants of 16-byte chunks must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct dequantize_case dc = plain(rows, 3, 40);
        dc.x_start = offset;
        dc.out_start = offset * 3 % 8;
        dc.scales_start = offset;
        dc.scaling = scalings[offset % 4];
        dc.out_type = (enum gm_type)(offset % 3);
        dc.x_pad = dc.out_pad = offset;
        if (rows->chunk > 1)
            dc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, dc))
            return false;
        if (rows->chunk > 1 && rows->result->cases != ran && offset % 4) {
            fail(rows->result, "a variant of 16-byte chunks accepted element offset %d", offset);
            return false;
        }
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    return (struct rows){.kernel = kernel,
                         .result = result,
                         .chunk = c[GM_DEQUANTIZE_ELEMENTS],
                         .tile = (int64_t)c[GM_DEQUANTIZE_THREADS] * c[GM_DEQUANTIZE_ELEMENTS]};
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_packed(&rows) && test_choices(&rows) && test_inputs(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&rows, plain(&rows, 5, 24));
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct dequantize_case dc = plain(&rows, env.simulated ? 4 : 64, 1024);
    struct placed_dequantize placed = {0};
    dc.counted = true;
    dc.count = (int)dc.rows - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_dequantize(result, &dc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 12 && rows.failures == 0; i++) {
        struct dequantize_case dc = plain(&rows, 9, i < 4 ? 264 : 520);
        dc.scaling = scalings[i % 4];
        dc.rows = dc.scaling == GM_SCALE_BLOCK ? 137 : dc.scaling == GM_SCALE_STATIC ? 7 : 9;
        dc.columns = dc.scaling == GM_SCALE_BLOCK ? 136 : dc.columns;
        dc.type = (enum gm_type)(GM_E4M3 + i % 3);
        dc.out_type = (enum gm_type)(i / 3 % 3);
        dc.inputs = (enum dequantize_inputs)(i % DEQUANTIZE_INPUTS);
        dc.format = dc.scaling == GM_SCALE_STATIC ? GM_SCALE_FP32 : (enum gm_scale_format)(2 - i / 2 % 3);
        dc.order = (enum gm_scale_order)(i / 2 % 2);
        dc.group = i % 2 ? 32 : 64;
        dc.columns += dc.scaling == GM_SCALE_STATIC;
        dc.scales_pad = 3;
        dc.counted = i % 2;
        dc.count = 8;
        try(&rows, dc);
    }
    free_operands(&rows.memory);
}

void add_dequantize_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_dequantize)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
