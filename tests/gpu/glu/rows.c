/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of GLU, by name: columns around its chunks, every choice, guards, alignments, and late operands. */
#include "columns.h"
#include "common/glu/params.h"
#include "common/makes_tokens.h"
#include "glu/glu_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures, tried;
    int64_t chunk, tile; /* elements of a chunk, and of a CTA */
    struct draws draws;
};

static bool makes_any(const struct rows *rows) {
    return rows->kernel->columns[GM_GLU_MAKES] == GM_MAKES_any;
}

static struct glu_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    const bool refuses = columns % rows->chunk && !makes_any(rows);
    return (struct glu_case){.rows = count,
                             .columns = columns,
                             .type = rows->kernel->type,
                             .activation = GM_ACT_SILU,
                             .inputs = GLU_NORMAL,
                             .may_refuse = BIT(GM_REASON_NO_IMAGE) | (refuses ? BIT(GM_REASON_SIZE) : 0)};
}

/* Variants with any out get one that is drawn, and every other time one SM, on which chunks are many, unless the case says so. */
static bool try(struct rows *rows, struct glu_case gc) {
    enum { MOST_FAILURES = 3 };
    if (makes_any(rows) && !gc.out.has_type) {
        gc.out = random_out(&rows->draws);
        gc.sm_budget |= rows->tried++ % 2;
        gc.in_place *= gm_type_bytes(type_of_out(&gc.out, gc.type)) == gm_type_bytes(gc.type);
    }
    rows->failures += !run_glu(rows->result, &gc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][2] = {{1, chunk},
                                {1, tile},
                                {1, tile + chunk},
                                {1, tile - chunk},
                                {3, tile},
                                {tile / chunk + 1, chunk},
                                {97, 3 * chunk},
                                {2, 2 * tile + 5 * chunk},
                                {5, 97}};
    for (size_t i = 0; i < (opt.quick ? 4 : COUNT(sizes)); i++) {
        struct glu_case gc = plain(rows, sizes[i][0], sizes[i][1]);
        gc.layout = (enum gm_glu_layout)(i % 3);
        gc.gate_pad = 2 * chunk * (int64_t)(i % 2);
        gc.out_pad = chunk;
        gc.repeats = i == 2 ? 2 : 0;
        if (!try(rows, gc))
            return false;
    }
    return true;
}

/* Packed operands are one row, whatever the columns. */
static bool test_packed(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][2] = {{1, 1}, {3, chunk + 1}, {7, 97}, {2, tile / 2 + 3}, {1, chunk - 1}, {5, tile + chunk}};
    for (size_t i = 0; i < (opt.quick ? 3 : 2 * COUNT(sizes)); i++) {
        struct glu_case gc = plain(rows, sizes[i % COUNT(sizes)][0], sizes[i % COUNT(sizes)][1]);
        gc.layout = (enum gm_glu_layout)(i % 3);
        gc.counted = i % 2;
        gc.count = (int)(i % 5) - 1;
        if (gc.columns > 0 && !try(rows, gc))
            return false;
    }
    return true;
}

/* Every combination of what a problem may ask for. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 5 * 3 * 2 * 2; choice++) {
        if (opt.quick && choice % 7)
            continue;
        struct glu_case gc = plain(rows, 7, 5 * rows->chunk);
        gc.activation = (enum gm_activation)(choice % 5);
        gc.layout = (enum gm_glu_layout)(choice / 5 % 3);
        gc.rounding = (enum gm_rounding)(choice / 15 % 2);
        if (choice / 30) {
            gc.limit = 0.75f;
            gc.sigmoid_factor = 1.702f;
            gc.up_offset = 1;
        }
        gc.inputs = choice % 4 == 0 ? GLU_SPECIAL : choice % 4 == 1 ? GLU_WIDE : GLU_NORMAL;
        gc.in_place = gc.layout == GM_GLU_APART ? choice % 3 : gc.layout == GM_GLU_NO_UP ? choice % 2 : 0;
        gc.gate_pad = gc.up_pad = gc.out_pad = rows->chunk;
        if (!try(rows, gc))
            return false;
    }
    return true;
}

static bool test_inputs(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct glu_case counted = plain(rows, 7, 3 * rows->chunk);
        counted.counted = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    struct glu_case integers = plain(rows, 9, 4 * rows->chunk);
    integers.inputs = GLU_INTEGERS;
    integers.activation = GM_ACT_RELU;
    struct glu_case few_sms = plain(rows, 40, rows->tile); /* each CTA takes several tiles */
    few_sms.rows = env.simulated ? 17 : 40;
    few_sms.sm_budget = 1;
    return try(rows, integers) && try(rows, few_sms);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct glu_case gc = plain(rows, 3, 5 * rows->chunk);
        gc.gate_start = offset;
        gc.out_start = offset * 3 % 8;
        gc.up_start = offset * 5 % 8;
        gc.layout = (enum gm_glu_layout)(offset % 3);
        gc.gate_pad = offset;
        if (rows->chunk > 1 && !makes_any(rows))
            gc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, gc))
            return false;
        if (rows->chunk > 1 && !makes_any(rows) && rows->result->cases != ran &&
            offset * gm_type_bytes(rows->kernel->type) % 16) {
            fail(rows->result, "a variant of 16-byte chunks accepted element offset %d", offset);
            return false;
        }
    }
    return true;
}

