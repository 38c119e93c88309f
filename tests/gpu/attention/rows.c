/* SPDX-License-Identifier: Apache-2.0 */
/* Every variant of attention, by name: lengths around its tiles, masks, pages, layouts, divisions among parts, values,
 * and late operands. */
#include "attention/attention_tests.h"
#include "columns.h"

struct rows {
    const struct gm_kernel *kernel;
    struct result *result;
    struct attention_memory memory;
    int failures, cases;
    int64_t head_dim, v_head_dim;
    int chunk; /* elements of 16 bytes */
    /* maps: attention_sm90. latent: takes k for v. Of 256 elements and more there are fewer cases. */
    bool decodes, maps, latent, is_8bit, is_large;
};

enum { WORKSPACE = 32 << 20, HEAD_DIM = GM_ATTENTION_DECODE_HEAD_DIM };
_Static_assert((int)GM_ATTENTION_SM80_HEAD_DIM == (int)HEAD_DIM && (int)GM_ATTENTION_MLA_SM90_HEAD_DIM == (int)HEAD_DIM,
               "a column of every family");

/* Of q of 8 bits out has another type. In the table e4m3 stands for all types of q that a cache of e4m3 has over it. */
static enum gm_attention_out out_of(const struct rows *rows, enum gm_attention_out other) {
    return rows->kernel->type == GM_E4M3 ? other : GM_ATTENTION_OUT_SAME;
}

/* Of 8 bits scales are those of requests and heads. */
static struct attention_case plain(const struct rows *rows) {
    return (struct attention_case){
        .kv_type = rows->is_8bit ? GM_ATTENTION_KV_E4M3 : GM_ATTENTION_KV_SAME,
        .fp16_weights = rows->decodes,
        .out = out_of(rows, GM_ATTENTION_OUT_BF16),
        .scales = rows->is_8bit ? GM_ATTENTION_SCALES_REQUEST_HEAD : GM_ATTENTION_SCALES_NONE,
        .batch = 1,
        .q_heads = 2,
        .kv_heads = 1,
        .head_dim = rows->head_dim,
        .v_head_dim = rows->v_head_dim,
        .v_is_k = rows->latent,
        .page_size = 16,
        .type = rows->kernel->type,
        .inputs = ATTENTION_NORMAL,
        .may_refuse = BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM),
    };
}

static bool try(struct rows *rows, struct attention_case ac) {
    enum { MOST_FAILURES = 3, LEAST_BOX = 8 };
    const bool has_small_boxes = ac.kv_layout == GM_ATTENTION_KV_PAGED && ac.page_size % LEAST_BOX;
    if ((rows->maps && ac.tree) || ((rows->maps || rows->kernel->cluster_ctas > 1) && has_small_boxes))
        ac.may_refuse |= BIT(GM_REASON_SIZE);
    if (rows->kernel->traits & GM_TRAIT_ANY_TYPE) {
        static const enum gm_type types[] = {GM_BF16, GM_E4M3, GM_FP16};
        ac.type = types[rows->cases++ % 3];
        if (ac.type != GM_E4M3 && ac.out != GM_ATTENTION_OUT_FP32)
            ac.out = GM_ATTENTION_OUT_SAME;
    }
    if (ac.sm_budget && ac.sm_budget < rows->kernel->cluster_ctas)
        ac.may_refuse |= BIT(GM_REASON_MASKED);
    rows->failures += !run_attention(rows->result, &ac, rows->kernel->name, 0, &rows->memory);
    return rows->failures < MOST_FAILURES || opt.verbose;
}

static void set_lens(int to[ATTENTION_LENGTHS], const int *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}
#define SET(member, ...) set_lens(member, (const int[]){__VA_ARGS__}, COUNT(((const int[]){__VA_ARGS__})))

