/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of axpby, by name: sizes around what a CTA takes, every type of every operand, values that go wrong elsewhere,
 * guards, alignments, and late operands. */
#include <math.h>

#include "axpby/axpby_tests.h"
#include "columns.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, tile; /* elements of a chunk at most, and of a CTA */
};

static struct axpby_case plain(const struct rows *rows, int64_t count, int64_t columns) {
    return (struct axpby_case){.rows = count,
                               .columns = columns,
                               .terms = GM_AXPBY_X_AND_Y,
                               .alpha = 0.7f,
                               .beta = -1.1f,
                               .may_refuse =
                                   BIT(GM_REASON_NO_IMAGE) | (columns % rows->chunk ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct axpby_case ac) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_axpby(rows->result, &ac, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][2] = {{1, chunk}, {1, tile + chunk}, {3, tile / 2 - chunk}, {97, 3 * chunk}, {5, 97}};
    for (size_t i = 0; i < (opt.quick ? 3 : 2 * COUNT(sizes)); i++) {
        struct axpby_case ac = plain(rows, sizes[i % COUNT(sizes)][0], sizes[i % COUNT(sizes)][1]);
        ac.terms = (enum gm_axpby_terms)(i % 3);
        ac.gamma = ac.terms == GM_AXPBY_NEITHER ? -7.3f : 0;
        ac.type = ac.out_type = i % 2 ? GM_FP32 : GM_BF16;
        ac.x_pad = 2 * chunk * (int64_t)(i % 2);
        ac.out_pad = chunk;
        ac.repeats = i == 1 ? 2 : 0;
        if (!try(rows, ac))
            return false;
    }
    return true;
}

/* Packed operands are one row, whatever the columns. */
static bool test_packed(struct rows *rows) {
    const int64_t chunk = rows->chunk, tile = rows->tile;
    const int64_t sizes[][2] = {{1, 1}, {3, chunk + 1}, {7, 97}, {2, tile / 2 + 3}, {1, chunk - 1}};
    for (size_t i = 0; i < (opt.quick ? 3 : 2 * COUNT(sizes)); i++) {
        struct axpby_case ac = plain(rows, sizes[i % COUNT(sizes)][0], sizes[i % COUNT(sizes)][1]);
        ac.terms = (enum gm_axpby_terms)(i % 3);
        ac.out_type = (enum gm_type)(i % AXPBY_TYPES);
        ac.counted = i % 2;
        ac.count = (int)(i % 5) - 1;
        if (ac.columns > 0 && !try(rows, ac))
            return false;
    }
    return true;
}

/* Every type of x with every type of out, and those of y by turns, with values of each kind. */
static bool test_types(struct rows *rows) {
    static const float factors[] = {0, 0.5f, -3, 1e-3f, 2e5f};
    for (int choice = 0; choice < 2 * AXPBY_TYPES * AXPBY_TYPES; choice++) {
        if (opt.quick && choice % 7)
            continue;
        struct axpby_case ac = plain(rows, 3, 72);
        ac.type = (enum gm_type)(choice % AXPBY_TYPES);
        ac.out_type = (enum gm_type)(choice / AXPBY_TYPES % AXPBY_TYPES);
        ac.y_type = (enum gm_type)((choice + choice / AXPBY_TYPES) % AXPBY_TYPES);
        ac.terms = choice % 3 ? GM_AXPBY_X_AND_Y : GM_AXPBY_X;
        ac.inputs = (enum axpby_inputs)((choice + choice / 16) % AXPBY_INPUTS);
        ac.alpha = factors[choice % 5];
        ac.beta = factors[choice / 5 % 5];
        ac.gamma = choice % 7 == 0 ? 0.5f : choice % 7 == 1 ? -0.0f : 0;
        ac.x_pad = ac.y_pad = ac.out_pad = 16;
        if (gm_type_bytes(ac.type) == gm_type_bytes(ac.out_type))
            ac.in_place = choice / 8 % 2;
        else if (gm_type_bytes(ac.y_type) == gm_type_bytes(ac.out_type) && ac.terms == GM_AXPBY_X_AND_Y)
            ac.in_place = 2 * (choice / 4 % 2);
        if (!try(rows, ac))
            return false;
    }
    return true;
}

/* Casts, of what is a tie, too large or no number; and fills with that. */
static bool test_values(struct rows *rows) {
    static const float fills[] = {0, -0.0f, NAN, INFINITY, -INFINITY, 448.5f, 2.5f, -0.5f, 3e9f, 1e-6f};
    for (int choice = 0; choice < 3 * AXPBY_TYPES; choice++) {
        struct axpby_case ac = plain(rows, 3, 264);
        ac.terms = GM_AXPBY_X;
        ac.alpha = 0;
        ac.type = choice % 3 ? GM_FP32 : GM_INT32;
        ac.out_type = (enum gm_type)(choice / 3);
        ac.inputs = choice % 3 == 2 ? AXPBY_MIDDLES : AXPBY_SPECIAL;
        if (!try(rows, ac))
            return false;
    }
    for (int choice = 0; choice < (int)COUNT(fills) * AXPBY_TYPES; choice++) {
        struct axpby_case ac = plain(rows, 1, 8);
        ac.terms = GM_AXPBY_NEITHER;
        ac.gamma = fills[choice / AXPBY_TYPES];
        ac.out_type = (enum gm_type)(choice % AXPBY_TYPES);
        if (!try(rows, ac))
            return false;
    }
    return true;
}

static bool test_inputs(struct rows *rows) {
    static const int counts[] = {0, 3, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct axpby_case counted = plain(rows, 7, 24);
        counted.out_pad = 8 * (int64_t)(i % 2);
        counted.counted = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    struct axpby_case few_sms = plain(rows, env.simulated ? 17 : 40, rows->tile); /* each CTA takes several tiles */
    few_sms.sm_budget = 1;
    return try(rows, few_sms);
}

/* Variants of 16-byte chunks must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct axpby_case ac = plain(rows, 3, 40);
        ac.x_start = offset;
        ac.out_start = offset * 3 % 8;
        ac.y_start = offset * 5 % 8;
        ac.terms = (enum gm_axpby_terms)(offset % 3);
        ac.type = (enum gm_type)offset;
        ac.x_pad = ac.out_pad = offset;
        if (rows->chunk > 1)
            ac.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, ac))
            return false;
        if (rows->chunk > 1 && rows->result->cases != ran && offset % 4) {
            fail(rows->result, "a variant of 16-byte chunks accepted element offset %d", offset);
            return false;
        }
    }
    return true;
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    return (struct rows){.kernel = kernel,
                         .result = result,
                         .chunk = c[GM_AXPBY_ELEMENTS],
                         .tile = (int64_t)c[GM_AXPBY_THREADS] * c[GM_AXPBY_ELEMENTS]};
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_packed(&rows) && test_types(&rows) && test_values(&rows) && test_inputs(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        set_schedule((uint64_t)seed);
        try(&rows, plain(&rows, 5, 24));
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct axpby_case ac = plain(&rows, env.simulated ? 4 : 64, rows.tile);
    struct placed_axpby placed = {0};
    ac.counted = true;
    ac.count = (int)ac.rows - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_axpby(result, &ac, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < 4 * AXPBY_TYPES && rows.failures == 0; i++) {
        struct axpby_case ac = plain(&rows, 9, rows.tile / 8 + 3 * rows.chunk);
        ac.type = (enum gm_type)(i % AXPBY_TYPES);
        ac.out_type = (enum gm_type)((i + i / AXPBY_TYPES) % AXPBY_TYPES);
        ac.y_type = (enum gm_type)((i + 3) % AXPBY_TYPES);
        ac.terms = i % 2 ? GM_AXPBY_X_AND_Y : GM_AXPBY_X;
        ac.inputs = (enum axpby_inputs)(i / AXPBY_TYPES);
        ac.out_pad = i % 3 ? 0 : 16;
        ac.columns += i % 3 == 1;
        ac.counted = i % 4 == 3;
        ac.count = i % 8 == 3 ? 7 : -1;
        try(&rows, ac);
    }
    free_operands(&rows.memory);
}

void add_axpby_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_axpby)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
