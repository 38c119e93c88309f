/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of reductions, by name: every reduction along everything, sizes around its groups and parts, guards,
 * alignments, and late operands. */
#include "columns.h"
#include "common/reduce/params.h"
#include "reduce/reduce_tests.h"

enum { WORKSPACE = 1 << 20, LONG_ROW = 4096 /* chunks, which a variant of few threads does not take */ };

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct reduce_memory memory;
    int failures;
    int64_t chunk, step; /* elements of a chunk; chunks that a CTA takes at once */
    bool is_wide;        /* 16 bytes a chunk */
};

static struct reduce_case plain(const struct rows *rows, enum gm_reduce_along along, int64_t count, int64_t columns) {
    return (struct reduce_case){.rows = count,
                                .columns = columns,
                                .type = rows->kernel->type,
                                .along = along,
                                .fp32_out = true,
                                .inputs = REDUCE_POSITIVE,
                                .workspace = WORKSPACE,
                                .may_refuse = BIT(GM_REASON_NO_IMAGE)};
}

static bool try(struct rows *rows, struct reduce_case rc) {
    enum { MOST_FAILURES = 3 };
    if (rc.columns % rows->chunk || rc.columns / rows->chunk > LONG_ROW)
        rc.may_refuse |= BIT(GM_REASON_SIZE);
    rows->failures += !run_reduce(rows->result, &rc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* Every reduction along everything, of every kind of inputs, to either type. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 7 * 3 * REDUCE_INPUTS; choice++) {
        if (opt.quick && choice % 5 && choice / 21 != REDUCE_SPECIAL)
            continue;
        struct reduce_case rc = plain(rows, (enum gm_reduce_along)(choice / 7 % 3), 11, 5 * rows->chunk);
        rc.reduction = (enum gm_reduction)(choice % 7);
        rc.inputs = (enum reduce_inputs)(choice / 21);
        rc.fp32_out = choice % 2;
        rc.x_pad = choice % 4 < 2 ? rows->chunk : 0;
        rc.out_start = choice % 3;
        rc.seed = (uint64_t)choice;
        if (!try(rows, rc))
            return false;
    }
    return true;
}

/* Rows of one chunk, of as many as their threads take at once and beside that, and longer ones. */
static bool test_columns(struct rows *rows) {
    const int64_t lengths[] = {1, 2, 8, 9, 31, 33, 127, 130, 513, 1024, 1031, LONG_ROW + 3};
    for (size_t i = 0; i < (opt.quick ? 5 : COUNT(lengths)); i++) {
        struct reduce_case rc = plain(rows, GM_REDUCE_COLUMNS,
                                      lengths[i] > 100 ? 3
                                      : rows->is_wide  ? 131
                                                       : 70,
                                      lengths[i] * rows->chunk);
        rc.reduction = (enum gm_reduction)(i % 7);
        rc.inputs = (enum reduce_inputs)(i % 4);
        rc.repeats = i == 3;
        if (!try(rows, rc))
            return false;
        rc.reduction = GM_REDUCTION_SUM;
        rc.inputs = REDUCE_INTEGERS;
        rc.fp32_out = false;
        if (i > 8 && !try(rows, rc))
            return false;
    }
    return true;
}

/* As many parts as have work, and with a ragged last one. */
static bool test_rows(struct rows *rows) {
    const int64_t vectors = rows->kernel->columns[GM_REDUCE_VECTORS], threads = rows->kernel->threads;
    const int64_t strips[] = {1, 3, 32, 33, 70};
    for (size_t i = 0; i < (opt.quick ? 2 : COUNT(strips)); i++) {
        int64_t side_by_side = 1;
        while (side_by_side < strips[i] && side_by_side < (rows->is_wide ? 32 : 256))
            side_by_side *= 2;
        const int64_t step = threads / side_by_side * vectors, counts[] = {1, step, 5 * step + 1, 4 * step - 1};
        for (size_t j = 0; j < COUNT(counts); j++) {
            struct reduce_case rc = plain(rows, GM_REDUCE_ROWS, counts[j], strips[i] * rows->chunk);
            rc.reduction = (enum gm_reduction)((i + j) % 7);
            rc.inputs = (enum reduce_inputs)((i + 2 * j) % 4);
            rc.workspace = (i + j) % 4 == 3 ? 0 : WORKSPACE;
            rc.repeats = j == 2 ? 1 : 0;
            if ((env.simulated || opt.self_test) && counts[j] * strips[i] * rows->chunk > 90000)
                rc.rows = 90000 / (strips[i] * rows->chunk);
            if (!try(rows, rc))
                return false;
        }
    }
    return true;
}

