/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of process_logits, by name: columns around its chunks and tiles, every step, bad values, slots, last ids,
 * alignments, and late operands. */
#include "columns.h"
#include "process_logits/process_logits_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, tile; /* elements of a chunk, and of a CTA */
};

/* It has everything but a cap. */
static struct logits_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    return (struct logits_case){.rows = count,
                                .columns = columns,
                                .type = rows->kernel->type,
                                .temperature = 0.7f,
                                .repetition = 1.3f,
                                .frequency = 0.1f,
                                .presence = 0.6f,
                                .has_counts = true,
                                .has_bias = true,
                                .has_mask = true,
                                .may_refuse =
                                    BIT(GM_REASON_NO_IMAGE) | (columns % rows->chunk ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct logits_case lc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_logits(rows->result, &lc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][2] = {{1, chunk}, {2, tile + chunk}, {1, tile - chunk}, {3, 97}, {37, 3 * chunk}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct logits_case lc = plain(rows, sizes[i][0], sizes[i][1]);
        lc.pad = chunk * (int64_t)(i % 2);
        lc.has_last = i != 2;
        lc.repeats = i == 2 ? 2 : 0;
        if (!try(rows, lc))
            return false;
    }
    return true;
}

/* Every combination of a row's state, with and without a cap, wide and in place, of ordinary and of bad values. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 48; choice++) {
        struct logits_case lc = plain(rows, 11, 9 * rows->chunk);
        lc.has_counts = choice % 2;
        lc.has_bias = choice / 2 % 2;
        lc.has_mask = choice / 4 % 2;
        lc.has_last = lc.has_counts && choice / 8 % 2;
        lc.cap = choice / 16 % 3 == 2 ? 5 : 0;
        lc.wide = rows->kernel->type != GM_FP32 && choice / 8 % 3 == 1;
        lc.in_place = choice / 8 % 3 == 2;
        lc.by_row = choice / 16 % 3 == 1 && choice % 8 != 3;
        lc.inputs = choice / 16 % 3 == 1 ? LOGITS_SPECIAL : LOGITS_NORMAL;
        lc.slots = choice / 8 % 2 ? 13 : 0;
        lc.pad = rows->chunk;
        if (!try(rows, lc))
            return false;
    }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct logits_case counted = plain(rows, 7, 3 * rows->chunk);
        counted.counted = counted.has_last = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    struct logits_case few_sms = plain(rows, 41, 3 * rows->chunk); /* a CTA takes several tiles */
    few_sms.sm_budget = 1;
    return try(rows, few_sms);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick || env.simulated ? 4 : 8); offset++) {
        struct logits_case lc = plain(rows, 3, 5 * rows->chunk);
        lc.start = offset;
        lc.out_start = offset * 5 % 8;
        lc.counts_start = offset * 3 % 8;
        lc.pad = offset;
        lc.has_last = true;
        if (rows->chunk > 1)
            lc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, lc))
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
    rows.chunk = c[GM_PROCESS_LOGITS_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.tile = (int64_t)c[GM_PROCESS_LOGITS_THREADS] * c[GM_PROCESS_LOGITS_VECTORS] * rows.chunk;
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_choices(&rows) && test_counts(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct logits_case lc = plain(&rows, 5, 3 * rows.chunk);
        set_schedule((uint64_t)seed);
        lc.has_last = true;
        try(&rows, lc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct logits_case lc = plain(&rows, env.simulated ? 4 : 64, 9 * rows.chunk);
    struct placed_logits placed = {0};
    lc.counted = lc.by_row = true;
    lc.count = (int)lc.rows - 1;
    lc.slots = lc.rows + 2;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_logits(result, &lc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 4 && rows.failures == 0; i++) {
        struct logits_case lc = plain(&rows, 9, i ? 11 * rows.chunk : rows.tile + 3 * rows.chunk);
        lc.has_last = i != 2;
        lc.slots = i == 1 ? 12 : 0;
        lc.by_row = i == 2;
        lc.wide = i == 3 && rows.kernel->type != GM_FP32;
        lc.counted = i == 1;
        lc.count = 7;
        lc.inputs = i == 3 ? LOGITS_SPECIAL : LOGITS_NORMAL;
        try(&rows, lc);
    }
    free_operands(&rows.memory);
}

void add_logits_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_process_logits)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