/* One row of q a request, as in decoding: no token, one, around a page's end and a block's, heads of other sizes. */
static bool test_decode(struct rows *rows) {
    struct attention_case ac = plain(rows);
    ac.batch = 5;
    SET(ac.q_lens, 1, 1, 1, 0, 1);
    SET(ac.kv_lens, 1, 17, 0, 9, 70);
    ac.q_heads = 6, ac.kv_heads = 2;
    ac.kv_layout = GM_ATTENTION_KV_PAGED;
    ac.mask = GM_ATTENTION_CAUSAL;
    ac.lse = true;
    ac.spare_tokens = 50, ac.spare_batch = 3, ac.spare_rows = 2;
    if (!try(rows, ac))
        return false;
    ac.head_dim = rows->head_dim - 3 * rows->chunk, ac.v_head_dim = rows->v_head_dim / 2 + rows->chunk;
    ac.inputs = ATTENTION_PLANTED;
    ac.page_size = rows->maps ? 8 : 1; /* a box has 8 tokens */
    ac.q_heads = 5, ac.kv_heads = 1;
    ac.workspace_limit = WORKSPACE;
    return try(rows, ac);
}

/* Several rows a request: causal, with fewer tokens than rows, and rows that see nothing; full; windows. */
static bool test_masks(struct rows *rows) {
    struct attention_case ac = plain(rows);
    ac.batch = 3;
    SET(ac.q_lens, 5, 21, 3);
    SET(ac.kv_lens, 40, 9, 3);
    ac.kv_layout = GM_ATTENTION_KV_RAGGED;
    ac.inputs = ATTENTION_PLANTED;
    ac.mask = GM_ATTENTION_CAUSAL;
    ac.lse = true;
    if (!try(rows, ac))
        return false;
    ac.mask = GM_ATTENTION_FULL;
    ac.kv_layout = GM_ATTENTION_KV_BATCHED;
    ac.out = out_of(rows, GM_ATTENTION_OUT_FP16);
    ac.scales = rows->is_8bit ? GM_ATTENTION_SCALES_HEAD : GM_ATTENTION_SCALES_NONE;
    ac.spare_tokens = 3;
    ac.q_heads = 3;
    if (!try(rows, ac))
        return false;
    static const int windows[][3] = {{9, 2, 90}, {0, 0, 33}, {16, -1, 40}, {-1, 1, 18}, {200, 0, 20}};
    for (size_t i = 0; i < (rows->is_large || opt.quick ? 2 : COUNT(windows)); i++) {
        struct attention_case window = plain(rows);
        SET(window.q_lens, i ? 7 : 20);
        SET(window.kv_lens, windows[i][2]);
        window.mask = GM_ATTENTION_WINDOW;
        window.left = windows[i][0], window.right = windows[i][1];
        window.layout = ATTENTION_HND;
        window.inputs = ATTENTION_PLANTED;
        window.workspace_limit = i % 2 ? WORKSPACE : 0;
        if (!try(rows, window))
            return false;
    }
    return true;
}

/* Tiles that are full, and blocks that no mask cuts; more heads than run at the same time, as a long bound makes them. */
static bool test_tiles(struct rows *rows) {
    struct attention_case ac = plain(rows);
    if (rows->decodes || rows->latent || opt.quick || (env.simulated && rows->kernel->type == GM_FP16))
        return true;
    ac.batch = 2;
    SET(ac.q_lens, 130, 40);
    SET(ac.kv_lens, 260, 40);
    ac.q_heads = rows->is_large && (rows->is_8bit || env.simulated) ? 2 : 6, ac.kv_heads = ac.q_heads / 2;
    ac.page_size = 32;
    ac.kv_layout = GM_ATTENTION_KV_PAGED;
    ac.mask = GM_ATTENTION_CAUSAL;
    ac.spare_tokens = (int)((12 << 20) / (4 * rows->head_dim)) - 500;
    ac.scales = rows->is_8bit ? GM_ATTENTION_SCALES_TENSOR : GM_ATTENTION_SCALES_NONE;
    if (!try(rows, ac))
        return false;
    ac.q_heads = ac.kv_heads = 1;
    ac.spare_tokens = 0;
    ac.mask = GM_ATTENTION_WINDOW, ac.left = 100;
    ac.inputs = ATTENTION_PLANTED;
    return try(rows, ac);
}