static bool test_all(struct rows *rows) {
    const int64_t chunk = rows->chunk, step = rows->step;
    const int64_t sizes[][2] = {
        {1, 1}, {1, chunk - 1}, {3, chunk + 1}, {1, step * chunk}, {5, step * chunk + 3}, {4 * step / 3, 3 * chunk}};
    for (size_t i = 0; i < (opt.quick ? 3 : 2 * COUNT(sizes)); i++) {
        struct reduce_case rc = plain(rows, GM_REDUCE_ALL, sizes[i % COUNT(sizes)][0], sizes[i % COUNT(sizes)][1]);
        rc.reduction = (enum gm_reduction)((i + 5) % 7);
        rc.inputs = (enum reduce_inputs)(i % 4);
        rc.x_pad = i >= COUNT(sizes) ? chunk : 0;
        rc.workspace = i % 5 == 4 ? 0 : WORKSPACE;
        rc.repeats = i == 4 ? 1 : 0;
        if (rc.columns > 0 && !try(rows, rc))
            return false;
    }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (size_t i = 0; i < 3 * COUNT(counts); i++) {
        struct reduce_case counted = plain(rows, (enum gm_reduce_along)(i % 3), 7, 3 * rows->chunk);
        counted.counted = true;
        counted.count = counts[i / 3];
        counted.reduction = (enum gm_reduction)((i + i / 3) % 7);
        if (!try(rows, counted))
            return false;
    }
    struct reduce_case few_sms = plain(rows, GM_REDUCE_COLUMNS, env.simulated ? 60 : 3000, 150 * rows->chunk);
    few_sms.sm_budget = 1; /* each CTA takes several rows */
    if (!try(rows, few_sms))
        return false;
    few_sms.along = GM_REDUCE_ROWS; /* and several tiles */
    few_sms.rows = 3;
    few_sms.columns = (env.simulated ? 300 : 3000) * rows->chunk;
    return try(rows, few_sms);
}

