/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of sampling, by name: columns around its chunks, every filter, ties, bad values, guards, alignments, and late
 * operands. */
#include "columns.h"
#include "sample/sample_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, tile; /* elements of a chunk, and of all CTAs of a row at a time */
};

static const struct {
    float temperature, top_p, min_p;
    int64_t top_k;
} filters[] = {
    {0, 0, 0, 0},           {1, 0, 0, 0},      {1, 0, 0, 50},         {1, 0.9f, 0, 0},       {1, 0, 0.02f, 0},
    {0.7f, 0.9f, 0.1f, 50}, {1, 0.5f, 0, 400}, {8, 0.95f, 0, 0},      {4, 0.8f, 1e-4f, 700}, {1, 1e-3f, 0, 0},
    {0.01f, 0, 0, 1},       {2, 0, 1, 0},      {1e-38f, 0.99f, 0, 9}, {1e30f, 0, 0, 600},    {1, 0.9995f, 0, 0},
    {30, 0.5f, 0, 50},      {1, 0.5f, 0, 0},
};

static struct sample_case plain(const struct rows *rows, int64_t count, int64_t columns, size_t filter) {
    filter %= COUNT(filters);
    return (struct sample_case){.rows = count,
                                .columns = columns,
                                .type = rows->kernel->type,
                                .temperature = filters[filter].temperature,
                                .top_p = filters[filter].top_p,
                                .min_p = filters[filter].min_p,
                                .top_k = filters[filter].top_k,
                                .seed = filter,
                                .noise = filter,
                                .step = (INT64_C(1) << 40) + 3,
                                .may_refuse =
                                    BIT(GM_REASON_NO_IMAGE) | (columns % rows->chunk ? BIT(GM_REASON_SIZE) : 0) |
                                    (rows->kernel->cluster_ctas > env.device.sm_count ? BIT(GM_REASON_MASKED) : 0)};
}

static bool try(struct rows *rows, struct sample_case sc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_sample(rows->result, &sc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    const int64_t chunk = rows->chunk, long_row = env.simulated ? 5 * 1024 + chunk : rows->tile + 3 * chunk;
    const int64_t sizes[][2] = {{1, chunk}, {3, 2 * chunk}, {2, 31},       {1, 512},           {2, 512 + chunk},
                                {2, 1023},  {2, 1024},      {1, long_row}, {2, 64 * chunk + 1}};
    for (size_t i = 0; i < (opt.quick ? 4 : COUNT(sizes)); i++) {
        struct sample_case sc = plain(rows, sizes[i][0], sizes[i][1], i);
        sc.pad = 2 * chunk * (int64_t)(i % 2);
        sc.repeats = i == 5 ? 2 : 0;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

/* Rows whose candidates are few, and rows whose thresholds are looked for in the row. */
static bool test_choices(struct rows *rows) {
    const struct gm_kernel *kernel = rows->kernel; /* of some others only a part: they share their source */
    const bool is_like_another = kernel->type == GM_FP16 || (kernel->type == GM_BF16 && kernel->arch == GM_ARCH_SM80) ||
                                 kernel->cluster_ctas > 1 || rows->chunk == 1;
    const size_t share = kernel->cluster_ctas > 4 ? 8 : 4;
    for (size_t i = 0; i < COUNT(filters) * SAMPLE_INPUTS; i++) {
        if ((opt.quick && i % 5) || (env.simulated && is_like_another && i % share))
            continue;
        struct sample_case sc = plain(rows, 1, (i / SAMPLE_INPUTS + i) % 3 ? 1200 : 256, i / SAMPLE_INPUTS);
        sc.inputs = (enum sample_inputs)(i % SAMPLE_INPUTS);
        sc.has_logprobs = i / 2 % 4 == 1;
        sc.seed += i;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

static bool test_requests(struct rows *rows) {
    static const int counts[] = {0, 3, 7, 100, -1};
    struct sample_case by_row = plain(rows, env.simulated ? 21 : 5 * 7 * 9, 1120, 0);
    by_row.by_row = by_row.has_logprobs = true;
    if (!try(rows, by_row))
        return false;
    by_row.inputs = SAMPLE_TIES;
    by_row.has_logprobs = false;
    by_row.rows = 17;
    by_row.sm_budget = 1; /* a cluster takes several rows */
    if (rows->kernel->cluster_ctas == 1 && !try(rows, by_row))
        return false;
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct sample_case counted = plain(rows, 7, 3 * rows->chunk, i);
        counted.counted = true;
        counted.count = counts[i];
        counted.has_logprobs = i == 1;
        if (!try(rows, counted))
            return false;
    }
    struct sample_case draws = plain(rows, env.simulated ? 12 : 4000, 2 * rows->chunk, 1);
    draws.by_row = true;
    return try(rows, draws);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct sample_case sc = plain(rows, 3, 70 * rows->chunk, (size_t)offset);
        sc.start = offset;
        sc.pad = offset;
        if (rows->chunk > 1)
            sc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, sc))
            return false;
        if (rows->chunk > 1 && rows->result->cases != ran && offset * gm_type_bytes(rows->kernel->type) % 16) {
            fail(rows->result, "a variant of 16-byte chunks accepted element offset %d", offset);
            return false;
        }
    }
    return true;
}

/* On a GPU only: whole vocabularies. The model sorts them, so each variant has some of the filters, and all have all. */
static bool test_vocabularies(struct rows *rows) {
    static const int64_t columns[] = {4097, 32000, 128256, 131072, 262144, 1 << 20};
    const size_t turn = (size_t)(rows->kernel - gm_kernels);
    for (size_t i = 0; i < COUNT(columns) && !env.simulated && !opt.quick && !opt.self_test; i++) {
        struct sample_case sc = plain(rows, columns[i] < 1 << 20 ? 2 : 1, columns[i], i * 3 + turn);
        sc.inputs = (enum sample_inputs)(i % 4);
        sc.has_logprobs = i % 2;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    struct rows rows = {.kernel = kernel, .result = result};
    rows.chunk = c[GM_SAMPLE_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.tile = (int64_t)c[GM_SAMPLE_THREADS] * c[GM_SAMPLE_ROW_CTAS] * c[GM_SAMPLE_VECTORS] * rows.chunk;
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_choices(&rows) && test_requests(&rows) && test_alignment(&rows))
        test_vocabularies(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&rows, plain(&rows, 2, 1120, seed % 2 ? 6 : 8));
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct sample_case sc = plain(&rows, env.simulated ? 4 : 64, 1120, 0);
    struct placed_sample placed = {0};
    sc.by_row = sc.has_logprobs = true;
    sc.counted = true;
    sc.count = (int)sc.rows - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (rows.kernel->cluster_ctas > env.device.sm_count)
        skip(result, "clusters of %d CTAs want as many SMs; GM_SIM_SMS says the simulator's number",
             rows.kernel->cluster_ctas);
    else if (place_sample(result, &sc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    static const size_t which[] = {5, 16, 8, 1, 3, 15};
    struct rows rows = rows_of(test, result);
    for (size_t i = 0; i < COUNT(which) && rows.failures == 0; i++) {
        struct sample_case sc = plain(&rows, 3, 1120, which[i]);
        sc.inputs = i == 1 ? SAMPLE_SPIKE : i == 3 ? SAMPLE_TIES : SAMPLE_NORMAL;
        sc.by_row = i == 4;
        sc.rows = i < 4 ? 3 : 12;
        sc.has_logprobs = i == 3;
        sc.counted = i == 0;
        sc.count = 2;
        try(&rows, sc);
    }
    free_operands(&rows.memory);
}

void add_sample_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_sample)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