/* More requests than a warp's lanes have at a time, of CTAs alone four each, so that tiles are found behind others. */
static bool test_many(struct rows *rows) {
    struct attention_case ac = plain(rows);
    if (!rows->maps || rows->is_large || opt.quick || (env.simulated && rows->kernel->type == GM_FP16))
        return true;
    ac.batch = rows->kernel->columns[GM_ATTENTION_SM90_CTAS] > 1 ? 133 : 37;
    SET(ac.q_lens, 2, 0, 66, 1, 0, 3, 130, 1);
    SET(ac.kv_lens, 9, 5, 70, 0, 0, 3, 130, 2);
    ac.q_heads = 1;
    ac.mask = GM_ATTENTION_CAUSAL;
    ac.kv_layout = GM_ATTENTION_KV_RAGGED;
    return try(rows, ac);
}

/* Sinks, a soft cap, fp32, a tree. */
static bool test_choices(struct rows *rows) {
    struct attention_case ac = plain(rows);
    ac.batch = 2;
    SET(ac.q_lens, 2, 3);
    SET(ac.kv_lens, 19, 1);
    ac.q_heads = 8, ac.kv_heads = 1;
    ac.mask = GM_ATTENTION_CAUSAL;
    ac.sinks = ac.lse = true;
    if (!try(rows, ac))
        return false;
    SET(ac.kv_lens, 19, 270); /* the first blocks of 128 tokens are seen by all rows */
    ac.softcap = 0.7f;
    ac.sinks = false;
    ac.out = GM_ATTENTION_OUT_FP32;
    ac.pad = rows->chunk;
    if (!try(rows, ac))
        return false;
    SET(ac.kv_lens, 19, 1);
    ac.sinks = ac.tree = true;
    ac.softcap = 0;
    ac.inputs = ATTENTION_PLANTED;
    SET(ac.q_lens, 9, 4);
    SET(ac.kv_lens, 30, 3);
    ac.q_heads = 2;
    return try(rows, ac);
}

/* Keys that are cut among parts: requests that end on a part's edge, one long among short ones, few CTAs. */
static bool test_parts(struct rows *rows) {
    struct attention_case ac = plain(rows);
    SET(ac.q_lens, 1);
    SET(ac.kv_lens, rows->is_large ? 300 : rows->decodes ? 700 : 150);
    ac.q_heads = ac.kv_heads = 1;
    ac.workspace_limit = WORKSPACE;
    ac.repeats = 2;
    ac.sinks = ac.lse = true;
    if (!try(rows, ac))
        return false;
    ac.batch = 10;
    SET(ac.q_lens, 1, 1, 1, 1, 1, 1, 0, 1);
    SET(ac.kv_lens, 64, 128, 3, 150, 0, 65, 5, 2);
    ac.mask = GM_ATTENTION_CAUSAL;
    ac.kv_layout = GM_ATTENTION_KV_PAGED;
    ac.layout = ATTENTION_TURNS;
    ac.page_size = 3;
    ac.inputs = ATTENTION_PLANTED;
    ac.sinks = false;
    ac.sm_budget = 1;
    ac.repeats = 0;
    if (!try(rows, ac))
        return false;
    ac.sm_budget = 3;
    return try(rows, ac);
}

/* Requests of as many tokens, whose shares become a little larger so that they are whole units; of an even number of them, and cut
 * into two each, on the hardware. */
