/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of embed, by name: columns around its chunks, every choice, bad ids, alignments, and late operands. */
#include "columns.h"
#include "embed/embed_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, tile; /* elements of a chunk, and of a CTA */
};

static struct embed_case plain(const struct rows *rows, int64_t tokens, int64_t columns) {
    return (struct embed_case){.tokens = tokens,
                               .columns = columns,
                               .vocabulary = 13,
                               .type = rows->kernel->type,
                               .inputs = EMBED_NORMAL,
                               .flagged = true,
                               .may_refuse =
                                   BIT(GM_REASON_NO_IMAGE) | (columns % rows->chunk ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct embed_case ec) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_embed(rows->result, &ec, rows->kernel->name, 0, &rows->memory);
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
        struct embed_case ec = plain(rows, sizes[i][0], sizes[i][1]);
        ec.int64_ids = (int)(i % 2);
        ec.table_pad = 2 * chunk * (int64_t)(i % 2);
        ec.out_pad = chunk * (int64_t)(i % 3);
        ec.vocabulary = i % 3 ? 13 : 1;
        ec.repeats = i == 2 ? 2 : 0;
        if (!try(rows, ec))
            return false;
    }
    return true;
}

/* Every combination of what a problem may ask for, and of ids. */
static bool test_choices(struct rows *rows) {
    static const float scales[] = {0, 1, 1.5f, 0x1.921fb6p+5f};
    for (int choice = 0; choice < 2 * 4 * 3 * 2; choice++) {
        struct embed_case ec = plain(rows, 11, 5 * rows->chunk);
        ec.int64_ids = choice % 2;
        ec.scale = scales[choice / 2 % 4];
        ec.ids = (enum embed_ids)(choice / 8 % 3);
        ec.flagged = choice / 24 == 0;
        ec.inputs = (enum embed_inputs)(choice % 3);
        ec.ids_start = choice % 5;
        ec.table_pad = ec.out_pad = rows->chunk;
        if (!try(rows, ec))
            return false;
    }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct embed_case counted = plain(rows, 7, 3 * rows->chunk);
        counted.counted = true;
        counted.count = counts[i];
        counted.ids = i % 2 ? EMBED_BAD : EMBED_ANY;
        if (!try(rows, counted))
            return false;
    }
    struct embed_case few_sms = plain(rows, env.simulated ? 17 : 40, rows->tile); /* each CTA takes several tiles */
    few_sms.sm_budget = 1;
    return try(rows, few_sms);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct embed_case ec = plain(rows, 3, 5 * rows->chunk);
        ec.table_start = offset;
        ec.out_start = offset * 3 % 8;
        ec.table_pad = offset;
        ec.out_pad = offset * 5 % 8;
        if (rows->chunk > 1)
            ec.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, ec))
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
    rows.chunk = c[GM_EMBED_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.tile = (int64_t)c[GM_EMBED_THREADS] * c[GM_EMBED_VECTORS] * rows.chunk;
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_choices(&rows) && test_counts(&rows))
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
    struct embed_case ec = plain(&rows, env.simulated ? 4 : 64, rows.tile);
    struct placed_embed placed = {0};
    ec.counted = true;
    ec.count = (int)ec.tokens - 1;
    ec.flagged = false; /* what is written is not delayed */
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_embed(result, &ec, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 4 && rows.failures == 0; i++) {
        struct embed_case ec = plain(&rows, 9, rows.tile / 8 + 3 * rows.chunk);
        ec.int64_ids = i % 2;
        ec.ids = i < 2 ? EMBED_BAD : EMBED_EDGES;
        ec.scale = i % 2 ? 1.5f : 0;
        ec.out_pad = i % 2 ? rows.chunk : 0;
        ec.counted = i % 2;
        ec.count = 7;
        ec.inputs = i == 3 ? EMBED_SPECIAL : EMBED_NORMAL;
        try(&rows, ec);
    }
    free_operands(&rows.memory);
}

void add_embed_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_embed)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
