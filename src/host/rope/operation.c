/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "common/arith.h"
#include "gristmill/rope.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/rope/rope.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

#define MOST_TOKENS   INT32_MAX
#define MOST_HEADS    65536
#define MOST_HEAD_DIM 512

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const pairings[] = {"halves", "interleaved", NULL};
static const char *const norms[] = {"no_norm", "norm", NULL};
static const char *const appends[] = {"no_append", "append", "append_e4m3", NULL};
static const char *const answers[] = {"no", "yes", NULL};
static const char *const weights[] = {"same", "fp32", NULL};
static const char *const positions[] = {"int32", "int64", NULL};

#define AT(member) offsetof(struct gm_rope_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_rope_problem, q)
GM_ALIGN_FUNCTIONS(gm_rope_problem, k)
GM_ALIGN_FUNCTIONS(gm_rope_problem, v)
GM_ALIGN_FUNCTIONS(gm_rope_problem, q_out)
GM_ALIGN_FUNCTIONS(gm_rope_problem, k_out)
GM_ALIGN_FUNCTIONS(gm_rope_problem, k_cache)
GM_ALIGN_FUNCTIONS(gm_rope_problem, v_cache)
GM_ALIGN_FUNCTIONS(gm_rope_problem, q_weight)
GM_ALIGN_FUNCTIONS(gm_rope_problem, k_weight)
GM_ALIGN_FUNCTIONS(gm_rope_problem, table)

