/* SPDX-License-Identifier: Apache-2.0 */
/* One attention: its operands, and what a call shall have written. */
#include <math.h>
#include <stdlib.h>

#include "attention/attention_tests.h"

void describe_attention(const struct attention_case *ac, char *text, size_t bytes) {
    static const char *const inputs[] = {"normal",  "planted",  "rising", "falling", "large",
                                         "special", "positive", "most",   "codes"};
    static const char *const layouts[] = {"nhd", "hnd", "turns"}, *const kv[] = {"batched", "ragged", "paged"};
    static const char *const masks[] = {"full", "causal", "window"};
    int at = snprintf(text, bytes, "%lld requests (", (long long)ac->batch);
    for (int b = 0; b < ATTENTION_LENGTHS && b < ac->batch; b++)
        at += snprintf(text + at, bytes - (size_t)at, "%s%d/%d", b ? " " : "", ac->q_lens[b], ac->kv_lens[b]);
    snprintf(
        text + at, bytes - (size_t)at,
        ") %lld:%lld heads of %lld:%lld, %s:%s scales %d%s %s %s %s page %lld, %s %lld:%lld%s%s%s%s%s to %s pad %d "
        "start %d+%d%s limit %zu spare %d %d %d hidden %d",
        (long long)ac->q_heads, (long long)ac->kv_heads, (long long)ac->head_dim, (long long)ac->v_head_dim,
        gm_type_name(ac->type), gm_type_name(attention_kv_type(ac)), (int)ac->scales, ac->odd_scales ? " odd" : "",
        inputs[ac->inputs], kv[ac->kv_layout], layouts[ac->layout], (long long)ac->page_size, masks[ac->mask],
        (long long)ac->left, (long long)ac->right, ac->v_is_k ? " v is k" : "", ac->softcap != 0 ? " cap" : "",
        ac->sinks ? " sinks" : "", ac->lse ? " lse" : "", ac->tree ? " tree" : "", gm_type_name(attention_out_type(ac)),
        ac->pad, ac->start, ac->out_start,
        ac->bad_pages    ? " bad pages"
        : ac->bad_starts ? " bad starts"
                         : "",
        ac->workspace_limit, ac->spare_batch, ac->spare_rows, ac->spare_tokens, ac->hidden_tokens);
}

/* ---- rows: (request, token, head) of k and v ------------------------------------------------------------ */

static const struct attention_case *case_of(const void *of) {
    return ((const struct placed_attention *)of)->ac;
}

/* Tokens of all requests; of TURNS those of v are behind those of k. */
static int64_t cached_rows(const struct attention_case *ac) {
    return attention_tokens_before(ac, ac->batch) * ac->kv_heads;
}

static int64_t offset_in_cache(const struct placed_attention *placed, int64_t row, const int64_t stride[3]) {
    const struct attention_case *ac = placed->ac;
    const int64_t tokens = attention_page_tokens(ac), slot = placed->slots[row / ac->kv_heads];
    const int64_t head = row % ac->kv_heads;
    if (ac->kv_layout == GM_ATTENTION_KV_RAGGED)
        return slot * stride[1] + head * stride[2];
    return slot / tokens * stride[0] + slot % tokens * stride[1] + head * stride[2];
}

static bool is_in_turns(const struct attention_case *ac) {
    return ac->layout == ATTENTION_TURNS && !ac->v_is_k;
}

static int64_t v_in_turns(const struct attention_case *ac) {
    return ac->kv_heads * (ac->head_dim + ac->pad);
}

static int64_t k_offset(const void *of, int64_t row, int64_t column) {
    const struct placed_attention *placed = of;
    const struct gm_attention_problem *p = &placed->problem;
    const int64_t stride[] = {p->k_page_stride, p->k_token_stride, p->k_head_stride}, rows = cached_rows(placed->ac);
    return offset_in_cache(placed, row % rows, stride) + (row >= rows ? v_in_turns(placed->ac) : 0) + column;
}

