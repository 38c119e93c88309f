/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of moe_finalize, by name: columns around its chunks, slots around its rounds, every choice, alignments, and
 * late operands. */
#include "columns.h"
#include "moe_finalize/moe_finalize_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, tile; /* elements of a chunk, and of a CTA */
};

static struct finalize_case plain(const struct rows *rows, int64_t tokens, int64_t columns, int64_t k) {
    return (struct finalize_case){.tokens = tokens,
                                  .columns = columns,
                                  .k = k,
                                  .x_rows = 13,
                                  .type = rows->kernel->type,
                                  .weighted = true,
                                  .inputs = FINALIZE_NORMAL,
                                  .may_refuse =
                                      BIT(GM_REASON_NO_IMAGE) | (columns % rows->chunk ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct finalize_case fc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_finalize(rows->result, &fc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][3] = {
        {1, chunk, 1},      {1, tile, 2}, {1, tile + chunk, 3},         {1, tile - chunk, 4},         {3, tile, 5},
        {97, 3 * chunk, 8}, {5, 97, 7},   {2, 2 * tile + 5 * chunk, 9}, {tile / chunk + 1, chunk, 1}, {4, chunk, 33}};
    for (size_t i = 0; i < (opt.quick ? 7 : COUNT(sizes)); i++) {
        struct finalize_case fc = plain(rows, sizes[i][0], sizes[i][1], sizes[i][2]);
        fc.has_residual = i % 2;
        fc.x_pad = 2 * chunk * (int64_t)(i % 2);
        fc.out_pad = chunk * (int64_t)(i % 3);
        fc.x_rows = i % 3 ? 13 : 1;
        fc.repeats = i == 2 ? 2 : 0;
        if (!try(rows, fc))
            return false;
    }
    return true;
}

/* Every combination of what a call may have, and of values. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 2 * 3 * 3 * 4; choice++) {
        struct finalize_case fc = plain(rows, 5, 3 * rows->chunk, 6);
        fc.weighted = choice % 2;
        fc.has_residual = choice / 2 % 3 > 0;
        fc.in_place = choice / 2 % 3 > 1;
        fc.slots = (enum finalize_slots)(choice / 6 % 3);
        fc.inputs = (enum finalize_inputs)(choice / 18);
        fc.slots_start = choice % 5;
        fc.x_pad = fc.residual_pad = fc.out_pad = rows->chunk;
        if (!try(rows, fc))
            return false;
    }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct finalize_case counted = plain(rows, 7, 3 * rows->chunk, 3);
        counted.counted = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    struct finalize_case few_sms = plain(rows, env.simulated ? 41 : 100, rows->tile, 2); /* a CTA takes several tiles */
    few_sms.sm_budget = 1;
    return try(rows, few_sms);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct finalize_case fc = plain(rows, 3, 5 * rows->chunk, 3);
        fc.has_residual = true;
        fc.x_start = offset;
        fc.residual_start = offset * 5 % 8;
        fc.out_start = offset * 3 % 8;
        fc.x_pad = offset;
        fc.out_pad = offset * 5 % 8;
        if (rows->chunk > 1)
            fc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, fc))
            return false;
        if (rows->chunk > 1 && rows->result->cases != ran && offset * gm_type_bytes(rows->kernel->type) % 16) {
            fail(rows->result, "a variant of 16-byte chunks accepted element offset %d", offset);
            return false;
        }
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    struct rows rows = {.kernel = kernel, .result = result};
    rows.chunk = c[GM_MOE_FINALIZE_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.tile = (int64_t)c[GM_MOE_FINALIZE_THREADS] * rows.chunk;
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_choices(&rows) && test_counts(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&rows, plain(&rows, 5, 3 * rows.chunk, 5));
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct finalize_case fc = plain(&rows, env.simulated ? 4 : 64, rows.tile, 5);
    struct placed_finalize placed = {0};
    fc.counted = true;
    fc.count = (int)fc.tokens - 1;
    fc.has_residual = true;
    fc.slots = FINALIZE_ALL;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_finalize(result, &fc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 4 && rows.failures == 0; i++) {
        struct finalize_case fc = plain(&rows, 9, rows.tile / 8 + 3 * rows.chunk, i % 2 ? 6 : 8);
        fc.has_residual = i % 2;
        fc.weighted = i != 3;
        fc.out_pad = i % 2 ? rows.chunk : 0;
        fc.counted = i == 1;
        fc.count = 7;
        fc.inputs = i == 2 ? FINALIZE_SPECIAL : i == 3 ? FINALIZE_INTEGERS : FINALIZE_NORMAL;
        try(&rows, fc);
    }
    free_operands(&rows.memory);
}

void add_finalize_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_moe_finalize)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
