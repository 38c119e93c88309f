/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of the rotary embedding, by name: heads around its chunks and lanes, every choice, every layout,
 * guards, alignments, bad numbers, and late operands. */
#include "columns.h"
#include "rope/rope_tests.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct operand_memory memory;
    int failures;
    int64_t chunk, heads; /* elements of a chunk; heads of a lane */
};

static struct rope_case plain(const struct rows *rows, int64_t tokens, int64_t head_dim) {
    const int64_t items = 32; /* of a warp */
    return (struct rope_case){
        .tokens = tokens,
        .q_heads = 3,
        .kv_heads = 2,
        .head_dim = head_dim,
        .rotary_dim = head_dim,
        .type = rows->kernel->type,
        .eps = 1e-6f,
        .k_scale = 0.37f,
        .v_scale = 0.0123f,
        .pad = 8,
        .inputs = ROPE_NORMAL,
        .may_refuse = BIT(GM_REASON_NO_IMAGE) |
                      (rows->chunk > 1 && (head_dim % (2 * rows->chunk) || head_dim > 2 * rows->chunk * items)
                           ? BIT(GM_REASON_SIZE) | BIT(GM_REASON_STRIDE)
                           : 0)};
}

static bool try(struct rows *rows, struct rope_case rc) {
    enum { MOST_FAILURES = 3 };
    rows->failures += !run_rope(rows->result, &rc, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

/* Tokens, heads, elements of a head, rotated ones, and the first of these. */
static bool test_sizes(struct rows *rows) {
    static const int64_t sizes[][6] = {{1, 1, 1, 64, 64, 0},    {5, 9, 1, 128, 128, 0}, {3, 4, 4, 256, 256, 0},
                                       {2, 5, 3, 96, 96, 0},    {7, 0, 3, 64, 32, 0},   {4, 3, 0, 128, 64, 64},
                                       {2, 2, 1, 512, 512, 0},  {3, 1, 2, 80, 32, 16},  {2, 2, 2, 6, 2, 2},
                                       {1, 3, 2, 200, 144, 16}, {2, 1, 1, 130, 66, 3},  {17, 2, 1, 32, 32, 0}};
    for (size_t i = 0; i < (opt.quick ? 5 : COUNT(sizes)); i++) {
        struct rope_case rc = plain(rows, sizes[i][0], sizes[i][3]);
        rc.q_heads = sizes[i][1];
        rc.kv_heads = sizes[i][2];
        rc.rotary_dim = sizes[i][4];
        rc.rotary_offset = sizes[i][5];
        rc.norm = i % 2 ? GM_ROPE_NORM : GM_ROPE_NO_NORM;
        rc.pairing = (enum gm_rope_pairing)(i / 2 % 2);
        rc.append = rc.kv_heads ? (enum gm_rope_append)(i % 3) : GM_ROPE_NO_APPEND;
        rc.repeats = i == 1 ? 2 : 0;
        if (rows->chunk > 1 &&
            (rc.rotary_dim / 2 % rows->chunk || rc.rotary_offset % rows->chunk || rc.head_dim % rows->chunk))
            rc.may_refuse |= BIT(GM_REASON_SIZE) | BIT(GM_REASON_STRIDE);
        if (!try(rows, rc))
            return false;
    }
    return true;
}

/* Every combination of what a problem may ask for, by turns. */
static bool test_choices(struct rows *rows) {
    for (int choice = 0; choice < 48; choice++) {
        if (opt.quick && choice % 5)
            continue;
        const int64_t rest = choice % 3 ? 2 * rows->chunk : 0;
        struct rope_case rc = plain(rows, 3, 8 * rows->chunk + rest);
        rc.rotary_dim = 8 * rows->chunk;
        rc.rotary_offset = choice % 3 == 2 ? rows->chunk : 0;
        rc.pairing = (enum gm_rope_pairing)(choice & 1);
        rc.rounding = choice & 2 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        rc.norm = choice & 4 ? GM_ROPE_NORM : GM_ROPE_NO_NORM;
        rc.inverse = choice >> 3 & 1;
        rc.normalized_rounding = choice & 8 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        rc.fp32_weight = choice >> 4 & 1;
        rc.weight_offset = choice & 8 ? 1 : 0;
        rc.append = (enum gm_rope_append)(choice / 16);
        rc.int64_positions = choice % 5 < 2;
        rc.inputs = choice % 7 == 0 ? ROPE_SPECIAL : choice % 7 == 1 ? ROPE_POSITIVE : ROPE_NORMAL;
        rc.page_size = choice % 4;
        rc.spare_slots = choice % 3;
        if (!try(rows, rc))
            return false;
    }
    return true;
}

/* Where heads are and where they go. */
static bool test_layouts(struct rows *rows) {
    for (int choice = 0; choice < ROPE_LAYOUTS * ROPE_CACHES; choice++) {
        if (opt.quick && choice % 3)
            continue;
        struct rope_case rc = plain(rows, 6, 8 * rows->chunk);
        rc.layout = (enum rope_layout)(choice % ROPE_LAYOUTS);
        rc.cache = (enum rope_cache)(choice % ROPE_CACHES);
        rc.append = (enum gm_rope_append)(choice % 3);
        rc.in_place = choice % 2 == 0 || rc.layout == ROPE_QKV_ROWS;
        rc.drops_k = rc.append && choice % 4 > 1;
        rc.page_size = 3;
        rc.spare_slots = 4;
        rc.pad = 16;
        if (!try(rows, rc))
            return false;
    }
    return true;
}

/* Exact results; a norm that is exact; numbers that lead nowhere; a row count; few SMs. */
static bool test_inputs(struct rows *rows) {
    static const int counts[] = {0, 3, 6, 7, 100, -1};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct rope_case counted = plain(rows, 7, 4 * rows->chunk);
        counted.counted = counted.flagged = counted.bad = true;
        counted.append = i % 2 ? GM_ROPE_APPEND : GM_ROPE_NO_APPEND;
        counted.count = counts[i];
        if (!try(rows, counted))
            return false;
    }
    for (int choice = 0; choice < 8; choice++) {
        struct rope_case rc = plain(rows, 9, 64); /* elements enough for every integer */
        rc.inputs = choice & 1 ? ROPE_SIGNS : ROPE_INTEGERS;
        rc.norm = choice & 1 ? GM_ROPE_NORM : GM_ROPE_NO_NORM;
        rc.eps = 0;
        rc.pairing = (enum gm_rope_pairing)(choice >> 1 & 1);
        rc.append = GM_ROPE_APPEND_E4M3;
        rc.k_scale = choice & 2 ? 0x1.eb851ep+0f : 0x1.69696ap+1f; /* 3 / scale is at, or beside, a tie of e4m3 */
        rc.int64_positions = choice >> 1 & 1;
        rc.flagged = rc.bad = true;
        rc.huge = choice & 4;
        if (!try(rows, rc))
            return false;
    }
    struct rope_case few_sms = plain(rows, env.simulated ? 61 : 400, 8 * rows->chunk); /* a CTA takes several tiles */
    few_sms.q_heads = 4 * rows->heads + 1;
    few_sms.sm_budget = 1;
    return try(rows, few_sms);
}

/* Variants of chunks of 16 bytes must refuse what is aligned to less, as all others must take it. */
static bool test_alignment(struct rows *rows) {
    for (int offset = 1; offset < (opt.quick ? 3 : 8); offset++) {
        struct rope_case rc = plain(rows, 3, 8 * rows->chunk);
        rc.start = offset;
        rc.pad = offset;
        rc.layout = offset % 2 ? ROPE_PADDED : ROPE_PACKED;
        rc.norm = offset % 3 ? GM_ROPE_NORM : GM_ROPE_NO_NORM;
        rc.append = (enum gm_rope_append)(offset % 3);
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
    return (struct rows){.kernel = kernel,
                         .result = result,
                         .chunk = c[GM_ROPE_VECTOR_BYTES] / gm_type_bytes(kernel->type),
                         .heads = c[GM_ROPE_HEADS]};
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    if (test_sizes(&rows) && test_choices(&rows) && test_layouts(&rows) && test_inputs(&rows))
        test_alignment(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct rope_case rc = plain(&rows, 5, 8 * rows.chunk);
        rc.norm = GM_ROPE_NORM;
        rc.append = GM_ROPE_APPEND;
        rc.in_place = true;
        set_schedule((uint64_t)seed);
        try(&rows, rc);
    }
    set_schedule(opt.schedule);
    free_operands(&rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct rope_case rc = plain(&rows, env.simulated ? 5 : 64, 64);
    struct placed_rope placed = {0};
    rc.norm = GM_ROPE_NORM;
    rc.append = GM_ROPE_APPEND_E4M3;
    rc.flagged = rc.bad = rc.counted = true;
    rc.count = (int)rc.tokens - 1;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_rope(result, &rc, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_placed(&placed.placed);
    free_operands(&rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    for (int choice = 0; choice < 8 && rows.failures == 0; choice++) {
        struct rope_case rc = plain(&rows, 7, 12 * rows.chunk);
        rc.rotary_dim = 8 * rows.chunk;
        rc.rotary_offset = choice & 1 ? 2 * rows.chunk : 0;
        rc.q_heads = 5;
        rc.pairing = (enum gm_rope_pairing)(choice & 1);
        rc.rounding = choice & 2 ? GM_ROUND_EARLY : GM_ROUND_LATE;
        rc.norm = choice & 4 ? GM_ROPE_NORM : GM_ROPE_NO_NORM;
        rc.append = (enum gm_rope_append)(choice % 3);
        rc.inputs = choice == 2 ? ROPE_SPECIAL : ROPE_NORMAL;
        rc.page_size = 3;
        rc.bad = rc.flagged = choice & 2;
        rc.int64_positions = rc.huge = choice & 4;
        rc.counted = choice & 1;
        rc.count = 5;
        try(&rows, rc);
    }
    free_operands(&rows.memory);
}

void add_rope_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_rope)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
