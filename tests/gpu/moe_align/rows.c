/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of moe_align, by name: numbers of slots around warps, CTAs and clusters, every kind of ids, alignments of
 * lengths, and late operands. */
#include "moe_align/moe_align_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
};

static struct align_case plain(const struct rows *rows, int64_t tokens, int64_t k, int64_t experts) {
    (void)rows;
    return (struct align_case){.tokens = tokens,
                               .k = k,
                               .experts = experts,
                               .inverted = true,
                               .may_refuse = BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMS)};
}

static bool try(struct rows *rows, struct align_case ac) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_align(rows->result, &ac, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static bool test_sizes(struct rows *rows) {
    static const int64_t sizes[][3] = {{0, 4, 16},    {1, 1, 1},     {1, 8, 128},     {31, 1, 8},      {32, 1, 8},
                                       {33, 1, 8},    {64, 8, 128},  {511, 1, 60},    {513, 1, 60},    {97, 7, 256},
                                       {256, 8, 256}, {683, 3, 33},  {1025, 2, 1024}, {2049, 1, 1023}, {1024, 8, 256},
                                       {1366, 6, 64}, {3001, 3, 160}};
    for (size_t i = 0; i < (opt.quick ? 9 : COUNT(sizes)); i++) {
        struct align_case ac = plain(rows, sizes[i][0], sizes[i][1], sizes[i][2]);
        ac.alignment = i % 3 == 0 ? 0 : i % 3 == 1 ? 16 : 128;
        ac.inverted = i % 4 != 3;
        ac.ids = i % 2 ? ALIGN_BAD : ALIGN_UNIFORM;
        ac.repeats = i == 4 ? 2 : 0;
        ac.start = (int)(i % 3);
        if (!try(rows, ac))
            return false;
    }
    return true;
}

static bool test_choices(struct rows *rows) {
    static const int64_t alignments[] = {1, 4, 7, 64, 128};
    for (int choice = 0; choice < ALIGN_IDS * 5; choice++) {
        struct align_case ac = plain(rows, choice % 7 == 0 ? 700 : 150, 4, choice % 3 ? 40 : 9);
        ac.ids = (enum align_ids)(choice % ALIGN_IDS);
        ac.alignment = alignments[choice / ALIGN_IDS];
        if (!try(rows, ac))
            return false;
    }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 699, 700, 701, 10000, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct align_case counted = plain(rows, 700, 4, 24);
        counted.counted = true;
        counted.count = counts[i];
        counted.alignment = i % 2 ? 8 : 0;
        counted.ids = i % 2 ? ALIGN_BAD : ALIGN_UNIFORM;
        if (!try(rows, counted))
            return false;
    }
    struct align_case few_sms = plain(rows, 1200, 4, 24);
    few_sms.sm_budget = rows->kernel->cluster_ctas;
    return try(rows, few_sms);
}

static bool test_many(struct rows *rows) {
    struct align_case ac = plain(rows, env.simulated || opt.self_test ? 2500 : 40001, 8, 256);
    ac.ids = ALIGN_SKEWED;
    ac.alignment = 128;
    if (!try(rows, ac))
        return false;
    ac.ids = ALIGN_BAD;
    ac.alignment = 0;
    ac.tokens = env.simulated || opt.self_test ? 1700 : 200003;
    return try(rows, ac);
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = {.kernel = &gm_kernels[test->kernel], .result = result};
    if (test_sizes(&rows) && test_choices(&rows) && test_counts(&rows))
        test_many(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct align_case ac = plain(&rows, 1100, 4, 40);
        ac.alignment = 8;
        set_schedule((uint64_t)seed);
        try(&rows, ac);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = {.kernel = &gm_kernels[test->kernel], .result = result};
    struct align_case ac = plain(&rows, 300, 4, 24);
    struct placed_align placed = {0};
    ac.counted = true;
    ac.count = (int)ac.tokens - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_align(result, &ac, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = {.kernel = &gm_kernels[test->kernel], .result = result};
    for (int i = 0; i < 5 && rows.failures == 0; i++) {
        struct align_case ac = plain(&rows, i < 3 ? 1300 : 90, 4, i % 2 ? 260 : 24);
        ac.alignment = i % 2 ? 8 : 1;
        ac.ids = i == 1 ? ALIGN_BAD : i == 3 ? ALIGN_ONE : ALIGN_UNIFORM;
        ac.counted = i == 2;
        ac.count = 1111;
        try(&rows, ac);
    }
    free_operands(&rows.memory);
}

void add_align_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_moe_align)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
