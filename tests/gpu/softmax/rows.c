/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of softmax, by name: columns around its chunks, every choice, guards, alignments, and late operands. */
#include "columns.h"
#include "common/softmax/params.h"
#include "softmax/softmax_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, tile, together; /* elements of a chunk, and of a tile; rows of a CTA */
    bool is_held, caps;
};

static struct softmax_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    const bool is_refused = columns % rows->chunk || (rows->is_held && columns > rows->tile);
    return (struct softmax_case){.rows = count,
                                 .columns = columns,
                                 .type = rows->kernel->type,
                                 .inputs = SOFTMAX_NORMAL,
                                 .may_refuse = BIT(GM_REASON_NO_IMAGE) | (is_refused ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct softmax_case sc) {
    enum { MOST_FAILURES = 3 };
    if (sc.cap > 0 && !rows->caps)
        sc.may_refuse |= BIT(GM_REASON_SIZE);
    rows->failures += !run_softmax(rows->result, &sc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* Many threads share a row: the simulator gets fewer of its cases. */
static bool is_slow(const struct rows *rows) {
    return env.simulated && rows->kernel->threads * rows->kernel->cluster_ctas > 256;
}

/* Long tiles once, where that is slow. */
static bool test_columns(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t columns[] = {chunk, tile, 1, tile - chunk, tile / 2 + chunk, tile + chunk, 97, 2 * tile + 3 * chunk};
    for (size_t i = 0; i < (opt.quick ? 5 : COUNT(columns)); i++) {
        if (is_slow(rows) && columns[i] >= tile / 2 && i != 3)
            continue;
        struct softmax_case sc = plain(rows, i % 2 ? 1 : 2 * rows->together + 1, columns[i]);
        sc.x_pad = 2 * chunk * (int64_t)(i % 2);
        sc.out_pad = chunk;
        sc.inputs = i % 3 == 0 ? SOFTMAX_EQUAL : SOFTMAX_NORMAL;
        sc.has_lse = i % 2;
        sc.repeats = i == 1 ? 2 : 0;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

/* Every combination of what a problem may ask for. */
static bool test_choices(struct rows *rows) {
    static const float temperatures[] = {0, 0.5f, 1.25f};
    for (int choice = 0; choice < 64; choice++) {
        if ((opt.quick && choice % 5) || (env.simulated && choice % (is_slow(rows) ? 11 : 5)))
            continue;
        struct softmax_case sc = plain(rows, rows->together + 8, 5 * rows->chunk);
        sc.log = choice & 1;
        sc.fp32_out = choice >> 1 & 1 && sc.type != GM_FP32;
        sc.cap = choice & 4 ? 3 : 0;
        sc.has_lse = choice & 8;
        sc.row_temperatures = choice & 16;
        sc.in_place = choice & 32 && !sc.fp32_out;
        sc.temperature = temperatures[choice / 9 % 3];
        sc.inputs = (enum softmax_inputs)(choice / 3 % 5);
        sc.x_pad = sc.out_pad = 3 * rows->chunk;
        if (!try(rows, sc))
            return false;
    }
    return true;
}

static bool test_inputs(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i += 1 + is_slow(rows)) {
        struct softmax_case counted = plain(rows, 7, 3 * rows->chunk);
        counted.counted = counted.has_lse = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    for (int choice = 0; choice < 4; choice++) {
        struct softmax_case special = plain(rows, 16, 4 * rows->chunk);
        special.inputs = SOFTMAX_SPECIAL;
        special.has_lse = true;
        special.log = choice & 1;
        special.row_temperatures = choice & 2;
        if (!try(rows, special))
            return false;
    }
    struct softmax_case few_sms =
        plain(rows, (is_slow(rows) ? 9 : 20) * rows->together + 1, rows->chunk); /* a CTA takes several rows */
    few_sms.sm_budget = rows->kernel->cluster_ctas;
    few_sms.inputs = SOFTMAX_POSITIVE;
    few_sms.row_temperatures = true;
    return try(rows, few_sms);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct softmax_case sc = plain(rows, 3, 5 * rows->chunk);
        sc.x_start = offset;
        sc.out_start = offset * 3 % 8;
        sc.x_pad = offset;
        sc.fp32_out = offset & 1 && sc.type != GM_FP32;
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

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    struct rows rows = {.kernel = kernel, .result = result};
    rows.chunk = c[GM_SOFTMAX_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.tile = (int64_t)c[GM_SOFTMAX_ROW_THREADS] * c[GM_SOFTMAX_ROW_CTAS] * c[GM_SOFTMAX_VECTORS] * rows.chunk;
    rows.together = c[GM_SOFTMAX_THREADS] / c[GM_SOFTMAX_ROW_THREADS];
    rows.is_held = c[GM_SOFTMAX_PASSES] == 1;
    rows.caps = GM_SOFTMAX_CAPS(kernel->type, c[GM_SOFTMAX_VECTORS], c[GM_SOFTMAX_VECTOR_BYTES]);
    return rows;
}

/* A cluster wants an SM for each of its CTAs. */
static bool has_sms(const struct rows *rows) {
    if (rows->kernel->cluster_ctas <= env.device.sm_count)
        return true;
    skip(rows->result, "clusters of %d CTAs want as many SMs; GM_SIM_SMS says the simulator's number",
         rows->kernel->cluster_ctas);
    return false;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (!has_sms(&rows))
        return;
    if (test_columns(&rows) && test_choices(&rows) && test_inputs(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&rows, plain(&rows, rows.together + 1, 3 * rows.chunk));
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct softmax_case sc = plain(&rows, env.simulated ? 3 : 64, env.simulated ? 5 * rows.chunk : rows.tile);
    struct placed_softmax placed = {0};
    sc.counted = sc.row_temperatures = true;
    sc.count = (int)sc.rows - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (has_sms(&rows) && place_softmax(result, &sc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int choice = 0; choice < 8 && rows.failures == 0; choice++) {
        const int64_t columns = rows.is_held ? rows.tile : 3 * rows.tile; /* and a chunk less by turns */
        struct softmax_case sc = plain(&rows, rows.together + 2, columns - rows.chunk * (choice & 1));
        sc.log = choice & 1;
        sc.cap = choice & 2 ? 3 : 0;
        sc.row_temperatures = choice & 4;
        sc.has_lse = true;
        sc.counted = choice == 3;
        sc.count = 2;
        sc.inputs = choice == 5 ? SOFTMAX_EQUAL : choice == 7 ? SOFTMAX_SPECIAL : SOFTMAX_POSITIVE;
        sc.sm_budget = choice == 4 ? rows.kernel->cluster_ctas : 0;
        try(&rows, sc);
    }
    free_operands(&rows.memory);
}

void add_softmax_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_softmax)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
