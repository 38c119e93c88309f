/* SPDX-License-Identifier: Apache-2.0 */
/* One rotary embedding: its operands, and what a call shall have written. */
#include <math.h>

#include "rope/rope_tests.h"

enum { FLAG_BEFORE = 4 }; /* a bit that is none of ours */

void describe_rope(const struct rope_case *rc, char *text, size_t bytes) {
    static const char *const inputs[] = {"integer", "normal", "positive", "sign", "special"};
    static const char *const layouts[] = {"packed", "padded", "qkv-rows", "heads-outside"};
    static const char *const caches[] = {"nhd", "hnd", "kv-pages", "kv-tokens", "kv-heads"};
    static const char *const appends[] = {"", " append", " append-e4m3"};
    snprintf(
        text, bytes,
        "%lld tokens of %lld+%lld heads of %lld, %lld rotated from %lld on, %s %s %s %s%s%s%s%s%s cache %s page %lld "
        "count %d:%d pad %d start %d%s%s%s%s",
        (long long)rc->tokens, (long long)rc->q_heads, (long long)rc->kv_heads, (long long)rc->head_dim,
        (long long)rc->rotary_dim, (long long)rc->rotary_offset, gm_type_name(rc->type),
        rc->pairing ? "interleaved" : "halves", inputs[rc->inputs], rc->rounding ? "early" : "late",
        rc->inverse ? " inverse" : "", rc->norm ? " norm" : "", rc->normalized_rounding ? " normalized-early" : "",
        rc->fp32_weight ? " fp32-weight" : "", appends[rc->append], caches[rc->cache], (long long)rc->page_size,
        rc->counted, rc->count, rc->pad, rc->start, rc->in_place ? " in place" : "", rc->bad ? " bad numbers" : "",
        rc->drops_k ? " no k_out " : " ", layouts[rc->layout]);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static const struct rope_case *case_of(const void *of) {
    return ((const struct placed_rope *)of)->rc;
}

static double q_value(const void *of, int64_t row, int64_t column) {
    const struct rope_case *rc = case_of(of);
    return rope_x(rc, 0, row / rc->q_heads, row % rc->q_heads, column);
}

static double k_value(const void *of, int64_t row, int64_t column) {
    const struct rope_case *rc = case_of(of);
    return rope_x(rc, 1, row / rc->kv_heads, row % rc->kv_heads, column);
}

static double v_value(const void *of, int64_t row, int64_t column) {
    const struct rope_case *rc = case_of(of);
    return rope_x(rc, 2, row / rc->kv_heads, row % rc->kv_heads, column);
}

static double position_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (double)rope_position(case_of(of), row);
}

static double slot_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (double)rope_slot(case_of(of), row);
}

static double table_value(const void *of, int64_t row, int64_t column) {
    return rope_table(case_of(of), row, column);
}

static double q_weight_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return rope_weight(case_of(of), 0, column);
}

static double k_weight_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return rope_weight(case_of(of), 1, column);
}

static double k_scale_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return (double)case_of(of)->k_scale;
}

static double v_scale_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return (double)case_of(of)->v_scale;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return case_of(of)->count;
}