/* Results of no elements. */
static bool test_empty(struct rows *rows) {
    static const enum gm_reduction sums[] = {GM_REDUCTION_SUM, GM_REDUCTION_MEAN, GM_REDUCTION_L2};
    for (int i = 0; i < 9; i++) {
        const enum gm_reduce_along along = (enum gm_reduce_along)(i / 3);
        struct reduce_case rc =
            plain(rows, along, along == GM_REDUCE_COLUMNS ? 5 : 0, along == GM_REDUCE_COLUMNS ? 0 : 3 * rows->chunk);
        rc.reduction = sums[i % 3];
        if (!try(rows, rc))
            return false;
    }
    return true;
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct reduce_case rc = plain(rows, (enum gm_reduce_along)(offset % 3), 3, 5 * rows->chunk);
        rc.x_start = offset;
        rc.out_start = offset * 3 % 8;
        rc.x_pad = offset;
        rc.reduction = (enum gm_reduction)(offset % 7);
        if (rows->chunk > 1)
            rc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, rc))
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
    rows.is_wide = c[GM_REDUCE_VECTOR_BYTES] == 16;
    rows.chunk = c[GM_REDUCE_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.step = (int64_t)c[GM_REDUCE_THREADS] * c[GM_REDUCE_VECTORS];
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_choices(&rows) && test_columns(&rows) && test_rows(&rows) && test_all(&rows) && test_counts(&rows) &&
        test_empty(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        struct reduce_case of_all = plain(&rows, GM_REDUCE_ALL, 1, 5 * rows.step * rows.chunk);
        struct reduce_case along_rows = plain(&rows, GM_REDUCE_ROWS, 5 * rows.step / 32, 20 * rows.chunk);
        of_all.reduction = (enum gm_reduction)(seed % 7);
        along_rows.reduction = (enum gm_reduction)((seed + 3) % 7);
        try(&rows, seed % 2 ? along_rows : of_all);
    }
    set_schedule(opt.schedule);
    free_reduce_memory(&rows.memory);
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

/* One plan and one workspace, launch after launch with other inputs: what the launch before has left there must not
 * be taken for this one's. Of two parts the last has no rows, so that the CTA which collects is there while the other still
 * works. */
static void run_parts(const struct test *test, struct result *result) {
    enum { LAUNCHES = 6 };
    struct rows rows = rows_of(test, result);
    const int64_t side_by_side = rows.is_wide ? 32 : 256, strips = rows.is_wide ? 20 : 250;
    for (int along = GM_REDUCE_ROWS; along <= GM_REDUCE_ALL; along++)
        for (int place = 0; place < 2; place++) {
            struct reduce_case rc =
                plain(&rows, (enum gm_reduce_along)along, 10 * rows.step / side_by_side, strips * rows.chunk);
            rc.workspace = 2 * (size_t)(side_by_side * GM_REDUCE_STRIP_BYTES(rows.chunk) + GM_REDUCE_FLAG_BYTES);
            if (along == GM_REDUCE_ALL) {
                rc.columns = side_by_side * rows.chunk;
                rc.workspace = 2 * (GM_REDUCE_TOTAL_BYTES + GM_REDUCE_FLAG_BYTES);
            }
            rc.counted = true;
            rc.count = (int)rc.rows / 2;
            rc.reduction = place ? GM_REDUCTION_ARGMIN : GM_REDUCTION_SUM;
            rc.inputs = place ? REDUCE_NORMAL : REDUCE_INTEGERS;
            if (result->state == PASSED)
                run_reduce_again(result, &rc, rows.kernel->name, LAUNCHES, &rows.memory);
        }
    free_reduce_memory(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    for (int along = GM_REDUCE_COLUMNS; along <= GM_REDUCE_ALL && result->state == PASSED; along++) {
        struct reduce_case rc =
            plain(&rows, (enum gm_reduce_along)along, env.simulated ? 4 : 64, (env.simulated ? 40 : 1000) * rows.chunk);
        struct placed_reduce placed = {0};
        rc.counted = true;
        rc.count = (int)rc.rows - 1;
        if (place_reduce(result, &rc, &rows.memory, &placed))
            run_early(result, &placed.placed, rows.kernel->name);
        free_placed_reduce(&placed);
    }
    free_reduce_memory(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 7 * 3 * 2 && rows.failures == 0; i++) {
        const enum gm_reduce_along along = (enum gm_reduce_along)(i % 3);
        struct reduce_case rc =
            plain(&rows, along, along == GM_REDUCE_COLUMNS ? 40 : 5 * rows.step / 64, 40 * rows.chunk);
        if (along == GM_REDUCE_ALL && i % 2)
            rc.rows = 1, rc.columns = 5 * rows.step * rows.chunk + rows.chunk - 1;
        else if (along == GM_REDUCE_COLUMNS && i % 2)
            rc.columns = 150 * rows.chunk;
        rc.reduction = (enum gm_reduction)(i / 3 % 7);
        rc.inputs = i < 21 ? REDUCE_SPECIAL : i % 2 ? REDUCE_INTEGERS : i % 4 ? REDUCE_TIES : REDUCE_EQUAL;
        rc.x_pad = i % 2 ? 0 : rows.chunk;
        rc.counted = i % 4 == 0;
        rc.count = (int)rc.rows - 3;
        rc.repeats = 1;
        try(&rows, rc);
    }
    free_reduce_memory(&rows.memory);
}

void add_reduce_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_reduce)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        add_test("parts", kernel->name, run_parts, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