static bool test_even_shares(struct rows *rows) {
    enum { BLOCK = 128 }; /* or half of it */
    struct attention_case ac = plain(rows);
    if (!rows->decodes || rows->is_large)
        return true;
    const int some = 4 * BLOCK - 5, many = 36 * BLOCK;
    ac.batch = 19;
    SET(ac.q_lens, 1, 1, 1, 1, 1, 1, 1, 1);
    SET(ac.kv_lens, some, some, some, some, some, some, some, some);
    ac.sm_budget = 2;
    ac.workspace_limit = WORKSPACE;
    ac.repeats = 1;
    if (!try(rows, ac))
        return false;
    if (env.simulated || opt.quick)
        return true;
    ac.batch = 16;
    SET(ac.kv_lens, many, many, many, many, many, many, many, many);
    ac.sm_budget = 17;
    return try(rows, ac);
}

enum {
    SLOTS_OF_5 = 165120
}; /* bytes that 5 parts want for 8 rows: one has the end of a unit and the start of the next */

/* More heads and tokens than a unit has rows: units of a few heads, and of several tokens' heads; pages of a block, larger and
 * smaller ones; units that are cut and whole ones, one behind the other. */
static bool test_units(struct rows *rows) {
    struct attention_case two = plain(rows); /* parts: CTAs that put their pieces together wait beside them */
    SET(two.q_lens, 3);
    SET(two.kv_lens, 70);
    two.q_heads = 20;
    two.workspace_limit = WORKSPACE;
    two.repeats = 2;
    if (rows->latent && !try(rows, two))
        return false;
    static const struct {
        int64_t q_heads, kv_heads, page_size;
        int q_len, kv_len;
    } cases[] = {{72, 1, 64, 1, 130}, {20, 1, 128, 4, 70}, {24, 2, 32, 3, 70}, {8, 1, 24, 1, 300}};
    for (size_t i = 0; rows->latent && i < (opt.quick ? 2 : COUNT(cases)); i++) {
        struct attention_case ac = plain(rows);
        ac.batch = 3;
        SET(ac.q_lens, cases[i].q_len, 1, cases[i].q_len);
        SET(ac.kv_lens, cases[i].kv_len, 65, 7);
        ac.q_heads = cases[i].q_heads, ac.kv_heads = cases[i].kv_heads;
        ac.page_size = cases[i].page_size;
        ac.kv_layout = GM_ATTENTION_KV_PAGED;
        ac.mask = GM_ATTENTION_CAUSAL;
        ac.inputs = i % 2 ? ATTENTION_PLANTED : ATTENTION_NORMAL;
        ac.sinks = ac.lse = i > 0;
        ac.out = i == 3 ? GM_ATTENTION_OUT_FP32 : GM_ATTENTION_OUT_SAME;
        ac.workspace_limit = WORKSPACE;
        ac.repeats = i == 0 ? 1 : 0;
        if (!try(rows, ac))
            return false;
        ac.workspace_limit = i == 3 ? SLOTS_OF_5 : 0;
        if (i == 3 && !try(rows, ac))
            return false;
        ac.workspace_limit = 0;
        ac.mask = GM_ATTENTION_WINDOW;
        ac.left = 40, ac.right = 1;
        if (i % 2 && !try(rows, ac))
            return false;
    }
    return true;
}

/* Scores that rise, fall, are large; NaN where it counts. */
static bool test_values(struct rows *rows) {
    struct attention_case ac = plain(rows);
    SET(ac.q_lens, 2);
    SET(ac.kv_lens, rows->is_large ? 70 : 130);
    ac.lse = true;
    ac.inputs = ATTENTION_RISING;
    if (!try(rows, ac))
        return false;
    ac.inputs = ATTENTION_FALLING;
    if (!opt.quick && !try(rows, ac))
        return false;
    ac.inputs = ATTENTION_LARGE;
    ac.scale = 1;
    if (!try(rows, ac))
        return false;
    ac = plain(rows);
    ac.batch = 4;
    SET(ac.q_lens, 1, 2, 1, 1);
    SET(ac.kv_lens, 3, 5, 4, 6);
    ac.inputs = ATTENTION_SPECIAL;
    ac.lse = true;
    ac.q_heads = 4, ac.kv_heads = 2;
    if (!try(rows, ac))
        return false;
    /* Rows that see nothing are 0 beside a row that sees NaN. */
    SET(ac.q_lens, 1, 2, 5, 1);
    SET(ac.kv_lens, 3, 5, 2, 6);
    ac.mask = GM_ATTENTION_CAUSAL;
    return try(rows, ac);
}