static double flag_value(const void *of, int64_t row, int64_t column) {
    (void)of, (void)row, (void)column;
    return FLAG_BEFORE;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

static int64_t tokens_of(const struct rope_case *rc) {
    const int64_t count = rc->counted ? rc->count : rc->tokens;
    return count < 0 ? 0 : count < rc->tokens ? count : rc->tokens;
}

static void expect_nothing(const struct rope_case *rc, struct expectation *e) {
    for (int64_t i = 0; i < rc->head_dim; i++)
        e->tolerance[i] = AS_BEFORE;
}

/* How far an element in its type may be off: exactly what rounding makes of it, unless there is an error before. */
static double rounded_tolerance(const struct rope_case *rc, double want, double error) {
    if (!isfinite(error) || error == 0)
        return 0;
    return rc->inputs == ROPE_SIGNS && rc->type != GM_FP32 ? 4 * error : error + half_ulp(rc->type, fabs(want) + error);
}

static void expect_head(const struct rope_case *rc, int stream, int64_t token, int64_t head, struct expectation *e) {
    rope_reference(rc, stream, token, head, e->want, e->tolerance);
    for (int64_t i = 0; i < rc->head_dim; i++)
        e->tolerance[i] = rounded_tolerance(rc, e->want[i], e->tolerance[i]);
}

/* From elements of the type to those of the cache. */
static void expect_e4m3(const struct rope_case *rc, double scale, struct expectation *e) {
    for (int64_t i = 0; i < rc->head_dim; i++) {
        const float value = (float)round_to(rc->type, e->want[i]), quotient = value / (float)scale;
        const double error = e->tolerance[i] / scale, size = fmin(fabs((double)quotient), 448);
        e->want[i] = isnan(quotient) ? NAN : copysign(size, (double)quotient);
        e->tolerance[i] = error == 0 ? 0 : error + half_ulp(GM_E4M3, fmin(size + error, 448)) * 1.0001;
    }
}

/* The token whose slot it is; -1: none. */
static int64_t token_of_slot(const struct rope_case *rc, int64_t slot) {
    for (int64_t token = 0; token < tokens_of(rc); token++)
        if (rope_slot(rc, token) == slot && !rope_is_bad_slot(rc, token))
            return token;
    return -1;
}

static void expect_cached(const struct rope_case *rc, int stream, int64_t row, struct expectation *e) {
    const int64_t slot = row / rc->kv_heads, head = row % rc->kv_heads, token = token_of_slot(rc, slot);
    if (token < 0) {
        expect_nothing(rc, e);
        return;
    }
    if (stream == 1)
        expect_head(rc, stream, token, head, e);
    for (int64_t i = 0; i < rc->head_dim && stream == 2; i++) {
        e->want[i] = rope_x(rc, 2, token, head, i);
        e->tolerance[i] = 0;
    }
    if (rc->append == GM_ROPE_APPEND_E4M3)
        expect_e4m3(rc, (double)(stream == 1 ? rc->k_scale : rc->v_scale), e);
}

static void expect_flag(const struct rope_case *rc, struct expectation *e) {
    int flag = FLAG_BEFORE;
    for (int64_t token = 0; token < tokens_of(rc); token++) {
        if (rope_is_bad_position(rc, token))
            flag |= GM_ROPE_ERROR_POSITION;
        if (rc->append && rope_is_bad_slot(rc, token))
            flag |= GM_ROPE_ERROR_SLOT;
    }
    e->want[0] = flag;
    e->tolerance[0] = 0;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct rope_case *rc = case_of(placed->of);
    if (operand == ROPE_AT_FLAG)
        expect_flag(rc, e);
    else if (operand == ROPE_AT_K_CACHE || operand == ROPE_AT_V_CACHE)
        expect_cached(rc, operand == ROPE_AT_K_CACHE ? 1 : 2, row, e);
    else {
        const int stream = operand == ROPE_AT_Q_OUT ? 0 : 1;
        const int64_t heads = stream ? rc->kv_heads : rc->q_heads;
        if (row / heads < tokens_of(rc))
            expect_head(rc, stream, row / heads, row % heads, e);
        else
            expect_nothing(rc, e);
    }
}

/* ---- where elements are ------------------------------------------------------------------------------ */

#define OFFSET_OF_HEADS(operand, heads)                                                                                \
    static int64_t operand##_offset(const void *of, int64_t row, int64_t column) {                                     \
        const struct gm_rope_problem *p = &((const struct placed_rope *)of)->problem;                                  \
        return row / p->heads * p->operand##_token_stride + row % p->heads * p->operand##_head_stride + column;        \
    }
OFFSET_OF_HEADS(q, q_heads)
OFFSET_OF_HEADS(k, kv_heads)
OFFSET_OF_HEADS(v, kv_heads)
OFFSET_OF_HEADS(q_out, q_heads)
OFFSET_OF_HEADS(k_out, kv_heads)

#define OFFSET_OF_CACHE(operand)                                                                                       \
    static int64_t operand##_offset(const void *of, int64_t row, int64_t column) {                                     \
        const struct gm_rope_problem *p = &((const struct placed_rope *)of)->problem;                                  \
        const int64_t slot = row / p->kv_heads, head = row % p->kv_heads;                                              \
        return slot / p->page_size * p->operand##_page_stride + slot % p->page_size * p->operand##_token_stride +      \
               head * p->operand##_head_stride + column;                                                               \
    }