static int64_t v_offset(const void *of, int64_t row, int64_t column) {
    const struct placed_attention *placed = of;
    const struct gm_attention_problem *p = &placed->problem;
    const int64_t stride[] = {p->v_page_stride, p->v_token_stride, p->v_head_stride};
    return offset_in_cache(placed, row, stride) + column;
}

static double v_value(const void *of, int64_t row, int64_t column) {
    const struct placed_attention *placed = of;
    return placed->v[row * placed->ac->v_head_dim + column];
}

static double k_value(const void *of, int64_t row, int64_t column) {
    const struct placed_attention *placed = of;
    const int64_t rows = cached_rows(placed->ac);
    return row >= rows ? v_value(of, row - rows, column) : placed->k[row * placed->ac->head_dim + column];
}

static void *at_least_one(void *memory, int64_t count, size_t bytes) {
    void *larger = realloc(memory, (size_t)(count > 0 ? count : 1) * bytes);
    if (!larger)
        exit(2);
    return larger;
}

/* Made once: every row of q is compared with them. */
static void make_cache(struct placed_attention *placed, struct attention_memory *memory) {
    const struct attention_case *ac = placed->ac;
    const int64_t rows = cached_rows(ac), k_dim = ac->head_dim, v_dim = ac->v_head_dim;
    int64_t at = 0;
    placed->slots = memory->slots = at_least_one(memory->slots, rows / ac->kv_heads, sizeof *memory->slots);
    placed->k = memory->k = at_least_one(memory->k, rows * k_dim, sizeof *memory->k);
    placed->v = memory->v = at_least_one(memory->v, rows * v_dim, sizeof *memory->v);
    for (int64_t request = 0; request < ac->batch; request++)
        for (int64_t token = 0; token < attention_kv_len(ac, request); token++)
            memory->slots[at++] = attention_slot(ac, request, token);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t slot = memory->slots[row / ac->kv_heads], head = row % ac->kv_heads;
        for (int64_t i = 0; i < k_dim; i++)
            memory->k[row * k_dim + i] = attention_k(ac, slot, head, i);
        for (int64_t i = 0; i < v_dim; i++)
            memory->v[row * v_dim + i] = attention_v(ac, slot, head, i);
    }
}

/* ---- the other operands --------------------------------------------------------------------------------- */

#define OFFSET_OF_ROWS(operand)                                                                                        \
    static int64_t operand##_offset(const void *of, int64_t row, int64_t column) {                                     \
        const struct gm_attention_problem *p = &((const struct placed_attention *)of)->problem;                        \
        return row / p->q_heads * p->operand##_token_stride + row % p->q_heads * p->operand##_head_stride + column;    \
    }
OFFSET_OF_ROWS(q)
OFFSET_OF_ROWS(out)
OFFSET_OF_ROWS(lse)

static double q_value(const void *of, int64_t row, int64_t column) {
    const struct attention_case *ac = case_of(of);
    return attention_q(ac, row / ac->q_heads, row % ac->q_heads, column);
}

static double q_indptr_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (double)attention_first_row(case_of(of), row);
}

/* As it is said: the kernel takes no more than the bound. */
static double kv_len_value(const void *of, int64_t row, int64_t column) {
    const struct attention_case *ac = case_of(of);
    (void)column;
    return ac->kv_lens[row < ATTENTION_LENGTHS ? row : ATTENTION_LENGTHS - 1];
}

static double kv_indptr_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (double)attention_said_start(case_of(of), row);
}

static double page_value(const void *of, int64_t row, int64_t column) {
    return (double)attention_table_entry(case_of(of), row, column);
}

static double sink_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return attention_sink(case_of(of), column);
}

#define SCALE_OF(operand, of)                                                                                          \
    static double operand##_scale_value(const void *placed, int64_t row, int64_t column) {                             \
        return attention_scale(case_of(placed), of, row, column);                                                      \
    }
SCALE_OF(q, ATTENTION_SCALE_OF_Q)
SCALE_OF(k, ATTENTION_SCALE_OF_K)
SCALE_OF(v, ATTENTION_SCALE_OF_V)