/* Scales of groups and rows of every length; by name all other variants must refuse them. */
static bool test_scales(struct rows *rows) {
    static const int64_t widths[] = {64, 128, 8, 1032, 264, 2056, 160, 97, 1001, 4104};
    const int64_t vectors = rows->kernel->columns[GM_GLU_VECTORS], tiles = vectors == 1 ? 3 : 1;
    const int64_t long_row = tiles * 512 * vectors * GLU_ANY_CHUNK + 264; /* and a part of one more */
    for (size_t i = 0; i < (makes_any(rows) ? (opt.quick ? 10 : 31) : 1); i++) {
        struct glu_case gc = plain(rows, 1 + (int64_t)(i % 4), i < 30 ? widths[i % COUNT(widths)] : long_row);
        gc.out = random_out(&rows->draws);
        gc.out.has_type = 1;
        gc.out.type = (enum gm_type)(GM_E4M3 + (int)(i % 3));
        if (i % 3 < 2 || i == 30)
            gc.out.scaling = i % 2 && i < 30 ? GM_SCALE_GROUP : GM_SCALE_ROW;
        gc.layout = (enum gm_glu_layout)(i % 3);
        gc.inputs = i % 5 == 3 ? GLU_SPECIAL : GLU_NORMAL;
        gc.gate_pad = gc.up_pad = gc.out_pad = 16 - gc.columns % 16;
        gc.sm_budget = i % 4 >= 2;
        gc.seed = i;
        gc.may_refuse |= makes_any(rows) ? 0 : BIT(GM_REASON_LAYOUT);
        const int ran = rows->result->cases;
        if (!try(rows, gc))
            return false;
        if (!makes_any(rows) && rows->result->cases != ran) {
            fail(rows->result, "a variant of one out accepted another");
            return false;
        }
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    struct rows rows = {.kernel = kernel, .result = result};
    rows.draws.stream = opt.seed ^ 0xa78;
    rows.chunk = makes_any(&rows) ? GLU_ANY_CHUNK : c[GM_GLU_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.tile = (makes_any(&rows) ? 128 : (int64_t)c[GM_GLU_THREADS]) * c[GM_GLU_VECTORS] * rows.chunk;
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_packed(&rows) && test_choices(&rows) && test_inputs(&rows) && test_scales(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&rows, plain(&rows, 5, 3 * rows.chunk));
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct glu_case gc = plain(&rows, env.simulated ? 4 : 64, rows.tile);
    struct placed_glu placed = {0};
    gc.counted = true;
    gc.count = (int)gc.rows - 1;
    if (makes_any(&rows))
        gc.out = (struct out_case){.has_type = 1, .type = GM_E4M3, .static_scale = 0.25f};
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_glu(result, &gc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int layout = GM_GLU_APART; layout <= GM_GLU_NO_UP && rows.failures == 0; layout++)
        for (int clamped = 0; clamped < 2 && rows.failures == 0; clamped++) {
            struct glu_case gc = plain(&rows, 9, rows.tile / 8 + 3 * rows.chunk);
            gc.out_pad = clamped ? 0 : rows.chunk;
            gc.columns += clamped;
            gc.layout = (enum gm_glu_layout)layout;
            gc.limit = clamped ? 0.5f : 0;
            gc.up_offset = clamped;
            gc.inputs = clamped ? GLU_SPECIAL : GLU_NORMAL;
            gc.counted = clamped;
            gc.count = 7;
            try(&rows, gc);
        }
    if (makes_any(&rows) && test_scales(&rows))
        test_alignment(&rows);
    free_operands(&rows.memory);
}

void add_glu_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_glu)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