#define SIZE(member, use, text)                                                                                        \
    {.name = #member, .kind = GM_FIELD_SIZE, .uses = (use), .offset = AT(member), .about = text}
#define STRIDE(operand, of)                                                                                            \
    SIZE(operand##_##of##_stride, GM_IN_OPTIONS, "elements from " #of " to " #of " (default: packed)")
#define STRIDES(operand) STRIDE(operand, token), STRIDE(operand, head)

enum { FIELD_TYPE, FIELD_PAIRING, FIELD_NORM, FIELD_APPEND, FIELD_ROUNDING, FIELD_TOKENS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of q, k, v and what becomes of them: also --dtype"},
    [FIELD_PAIRING] = {"pairing", GM_FIELD_WORD, SUITES, .offset = AT(pairing), .words = pairings,
                       .about = "elements of a pair: halves of rotary_dim apart (default), or interleaved"},
    [FIELD_NORM] = {"norm", GM_FIELD_WORD, SUITES, .offset = AT(norm), .words = norms,
                    .about = "norm: RMSNorm of every head first (default: no_norm)"},
    [FIELD_APPEND] = {"append", GM_FIELD_WORD, SUITES, .offset = AT(append), .words = appends,
                      .about = "append or append_e4m3: k and v go to a cache (default: no_append)"},
    [FIELD_ROUNDING] = {"rounding", GM_FIELD_WORD, SUITES, .offset = AT(rounding), .words = gm_rounding_words,
                        .about = "when cosines, sines and products are rounded: late (default) or early"},
    [FIELD_TOKENS] = SIZE(tokens, SUITES, NULL),
    SIZE(q_heads, SUITES, NULL),
    SIZE(kv_heads, SUITES, NULL),
    SIZE(head_dim, SUITES, NULL),
    SIZE(rotary_dim, SUITES, NULL),
    SIZE(rotary_offset, GM_IN_OPTIONS, "first rotated element of a head (default: 0)"),
    SIZE(max_position, GM_IN_OPTIONS, "rows of the table (default: as many as tokens)"),
    SIZE(page_size, GM_IN_OPTIONS, "tokens of a page of the cache (default: all slots)"),
    SIZE(slot_count, GM_IN_OPTIONS, "slots of the cache (default: as many as tokens)"),
    {"inverse", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(inverse), .words = answers, .about = "yes: rotates back"},
    {"weight", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(fp32_weight), .words = weights,
     .about = "the norm's weights' type: same (default) or fp32"},
    {"normalized", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(normalized_rounding), .words = gm_rounding_words,
     .about = "when h / rms is rounded: late (default) or early"},
    {"positions", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(int64_positions), .words = positions,
     .about = "their type: int32 (default) or int64"},
    {"eps", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(eps)},
    {"weight_offset", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(weight_offset), .about = "1: Gemma's 1 + weight"},
    STRIDES(q),
    STRIDES(k),
    STRIDES(v),
    STRIDES(q_out),
    STRIDES(k_out),
    STRIDE(k_cache, page),
    STRIDES(k_cache),
    STRIDE(v_cache, page),
    STRIDES(v_cache),
    GM_ALIGN_FIELD(q),
    GM_ALIGN_FIELD(k),
    GM_ALIGN_FIELD(v),
    GM_ALIGN_FIELD(q_out),
    GM_ALIGN_FIELD(k_out),
    GM_ALIGN_FIELD(k_cache),
    GM_ALIGN_FIELD(v_cache),
    GM_ALIGN_FIELD(q_weight),
    GM_ALIGN_FIELD(k_weight),
    GM_ALIGN_FIELD(table),
};

/* ---- operands ------------------------------------------------------------------------------------------- */

static struct gm_strided heads_of(const struct gm_rope_problem *p, const char *name, int64_t heads,
                                  int64_t token_stride, int64_t head_stride, int32_t align) {
    return (struct gm_strided){.name = name,
                               .dimension = {{"token", p->tokens, token_stride}, {"head", heads, head_stride}},
                               .dimensions = 2,
                               .columns = p->head_dim,
                               .element_bytes = gm_type_bytes(p->type),
                               .align = align};
}

static struct gm_strided cache_of(const struct gm_rope_problem *p, const char *name, int64_t page_stride,
                                  int64_t token_stride, int64_t head_stride, int32_t align) {
    const int64_t pages = p->append ? GM_CEIL_DIV(p->slot_count, p->page_size) : 0;
    return (struct gm_strided){.name = name,
                               .dimension = {{"page", pages, page_stride},
                                             {"token", p->page_size, token_stride},
                                             {"head", p->kv_heads, head_stride}},
                               .dimensions = 3,
                               .columns = p->head_dim,
                               .element_bytes = p->append == GM_ROPE_APPEND_E4M3 ? 1 : gm_type_bytes(p->type),
                               .align = align};
}

void gm_rope_heads_of(const struct gm_rope_problem *p, struct gm_strided h[GM_ROPE_HEAD_OPERANDS]) {
    const int64_t v_heads = p->append ? p->kv_heads : 0;
    h[GM_ROPE_Q] = heads_of(p, "q", p->q_heads, p->q_token_stride, p->q_head_stride, p->q_align);
    h[GM_ROPE_K] = heads_of(p, "k", p->kv_heads, p->k_token_stride, p->k_head_stride, p->k_align);
    h[GM_ROPE_V] = heads_of(p, "v", v_heads, p->v_token_stride, p->v_head_stride, p->v_align);
    h[GM_ROPE_Q_OUT] = heads_of(p, "q_out", p->q_heads, p->q_out_token_stride, p->q_out_head_stride, p->q_out_align);
    h[GM_ROPE_K_OUT] = heads_of(p, "k_out", p->kv_heads, p->k_out_token_stride, p->k_out_head_stride, p->k_out_align);
    h[GM_ROPE_K_CACHE] = cache_of(p, "k_cache", p->k_cache_page_stride, p->k_cache_token_stride, p->k_cache_head_stride,
                                  p->k_cache_align);
    h[GM_ROPE_V_CACHE] = cache_of(p, "v_cache", p->v_cache_page_stride, p->v_cache_token_stride, p->v_cache_head_stride,
                                  p->v_cache_align);
}

void gm_rope_rows_of(const struct gm_rope_problem *p, struct gm_matrix m[GM_ROPE_ROWS]) {
    const int weight_bytes = p->fp32_weight ? 4 : gm_type_bytes(p->type), position_bytes = p->int64_positions ? 8 : 4;
    const int64_t d = p->head_dim, r = p->rotary_dim, appended = p->append ? p->tokens : 0;
    const int64_t q_weights = p->norm && p->q_heads, k_weights = p->norm && p->kv_heads;
    m[GM_ROPE_Q_WEIGHT] = (struct gm_matrix){"q_weight", q_weights, d, d, weight_bytes, p->q_weight_align};
    m[GM_ROPE_K_WEIGHT] = (struct gm_matrix){"k_weight", k_weights, d, d, weight_bytes, p->k_weight_align};
    m[GM_ROPE_TABLE] = (struct gm_matrix){"table", p->max_position, r, r, sizeof(float), p->table_align};
    m[GM_ROPE_POSITIONS] = (struct gm_matrix){"positions", p->tokens, 1, 1, position_bytes, position_bytes};
    m[GM_ROPE_SLOTS] = (struct gm_matrix){"slots", appended, 1, 1, sizeof(int64_t), sizeof(int64_t)};
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

static enum gm_status check_even(const char *name, int64_t value) {
    return value % 2 == 0 ? GM_OK
                          : gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %" PRId64 "; it must be even", name, value);
}

static enum gm_status check_rotary(struct gm_rope_problem *p) {
    enum gm_status status = gm_check_size("head_dim", p->head_dim, 2, MOST_HEAD_DIM);
    if (status == GM_OK)
        status = check_even("head_dim", p->head_dim);
    if (status == GM_OK)
        status = gm_check_size("rotary_offset", p->rotary_offset, 0, p->head_dim - 2);
    if (status != GM_OK)
        return status;
    if (p->rotary_dim == 0)
        p->rotary_dim = p->head_dim - p->rotary_offset;
    status = gm_check_size("rotary_dim", p->rotary_dim, 2, p->head_dim - p->rotary_offset);
    return status == GM_OK ? check_even("rotary_dim", p->rotary_dim) : status;
}

static enum gm_status check_sizes(struct gm_rope_problem *p) {
    const int64_t as_tokens = p->tokens > 0 ? p->tokens : 1;
    enum gm_status status = gm_check_size("tokens", p->tokens, 0, MOST_TOKENS);
    if (status == GM_OK)
        status = gm_check_size("q_heads", p->q_heads, 0, MOST_HEADS);
    if (status == GM_OK)
        status = gm_check_size("kv_heads", p->kv_heads, 0, MOST_HEADS);
    if (status == GM_OK && p->q_heads + p->kv_heads == 0)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT, "q_heads and kv_heads are 0; one of them must be 1 or more");
    if (status == GM_OK)
        status = check_rotary(p);
    if (status != GM_OK)
        return status;
    p->max_position = p->max_position ? p->max_position : as_tokens;
    p->slot_count = p->slot_count ? p->slot_count : as_tokens;
    status = gm_check_size("max_position", p->max_position, 1, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("slot_count", p->slot_count, 1, INT32_MAX);
    p->page_size = p->page_size ? p->page_size : p->slot_count;
    return status == GM_OK ? gm_check_size("page_size", p->page_size, 1, INT32_MAX) : status;
}

static enum gm_status check_choices(const struct gm_rope_problem *p) {
    const struct {
        const char *name;
        int value, last;
    } choices[] = {{"type", (int)p->type, GM_FP32},
                   {"pairing", (int)p->pairing, GM_ROPE_INTERLEAVED},
                   {"inverse", p->inverse, 1},
                   {"rounding", (int)p->rounding, GM_ROUND_EARLY},
                   {"norm", (int)p->norm, GM_ROPE_NORM},
                   {"fp32_weight", p->fp32_weight, 1},
                   {"normalized_rounding", (int)p->normalized_rounding, GM_ROUND_EARLY},
                   {"append", (int)p->append, GM_ROPE_APPEND_E4M3},
                   {"int64_positions", p->int64_positions, 1}};
    enum gm_status status = GM_OK;
    for (size_t i = 0; i < sizeof choices / sizeof *choices && status == GM_OK; i++)
        status = gm_check_enum(choices[i].name, choices[i].value, 0, choices[i].last);
    if (status == GM_OK)
        status = gm_check_real("eps", p->eps, 0);
    if (status == GM_OK)
        status = gm_check_real("weight_offset", p->weight_offset, -INFINITY);
    if (status == GM_OK && p->append && p->kv_heads == 0)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT, "append is %d and kv_heads is 0; what is appended are k and v",
                         (int)p->append);
    return status;
}

static enum gm_status fill_heads(struct gm_rope_problem *p) {
    struct gm_strided h[GM_ROPE_HEAD_OPERANDS];
    struct {
        int64_t *stride[GM_DIMENSIONS_MAX];
        int32_t *align;
    } const members[GM_ROPE_HEAD_OPERANDS] = {
        [GM_ROPE_Q] = {{&p->q_token_stride, &p->q_head_stride}, &p->q_align},
        [GM_ROPE_K] = {{&p->k_token_stride, &p->k_head_stride}, &p->k_align},
        [GM_ROPE_V] = {{&p->v_token_stride, &p->v_head_stride}, &p->v_align},
        [GM_ROPE_Q_OUT] = {{&p->q_out_token_stride, &p->q_out_head_stride}, &p->q_out_align},
        [GM_ROPE_K_OUT] = {{&p->k_out_token_stride, &p->k_out_head_stride}, &p->k_out_align},
        [GM_ROPE_K_CACHE] = {{&p->k_cache_page_stride, &p->k_cache_token_stride, &p->k_cache_head_stride},
                             &p->k_cache_align},
        [GM_ROPE_V_CACHE] = {{&p->v_cache_page_stride, &p->v_cache_token_stride, &p->v_cache_head_stride},
                             &p->v_cache_align}};
    gm_rope_heads_of(p, h);
    for (int i = 0; i < GM_ROPE_HEAD_OPERANDS; i++) {
        const enum gm_status status = gm_fill_strided(&h[i]);
        if (status != GM_OK)
            return status;
        for (int d = 0; d < h[i].dimensions; d++)
            *members[i].stride[d] = h[i].dimension[d].stride;
        *members[i].align = h[i].align;
    }
    return GM_OK;
}

static enum gm_status fill_rows(struct gm_rope_problem *p) {
    const int weight_bytes = p->fp32_weight ? 4 : gm_type_bytes(p->type);
    enum gm_status status = gm_fill_alignment("q_weight_align", &p->q_weight_align, weight_bytes);
    if (status == GM_OK)
        status = gm_fill_alignment("k_weight_align", &p->k_weight_align, weight_bytes);
    return status == GM_OK ? gm_fill_alignment("table_align", &p->table_align, sizeof(float)) : status;
}

/* What has no effect is as if it had not been asked for: what belongs to a norm, or to a weight of another type. */
static enum gm_status normalize(void *problem) {
    struct gm_rope_problem *p = problem;
    enum gm_status status = check_sizes(p);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    p->fp32_weight = p->fp32_weight && p->norm && p->type != GM_FP32;
    if (!p->norm) {
        p->normalized_rounding = GM_ROUND_LATE;
        p->eps = p->weight_offset = 0;
    }
    status = fill_heads(p);
    return status == GM_OK ? fill_rows(p) : status;
}

static int is_empty(const void *problem) {
    return ((const struct gm_rope_problem *)problem)->tokens == 0;
}

/* Of a rotated element two multiplications and an addition, and of a norm's element four operations. The table is read
 * once for each token, or each position. Of v nothing is computed. */
static struct gm_work work(const void *problem) {
    const struct gm_rope_problem *p = problem;
    const double tokens = (double)p->tokens, heads = (double)(p->q_heads + p->kv_heads), kv = (double)p->kv_heads;
    const double bytes = gm_type_bytes(p->type), dim = (double)p->head_dim;
    const double rotary = (double)(p->rotary_dim ? p->rotary_dim : p->head_dim - p->rotary_offset);
    const double most_rows = p->max_position ? (double)p->max_position : tokens;
    const double out_heads = p->append ? (double)p->q_heads : heads;
    const double cached = p->append ? 2 * kv * dim * (p->append == GM_ROPE_APPEND_E4M3 ? 1 : bytes) + 8 : 0;
    const double read = (heads + (p->append ? kv : 0)) * dim * bytes + (p->int64_positions ? 8 : 4);
    return (struct gm_work){
        .flops = tokens * heads * (3 * rotary + (p->norm ? 4 * dim : 0)),
        .least_bytes = tokens * (read + out_heads * dim * bytes + cached) + fmin(tokens, most_rows) * rotary * 4,
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

enum {
    RANGE_ROWS = GM_ROPE_HEAD_OPERANDS,
    RANGE_K_SCALE = RANGE_ROWS + GM_ROPE_ROWS,
    RANGE_V_SCALE,
    RANGE_ROW_COUNT,
    RANGE_ERROR_FLAG,
    RANGES
};
_Static_assert(RANGES <= GM_RANGES_MAX, "all ranges are checked");

static struct gm_range word(const char *name, gm_device_ptr address, int exists, int written) {
    const struct gm_matrix m = {name, exists, 1, 1, 4, 4};
    return gm_range_of(&m, address, written);
}

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_rope_problem *p = problem;
    const struct gm_rope_args *a = arguments;
    const gm_device_ptr of_heads[GM_ROPE_HEAD_OPERANDS] = {a->q,     a->k,       a->v,      a->q_out,
                                                           a->k_out, a->k_cache, a->v_cache};
    const gm_device_ptr of_rows[GM_ROPE_ROWS] = {a->q_weight, a->k_weight, a->table, a->positions, a->slots};
    const int is_scaled = p->append == GM_ROPE_APPEND_E4M3;
    struct gm_strided h[GM_ROPE_HEAD_OPERANDS];
    struct gm_matrix rows[GM_ROPE_ROWS];
    gm_rope_heads_of(p, h);
    gm_rope_rows_of(p, rows);
    for (int i = 0; i < GM_ROPE_HEAD_OPERANDS; i++) {
        struct gm_matrix m = gm_matrix_of(&h[i]);
        if (i == GM_ROPE_K_OUT && p->append && !a->k_out)
            m.rows = 0;
        found[i] = gm_range_of(&m, of_heads[i], i >= GM_ROPE_Q_OUT);
    }
    for (int i = 0; i < GM_ROPE_ROWS; i++)
        found[RANGE_ROWS + i] = gm_range_of(&rows[i], of_rows[i], 0);
    found[RANGE_K_SCALE] = word("k_scale", a->k_scale, is_scaled, 0);
    found[RANGE_V_SCALE] = word("v_scale", a->v_scale, is_scaled, 0);
    found[RANGE_ROW_COUNT] = gm_range_of_row_count(a->row_count);
    found[RANGE_ERROR_FLAG] = word("error_flag", a->error_flag, a->error_flag != 0, 1);
    found[GM_ROPE_Q_OUT].may_equal = GM_ROPE_Q;
    found[GM_ROPE_K_OUT].may_equal = GM_ROPE_K;
    *workspace = (struct gm_workspace){0};
    return RANGES;
}

const struct gm_operation gm_operation_rope = {
    .name = "rope",
    .computes = "q, k = rotary embedding of q and k, with a norm before and an append of k and v behind",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_TOKENS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_rope_problem),
    .problem_bytes_least = 296,
    .planned_bytes = sizeof(struct gm_rope_problem),
    .args_bytes = sizeof(struct gm_rope_args),
    .args_bytes_least = 136,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_rope_plan_create(gm_context *context, const struct gm_rope_problem *problem,
                                   const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_rope, context, problem, options, plan);
}

enum gm_status gm_rope_execute(const gm_plan *plan, const struct gm_rope_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_rope, args, stream);
}

enum gm_status gm_rope(gm_context *context, const struct gm_rope_problem *problem, const struct gm_rope_args *args,
                       void *stream) {
    return gm_plan_and_execute(&gm_operation_rope, context, problem, args, stream);
}

enum gm_status gm_rope_explain(const struct gm_device *device, const struct gm_rope_problem *problem,
                               const struct gm_plan_options *options, struct gm_candidate *candidates, size_t capacity,
                               size_t *count) {
    return gm_explain(&gm_operation_rope, device, problem, options, candidates, capacity, count);
}
