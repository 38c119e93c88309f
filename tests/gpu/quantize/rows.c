/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of the quantisers, by name: sizes around what a CTA takes, every choice, values that go wrong elsewhere,
 * guards, alignments, and late operands. */
#include "columns.h"
#include "common/quantize/tokens.h"
#include "quantize/quantize_tests.h"

enum { CHUNK = 8 };

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int share;
    bool by_elements;
    int64_t tile; /* elements of a CTA */
};

/* The kinds of scales that a variant makes, one after the other. */
static enum gm_scaling scaling_of(const struct rows *rows, int choice) {
    static const enum gm_scaling of_chunks[] = {GM_SCALE_GROUP, GM_SCALE_STATIC, GM_SCALE_AMAX_ONLY};
    return rows->share == GM_SHARE_row     ? GM_SCALE_ROW
           : rows->share == GM_SHARE_block ? GM_SCALE_BLOCK
                                           : of_chunks[choice % 3];
}

static struct quantize_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    const bool is_ragged = !rows->by_elements && columns % CHUNK;
    return (struct quantize_case){.rows = count,
                                  .columns = columns,
                                  .type = rows->kernel->type,
                                  .out_type = GM_E4M3,
                                  .scaling = scaling_of(rows, 0),
                                  .static_scale = 0.0123f,
                                  .inputs = QUANTIZE_NORMAL,
                                  .may_refuse = BIT(GM_REASON_NO_IMAGE) | (is_ragged ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct quantize_case qc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_quantize(rows->result, &qc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* Rows and columns: of chunks around a tile, of rows around what registers hold, of blocks around their sides. */
static void size_of(const struct rows *rows, int i, int64_t size[2]) {
    const int64_t tile = rows->tile;
    const int64_t chunks[][2] = {{1, 8},  {1, tile}, {1, tile + 8}, {3, tile / 2 - 8}, {tile / 8 + 1, 8},
                                 {5, 97}, {2, 1}};
    const int64_t row[][2] = {{1, 8}, {2, tile}, {1, tile + 8}, {3, tile - 8}, {1, 2 * tile + 40}, {5, 97}, {3, 1}};
    const int64_t blocks[][2] = {{1, 8}, {128, 128}, {129, 136}, {127, 120}, {130, 264}, {5, 97}, {3, 1}};
    const int64_t *const from = rows->share == GM_SHARE_row     ? row[i]
                                : rows->share == GM_SHARE_block ? blocks[i]
                                                                : chunks[i];
    size[0] = from[0], size[1] = from[1];
}

static bool test_sizes(struct rows *rows) {
    for (int i = 0; i < (opt.quick ? 3 : 7); i++) {
        int64_t size[2];
        size_of(rows, i, size);
        struct quantize_case qc = plain(rows, size[0], size[1]);
        qc.scaling = scaling_of(rows, i % 2); /* group, static */
        qc.inputs = i % 2 ? QUANTIZE_WIDE : QUANTIZE_POSITIVE;
        qc.x_pad = CHUNK * (i % 2);
        qc.out_pad = CHUNK;
        qc.scales_pad = i;
        qc.repeats = i == 1 ? 2 : 0;
        if (!try(rows, qc))
            return false;
    }
    return true;
}

/* What a problem may ask for, with every kind of input. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 36; choice++) {
        if (opt.quick && choice % 5)
            continue;
        const bool is_amax = scaling_of(rows, choice % 3) == GM_SCALE_AMAX_ONLY;
        struct quantize_case qc = plain(rows, 5, rows->by_elements ? 301 : 304);
        qc.scaling = scaling_of(rows, choice % 3);
        qc.out_type = (enum gm_type)(GM_E4M3 + choice / 3 % 3);
        qc.format = (enum gm_scale_format)(choice / 4 % (is_amax ? 2 : 3));
        qc.order = (enum gm_scale_order)(choice / 2 % 2);
        qc.division = (enum gm_division)(choice % 5 == 4);
        qc.group = (const int64_t[]){0, 32, 64, 128}[choice % 4];
        qc.inputs = (enum quantize_inputs)((choice * 4 + choice / 9) % QUANTIZE_INPUTS);
        qc.floor = choice % 7 == 6 ? 0.001f : 0;
        qc.static_scale = choice % 2 ? 0.0123f : 7e-3f;
        qc.scales_pad = choice % 3;
        if (!try(rows, qc))
            return false;
    }
    return true;
}

/* Values that go wrong elsewhere: each kind as a group, row or block, to each type. */
static bool test_values(struct rows *rows) {
    for (int i = 0; i < QUANTIZE_INPUTS * 3; i++) {
        if (opt.quick && i % 5)
            continue;
        struct quantize_case qc = plain(rows, 3, 128);
        qc.inputs = (enum quantize_inputs)(i % QUANTIZE_INPUTS);
        qc.out_type = (enum gm_type)(GM_E4M3 + i / QUANTIZE_INPUTS);
        if (!try(rows, qc))
            return false;
    }
    return true;
}

/* Static scales: middles between two numbers, with scales of every size, and those that are none. */
static bool test_static(struct rows *rows) {
    static const float scales[] = {1,         0.37f,    1e-3f,     3e-39f,  1e-30f, 2.5e30f, 1e36f,
                                   0x1p-149f, 0x1p127f, 0x1p-126f, 1.0625f, 0,      -1,      1e-45f};
    for (size_t i = 0; i < COUNT(scales) && rows->share == GM_SHARE_chunks; i++) {
        struct quantize_case qc = plain(rows, 3, 128);
        qc.scaling = GM_SCALE_STATIC;
        qc.static_scale = scales[i];
        qc.out_type = (enum gm_type)(GM_E4M3 + i % 3);
        qc.inputs = i < 11 ? QUANTIZE_MIDDLES : QUANTIZE_SPECIAL;
        if (!try(rows, qc))
            return false;
        qc.inputs = QUANTIZE_INFINITE;
        if (!try(rows, qc))
            return false;
    }
    return true;
}

static bool test_inputs(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (int i = 0; i < (int)COUNT(counts) * (rows->share == GM_SHARE_chunks ? 3 : 1); i++) {
        struct quantize_case counted = plain(rows, 7, 24);
        counted.scaling = scaling_of(rows, i / (int)COUNT(counts));
        counted.counted = true;
        counted.count = counts[i % (int)COUNT(counts)];
        if (!try(rows, counted))
            return false;
    }
    for (int i = 0; i < 2; i++) { /* each CTA takes several tiles */
        struct quantize_case few_sms = plain(rows, env.simulated ? 17 : 40, env.simulated ? 520 : 4096);
        few_sms.scaling = scaling_of(rows, 2 * i);
        few_sms.rows = rows->share == GM_SHARE_block ? 260 : few_sms.rows;
        few_sms.columns = rows->share == GM_SHARE_block ? 136 : few_sms.columns;
        few_sms.sm_budget = 1;
        few_sms.static_scale = (float)i;
        if (!try(rows, few_sms))
            return false;
    }
    return true;
}

/* Variants of 16-byte loads must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct quantize_case qc = plain(rows, 3, 40);
        qc.x_start = offset;
        qc.out_start = offset * 3 % 8;
        qc.scales_start = offset;
        qc.scaling = scaling_of(rows, offset);
        qc.x_pad = offset;
        qc.out_pad = offset;
        if (!rows->by_elements)
            qc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, qc))
            return false;
        if (!rows->by_elements && rows->result->cases != ran && offset * gm_type_bytes(rows->kernel->type) % 16) {
            fail(rows->result, "a variant of 16-byte loads accepted element offset %d", offset);
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
                         .share = c[GM_QUANTIZE_SHARE],
                         .by_elements = c[GM_QUANTIZE_VECTOR_BYTES] < 16,
                         .tile = (int64_t)c[GM_QUANTIZE_THREADS] * c[GM_QUANTIZE_VECTORS] * CHUNK};
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_choices(&rows) && test_values(&rows) && test_static(&rows) && test_inputs(&rows))
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
    struct quantize_case qc = plain(&rows, env.simulated ? 4 : 64, 1024);
    struct placed_quantize placed = {0};
    qc.scaling = scaling_of(&rows, 1);
    qc.counted = true;
    qc.count = (int)qc.rows - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_quantize(result, &qc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_quantize(&placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    static const enum quantize_inputs inputs[] = {QUANTIZE_NORMAL, QUANTIZE_SPECIAL, QUANTIZE_ZEROS, QUANTIZE_INFINITE};
    for (int i = 0; i < 12 && rows.failures == 0; i++) {
        struct quantize_case qc = plain(&rows, 9, i < 4 ? 264 : rows.share == GM_SHARE_row ? rows.tile + 264 : 520);
        qc.rows = rows.share == GM_SHARE_block ? 137 : qc.rows;
        qc.columns -= rows.by_elements;
        qc.scaling = scaling_of(&rows, i % 3);
        qc.inputs = inputs[i % 4];
        qc.format = (enum gm_scale_format)(i % 2);
        qc.order = (enum gm_scale_order)(i / 2 % 2);
        qc.out_type = (enum gm_type)(GM_E4M3 + i / 4);
        qc.static_scale = i % 3 == 2 ? 0 : i % 2 ? 0.5f : 0.0123f;
        qc.scales_pad = 3;
        qc.counted = i % 2;
        qc.count = 8;
        try(&rows, qc);
    }
    free_operands(&rows.memory);
}

void add_quantize_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_quantize)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
