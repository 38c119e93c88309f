/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of histograms, by name: ranges of bins, sizes around its chunks, parts and slices, guards, alignments, and late
 * operands. */
#include "columns.h"
#include "common/histogram/params.h"
#include "histogram/histogram_tests.h"

enum { WORKSPACE = 4096, MOST_BINS = 131072 };

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct histogram_memory memory;
    int failures;
    int64_t chunk, step; /* elements of a chunk; and of a chunk for each thread */
};

static struct histogram_case plain(const struct rows *rows, enum gm_histogram_of of, int64_t count, int64_t columns,
                                   int64_t bins) {
    return (struct histogram_case){.rows = count,
                                   .columns = columns,
                                   .bins = bins,
                                   .type = rows->kernel->type,
                                   .of = of,
                                   .workspace = WORKSPACE,
                                   .may_refuse = BIT(GM_REASON_NO_IMAGE)};
}

static bool try(struct rows *rows, struct histogram_case hc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_histogram(rows->result, &hc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* A range of bins for a case: of bytes within and around their values. */
static void set_range(struct histogram_case *hc, size_t choice) {
    static const int64_t firsts[] = {0, -5, 7, 1000000, -2000000000, 3};
    static const int64_t widths[] = {1, 3, 1, 64, 1000, 7};
    static const float lowers[] = {-2, 0, -1e-3f, 0.7f, -3e4f, -0.0f}, uppers[] = {3, 1, 1e-3f, 0.9f, 3e4f, 100};
    hc->lower = lowers[choice % COUNT(lowers)];
    hc->upper = uppers[choice % COUNT(uppers)];
    hc->first = firsts[choice % COUNT(firsts)];
    hc->width = widths[choice % COUNT(widths)];
    if (hc->type == GM_UINT8 && (hc->first > 255 || hc->first < -300))
        hc->first = 100;
    if (hc->bins * hc->width > INT32_MAX / 2)
        hc->width = 1;
}

/* Every kind of inputs, of ranges, and of counts. */
static bool test_choices(struct rows *rows) {
    static const int64_t bins[] = {1, 2, 10, 255, 256, 257, 1000};
    for (size_t choice = 0; choice < (opt.quick ? 16 : 28); choice++) {
        struct histogram_case hc =
            plain(rows, (enum gm_histogram_of)(choice / 2 % 2), 5, 40 + 61 * (int64_t)(choice % 3), bins[choice % 7]);
        set_range(&hc, choice);
        hc.inputs = (enum histogram_inputs)(choice % HISTOGRAM_INPUTS);
        hc.wide = choice % 5 < 2;
        hc.accumulate = choice / 3 % 2;
        hc.x_pad = choice % 6 < 3 ? 0 : (int64_t)(choice % 6);
        hc.x_start = (int)(choice % 4 ? choice % 16 : 0);
        hc.counts_pad = choice % 3;
        hc.counts_start = (int)(choice % 5);
        hc.seed = choice;
        if (!try(rows, hc))
            return false;
    }
    return true;
}

/* Of all elements: a chunk for each thread of some CTAs, one fewer, and a ragged rest. Several rounds of a thread's chunks in
 * one CTA. */
static bool test_parts(struct rows *rows) {
    const int64_t chunk = rows->chunk, step = rows->step;
    const int64_t sizes[][2] = {{1, 12 * step}, {1, 14 * step + 3}, {5, 3 * step - 1}, {70, chunk * 300 + 1}};
    for (size_t i = 0; i < (opt.quick ? 2 : COUNT(sizes)); i++) {
        struct histogram_case hc = plain(rows, GM_HISTOGRAM_ALL, sizes[i][0], sizes[i][1], 64);
        set_range(&hc, i % 2);
        hc.inputs = (enum histogram_inputs)(i % 3);
        hc.x_start = i == 1 ? 1 : 0;
        hc.x_pad = i > 1 ? 5 : 0;
        hc.wide = i == 2;
        hc.accumulate = i == 3;
        hc.repeats = i == 1;
        if (!try(rows, hc))
            return false;
    }
    struct histogram_case rounds = plain(rows, GM_HISTOGRAM_ROWS, 3, 128 * 19 * chunk + 1, 16);
    rounds.sm_budget = 1;
    rounds.workspace = 0;
    return try(rows, rounds);
}

/* Bins of all words: those of 64-bit values are 0 and more, and no negative one agrees with them in more than its lower half. */
static bool test_words(struct rows *rows) {
    for (int i = 0; i < 2; i++) {
        struct histogram_case hc = plain(rows, GM_HISTOGRAM_ALL, 2, 333, i ? 2 : 4);
        hc.width = (INT64_C(1) << 32) / hc.bins;
        hc.inputs = i ? HISTOGRAM_EDGES : HISTOGRAM_UNIFORM;
        if (!try(rows, hc))
            return false;
    }
    return true;
}

/* More bins than one CTA has room for. */
static bool test_slices(struct rows *rows) {
    const int64_t room = rows->kernel->smem_bytes / 4 - GM_HISTOGRAM_APART;
    const int64_t bins[] = {MOST_BINS, room, room + 1};
    for (size_t i = 0; i < (opt.quick ? 1 : COUNT(bins)); i++) {
        struct histogram_case hc = plain(rows, GM_HISTOGRAM_ALL, 1, (i ? 1 : 20) * rows->step + 1, bins[i]);
        hc.inputs = i == 1 ? HISTOGRAM_EDGES : HISTOGRAM_UNIFORM;
        hc.first = rows->kernel->type == GM_UINT8 ? -10 : -(bins[i] / 2);
        hc.wide = i == 2;
        hc.accumulate = i == 2;
        if (!try(rows, hc))
            return false;
    }
    return true;
}

/* Short rows have CTAs of fewer threads, and on one SM each of them has several rows. */
static bool test_rows(struct rows *rows) {
    for (size_t i = 0; i < 4; i++) {
        struct histogram_case hc = plain(rows, GM_HISTOGRAM_ROWS, i % 2 ? 13 : 40, i < 2 ? 1 : 3 * rows->chunk + 5, 20);
        hc.inputs = (enum histogram_inputs)i;
        hc.x_pad = i == 3 ? 4 : 0;
        hc.accumulate = i == 2;
        hc.sm_budget = i % 2;
        hc.counted = i == 3;
        hc.count = 7;
        if (!try(rows, hc))
            return false;
    }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 7, 100, -1};
    for (size_t i = 0; i < 2 * COUNT(counts); i++) {
        struct histogram_case hc = plain(rows, (enum gm_histogram_of)(i % 2), 7, 3 * rows->chunk, 33);
        hc.counted = true;
        hc.count = counts[i / 2];
        hc.accumulate = i % 3 == 1;
        hc.x_pad = i % 4 < 2 ? 1 : 0;
        if (!try(rows, hc))
            return false;
    }
    return true;
}

/* Counts of no elements are 0. */
static bool test_empty(struct rows *rows) {
    struct histogram_case no_columns = plain(rows, GM_HISTOGRAM_ROWS, 5, 0, 33);
    struct histogram_case no_rows = plain(rows, GM_HISTOGRAM_ALL, 0, 9, 33);
    no_rows.wide = true;
    return try(rows, no_columns) && try(rows, no_rows);
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    struct rows rows = {.kernel = kernel, .result = result};
    rows.chunk = 16 / gm_type_bytes(kernel->type);
    rows.step = kernel->threads * rows.chunk;
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_choices(&rows) && test_parts(&rows) && test_slices(&rows) && test_rows(&rows) && test_counts(&rows) &&
        test_words(&rows))
        test_empty(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed += 2) {
        set_schedule((uint64_t)seed);
        struct histogram_case hc = plain(&rows, GM_HISTOGRAM_ALL, 3, 5 * rows.step - 7, 50);
        hc.inputs = seed % 4 == 1 ? HISTOGRAM_SKEWED : HISTOGRAM_UNIFORM;
        hc.seed = (uint64_t)seed;
        try(&rows, hc);
    }
    set_schedule(opt.schedule);
    free_histogram_memory(&rows.memory);
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

/* One plan and one workspace, launch after launch with other inputs: what the launch before has left there must not be taken
 * for this one's. Two parts have a chunk for each thread, others none. */
static void run_parts(const struct test *test, struct result *result) {
    enum { LAUNCHES = 4 };
    struct rows rows = rows_of(test, result);
    struct histogram_case hc = plain(&rows, GM_HISTOGRAM_ALL, 8, 2 * rows.step, 3000);
    hc.counted = true;
    hc.count = 1;
    run_histogram_again(result, &hc, rows.kernel->name, LAUNCHES, &rows.memory);
    hc.count = 7;
    hc.wide = true;
    hc.bins = 300;
    if (result->state == PASSED)
        run_histogram_again(result, &hc, rows.kernel->name, LAUNCHES, &rows.memory);
    free_histogram_memory(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    for (int of = GM_HISTOGRAM_ALL; of <= GM_HISTOGRAM_ROWS && result->state == PASSED; of++) {
        struct histogram_case hc = plain(&rows, (enum gm_histogram_of)of, env.simulated ? 4 : 64,
                                         (env.simulated ? 20 : 1000) * rows.chunk, 100);
        struct placed_histogram placed = {0};
        hc.counted = true;
        hc.count = (int)hc.rows - 1;
        if (place_histogram(result, &hc, &rows.memory, &placed))
            run_early(result, &placed.placed, rows.kernel->name);
        free_placed_histogram(&placed);
    }
    free_histogram_memory(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_choices(&rows) && test_counts(&rows) && test_rows(&rows) && test_parts(&rows) && test_words(&rows))
        test_slices(&rows);
    free_histogram_memory(&rows.memory);
}

void add_histogram_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_histogram)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        add_test("parts", kernel->name, run_parts, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
