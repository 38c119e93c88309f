/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of RMSNorm, by name: columns around its chunks, every choice, guards, alignments, and late operands. */
#include "columns.h"
#include "common/norm.h"
#include "common/makes_tokens.h"
#include "rms_norm/rms_norm_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, held, together; /* elements at once, and in registers; rows of a CTA */
};

static struct norm_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    return (struct norm_case){.rows = count,
                              .columns = columns,
                              .type = rows->kernel->type,
                              .eps = 1e-5f,
                              .may_refuse = BIT(GM_REASON_NO_IMAGE) |
                                            (columns % rows->chunk || columns > rows->held ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct norm_case nc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_norm(rows->result, &nc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool makes_any(const struct rows *rows) {
    return rows->kernel->columns[GM_RMS_NORM_MAKES] == GM_MAKES_any;
}

/* Pads that keep rows on multiples of 16 bytes. */
static void pad(const struct rows *rows, struct norm_case *nc) {
    const int64_t chunk = 16 / gm_type_bytes(rows->kernel->type);
    nc->x_pad = chunk;
    nc->residual_pad = 3 * chunk;
    nc->out_pad = 2 * chunk;
    nc->x_pad += (chunk - nc->columns % chunk) % chunk;
    nc->residual_pad += (chunk - nc->columns % chunk) % chunk;
    nc->out_pad += (chunk - nc->columns % chunk) % chunk;
}

static bool test_columns(struct rows *rows) {
    const int64_t chunk = rows->chunk, held = rows->held;
    const int64_t columns[] = {chunk, held, 1, held - chunk, held / 2 + chunk, held + chunk, 97, 2 * held + 3 * chunk};
    for (size_t i = 0; i < (opt.quick ? 5 : COUNT(columns)); i++) {
        struct norm_case nc = plain(rows, i % 2 ? 1 : 2 * rows->together + 1, columns[i]);
        pad(rows, &nc);
        nc.inputs = i % 3 == 0 ? INTEGERS : NORMAL_ROWS;
        nc.residual = i % 2 == 0;
        if (!try(rows, nc))
            return false;
    }
    return true;
}

/* Every combination of what a problem may ask for. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 64; choice++) {
        if (opt.quick && choice % 5)
            continue;
        struct norm_case nc = plain(rows, rows->together + 2, 3 * rows->chunk);
        pad(rows, &nc);
        nc.residual = choice & 1;
        nc.sum_rounding = choice & 2 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        nc.normalized_rounding = choice & 4 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        nc.fp32_weight = choice >> 3 & 1;
        nc.weight_offset = choice & 16 ? 1 : 0;
        nc.in_place = choice & 32;
        nc.inputs = choice % 3 == 2 ? POSITIVE : NORMAL_ROWS;
        nc.eps = choice % 2 ? 1e-6f : 0.25f;
        if (!try(rows, nc))
            return false;
    }
    return true;
}

/* Bit for bit, with a residual and an offset and without, rounded early and late. */
static bool test_signs(struct rows *rows) {
    for (int choice = 0; choice < 4; choice++) {
        struct norm_case nc = plain(rows, 10, 5 * rows->chunk);
        nc.inputs = SIGNS;
        nc.eps = 0;
        nc.residual = choice & 1;
        nc.weight_offset = choice & 1 ? 1 : 0;
        nc.normalized_rounding = choice & 2 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        if (!try(rows, nc))
            return false;
    }
    return true;
}

static bool test_inputs(struct rows *rows) {
    struct norm_case special = plain(rows, 14, 4 * rows->chunk);
    special.inputs = SPECIAL_ROWS;
    for (int zero_eps = 0; zero_eps < 2; zero_eps++) {
        special.eps = zero_eps ? 0 : 1e-5f;
        if (!try(rows, special))
            return false;
    }
    struct norm_case few_sms = plain(rows, 40 * rows->together + 1, rows->chunk); /* each CTA takes several rows */
    few_sms.sm_budget = 1;
    few_sms.inputs = NORMAL_ROWS;
    if (!try(rows, few_sms))
        return false;
    struct norm_case again = plain(rows, 3 * rows->together + 1, rows->held);
    again.inputs = POSITIVE;
    again.repeats = opt.quick || env.simulated ? 2 : 9;
    return try(rows, again);
}

/* The number of rows on the device: none, some of a CTA's, more, all, more than there are, and a negative one. */
static bool test_counts(struct rows *rows) {
    const int together = (int)rows->together, counts[] = {0, 1, together + 1, together + 2, 1000, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct norm_case nc = plain(rows, together + 2, 3 * rows->chunk);
        nc.counted = true;
        nc.count = counts[i];
        nc.residual = i % 3 > 0;
        nc.in_place = i % 2;
        nc.inputs = NORMAL_ROWS;
        if (!try(rows, nc))
            return false;
    }
    return true;
}

/* Heads of a few rows and of many, side by side and apart, in place and not, by a grid of any shape. */
static bool test_heads(struct rows *rows) {
    const int32_t *c = rows->kernel->columns;
    const bool takes_heads = !makes_any(rows) && GM_NORM_TAKES_HEADS(c[GM_RMS_NORM_ROW_THREADS], c[GM_RMS_NORM_VECTORS],
                                                                     c[GM_RMS_NORM_VECTOR_BYTES]);
    for (int i = 0; i < (takes_heads ? 6 : 1); i++) {
        struct norm_case nc =
            plain(rows, i % 2 ? 1 : rows->together + 1, i < 4 ? rows->held / 2 + rows->chunk : rows->chunk);
        nc.heads = i < 4 ? 3 + i : 100;
        nc.x_head_pad = i % 3 * rows->chunk;
        nc.out_head_pad = i % 2 * rows->chunk;
        nc.x_pad = 16 * rows->chunk;
        nc.out_pad = 8 * rows->chunk;
        nc.in_place = i % 3 == 2;
        nc.inputs = NORMAL_ROWS;
        nc.weight_offset = 1;
        nc.counted = i == 2;
        nc.count = 2;
        nc.sm_budget = i == 5; /* each CTA takes several heads */
        nc.may_refuse |= takes_heads ? 0 : BIT(GM_REASON_SIZE);
        const int ran = rows->result->cases;
        if (!try(rows, nc))
            return false;
        if (!takes_heads && rows->result->cases != ran) {
            fail(rows->result, "a variant of one head accepted several");
            return false;
        }
    }
    return true;
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct norm_case nc = plain(rows, 3, 5 * rows->chunk);
        nc.x_start = offset;
        nc.out_start = offset * 3 % 8;
        nc.residual_start = offset * 5 % 8;
        nc.weight_start = offset * 7 % 8;
        nc.residual = offset & 1;
        nc.x_pad = offset;
        nc.inputs = NORMAL_ROWS;
        if (rows->chunk > 1)
            nc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, nc))
            return false;
        if (rows->chunk > 1 && rows->result->cases != ran && offset * gm_type_bytes(rows->kernel->type) % 16) {
            fail(rows->result, "a variant of 16-byte chunks accepted element offset %d", offset);
            return false;
        }
    }
    return true;
}