static double tree_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return attention_tree_word(case_of(of), row);
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* Rows follow each other: all columns of out, or one of lse. */
static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct attention_case *ac = case_of(placed->of);
    const int64_t token = row / ac->q_heads, head = row % ac->q_heads;
    double *columns = malloc((size_t)ac->v_head_dim * 2 * sizeof *columns);
    struct attention_row of_row = {columns, columns + ac->v_head_dim, 0, 0};
    int64_t request = 0;
    if (!columns)
        exit(2);
    while (request < ac->batch && attention_first_row(ac, request + 1) <= token)
        request++;
    if (operand == ATTENTION_AT_OUT)
        of_row.want = e->want, of_row.tolerance = e->tolerance;
    if (request < ac->batch)
        attention_reference((const struct placed_attention *)placed->of, request,
                            token - attention_first_row(ac, request), head, &of_row);
    if (operand == ATTENTION_AT_LSE)
        e->want[0] = of_row.lse, e->tolerance[0] = of_row.lse_tolerance;
    for (int64_t i = 0; i < placed->operands[operand].columns && request == ac->batch; i++)
        e->tolerance[i] = AS_BEFORE;
    free(columns);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void set_cache_strides(const struct attention_case *ac, struct gm_attention_problem *p) {
    const int64_t heads = ac->kv_heads, turns = is_in_turns(ac) ? 2 : 1;
    const int64_t tokens = ac->kv_layout == GM_ATTENTION_KV_RAGGED ? p->kv_tokens : attention_page_tokens(ac);
    const int64_t k = ac->head_dim + ac->pad, v = ac->v_head_dim + ac->pad;
    p->k_head_stride = k, p->k_token_stride = turns * heads * k;
    p->v_head_stride = v, p->v_token_stride = turns * heads * v;
    if (ac->layout == ATTENTION_HND) {
        p->k_token_stride = k, p->k_head_stride = tokens * k;
        p->v_token_stride = v, p->v_head_stride = tokens * v;
    }
    p->k_page_stride = turns * tokens * heads * k + 16; /* a gap between pages */
    p->v_page_stride = turns * tokens * heads * v + 16;
}

static void set_problem(const struct attention_case *ac, struct gm_attention_problem *p) {
    const int64_t rows = attention_first_row(ac, ac->batch) + ac->spare_rows;
    int64_t longest = 1;
    for (int64_t b = 0; b < ac->batch; b++)
        longest = attention_q_len(ac, b) > longest ? attention_q_len(ac, b) : longest;
    *p = (struct gm_attention_problem){
        .size = sizeof *p,
        .max_batch = ac->batch + ac->spare_batch,
        .max_q_tokens = rows > 0 ? rows : 1,
        .max_q_len = longest,
        .max_kv_len = attention_max_kv_len(ac),
        .q_heads = ac->q_heads,
        .kv_heads = ac->kv_heads,
        .head_dim = ac->head_dim,
        .v_head_dim = ac->v_head_dim,
        .page_size = ac->kv_layout == GM_ATTENTION_KV_PAGED ? ac->page_size : 0,
        .page_count = ac->kv_layout == GM_ATTENTION_KV_PAGED ? attention_pages(ac) : 0,
        .kv_tokens = ac->kv_layout == GM_ATTENTION_KV_RAGGED ? attention_first_token(ac, ac->batch) : 0,
        .left = ac->left,
        .right = ac->right,
        .type = ac->type,
        .kv_type = ac->kv_type,
        .out = ac->out,
        .scales = ac->scales,
        .kv_layout = ac->kv_layout,
        .mask = ac->mask,
        .scale = ac->scale,
        .softcap = ac->softcap,
        .has_sinks = ac->sinks,
        .has_lse = ac->lse,
        .has_tree_mask = ac->tree,
        .v_is_k = ac->v_is_k,
    };
    p->q_head_stride = ac->head_dim + ac->pad;
    p->q_token_stride = ac->q_heads * p->q_head_stride + 2 * ac->pad;
    p->out_head_stride = ac->v_head_dim + ac->pad;
    p->out_token_stride = ac->q_heads * p->out_head_stride + ac->pad;
    p->lse_token_stride = ac->pad ? 1 : ac->q_heads; /* by heads, or by rows */
    p->lse_head_stride = ac->pad ? p->max_q_tokens + 3 : 1;
    set_cache_strides(ac, p);
    if (ac->v_is_k)
        p->v_page_stride = p->v_token_stride = p->v_head_stride = 0;
}