OFFSET_OF_CACHE(k_cache)
OFFSET_OF_CACHE(v_cache)

/* ---- strides ----------------------------------------------------------------------------------------- */

struct strides {
    int64_t token, head;
};

static struct strides strides_of(const struct rope_case *rc, enum rope_layout layout, int64_t heads) {
    const int64_t d = rc->head_dim;
    switch (layout) {
    case ROPE_PADDED:
        return (struct strides){heads * (d + rc->pad) + 2 * rc->pad, d + rc->pad};
    case ROPE_QKV_ROWS:
        return (struct strides){(rc->q_heads + 2 * rc->kv_heads) * d + rc->pad, d};
    case ROPE_HEADS_OUTSIDE:
        return (struct strides){d, rc->tokens * d + rc->pad};
    default:
        return (struct strides){heads * d, d};
    }
}

/* All of q, k and v have one layout. What is written elsewhere is padded where they are rows. */
static void set_strides(const struct rope_case *rc, struct gm_rope_problem *p) {
    const enum rope_layout out = rc->in_place || rc->layout != ROPE_QKV_ROWS ? rc->layout : ROPE_PADDED;
    const struct strides q = strides_of(rc, rc->layout, rc->q_heads), kv = strides_of(rc, rc->layout, rc->kv_heads);
    const struct strides q_out = strides_of(rc, out, rc->q_heads), k_out = strides_of(rc, out, rc->kv_heads);
    p->q_token_stride = q.token, p->q_head_stride = q.head;
    p->k_token_stride = p->v_token_stride = kv.token, p->k_head_stride = p->v_head_stride = kv.head;
    p->q_out_token_stride = q_out.token, p->q_out_head_stride = q_out.head;
    p->k_out_token_stride = k_out.token, p->k_out_head_stride = k_out.head;
}

/* Returns the elements between K and V, where they lie in turns; else 0. */
static int64_t set_cache_strides(const struct rope_case *rc, struct gm_rope_problem *p) {
    const int64_t d = rc->head_dim, h = rc->kv_heads, tokens = p->page_size;
    const int64_t turns = rc->cache >= ROPE_KV_PAGES ? 2 : 1, apart[ROPE_CACHES] = {0, 0, tokens * h * d, h * d, d};
    int64_t head = d, token = h * d, page = turns * tokens * h * d;
    if (rc->cache == ROPE_HND)
        head = tokens * d, token = d;
    if (rc->cache == ROPE_KV_TOKENS)
        token = 2 * h * d;
    if (rc->cache == ROPE_KV_HEADS)
        head = 2 * d, token = 2 * h * d;
    page += rc->cache == ROPE_NHD ? 16 : 0; /* a gap between pages */
    p->k_cache_page_stride = p->v_cache_page_stride = page;
    p->k_cache_token_stride = p->v_cache_token_stride = token;
    p->k_cache_head_stride = p->v_cache_head_stride = head;
    return apart[rc->cache];
}

/* ---- placing -------------------------------------------------------------------------------------------- */

#define ARGUMENT(member) offsetof(struct gm_rope_args, member)

/* Elements from the first token or head to behind the last. */
static int64_t span_of(const struct rope_case *rc, int64_t heads, int64_t token_stride, int64_t head_stride) {
    return rc->layout == ROPE_HEADS_OUTSIDE ? heads * head_stride : rc->tokens * token_stride;
}

