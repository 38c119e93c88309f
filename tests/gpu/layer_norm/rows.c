/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of LayerNorm, by name: columns around its chunks, every choice, guards, alignments, and late operands. */
#include "columns.h"
#include "common/makes_tokens.h"
#include "layer_norm/layer_norm_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, held, together; /* elements at once, and in registers; rows of a CTA */
};

static struct ln_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    return (struct ln_case){.rows = count,
                            .columns = columns,
                            .type = rows->kernel->type,
                            .eps = 1e-5f,
                            .may_refuse = BIT(GM_REASON_NO_IMAGE) |
                                          (columns % rows->chunk || columns > rows->held ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct ln_case lc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_ln(rows->result, &lc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool makes_any(const struct rows *rows) {
    return rows->kernel->columns[GM_LAYER_NORM_MAKES] == GM_MAKES_any;
}

/* Pads that keep rows on multiples of 16 bytes. */
static void pad(const struct rows *rows, struct ln_case *lc) {
    const int64_t chunk = 16 / gm_type_bytes(rows->kernel->type);
    lc->x_pad = chunk;
    lc->residual_pad = 3 * chunk;
    lc->out_pad = 2 * chunk;
    lc->x_pad += (chunk - lc->columns % chunk) % chunk;
    lc->residual_pad += (chunk - lc->columns % chunk) % chunk;
    lc->out_pad += (chunk - lc->columns % chunk) % chunk;
}

static bool test_columns(struct rows *rows) {
    const int64_t chunk = rows->chunk, held = rows->held;
    const int64_t columns[] = {chunk, held, 1, held - chunk, held / 2 + chunk, held + chunk, 97, 2 * held + 3 * chunk};
    for (size_t i = 0; i < (opt.quick ? 5 : COUNT(columns)); i++) {
        struct ln_case lc = plain(rows, i % 2 ? 1 : 2 * rows->together + 1, columns[i]);
        pad(rows, &lc);
        lc.inputs = i % 3 == 0 ? LN_INTEGERS : LN_NORMAL;
        lc.residual = i % 2 == 0;
        if (!try(rows, lc))
            return false;
    }
    return true;
}

/* Every combination of what a problem may ask for. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 64; choice++) {
        if (opt.quick && choice % 5)
            continue;
        struct ln_case lc = plain(rows, rows->together + 2, 3 * rows->chunk);
        pad(rows, &lc);
        lc.residual = choice & 1;
        lc.sum_rounding = choice & 2 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        lc.normalized_rounding = choice & 4 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        lc.fp32_weight = choice >> 3 & 1;
        lc.weight_offset = choice & 16 ? 1 : 0;
        lc.in_place = choice & 32;
        lc.no_weight = choice % 7 == 3;
        lc.no_bias = choice % 5 == 2;
        lc.inputs = choice % 3 == 2 ? LN_POSITIVE : choice % 3 == 1 ? LN_FAR : LN_NORMAL;
        lc.eps = choice % 2 ? 1e-6f : 0.25f;
        if (!try(rows, lc))
            return false;
    }
    return true;
}

/* Bit for bit, with a residual and an offset and without, rounded early and late. */
static bool test_signs(struct rows *rows) {
    for (int choice = 0; choice < 4; choice++) {
        struct ln_case lc = plain(rows, 10, 6 * rows->chunk);
        lc.inputs = LN_SIGNS;
        lc.eps = 0;
        lc.residual = choice & 1;
        lc.weight_offset = choice & 1 ? 1 : 0;
        lc.normalized_rounding = choice & 2 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        if (!try(rows, lc))
            return false;
    }
    return true;
}

static bool test_inputs(struct rows *rows) {
    struct ln_case special = plain(rows, 14, 4 * rows->chunk);
    special.inputs = LN_SPECIAL;
    for (int zero_eps = 0; zero_eps < 2; zero_eps++) {
        special.eps = zero_eps ? 0 : 1e-5f;
        if (!try(rows, special))
            return false;
    }
    struct ln_case few_sms = plain(rows, 40 * rows->together + 1, rows->chunk); /* each CTA takes several rows */
    few_sms.sm_budget = 1;
    few_sms.inputs = LN_NORMAL;
    if (!try(rows, few_sms))
        return false;
    struct ln_case again = plain(rows, 3 * rows->together + 1, rows->held);
    again.inputs = LN_FAR; /* of as many columns as the registers hold */
    again.repeats = opt.quick || env.simulated ? 2 : 9;
    return try(rows, again);
}

/* The number of rows on the device: none, some of a CTA's, more, all, more than there are, and a negative one. */
static bool test_counts(struct rows *rows) {
    const int together = (int)rows->together, counts[] = {0, 1, together + 1, together + 2, 1000, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct ln_case lc = plain(rows, together + 2, 3 * rows->chunk);
        lc.counted = true;
        lc.count = counts[i];
        lc.residual = i % 3 > 0;
        lc.no_bias = i % 3 == 1;
        lc.in_place = i % 2;
        lc.inputs = LN_NORMAL;
        if (!try(rows, lc))
            return false;
    }
    return true;
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct ln_case lc = plain(rows, 3, 5 * rows->chunk);
        lc.x_start = offset;
        lc.out_start = offset * 3 % 8;
        lc.residual_start = offset * 5 % 8;
        lc.weight_start = offset * 7 % 8;
        lc.bias_start = offset * 5 % 8;
        lc.residual = offset & 1;
        lc.x_pad = offset;
        lc.inputs = LN_NORMAL;
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

/* A random out and residual; by name all others must refuse them. */
static struct ln_case random_any(struct rows *rows, struct draws *d, int64_t columns) {
    struct ln_case lc = plain(rows, 1 + draw(d, 4), columns);
    pad(rows, &lc);
    lc.out = random_out(d);
    lc.residual = (int)draw(d, 4);
    lc.sum_rounding = (enum gm_rounding)draw(d, 2);
    lc.norm_rounding = (enum gm_rounding)draw(d, 2);
    lc.normalized_rounding = (enum gm_rounding)draw(d, 2);
    lc.fp32_weight = (int)draw(d, 2);
    lc.weight_offset = (float)draw(d, 2);
    lc.no_weight = draw(d, 5) == 0;
    lc.no_bias = draw(d, 5) == 0;
    lc.inputs = draw(d, 2) ? LN_NORMAL : LN_POSITIVE;
    lc.in_place = draw(d, 4) == 0 && gm_type_bytes(type_of_out(&lc.out, lc.type)) == gm_type_bytes(lc.type);
    lc.counted = draw(d, 5) == 0;
    lc.count = (int)draw(d, 5);
    lc.seed = d->index;
    if (!makes_any(rows))
        lc.may_refuse |= BIT(GM_REASON_LAYOUT);
    return lc;
}

static bool test_any(struct rows *rows) {
    static const int64_t widths[] = {64, 128, 16, 1032, 264, 2048, 512, 3080, 97, 4096};
    struct draws draws = {opt.seed ^ 0xa78, 0};
    const size_t most = makes_any(rows) ? (opt.quick ? 16 : 40) : 1;
    for (size_t i = 0; i < most; i++) {
        const struct ln_case lc = random_any(rows, &draws, widths[i % COUNT(widths)]);
        const int ran = rows->result->cases;
        if (!try(rows, lc))
            return false;
        if (!makes_any(rows) && rows->result->cases != ran &&
            (lc.residual > GM_RESIDUAL_BEFORE || type_of_out(&lc.out, lc.type) != lc.type)) {
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
    rows.chunk = c[GM_LAYER_NORM_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.held = (int64_t)c[GM_LAYER_NORM_ROW_THREADS] * c[GM_LAYER_NORM_VECTORS] * rows.chunk;
    rows.together = c[GM_LAYER_NORM_THREADS] / c[GM_LAYER_NORM_ROW_THREADS];
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_columns(&rows) && test_choices(&rows) && test_signs(&rows) && test_inputs(&rows) && test_counts(&rows) &&
        test_any(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct ln_case lc = plain(&rows, 2 * rows.together + 1, 3 * rows.chunk);
        lc.residual = 1;
        set_schedule((uint64_t)seed);
        try(&rows, lc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct ln_case lc = plain(&rows, env.simulated ? 20 : 300, rows.held);
    struct placed_ln placed = {0};
    lc.residual = 1;
    if (makes_any(&rows)) {
        lc.columns = 1032;
        lc.residual = GM_RESIDUAL_BETWEEN;
        lc.out = (struct out_case){.has_type = 1, .type = GM_E4M3, .static_scale = 0.25f};
    }
    lc.inputs = LN_NORMAL;
    lc.counted = true;
    lc.count = (int)lc.rows - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_ln(result, &lc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    const bool reads_twice = rows.kernel->columns[GM_LAYER_NORM_PASSES] == 2;
    const int64_t chunk = rows.chunk, held = rows.held;
    const int64_t columns[] = {held, held / 2 + chunk, reads_twice ? held + 5 * chunk : chunk};
    for (int i = 0; i < (int)COUNT(columns) && rows.failures == 0; i++) {
        struct ln_case lc = plain(&rows, 9, columns[i]);
        lc.eps = 0.5f;
        lc.weight_offset = 1;
        lc.residual = i != 1;
        lc.inputs = LN_NORMAL;
        lc.counted = lc.no_bias = i == 1;
        lc.count = 7;
        try(&rows, lc);
        if (makes_any(&rows))
            test_any(&rows);
    }
    free_operands(&rows.memory);
}

void add_ln_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_layer_norm)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
