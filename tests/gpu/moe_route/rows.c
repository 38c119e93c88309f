/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of moe_route, by name: numbers of experts around its units, every method and kind of logits, groups,
 * alignments, and late operands. */
#include "moe_route/moe_route_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
};

static struct route_case plain(const struct rows *rows, int64_t tokens, int64_t experts, int64_t k) {
    return (struct route_case){.tokens = tokens,
                               .experts = experts,
                               .k = k,
                               .groups = 1,
                               .top_groups = 1,
                               .type = rows->kernel->type,
                               .inputs = ROUTE_NORMAL,
                               .may_refuse = BIT(GM_REASON_NO_IMAGE)};
}

static bool try(struct rows *rows, struct route_case rc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_route(rows->result, &rc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    static const int64_t sizes[][3] = {{1, 1, 1},     {1, 8, 2},    {5, 60, 4},    {3, 128, 8},   {7, 256, 8},
                                       {2, 264, 7},   {2, 512, 10}, {2, 1024, 32}, {3, 1023, 31}, {33, 160, 8},
                                       {4, 32, 32},   {5, 7, 7},    {9, 64, 6},    {1, 257, 1},   {2, 255, 32},
                                       {2, 1000, 16}, {130, 16, 1}, {3, 33, 5}};
    for (size_t i = 0; i < (opt.quick ? 6 : COUNT(sizes)); i++)
        for (int method = 0; method < 3; method++) {
            struct route_case rc = plain(rows, sizes[i][0], sizes[i][1], sizes[i][2]);
            rc.method = (enum gm_route_method)method;
            rc.renormalize = (int)(i % 2);
            rc.biased = i % 3 == 0;
            rc.inputs = i % 2 ? ROUTE_INTEGERS : ROUTE_NORMAL;
            rc.repeats = i == 2 ? 2 : 0;
            if (!try(rows, rc))
                return false;
        }
    return true;
}

/* Every combination of what a problem may ask for, and of logits. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 3 * 2 * 2 * ROUTE_INPUTS; choice++) {
        struct route_case rc = plain(rows, 11, 72, choice % 4 < 2 ? 5 : 32);
        rc.method = (enum gm_route_method)(choice % 3);
        rc.renormalize = choice / 3 % 2;
        rc.biased = choice / 6 % 2;
        rc.inputs = (enum route_inputs)(choice / 12);
        rc.scale = choice % 2 ? 2.5f : 0;
        rc.logits_pad = choice % 4 == 0 ? 8 : 0;
        if (!try(rows, rc))
            return false;
    }
    return true;
}

static bool test_groups(struct rows *rows) {
    static const int64_t sizes[][4] = {{256, 8, 8, 4},   {256, 8, 8, 8}, {64, 6, 8, 3},   {96, 12, 3, 1},
                                       {160, 6, 10, 2},  {32, 8, 32, 9}, {1024, 8, 4, 2}, {56, 3, 7, 5},
                                       {512, 22, 16, 5}, {31, 2, 31, 2}};
    for (size_t i = 0; i < (opt.quick ? 5 : COUNT(sizes)); i++)
        for (int inputs = 0; inputs < ROUTE_INPUTS; inputs++) {
            struct route_case rc = plain(rows, 6, sizes[i][0], sizes[i][1]);
            rc.method = GM_ROUTE_SIGMOID_GROUPED;
            rc.groups = sizes[i][2];
            rc.top_groups = sizes[i][3];
            rc.inputs = (enum route_inputs)inputs;
            rc.renormalize = inputs % 2 == 1;
            rc.biased = i % 2 == 0;
            rc.scale = 2.5f;
            if (!try(rows, rc))
                return false;
        }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct route_case counted = plain(rows, 7, 24, 3);
        counted.counted = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    struct route_case few_sms = plain(rows, 300, 40, 4); /* each warp takes several tokens */
    few_sms.sm_budget = 1;
    few_sms.method = GM_ROUTE_SIGMOID_GROUPED;
    few_sms.groups = 4;
    few_sms.top_groups = 2;
    return try(rows, few_sms);
}

static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct route_case rc = plain(rows, 3, 40 + offset % 3 * 8, 5);
        rc.logits_start = offset;
        rc.bias_start = offset * 3 % 8;
        rc.ids_start = offset * 5 % 8;
        rc.logits_pad = offset * 3;
        rc.biased = offset % 2;
        if (!try(rows, rc))
            return false;
    }
    return true;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = {.kernel = &gm_kernels[test->kernel], .result = result};
    if (test_sizes(&rows) && test_choices(&rows) && test_groups(&rows) && test_counts(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct route_case rc = plain(&rows, 9, 40, 5);
        rc.method = GM_ROUTE_SIGMOID_GROUPED;
        rc.groups = 4;
        rc.top_groups = 2;
        set_schedule((uint64_t)seed);
        try(&rows, rc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = {.kernel = &gm_kernels[test->kernel], .result = result};
    struct route_case rc = plain(&rows, env.simulated ? 9 : 64, 64, 6);
    struct placed_route placed = {0};
    rc.counted = true;
    rc.count = (int)rc.tokens - 1;
    rc.biased = true;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_route(result, &rc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = {.kernel = &gm_kernels[test->kernel], .result = result};
    for (int i = 0; i < 8 && rows.failures == 0; i++) {
        struct route_case rc = plain(&rows, 9, i % 2 ? 264 : 60, i == 6 ? 32 : 7);
        rc.method = i < 4 ? GM_ROUTE_SIGMOID_GROUPED : (enum gm_route_method)(i % 2);
        rc.groups = i < 4 ? 4 : 1;
        rc.top_groups = i < 4 ? 2 : 1;
        rc.biased = i % 2;
        rc.renormalize = i < 3;
        rc.inputs = i % 3 ? ROUTE_INTEGERS : i ? ROUTE_SPECIAL : ROUTE_NORMAL;
        rc.counted = i == 5;
        rc.count = 7;
        rc.sm_budget = i == 2;
        rc.tokens = i == 2 ? 150 : 9;
        try(&rows, rc);
    }
    free_operands(&rows.memory);
}

void add_route_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_moe_route)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