/* A random out and residual; by name all others must refuse them. */
static struct norm_case random_any(struct rows *rows, struct draws *d, int64_t columns) {
    struct norm_case nc = plain(rows, 1 + draw(d, 4), columns);
    pad(rows, &nc);
    nc.out = random_out(d);
    nc.residual = (int)draw(d, 4);
    nc.sum_rounding = (enum gm_rounding)draw(d, 2);
    nc.norm_rounding = (enum gm_rounding)draw(d, 2);
    nc.normalized_rounding = (enum gm_rounding)draw(d, 2);
    nc.fp32_weight = (int)draw(d, 2);
    nc.weight_offset = (float)draw(d, 2);
    nc.inputs = draw(d, 2) ? NORMAL_ROWS : POSITIVE;
    nc.in_place = draw(d, 4) == 0 && gm_type_bytes(type_of_out(&nc.out, nc.type)) == gm_type_bytes(nc.type);
    nc.counted = draw(d, 5) == 0;
    nc.count = (int)draw(d, 5);
    nc.seed = d->index;
    if (!makes_any(rows))
        nc.may_refuse |= BIT(GM_REASON_LAYOUT);
    return nc;
}

static bool test_any(struct rows *rows) {
    static const int64_t widths[] = {64, 128, 8, 1032, 264, 2048, 512, 3080, 97, 4096};
    struct draws draws = {opt.seed ^ 0xa77, 0};
    const size_t most = makes_any(rows) ? (opt.quick ? 16 : 40) : 1;
    for (size_t i = 0; i < most; i++) {
        const struct norm_case nc = random_any(rows, &draws, widths[i % COUNT(widths)]);
        const int ran = rows->result->cases;
        if (!try(rows, nc))
            return false;
        if (!makes_any(rows) && rows->result->cases != ran &&
            (nc.residual > GM_RESIDUAL_BEFORE || type_of_out(&nc.out, nc.type) != nc.type)) {
            fail(rows->result, "a variant of one out accepted another");
            return false;
        }
    }
    return true;
}