static void list_heads(struct placed_rope *placed, const struct rope_case *rc) {
    const struct gm_rope_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t q_rows = rc->tokens * rc->q_heads, kv_rows = rc->tokens * rc->kv_heads, d = rc->head_dim;
#define HEADS_OF(member, heads, count, ...)                                                                            \
    (struct operand) {                                                                                                 \
        .name = #member, .argument = ARGUMENT(member), .type = rc->type, .rows = count, .columns = d,                  \
        .start = rc->start, .offset = member##_offset,                                                                 \
        .extent = span_of(rc, heads, p->member##_token_stride, p->member##_head_stride), __VA_ARGS__                   \
    }
    o[ROPE_AT_Q] = HEADS_OF(q, rc->q_heads, q_rows, .value = q_value);
    o[ROPE_AT_K] = HEADS_OF(k, rc->kv_heads, kv_rows, .value = k_value);
    o[ROPE_AT_V] = HEADS_OF(v, rc->kv_heads, rc->append ? kv_rows : 0, .value = v_value);
    o[ROPE_AT_Q_OUT] = HEADS_OF(q_out, rc->q_heads, q_rows, .written = true);
    o[ROPE_AT_K_OUT] = HEADS_OF(k_out, rc->kv_heads, rc->drops_k ? 0 : kv_rows, .written = true);
    if (!rc->in_place)
        return;
    o[ROPE_AT_Q].in_place_of = 1 + ROPE_AT_Q_OUT;
    if (!rc->drops_k)
        o[ROPE_AT_K].in_place_of = 1 + ROPE_AT_K_OUT;
    if (rc->layout != ROPE_QKV_ROWS || q_rows == 0)
        return;
    const int k_home = rc->drops_k ? ROPE_AT_K : ROPE_AT_K_OUT;
    o[k_home].within = o[ROPE_AT_V].within = 1 + ROPE_AT_Q_OUT;
    o[k_home].start = (int)(rc->q_heads * d);
    o[ROPE_AT_V].start = (int)((rc->q_heads + rc->kv_heads) * d);
}

static void list_caches(struct placed_rope *placed, const struct rope_case *rc, int64_t apart) {
    const struct gm_rope_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const enum gm_type type = rc->append == GM_ROPE_APPEND_E4M3 ? GM_E4M3 : rc->type;
    const int64_t pages = (p->slot_count + p->page_size - 1) / p->page_size;
    const int64_t rows = rc->append ? pages * p->page_size * rc->kv_heads : 0, d = rc->head_dim;
    o[ROPE_AT_K_CACHE] = (struct operand){.name = "k_cache",
                                          .argument = ARGUMENT(k_cache),
                                          .type = type,
                                          .rows = rows,
                                          .columns = d,
                                          .start = rc->start,
                                          .written = true,
                                          .offset = k_cache_offset,
                                          .extent = pages * p->k_cache_page_stride};
    o[ROPE_AT_V_CACHE] = (struct operand){.name = "v_cache",
                                          .argument = ARGUMENT(v_cache),
                                          .type = type,
                                          .rows = rows,
                                          .columns = d,
                                          .start = rc->start,
                                          .written = true,
                                          .offset = v_cache_offset,
                                          .extent = pages * p->v_cache_page_stride};
    if (apart && rows) {
        o[ROPE_AT_V_CACHE].within = 1 + ROPE_AT_K_CACHE;
        o[ROPE_AT_V_CACHE].start = (int)apart;
    }
}

static void list_rows(struct placed_rope *placed, const struct rope_case *rc) {
    struct operand *o = placed->placed.operands;
    const enum gm_type weight = rc->fp32_weight ? GM_FP32 : rc->type;
    const enum gm_type position = rc->int64_positions ? GM_INT64 : GM_INT32;
    const int64_t scales = rc->append == GM_ROPE_APPEND_E4M3, d = rc->head_dim, r = rc->rotary_dim;
#define ROWS(member, of_type, count, width, first, ...)                                                                \
    (struct operand) {                                                                                                 \
        #member, ARGUMENT(member), of_type, count, width, width, first, __VA_ARGS__                                    \
    }
    o[ROPE_AT_POSITIONS] = ROWS(positions, position, rc->tokens, 1, 0, .value = position_value);
    o[ROPE_AT_TABLE] = ROWS(table, GM_FP32, rope_max_position(rc), r, rc->start, .value = table_value);
    o[ROPE_AT_Q_WEIGHT] = ROWS(q_weight, weight, rc->norm && rc->q_heads, d, rc->start, .value = q_weight_value);
    o[ROPE_AT_K_WEIGHT] = ROWS(k_weight, weight, rc->norm && rc->kv_heads, d, rc->start, .value = k_weight_value);
    o[ROPE_AT_SLOTS] = ROWS(slots, GM_INT64, rc->append ? rc->tokens : 0, 1, 0, .value = slot_value);
    o[ROPE_AT_K_SCALE] = ROWS(k_scale, GM_FP32, scales, 1, 0, .value = k_scale_value);
    o[ROPE_AT_V_SCALE] = ROWS(v_scale, GM_FP32, scales, 1, 0, .value = v_scale_value);
    o[ROPE_AT_COUNT] = ROWS(row_count, GM_INT32, rc->counted, 1, 0, .value = count_value);
    o[ROPE_AT_FLAG] = ROWS(error_flag, GM_INT32, rc->flagged, 1, 0, .value = flag_value, .written = true);
}

static void set_alignments(struct placed_rope *placed) {
    struct gm_rope_problem *p = &placed->problem;
    const struct placed_operands *o = &placed->placed;
    p->q_align = alignment_of(o, ROPE_AT_Q);
    p->k_align = alignment_of(o, ROPE_AT_K);
    p->v_align = alignment_of(o, ROPE_AT_V);
    p->q_out_align = alignment_of(o, ROPE_AT_Q_OUT);
    p->k_out_align = alignment_of(o, ROPE_AT_K_OUT);
    p->k_cache_align = alignment_of(o, ROPE_AT_K_CACHE);
    p->v_cache_align = alignment_of(o, ROPE_AT_V_CACHE);
    p->q_weight_align = alignment_of(o, ROPE_AT_Q_WEIGHT);
    p->k_weight_align = alignment_of(o, ROPE_AT_K_WEIGHT);
    p->table_align = alignment_of(o, ROPE_AT_TABLE);
}

/* The harness's integers have 32 bits; these two have more. */
static bool make_huge(struct result *result, const struct placed_rope *placed) {
    const int64_t huge = INT64_C(1) << 32;
    const struct rope_case *rc = placed->rc;
    return (!rc->int64_positions || to_device(result, placed->args.positions, &huge, sizeof huge)) &&
           (!rc->append || to_device(result, placed->args.slots, &huge, sizeof huge));
}

bool place_rope(struct result *result, const struct rope_case *rc, struct operand_memory *memory,
                struct placed_rope *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_rope){.rc = rc, .args = {.size = sizeof placed->args}};
    struct gm_rope_problem *p = &placed->problem;
    *p = (struct gm_rope_problem){.size = sizeof *p,
                                  .tokens = rc->tokens,
                                  .q_heads = rc->q_heads,
                                  .kv_heads = rc->kv_heads,
                                  .head_dim = rc->head_dim,
                                  .rotary_dim = rc->rotary_dim,
                                  .rotary_offset = rc->rotary_offset,
                                  .max_position = rope_max_position(rc),
                                  .page_size = rc->page_size ? rc->page_size : rope_slot_count(rc),
                                  .slot_count = rope_slot_count(rc),
                                  .type = rc->type,
                                  .pairing = rc->pairing,
                                  .inverse = rc->inverse,
                                  .rounding = rc->rounding,
                                  .norm = rc->norm,
                                  .fp32_weight = rc->fp32_weight,
                                  .normalized_rounding = rc->normalized_rounding,
                                  .eps = rc->eps,
                                  .weight_offset = rc->weight_offset,
                                  .append = rc->append,
                                  .int64_positions = rc->int64_positions};
    placed->placed = (struct placed_operands){
        .call = {.operation = &rope_tests, .problem = &placed->problem, .args = &placed->args},
        .of = placed,
        .args = &placed->args,
        .count = ROPE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    set_strides(rc, p);
    const int64_t apart = set_cache_strides(rc, p);
    list_heads(placed, rc);
    list_caches(placed, rc, apart);
    list_rows(placed, rc);
    if (!place_operands(result, &placed->placed, memory) || (rc->huge && !make_huge(result, placed)))
        return false;
    set_alignments(placed);
    return true;
}

bool run_rope(struct result *result, const struct rope_case *rc, const char *kernel, uint32_t mask,
              struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = rc->sm_budget};
    char what[400];
    struct placed_rope placed = {0};
    describe_rope(rc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_rope(result, rc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, rc->repeats, rc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
