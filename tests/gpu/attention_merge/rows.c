/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of attention_merge, by name: heads around its chunks, lanes and parts, every choice, alignments, and late
 * operands. */
#include "attention_merge/attention_merge_tests.h"
#include "columns.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk; /* elements */
    int64_t threads;
};

static struct merge_case plain(const struct rows *rows, int64_t tokens, int64_t heads, int64_t head_dim) {
    return (struct merge_case){.tokens = tokens,
                               .heads = heads,
                               .head_dim = head_dim,
                               .type = rows->kernel->type,
                               .inputs = MERGE_NORMAL,
                               .pad = rows->chunk,
                               .may_refuse =
                                   BIT(GM_REASON_NO_IMAGE) | (head_dim % rows->chunk ? BIT(GM_REASON_SIZE) : 0)};
}

static bool try(struct rows *rows, struct merge_case mc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_merge(rows->result, &mc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* Chunks of a head from one to 64 or more: all numbers of lanes, idle lanes, and several parts. */
static bool test_sizes(struct rows *rows) {
    const int64_t chunk = rows->chunk;
    const int64_t sizes[][3] = {{1, 1, chunk},      {3, 5, 16 * chunk}, {1, 7, 2 * chunk},
                                {2, 3, 3 * chunk},  {7, 1, 12 * chunk}, {2, 2, 33 * chunk},
                                {1, 3, 64 * chunk}, {5, 2, 97},         {1, rows->threads + 1, chunk},
                                {2, 1, 512},        {9, 4, 8 * chunk},  {3, 3, 20 * chunk}};
    for (size_t i = 0; i < (opt.quick ? 8 : COUNT(sizes)); i++) {
        struct merge_case mc = plain(rows, sizes[i][0], sizes[i][1], sizes[i][2]);
        mc.layout = (enum merge_layout)(i % MERGE_LAYOUTS);
        mc.lse_start = (int)(i % 4);
        mc.repeats = i == 1 ? 2 : 0;
        if (mc.head_dim <= 512 && !try(rows, mc))
            return false;
    }
    return true;
}

/* Every kind of values with every place and type of out, of lse, and layout, in turns. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < MERGE_INPUTS * 3 * 4; choice++) {
        struct merge_case mc = plain(rows, 5, 6, 3 * rows->chunk);
        mc.inputs = (enum merge_inputs)(choice % MERGE_INPUTS);
        mc.out = choice / MERGE_INPUTS % 4;
        mc.place = mc.out == 0 ? (enum merge_place)(choice / MERGE_INPUTS / 4) : MERGE_APART;
        mc.lse_place = (enum merge_place)((choice + choice / 12) % 3);
        mc.has_no_lse = choice % 13 == 5;
        mc.layout = (enum merge_layout)(choice / 5 % MERGE_LAYOUTS);
        mc.seed = (uint64_t)choice;
        if (!try(rows, mc))
            return false;
    }
    return true;
}

static bool test_counts(struct rows *rows) {
    static const int counts[] = {0, 3, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct merge_case counted = plain(rows, 7, 3, 3 * rows->chunk);
        counted.counted = true;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    struct merge_case few_sms =
        plain(rows, env.simulated ? 29 : 100, 64, 32 * rows->chunk); /* several tiles of a CTA */
    few_sms.sm_budget = 1;
    few_sms.lse_place = MERGE_IN_A;
    return few_sms.head_dim > 512 || try(rows, few_sms);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct merge_case mc = plain(rows, 3, 2, 5 * rows->chunk);
        mc.a_start = offset;
        mc.b_start = offset * 5 % 8;
        mc.out_start = offset * 3 % 8;
        mc.pad = offset;
        mc.layout = (enum merge_layout)(offset % MERGE_LAYOUTS);
        if (rows->chunk > 1)
            mc.may_refuse |= BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT);
        const int ran = rows->result->cases;
        if (!try(rows, mc))
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
    rows.chunk = c[GM_ATTENTION_MERGE_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    rows.threads = c[GM_ATTENTION_MERGE_THREADS];
    return rows;
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_choices(&rows) && test_counts(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct merge_case mc = plain(&rows, 3, 3, 24 * rows.chunk); /* lse in the place of what other lanes load */
        mc.lse_place = MERGE_IN_B;
        set_schedule((uint64_t)seed);
        try(&rows, mc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct merge_case mc = plain(&rows, env.simulated ? 4 : 64, 8, 16 * rows.chunk);
    struct placed_merge placed = {0};
    mc.counted = true;
    mc.count = (int)mc.tokens - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_merge(result, &mc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int i = 0; i < MERGE_INPUTS && rows.failures == 0; i++) {
        struct merge_case mc = plain(&rows, 7, 5, i % 2 ? 40 * rows.chunk : 12 * rows.chunk);
        mc.inputs = (enum merge_inputs)i;
        mc.counted = i == 1;
        mc.count = 4;
        mc.lse_place = (enum merge_place)(i % 3);
        mc.layout = (enum merge_layout)(i % MERGE_LAYOUTS);
        try(&rows, mc);
    }
    free_operands(&rows.memory);
}

void add_merge_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_attention_merge)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