/* Of 8 bits: the largest elements; scales of 0, below it, and NaN; a long sum, which wgmma alone keeps some 14 bits of. */
static bool test_8bit(struct rows *rows) {
    struct attention_case ac = plain(rows);
    if (!rows->is_8bit)
        return true;
    SET(ac.q_lens, 3);
    SET(ac.kv_lens, 140);
    ac.inputs = ATTENTION_MOST;
    ac.scale = 1e-6f;
    ac.lse = true;
    if (!try(rows, ac))
        return false;
    ac = plain(rows);
    ac.batch = 5;
    SET(ac.q_lens, 2, 3, 2, 2, 1);
    SET(ac.kv_lens, 150, 140, 9, 3, 4);
    ac.mask = GM_ATTENTION_CAUSAL;
    ac.odd_scales = ac.lse = true;
    if (!try(rows, ac))
        return false;
    ac.softcap = 0.7f;
    if (!try(rows, ac))
        return false;
    ac = plain(rows);
    SET(ac.q_lens, 1);
    SET(ac.kv_lens, env.simulated ? 700 : 16000);
    ac.inputs = ATTENTION_POSITIVE;
    return try(rows, ac);
}

/* Every number of e4m3 under rows of q of other magnitudes; heads that are no whole chunks. */
static bool test_codes(struct rows *rows) {
    struct attention_case ac = plain(rows);
    if (!rows->is_8bit || !rows->decodes)
        return true;
    ac.batch = 2;
    SET(ac.q_lens, 2, 1);
    SET(ac.kv_lens, 70, 33);
    ac.q_heads = 4, ac.kv_heads = 2;
    ac.scale = 0x1p-7f;
    ac.lse = true;
    ac.inputs = ATTENTION_CODES;
    ac.workspace_limit = WORKSPACE;
    for (int i = 0; i < 3; i++) /* all types of q */
        if (!try(rows, ac))
            return false;
    ac.head_dim = rows->head_dim - 24, ac.v_head_dim = rows->head_dim / 2 + 8;
    ac.kv_layout = GM_ATTENTION_KV_RAGGED;
    ac.scales = GM_ATTENTION_SCALES_NONE;
    ac.pad = 8;
    for (int i = 0; i < 3; i++)
        if (!try(rows, ac))
            return false;
    return true;
}

/* Elements that are aligned to less than 16 bytes, and numbers that lead nowhere. */
static bool test_bad(struct rows *rows) {
    for (int i = 0; i < 3; i++) {
        struct attention_case ac = plain(rows);
        ac.batch = 2;
        SET(ac.q_lens, 1, 3);
        SET(ac.kv_lens, 33, 18);
        ac.mask = GM_ATTENTION_CAUSAL;
        ac.kv_layout = GM_ATTENTION_KV_PAGED;
        ac.layout = i ? ATTENTION_TURNS : ATTENTION_NHD;
        ac.start = i < 2;
        ac.pad = i == 1;
        ac.out = i == 1 ? GM_ATTENTION_OUT_FP32 : ac.out;
        ac.out_start = i == 2 ? 3 : 0;
        if (!rows->decodes)
            ac.may_refuse |= BIT(GM_REASON_ALIGNMENT) | BIT(GM_REASON_STRIDE) | BIT(GM_REASON_SIZE);
        if (!try(rows, ac))
            return false;
    }
    struct attention_case bad = plain(rows);
    bad.batch = 3;
    SET(bad.q_lens, 1, 1, 2);
    SET(bad.kv_lens, 40, 23, 90);
    bad.hidden_tokens = 41;
    bad.page_size = 16;
    bad.kv_layout = GM_ATTENTION_KV_PAGED;
    bad.bad_pages = true;
    if (!try(rows, bad) || !rows->decodes)
        return rows->failures == 0;
    SET(bad.kv_lens, 40, 23, 96); /* whole tiles */
    bad.hidden_tokens = 0;
    bad.kv_layout = GM_ATTENTION_KV_RAGGED;
    bad.bad_pages = false, bad.bad_starts = true;
    return try(rows, bad);
}