/* What is rounded to the type twice on its way to 8 bits, which of 16 bits is made by pairs; and rows of NaN, infinities and
 * zeros without eps, whose last threads have no chunk. */
static bool test_rounded_twice(struct rows *rows) {
    static const int64_t widths[] = {128, 1032, 2048, 264};
    static const enum gm_scaling scalings[] = {GM_SCALE_STATIC, GM_SCALE_ROW, GM_SCALE_GROUP};
    for (int choice = 0; makes_any(rows) && choice < 12; choice++) {
        const bool is_special = choice >= 6;
        struct norm_case nc = plain(rows, is_special ? 7 : 3, widths[choice % COUNT(widths)]);
        pad(rows, &nc);
        nc.out = (struct out_case){.has_type = 1,
                                   .type = choice % 5 == 4 ? GM_INT8 : GM_E4M3,
                                   .rounding = GM_ROUND_EARLY,
                                   .scaling = scalings[choice % 3],
                                   .group = 32 << choice / 3 % 3,
                                   .static_scale = 0x1p-6f};
        nc.normalized_rounding = GM_ROUND_EARLY;
        nc.residual = choice / 3 == 1;
        nc.inputs = is_special ? SPECIAL_ROWS : NORMAL_ROWS;
        nc.eps = is_special ? 0 : 1e-5f;
        if (!try(rows, nc))
            return false;
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    struct rows rows = {.kernel = kernel, .result = result};
    rows.chunk = c[GM_RMS_NORM_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.held = (int64_t)c[GM_RMS_NORM_ROW_THREADS] * c[GM_RMS_NORM_VECTORS] * rows.chunk;
    rows.together = c[GM_RMS_NORM_THREADS] / c[GM_RMS_NORM_ROW_THREADS];
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_columns(&rows) && test_choices(&rows) && test_signs(&rows) && test_inputs(&rows) && test_counts(&rows) &&
        test_heads(&rows) && test_any(&rows) && test_rounded_twice(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct norm_case nc = plain(&rows, 2 * rows.together + 1, 3 * rows.chunk);
        nc.residual = 1;
        set_schedule((uint64_t)seed);
        try(&rows, nc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct norm_case nc = plain(&rows, env.simulated ? 20 : 300, rows.held);
    struct placed_norm placed = {0};
    nc.residual = 1;
    if (makes_any(&rows)) {
        nc.columns = 1032;
        nc.residual = GM_RESIDUAL_BETWEEN;
        nc.out = (struct out_case){.has_type = 1, .type = GM_E4M3, .static_scale = 0.25f};
    }
    nc.inputs = NORMAL_ROWS;
    nc.counted = true;
    nc.count = (int)nc.rows - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_norm(result, &nc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    const bool reads_twice = rows.kernel->columns[GM_RMS_NORM_PASSES] == 2;
    const int64_t chunk = rows.chunk, held = rows.held;
    const int64_t columns[] = {held, held / 2 + chunk, reads_twice ? held + 5 * chunk : chunk};
    for (int i = 0; i < (int)COUNT(columns) && rows.failures == 0; i++) {
        struct norm_case nc = plain(&rows, 9, columns[i]);
        nc.eps = 0.5f;
        nc.weight_offset = 1;
        nc.residual = i != 1;
        nc.inputs = NORMAL_ROWS;
        nc.counted = i == 1;
        nc.count = 7;
        try(&rows, nc);
        if (makes_any(&rows)) {
            if (test_any(&rows))
                test_rounded_twice(&rows);
            check_planned_bits(rows.result, rows.kernel, 40, rows.chunk > 1 ? 4096 : 1001);
        }
        nc.heads = 5;
        nc.x_head_pad = chunk;
        nc.sm_budget = 1;
        nc.residual = 0;
        nc.rows = 3;
        nc.may_refuse |= BIT(GM_REASON_SIZE);
        try(&rows, nc);
    }
    free_operands(&rows.memory);
}

void add_norm_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_rms_norm)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