#define ARGUMENT(member) offsetof(struct gm_attention_args, member)

static void list_heads(struct placed_attention *placed, const struct attention_case *ac) {
    const struct gm_attention_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t tokens = p->max_q_tokens, rows = tokens * ac->q_heads, turns = is_in_turns(ac);
    const int64_t pages = ac->kv_layout == GM_ATTENTION_KV_RAGGED ? 1 : attention_pages(ac);
    o[ATTENTION_AT_OUT] = (struct operand){.name = "out",
                                           .argument = ARGUMENT(out),
                                           .type = attention_out_type(ac),
                                           .rows = rows,
                                           .columns = ac->v_head_dim,
                                           .start = ac->start + ac->out_start,
                                           .written = true,
                                           .offset = out_offset,
                                           .extent = tokens * p->out_token_stride};
    o[ATTENTION_AT_LSE] = (struct operand){.name = "lse",
                                           .argument = ARGUMENT(lse),
                                           .type = GM_FP32,
                                           .rows = ac->lse ? rows : 0,
                                           .columns = 1,
                                           .written = true,
                                           .offset = lse_offset,
                                           .extent = tokens * p->lse_token_stride + ac->q_heads * p->lse_head_stride};
    o[ATTENTION_AT_Q] = (struct operand){.name = "q",
                                         .argument = ARGUMENT(q),
                                         .type = ac->type,
                                         .rows = rows,
                                         .columns = ac->head_dim,
                                         .start = ac->start,
                                         .offset = q_offset,
                                         .extent = tokens * p->q_token_stride,
                                         .value = q_value};
    o[ATTENTION_AT_K] = (struct operand){.name = "k",
                                         .argument = ARGUMENT(k),
                                         .type = attention_kv_type(ac),
                                         .rows = cached_rows(ac) << turns,
                                         .columns = ac->head_dim,
                                         .start = ac->start,
                                         .offset = k_offset,
                                         .extent = pages * p->k_page_stride,
                                         .value = k_value};
    o[ATTENTION_AT_V] = (struct operand){.name = "v",
                                         .argument = ARGUMENT(v),
                                         .type = attention_kv_type(ac),
                                         .rows = turns || ac->v_is_k ? 0 : cached_rows(ac),
                                         .columns = ac->v_head_dim,
                                         .start = ac->start,
                                         .offset = v_offset,
                                         .extent = pages * p->v_page_stride,
                                         .value = v_value};
}

static void list_others(struct placed_attention *placed, const struct attention_case *ac) {
    const struct gm_attention_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t pages = (p->max_kv_len + attention_page_tokens(ac) - 1) / attention_page_tokens(ac);
    const int64_t table = ac->kv_layout == GM_ATTENTION_KV_PAGED ? ac->batch : 0;
    const int64_t scales = ac->scales == GM_ATTENTION_SCALES_REQUEST_HEAD ? ac->batch : ac->scales != 0;
    const int64_t of_row = ac->scales == GM_ATTENTION_SCALES_TENSOR ? 1 : ac->kv_heads;
#define ARRAY(member, of_type, rows_, columns_, of_value)                                                              \
    (struct operand) {                                                                                                 \
        .name = #member, .argument = ARGUMENT(member), .type = of_type, .rows = rows_, .columns = columns_,            \
        .stride = columns_, .value = of_value                                                                          \
    }
    o[ATTENTION_AT_Q_INDPTR] = ARRAY(q_indptr, GM_INT32, ac->batch + 1, 1, q_indptr_value);
    o[ATTENTION_AT_KV_LEN] = ARRAY(kv_len, GM_INT32, ac->batch, 1, kv_len_value);
    o[ATTENTION_AT_KV_INDPTR] =
        ARRAY(kv_indptr, GM_INT32, ac->kv_layout == GM_ATTENTION_KV_RAGGED ? ac->batch : 0, 1, kv_indptr_value);
    o[ATTENTION_AT_PAGE_TABLE] = ARRAY(page_table, GM_INT32, table, pages, page_value);
    o[ATTENTION_AT_SINKS] = ARRAY(sinks, GM_FP32, ac->sinks, ac->q_heads, sink_value);
    o[ATTENTION_AT_Q_SCALE] = ARRAY(q_scale, GM_FP32, ac->type == GM_E4M3 ? scales : 0, of_row, q_scale_value);
    o[ATTENTION_AT_K_SCALE] = ARRAY(k_scale, GM_FP32, scales, of_row, k_scale_value);
    o[ATTENTION_AT_V_SCALE] = ARRAY(v_scale, GM_FP32, scales, of_row, v_scale_value);
    o[ATTENTION_AT_TREE_MASK] = ARRAY(tree_mask, GM_INT64, ac->tree ? p->max_q_tokens : 0, 1, tree_value);
}