static struct rows rows_of(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int64_t head_dim = kernel->columns[HEAD_DIM];
    const bool maps = strcmp(kernel->family->name, "attention_sm90") == 0;
    const bool latent = strcmp(kernel->family->name, "attention_mla_sm90") == 0;
    const int64_t of_v = maps     ? kernel->columns[GM_ATTENTION_SM90_V_HEAD_DIM]
                         : latent ? kernel->columns[GM_ATTENTION_MLA_SM90_V_HEAD_DIM]
                                  : 0;
    const bool decodes = strcmp(kernel->family->name, "attention_decode") == 0;
    const bool is_8bit = kernel->type == GM_E4M3;
    return (struct rows){.kernel = kernel,
                         .result = result,
                         .head_dim = head_dim,
                         .v_head_dim = of_v ? of_v : head_dim,
                         .decodes = decodes,
                         .chunk = is_8bit ? 16 : 8,
                         .maps = maps,
                         .latent = latent,
                         .is_8bit = is_8bit,
                         .is_large = head_dim > 128};
}

static void test_all(struct rows *rows) {
    if (test_decode(rows) && test_masks(rows) && test_tiles(rows) && test_many(rows) && test_choices(rows) &&
        test_parts(rows) && test_even_shares(rows) && test_units(rows) && test_values(rows) && test_8bit(rows) &&
        test_codes(rows))
        test_bad(rows);
}

static void run_row(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    test_all(&rows);
    for (int seed = 1; seed < opt.seeds && env.simulated && rows.failures == 0; seed++) {
        struct attention_case ac = plain(&rows);
        ac.batch = 3;
        SET(ac.q_lens, 1, 2, 1);
        SET(ac.kv_lens, 90, 33, 4);
        ac.mask = GM_ATTENTION_CAUSAL;
        ac.workspace_limit = WORKSPACE;
        ac.sm_budget = 2;
        set_schedule((uint64_t)seed);
        try(&rows, ac);
    }
    set_schedule(opt.schedule);
    free_attention(NULL, &rows.memory);
}

/* ---- late operands, and replaced images ----------------------------------------------------------------- */

static void run_late(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    struct attention_case ac = plain(&rows);
    struct placed_attention placed = {0};
    ac.batch = 2;
    SET(ac.q_lens, 1, 1);
    SET(ac.kv_lens, 5, 9);
    ac.kv_layout = GM_ATTENTION_KV_PAGED;
    ac.sinks = ac.lse = true;
    ac.tree = rows.decodes || rows.latent;
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else if (place_attention(result, &ac, &rows.memory, &placed))
        run_early(result, &placed.placed, rows.kernel->name);
    free_attention(&placed, &rows.memory);
}

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    struct rows rows = rows_of(test, result);
    test_all(&rows);
    free_attention(NULL, &rows.memory);
}

void add_attention_rows_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_attention)
            continue;
        add_test("rows", kernel->name, run_row, (int)i, 0);
        if (kernel->arch == GM_ARCH_SM90)
            add_test("early", kernel->name, run_late, (int)i, 0);
        if (opt.test && strcmp(opt.test, "image") == 0)
            add_test("image", kernel->name, run_image, (int)i, 0);
    }
}