/* Caches without a token have an address all the same. */
static void point_at_caches(struct placed_attention *placed) {
    const struct attention_case *ac = placed->ac;
    if (!placed->args.k)
        placed->args.k = placed->args.q;
    if (is_in_turns(ac) && placed->args.k)
        placed->args.v = placed->args.k + (gm_device_ptr)(v_in_turns(ac) * gm_type_bytes(attention_kv_type(ac)));
    if (!placed->args.v && !ac->v_is_k)
        placed->args.v = placed->args.q;
}

static int32_t alignment_at(gm_device_ptr address) {
    return address % 16 == 0 ? 16 : address % 8 == 0 ? 8 : address % 4 == 0 ? 4 : address % 2 == 0 ? 2 : 1;
}

bool place_attention(struct result *result, const struct attention_case *ac, struct attention_memory *memory,
                     struct placed_attention *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_attention){.ac = ac, .args = {.size = sizeof placed->args, .batch = ac->batch}};
    placed->placed = (struct placed_operands){
        .call = {.operation = &attention_tests, .problem = &placed->problem, .args = &placed->args},
        .of = placed,
        .args = &placed->args,
        .count = ATTENTION_OPERANDS,
        .before = before,
        .expect = expect,
    };
    set_problem(ac, &placed->problem);
    make_cache(placed, memory);
    list_heads(placed, ac);
    list_others(placed, ac);
    if (!place_operands(result, &placed->placed, &memory->operands))
        return false;
    point_at_caches(placed);
    placed->problem.q_align = alignment_at(placed->args.q);
    placed->problem.k_align = alignment_at(placed->args.k);
    placed->problem.v_align = ac->v_is_k ? 0 : alignment_at(placed->args.v);
    placed->problem.out_align = alignment_of(&placed->placed, ATTENTION_AT_OUT);
    return true;
}

bool run_attention(struct result *result, const struct attention_case *ac, const char *kernel, uint32_t mask,
                   struct attention_memory *memory) {
    const struct gm_plan_options options = {.size = sizeof options,
                                            .kernel = kernel,
                                            .arch_mask = mask,
                                            .flags = ac->flags,
                                            .sm_budget = ac->sm_budget,
                                            .workspace_limit = ac->workspace_limit};
    char what[400];
    struct placed_attention placed = {0};
    describe_attention(ac, what, sizeof what);
    heartbeat(what);
    const bool ok =
        place_attention(result, ac, memory, &placed) &&
        run_call_with_workspace(result, &placed.placed.call, &options, ac->repeats, ac->may_refuse, &memory->workspace,
                                false, &placed.args.workspace, &placed.args.workspace_bytes, what);
    free_placed(&placed.placed);
    return ok;
}

void free_attention(struct placed_attention *placed, struct attention_memory *memory) {
    if (placed)
        free_placed(&placed->placed);
    free_operands(&memory->operands);
    arena_free(&memory->workspace.arena);
    free(memory->slots);
    free(memory->k);
    free(memory->v);
}
