/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "common/arith.h"
#include "gristmill/attention.h"
#include "host/attention/attention.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

#define MOST_HEADS    65536
#define MOST_HEAD_DIM 256
#define LATENT_DIM    576 /* of k, where v is its first elements: */
#define LATENT_V_DIM  512 /* so many */
#define HEAD_STEP     8   /* elements of 16 bytes */
#define TREE_ROWS     64  /* that a word of bits tells of */

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const layouts[] = {"batched", "ragged", "paged", NULL};
static const char *const masks[] = {"full", "causal", "window", NULL};
static const char *const kv_types[] = {"same", "e4m3", NULL};
static const char *const outs[] = {"same", "fp32", "bf16", "fp16", NULL};
static const char *const sharers[] = {"none", "tensor", "head", "request_head", NULL};
static const char *const answers[] = {"no", "yes", NULL};

#define AT(member) offsetof(struct gm_attention_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_E4M3))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_attention_problem, q)
GM_ALIGN_FUNCTIONS(gm_attention_problem, out)
GM_ALIGN_FUNCTIONS(gm_attention_problem, k)
GM_ALIGN_FUNCTIONS(gm_attention_problem, v)

/* Tokens that a row sees up to its own, which suites and ledgers have instead of `left`: no size of theirs is 0. */
static int64_t get_window(const void *problem) {
    const struct gm_attention_problem *p = problem;
    return p->mask == GM_ATTENTION_WINDOW && p->left >= 0 ? p->left + 1 : p->max_kv_len;
}

static int set_window(void *problem, int64_t tokens) {
    ((struct gm_attention_problem *)problem)->left = tokens - 1;
    return 1;
}

static int64_t get_head_dim(const void *problem) {
    return ((const struct gm_attention_problem *)problem)->head_dim;
}

/* Heads that only latent attention has make a problem of suites one of it. */
static int set_head_dim(void *problem, int64_t dim) {
    struct gm_attention_problem *p = problem;
    p->head_dim = dim;
    p->v_is_k = dim > MOST_HEAD_DIM;
    p->v_head_dim = p->v_is_k ? LATENT_V_DIM : 0;
    return 1;
}

#define SIZE(member, use, text)                                                                                        \
    {.name = #member, .kind = GM_FIELD_SIZE, .uses = (use), .offset = AT(member), .about = text}
#define ANSWER(label, member, text)                                                                                    \
    {.name = label, .kind = GM_FIELD_WORD, .uses = GM_IN_OPTIONS, .offset = AT(member), .words = answers, .about = text}
#define STRIDE(operand, of)                                                                                            \
    SIZE(operand##_##of##_stride, GM_IN_OPTIONS, "elements from " #of " to " #of " (default: packed)")
#define STRIDES(operand) STRIDE(operand, token), STRIDE(operand, head)

enum {
    FIELD_TYPE,
    FIELD_KV_TYPE,
    FIELD_OUT,
    FIELD_MASK,
    FIELD_KV_LAYOUT,
    FIELD_MAX_BATCH,
    FIELD_MAX_Q_LEN,
    FIELD_MAX_KV_LEN,
    FIELD_Q_HEADS,
    FIELD_KV_HEADS,
    FIELD_HEAD_DIM,
    FIELD_PAGE_SIZE,
    FIELD_WINDOW
};
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of q: also --dtype"},
    [FIELD_KV_TYPE] = {"kv_type", GM_FIELD_WORD, SUITES, .offset = AT(kv_type), .words = kv_types,
                       .about = "of k and v: same (default), e4m3"},
    [FIELD_OUT] = {"out", GM_FIELD_WORD, GM_IN_SUITES, .offset = AT(out), .words = outs,
                   .about = "its type: same (default), fp32; of e4m3 also bf16, fp16"},
    [FIELD_MASK] = {"mask", GM_FIELD_WORD, SUITES, .offset = AT(mask), .words = masks,
                    .about = "what a row sees: full (default), causal, window"},
    [FIELD_KV_LAYOUT] = {"kv_layout", GM_FIELD_WORD, SUITES, .offset = AT(kv_layout), .words = layouts,
                         .about = "of k and v: batched (default), ragged, paged"},
    [FIELD_MAX_BATCH] = SIZE(max_batch, SUITES, NULL),
    [FIELD_MAX_Q_LEN] = SIZE(max_q_len, SUITES, NULL),
    [FIELD_MAX_KV_LEN] = SIZE(max_kv_len, SUITES, NULL),
    [FIELD_Q_HEADS] = SIZE(q_heads, SUITES, NULL),
    [FIELD_KV_HEADS] = SIZE(kv_heads, SUITES, NULL),
    [FIELD_HEAD_DIM] =
        {.name = "head_dim", .kind = GM_FIELD_SIZE, .uses = SUITES, .get = get_head_dim, .set = set_head_dim},
    [FIELD_PAGE_SIZE] = SIZE(page_size, SUITES, NULL),
    [FIELD_WINDOW] = {.name = "window", .kind = GM_FIELD_SIZE, .uses = SUITES, .get = get_window, .set = set_window},
    SIZE(right, GM_IN_OPTIONS, "of a window: tokens behind the own one (default: 0)"),
    SIZE(v_head_dim, GM_IN_OPTIONS, "of v and out (default: head_dim, or 512 of more than 256)"),
    ANSWER("v_is_k", v_is_k, "yes: v is the first elements of k (default: of heads of more than 256)"),
    SIZE(max_q_tokens, GM_IN_OPTIONS, "rows of q (default: max_batch * max_q_len)"),
    SIZE(page_count, GM_IN_OPTIONS, "of paged k and v (default: as many as all requests have)"),
    SIZE(kv_tokens, GM_IN_OPTIONS, "of ragged k and v (default: max_batch * max_kv_len)"),
    SIZE(table_stride, GM_IN_OPTIONS, "entries from a request's pages to the next (default: packed)"),
    {"scales", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(scales), .words = sharers,
     .about = "who shares one, of e4m3: none (default), tensor, head, request_head"},
    {"scale", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(scale), .about = "of q . k (default: 1 / sqrt(head_dim))"},
    {"softcap", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(softcap), .about = "of scores (default: none)"},
    ANSWER("sinks", has_sinks, "yes: a sink for every head"),
    ANSWER("lse", has_lse, "yes: the logarithm of every row's sum"),
    ANSWER("tree_mask", has_tree_mask, "yes: a word of bits for every row of q"),
    STRIDES(q),
    STRIDES(out),
    STRIDE(k, page),
    STRIDES(k),
    STRIDE(v, page),
    STRIDES(v),
    STRIDES(lse),
    GM_ALIGN_FIELD(q),
    GM_ALIGN_FIELD(out),
    GM_ALIGN_FIELD(k),
    GM_ALIGN_FIELD(v),
};

/* ---- operands ------------------------------------------------------------------------------------------- */

static struct gm_strided heads_of(const char *name, int64_t tokens, int64_t token_stride, int64_t heads,
                                  int64_t head_stride, int64_t columns, int bytes, int32_t align) {
    return (struct gm_strided){.name = name,
                               .dimension = {{"token", tokens, token_stride}, {"head", heads, head_stride}},
                               .dimensions = 2,
                               .columns = columns,
                               .element_bytes = bytes,
                               .align = align};
}

static int64_t pages_of(const struct gm_attention_problem *p, int64_t batch) {
    switch (p->kv_layout) {
    case GM_ATTENTION_KV_RAGGED:
        return 1;
    case GM_ATTENTION_KV_PAGED:
        return p->page_count;
    default:
        return batch;
    }
}

static struct gm_strided cache_of(const struct gm_attention_problem *p, const char *name, int64_t pages,
                                  const int64_t stride[GM_DIMENSIONS_MAX], int64_t columns, int32_t align) {
    const int64_t tokens = p->kv_layout == GM_ATTENTION_KV_RAGGED ? p->kv_tokens : p->page_size;
    return (struct gm_strided){
        .name = name,
        .dimension = {{"page", pages, stride[0]}, {"token", tokens, stride[1]}, {"head", p->kv_heads, stride[2]}},
        .dimensions = 3,
        .columns = columns,
        .element_bytes = gm_type_bytes(gm_attention_kv_type(p)),
        .align = align};
}

enum gm_type gm_attention_out_type(const struct gm_attention_problem *p) {
    const enum gm_type types[] = {[GM_ATTENTION_OUT_SAME] = p->type,
                                  [GM_ATTENTION_OUT_FP32] = GM_FP32,
                                  [GM_ATTENTION_OUT_BF16] = GM_BF16,
                                  [GM_ATTENTION_OUT_FP16] = GM_FP16};
    return types[p->out];
}

void gm_attention_operands_of(const struct gm_attention_problem *p, int64_t batch,
                              struct gm_strided o[GM_ATTENTION_OPERANDS]) {
    const int bytes = gm_type_bytes(p->type), out_bytes = gm_type_bytes(gm_attention_out_type(p));
    const int64_t k_strides[] = {p->k_page_stride, p->k_token_stride, p->k_head_stride};
    const int64_t v_strides[] = {p->v_page_stride, p->v_token_stride, p->v_head_stride};
    const int64_t tokens = p->max_q_tokens, pages = pages_of(p, batch);
    o[GM_ATTENTION_Q] =
        heads_of("q", tokens, p->q_token_stride, p->q_heads, p->q_head_stride, p->head_dim, bytes, p->q_align);
    o[GM_ATTENTION_O] = heads_of("out", tokens, p->out_token_stride, p->q_heads, p->out_head_stride, p->v_head_dim,
                                 out_bytes, p->out_align);
    o[GM_ATTENTION_K] = cache_of(p, "k", pages, k_strides, p->head_dim, p->k_align);
    o[GM_ATTENTION_V] = cache_of(p, "v", pages, v_strides, p->v_head_dim, p->v_align);
    o[GM_ATTENTION_LSE] = heads_of("lse", p->has_lse ? tokens : 0, p->lse_token_stride, p->q_heads, p->lse_head_stride,
                                   1, sizeof(float), sizeof(float));
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

static enum gm_status check_dim(const char *name, int64_t dim, int64_t most) {
    const enum gm_status status = gm_check_size(name, dim, HEAD_STEP, most);
    if (status == GM_OK && dim % HEAD_STEP)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%s is %" PRId64 "; it must be a multiple of %d", name, dim,
                       HEAD_STEP);
    return status;
}

static enum gm_status check_heads(struct gm_attention_problem *p) {
    enum gm_status status = gm_check_size("q_heads", p->q_heads, 1, MOST_HEADS);
    if (status == GM_OK)
        status = gm_check_size("kv_heads", p->kv_heads, 1, MOST_HEADS);
    if (status == GM_OK && p->q_heads % p->kv_heads)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT,
                         "q_heads is %" PRId64 "; it must be a multiple of kv_heads, which is %" PRId64, p->q_heads,
                         p->kv_heads);
    p->v_head_dim = p->v_head_dim ? p->v_head_dim : p->head_dim;
    if (status == GM_OK && p->max_q_len * (p->q_heads / p->kv_heads) > INT32_MAX)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT,
                         "max_q_len %" PRId64 " x %" PRId64 " heads of q for each of k are more than 2147483647 rows",
                         p->max_q_len, p->q_heads / p->kv_heads);
    if (status == GM_OK)
        status = check_dim("head_dim", p->head_dim, p->v_is_k ? LATENT_DIM : MOST_HEAD_DIM);
    return status == GM_OK ? check_dim("v_head_dim", p->v_head_dim, p->v_is_k ? LATENT_V_DIM : MOST_HEAD_DIM) : status;
}

/* A size whose 0 is the product of two others. */
static enum gm_status fill_product(const char *name, int64_t *value, int64_t a, int64_t b) {
    if (*value == 0)
        *value = a * b;
    return gm_check_size(name, *value, 0, INT32_MAX);
}

/* What the layout does not have is 1: one page of all tokens, or as many pages as requests. */
static enum gm_status check_pages(struct gm_attention_problem *p) {
    const int is_ragged = p->kv_layout == GM_ATTENTION_KV_RAGGED, is_paged = p->kv_layout == GM_ATTENTION_KV_PAGED;
    enum gm_status status = GM_OK;
    p->page_size = p->page_size && !is_ragged ? p->page_size : p->max_kv_len;
    status = gm_check_size("page_size", p->page_size, is_ragged || is_paged ? 1 : p->max_kv_len, INT32_MAX);
    if (status != GM_OK)
        return status;
    const int64_t pages = GM_CEIL_DIV(p->max_kv_len, p->page_size);
    p->kv_tokens = is_ragged ? p->kv_tokens : 1;
    p->page_count = is_paged ? p->page_count : 1;
    p->table_stride = is_paged && p->table_stride ? p->table_stride : pages;
    status = fill_product("kv_tokens", &p->kv_tokens, p->max_batch, p->max_kv_len);
    if (status == GM_OK)
        status = fill_product("page_count", &p->page_count, p->max_batch, pages);
    return status == GM_OK ? gm_check_size("table_stride", p->table_stride, pages, INT32_MAX) : status;
}

static enum gm_status check_sizes(struct gm_attention_problem *p) {
    enum gm_status status = gm_check_size("max_batch", p->max_batch, 0, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("max_q_len", p->max_q_len, 0, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("max_kv_len", p->max_kv_len, 1, INT32_MAX);
    if (status == GM_OK)
        status = fill_product("max_q_tokens", &p->max_q_tokens, p->max_batch, p->max_q_len);
    return status == GM_OK ? check_heads(p) : status;
}

static enum gm_status check_choices(const struct gm_attention_problem *p) {
    const struct {
        const char *name;
        int value, last;
    } choices[] = {{"kv_type", (int)p->kv_type, GM_ATTENTION_KV_E4M3},
                   {"out", (int)p->out, GM_ATTENTION_OUT_FP16},
                   {"scales", (int)p->scales, GM_ATTENTION_SCALES_REQUEST_HEAD},
                   {"kv_layout", (int)p->kv_layout, GM_ATTENTION_KV_PAGED},
                   {"mask", (int)p->mask, GM_ATTENTION_WINDOW},
                   {"has_sinks", p->has_sinks, 1},
                   {"has_lse", p->has_lse, 1},
                   {"has_tree_mask", p->has_tree_mask, 1},
                   {"v_is_k", p->v_is_k, 1}};
    enum gm_status status = GM_OK;
    for (size_t i = 0; i < sizeof choices / sizeof *choices && status == GM_OK; i++)
        status = gm_check_enum(choices[i].name, choices[i].value, 0, choices[i].last);
    if (status == GM_OK && (int)p->type != GM_BF16 && (int)p->type != GM_FP16 && (int)p->type != GM_E4M3)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT, "type is %d; it must be GM_BF16, GM_FP16 or GM_E4M3", (int)p->type);
    return status;
}

/* One name of each type: that of q is `same`. */
static enum gm_status check_types(struct gm_attention_problem *p) {
    if (p->type == GM_E4M3)
        p->kv_type = GM_ATTENTION_KV_SAME;
    if (p->type == GM_E4M3 && p->out == GM_ATTENTION_OUT_SAME)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "out is the same as q, which is e4m3; it must be fp32, bf16 or fp16");
    if (p->type != GM_E4M3 && gm_attention_out_type(p) == p->type)
        p->out = GM_ATTENTION_OUT_SAME;
    if (p->type != GM_E4M3 && p->out != GM_ATTENTION_OUT_SAME && p->out != GM_ATTENTION_OUT_FP32)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "out is %s; of q that is %s it must be the same or fp32",
                       outs[p->out], gm_type_name(p->type));
    if (gm_attention_kv_type(p) != GM_E4M3 && p->scales != GM_ATTENTION_SCALES_NONE)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "scales is %s; nothing is e4m3 that has any", sharers[p->scales]);
    return GM_OK;
}

/* What the mask does not ask for is 0; what it does not limit is -1. */
static enum gm_status check_mask(struct gm_attention_problem *p) {
    enum gm_status status = GM_OK;
    if (p->mask != GM_ATTENTION_WINDOW)
        p->left = p->right = 0;
    status = gm_check_size("left", p->left, -1, INT32_MAX);
    if (status == GM_OK)
        status = gm_check_size("right", p->right, -1, INT32_MAX);
    if (status == GM_OK && p->has_tree_mask && p->max_q_len > TREE_ROWS)
        status = gm_fail(GM_ERROR_INVALID_ARGUMENT,
                         "max_q_len is %" PRId64 "; with a tree mask it must be %d or less: a word has so many bits",
                         p->max_q_len, TREE_ROWS);
    return status;
}

static enum gm_status check_reals(struct gm_attention_problem *p) {
    enum gm_status status = gm_check_real("scale", p->scale, -INFINITY);
    if (p->scale == 0)
        p->scale = (float)(1 / sqrt((double)p->head_dim));
    return status == GM_OK ? gm_check_real("softcap", p->softcap, 0) : status;
}

static enum gm_status fill_operands(struct gm_attention_problem *p) {
    struct gm_strided o[GM_ATTENTION_OPERANDS];
    int32_t lse_align = 0;
    struct {
        int64_t *stride[GM_DIMENSIONS_MAX];
        int32_t *align;
    } const members[GM_ATTENTION_OPERANDS] = {
        [GM_ATTENTION_Q] = {{&p->q_token_stride, &p->q_head_stride}, &p->q_align},
        [GM_ATTENTION_O] = {{&p->out_token_stride, &p->out_head_stride}, &p->out_align},
        [GM_ATTENTION_K] = {{&p->k_page_stride, &p->k_token_stride, &p->k_head_stride}, &p->k_align},
        [GM_ATTENTION_V] = {{&p->v_page_stride, &p->v_token_stride, &p->v_head_stride}, &p->v_align},
        [GM_ATTENTION_LSE] = {{&p->lse_token_stride, &p->lse_head_stride}, &lse_align}};
    gm_attention_operands_of(p, p->max_batch, o);
    for (int i = 0; i < GM_ATTENTION_OPERANDS; i++) {
        const enum gm_status status = gm_fill_strided(&o[i]);
        if (status != GM_OK)
            return status;
        for (int d = 0; d < o[i].dimensions; d++)
            *members[i].stride[d] = o[i].dimension[d].stride;
        *members[i].align = o[i].align;
    }
    return GM_OK;
}

/* Where v is k, what a problem says of v is what it says of k. Behind fill_operands(). */
static enum gm_status check_latent(const struct gm_attention_problem *given, struct gm_attention_problem *p) {
    const struct {
        const char *name;
        int64_t v, k;
    } same[] = {{"page_stride", given->v_page_stride, p->k_page_stride},
                {"token_stride", given->v_token_stride, p->k_token_stride},
                {"head_stride", given->v_head_stride, p->k_head_stride},
                {"align", given->v_align, p->k_align}};
    if (p->v_head_dim > p->head_dim)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "v_head_dim is %" PRId64 "; with v_is_k it must be up to head_dim, which is %" PRId64,
                       p->v_head_dim, p->head_dim);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (same[i].v && same[i].v != same[i].k)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                           "v_%s is %" PRId64 "; with v_is_k it must be 0 or that of k, which is %" PRId64,
                           same[i].name, same[i].v, same[i].k);
    p->v_page_stride = p->k_page_stride, p->v_token_stride = p->k_token_stride;
    p->v_head_stride = p->k_head_stride, p->v_align = p->k_align;
    return GM_OK;
}

static enum gm_status normalize(void *problem) {
    struct gm_attention_problem *p = problem;
    const struct gm_attention_problem given = *p;
    enum gm_status status = check_choices(p);
    if (status == GM_OK)
        status = check_types(p);
    if (status == GM_OK)
        status = check_sizes(p);
    if (status == GM_OK)
        status = check_pages(p);
    if (status == GM_OK)
        status = check_mask(p);
    if (status == GM_OK)
        status = check_reals(p);
    if (status == GM_OK)
        status = fill_operands(p);
    return status == GM_OK && p->v_is_k ? check_latent(&given, p) : status;
}

static int is_empty(const void *problem) {
    const struct gm_attention_problem *p = problem;
    return p->max_batch == 0 || p->max_q_len == 0;
}

/* ---- what it costs -------------------------------------------------------------------------------------- */

/* What a request's last row sees before and behind its own token, at most. */
static int64_t before_of(const struct gm_attention_problem *p) {
    return p->mask == GM_ATTENTION_WINDOW && p->left >= 0 ? p->left : INT32_MAX;
}

static int64_t behind_of(const struct gm_attention_problem *p) {
    if (p->mask == GM_ATTENTION_CAUSAL)
        return 0;
    return p->mask == GM_ATTENTION_WINDOW && p->right >= 0 ? p->right : INT32_MAX;
}

/* The sum of max(0, first + t) of t = 0 ... rows - 1. */
static double ramp(int64_t first, int64_t rows) {
    const int64_t hidden = first < 0 ? GM_MIN(-first, rows) : 0;
    const double shown = (double)(rows - hidden);
    return shown * ((double)(first + hidden) + (shown - 1) / 2);
}

double gm_attention_seen(const struct gm_attention_problem *p) {
    const int64_t rows = p->max_q_len, own = p->max_kv_len - rows; /* of row 0 */
    const double ends = ramp(own + behind_of(p) + 1, rows) - ramp(own + behind_of(p) + 1 - p->max_kv_len, rows);
    return ends - ramp(own - before_of(p), rows);
}

int64_t gm_attention_read(const struct gm_attention_problem *p) {
    const int64_t first = p->max_kv_len - p->max_q_len - before_of(p);
    return p->max_kv_len - GM_MIN(GM_MAX(first, 0), p->max_kv_len);
}

double gm_attention_cache_bytes(const struct gm_attention_problem *p) {
    double tokens = (double)p->max_batch * (double)gm_attention_read(p);
    if (p->kv_layout == GM_ATTENTION_KV_RAGGED && p->kv_tokens)
        tokens = fmin(tokens, (double)p->kv_tokens);
    const int64_t v_dim = p->v_is_k ? 0 : p->v_head_dim ? p->v_head_dim : p->head_dim;
    return tokens * (double)p->kv_heads * (double)(p->head_dim + v_dim) * gm_type_bytes(gm_attention_kv_type(p));
}

/* Every request is as long as may be, as far as there are rows of q. */
static struct gm_work work(const void *problem) {
    const struct gm_attention_problem *p = problem;
    const double bytes = gm_type_bytes(p->type), out_bytes = gm_type_bytes(gm_attention_out_type(p));
    const int64_t v_dim = p->v_head_dim ? p->v_head_dim : p->head_dim;
    const double all = (double)p->max_batch * (double)p->max_q_len;
    const double rows = p->max_q_tokens ? fmin((double)p->max_q_tokens, all) : all;
    const double heads = (double)p->q_heads, seen = p->max_q_len ? gm_attention_seen(p) / (double)p->max_q_len : 0;
    const double of_row = (double)p->head_dim * bytes + (double)v_dim * out_bytes + (p->has_lse ? 4 : 0);
    return (struct gm_work){
        .flops = 2 * rows * heads * seen * (double)(p->head_dim + v_dim),
        .least_bytes = rows * heads * of_row + gm_attention_cache_bytes(p),
    };
}

double gm_attention_clock_mhz(const struct gm_device *device) {
    return device->sm_clock_mhz ? device->sm_clock_mhz : 1500;
}

#define ON_SM90 0.62 /* mma.sync's ceiling on Hopper, of WGMMA's */

double gm_attention_mma_sync_share(const struct gm_kernel *kernel, const struct gm_device *device) {
    (void)kernel;
    return device->cc_major == 9 ? ON_SM90 : 1;
}

int64_t gm_attention_tiles(const struct gm_attention_problem *p, int64_t rows) {
    const int64_t group = gm_attention_group(p), of_request = GM_CEIL_DIV(p->max_q_len * group, rows);
    return GM_MIN(p->max_batch * of_request, p->max_q_tokens * group / rows + p->max_batch);
}

/* ---- families ------------------------------------------------------------------------------------------- */

#define FEW_ROWS 16 /* packed, of a request: a unit of attention_decode */

enum gm_reason gm_attention_check_kv_type(const struct gm_attention_problem *p, enum gm_type type,
                                          const struct gm_sentence *why) {
    if (gm_attention_kv_type(p) == type)
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_TYPE, "its k and v are %s; the problem's are %s", gm_type_name(type),
                  gm_type_name(gm_attention_kv_type(p)));
}

enum gm_reason gm_attention_check_vectors(const struct gm_attention_problem *p, unsigned operands,
                                          const struct gm_sentence *why) {
    struct gm_strided o[GM_ATTENTION_OPERANDS];
    enum gm_reason reason = GM_ACCEPTED;
    gm_attention_operands_of(p, p->max_batch, o);
    for (int i = 0; i < GM_ATTENTION_OPERANDS && reason == GM_ACCEPTED; i++)
        if (operands & GM_ATTENTION_BIT(i))
            reason = gm_check_strided_vectors(&o[i], 16, why);
    return reason;
}

static int are_aligned(const struct gm_attention_problem *p, unsigned operands) {
    return gm_attention_check_vectors(p, operands, NULL) == GM_ACCEPTED;
}

static enum gm_attention_way way_of(const struct gm_question *question) {
    const struct gm_attention_problem *p = question->problem;
    const uint32_t mask = question->options->arch_mask;
    const int has_maps = question->device->cc_major == 9 && (mask == 0 || mask & GM_ARCH_SM90);
    const int has_pages = p->kv_layout != GM_ATTENTION_KV_PAGED || p->page_size % GM_ATTENTION_LEAST_BOX == 0;
    const int maps_take =
        has_maps && has_pages && !p->has_tree_mask && are_aligned(p, GM_ATTENTION_BIT(GM_ATTENTION_O));
    if (p->max_q_len * gm_attention_group(p) <= FEW_ROWS || p->scale < 0 || !are_aligned(p, GM_ATTENTION_LOADED))
        return GM_ATTENTION_BY_ROWS;
    /* Tiles by cp.async take no cache of e4m3. Tiles by TMA take it under a q of e4m3 alone. */
    if (gm_attention_kv_type(p) == GM_E4M3)
        return maps_take && p->type == GM_E4M3 ? GM_ATTENTION_BY_MAPS : GM_ATTENTION_BY_ROWS;
    return maps_take ? GM_ATTENTION_BY_MAPS : GM_ATTENTION_BY_TILES;
}

enum gm_reason gm_attention_check_order(const struct gm_question *question, enum gm_attention_way way,
                                        const struct gm_sentence *why) {
    static const char *const words[] = {"units of 16 rows", "large tiles by cp.async", "large tiles by TMA"};
    if (!(question->options->flags & GM_PLAN_BATCH_INVARIANT) || question->options->kernel || way_of(question) == way)
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_ORDER, "a batch-invariant plan of this problem takes %s", words[way_of(question)]);
}

/* ---- parameters ----------------------------------------------------------------------------------------- */

#define LOG2_E 1.4426950408889634

static struct gm_attention_rows rows_of(const struct gm_strided *s) {
    return (struct gm_attention_rows){.token = s->dimension[0].stride * s->element_bytes,
                                      .head = s->dimension[1].stride * s->element_bytes};
}

static struct gm_attention_cache cache_params(const struct gm_strided *s) {
    return (struct gm_attention_cache){.page = s->dimension[0].stride * s->element_bytes,
                                       .token = s->dimension[1].stride * s->element_bytes,
                                       .head = s->dimension[2].stride * s->element_bytes};
}

/* Those of types that a kernel does not know. */
static int32_t type_flags_of(const struct gm_attention_problem *p) {
    if (gm_attention_kv_type(p) != GM_E4M3)
        return 0;
    return (gm_attention_out_type(p) == GM_FP16 ? GM_ATTENTION_OUT_IS_FP16 : 0) |
           (p->type == GM_BF16 ? GM_ATTENTION_Q_IS_BF16 : 0) | (p->type == GM_E4M3 ? GM_ATTENTION_Q_IS_E4M3 : 0);
}

static int32_t flags_of(const struct gm_attention_problem *p) {
    const int q = are_aligned(p, GM_ATTENTION_BIT(GM_ATTENTION_Q));
    const int kv = are_aligned(p, GM_ATTENTION_BIT(GM_ATTENTION_K) | GM_ATTENTION_BIT(GM_ATTENTION_V));
    const int out = are_aligned(p, GM_ATTENTION_BIT(GM_ATTENTION_O));
    return type_flags_of(p) | (p->kv_layout == GM_ATTENTION_KV_RAGGED ? GM_ATTENTION_IS_RAGGED : 0) |
           (p->kv_layout == GM_ATTENTION_KV_PAGED ? GM_ATTENTION_IS_PAGED : 0) |
           (p->out == GM_ATTENTION_OUT_FP32 ? GM_ATTENTION_OUT_IS_FP32 : 0) |
           (p->softcap != 0 ? GM_ATTENTION_HAS_CAP : 0) | (q ? 0 : GM_ATTENTION_Q_BY_ELEMENT) |
           (kv ? 0 : GM_ATTENTION_KV_BY_ELEMENT) | (out ? 0 : GM_ATTENTION_OUT_BY_ELEMENT);
}

struct gm_attention_params gm_attention_template(const struct gm_attention_problem *p) {
    struct gm_strided o[GM_ATTENTION_OPERANDS];
    gm_attention_operands_of(p, p->max_batch, o);
    return (struct gm_attention_params){
        .q = rows_of(&o[GM_ATTENTION_Q]),
        .out = rows_of(&o[GM_ATTENTION_O]),
        .lse = rows_of(&o[GM_ATTENTION_LSE]),
        .k = cache_params(&o[GM_ATTENTION_K]),
        .v = cache_params(&o[GM_ATTENTION_V]),
        .table_stride = p->table_stride,
        .page = gm_divisor_of((uint32_t)p->page_size),
        .group = gm_divisor_of((uint32_t)gm_attention_group(p)),
        .kv_heads = (int32_t)p->kv_heads,
        .head_dim = (int32_t)p->head_dim,
        .v_head_dim = (int32_t)p->v_head_dim,
        .left = (int32_t)before_of(p),
        .right = (int32_t)behind_of(p),
        .max_q_tokens = (int32_t)p->max_q_tokens,
        .max_q_len = (int32_t)p->max_q_len,
        .max_kv_len = (int32_t)p->max_kv_len,
        .page_count = (int32_t)p->page_count,
        .kv_tokens = (int32_t)p->kv_tokens,
        .scale_request = p->scales == GM_ATTENTION_SCALES_REQUEST_HEAD ? (int32_t)p->kv_heads : 0,
        .scale_head = p->scales >= GM_ATTENTION_SCALES_HEAD,
        .scale = p->softcap != 0 ? p->scale : (float)(p->scale * LOG2_E),
        .cap = p->softcap,
        .cap_exponent = p->softcap != 0 ? (float)(-2 * LOG2_E / p->softcap) : 0,
        .flags = flags_of(p),
    };
}

void gm_attention_bind(const struct gm_attention_args *args, struct gm_attention_params *params) {
    params->q.address = args->q;
    params->k.address = args->k;
    params->v.address = args->v ? args->v : args->k; /* of v_is_k */
    params->out.address = args->out;
    params->lse.address = params->lse.token ? args->lse : 0;
    params->q_indptr = args->q_indptr;
    params->kv_len = args->kv_len;
    params->kv_indptr = args->kv_indptr;
    params->page_table = args->page_table;
    params->sinks = args->sinks;
    params->tree_mask = args->tree_mask;
    params->q_scale = args->q_scale;
    params->k_scale = args->k_scale;
    params->v_scale = args->v_scale;
    params->batch = (int32_t)args->batch;
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static enum gm_status check_call(const void *problem, const void *arguments) {
    const struct gm_attention_problem *p = problem;
    const struct gm_attention_args *a = arguments;
    if (p->v_is_k && a->v && a->v != a->k)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "v is not k; with v_is_k it must be that, or 0");
    return gm_check_size("batch", a->batch, 0, p->max_batch);
}

enum {
    RANGE_Q_INDPTR = GM_ATTENTION_OPERANDS,
    RANGE_KV_LEN,
    RANGE_KV_INDPTR,
    RANGE_PAGE_TABLE,
    RANGE_SINKS,
    RANGE_TREE_MASK,
    RANGE_Q_SCALE,
    RANGE_K_SCALE,
    RANGE_V_SCALE,
    RANGES
};
_Static_assert(RANGES <= GM_RANGES_MAX, "all ranges are checked");

static struct gm_range array(const char *name, gm_device_ptr address, int64_t count, int bytes) {
    const struct gm_matrix m = {name, count > 0, count, count, bytes, bytes};
    return gm_range_of(&m, address, 0);
}

int64_t gm_attention_scales(const struct gm_attention_problem *p, int64_t batch) {
    const int64_t counts[] = {[GM_ATTENTION_SCALES_NONE] = 0,
                              [GM_ATTENTION_SCALES_TENSOR] = 1,
                              [GM_ATTENTION_SCALES_HEAD] = p->kv_heads,
                              [GM_ATTENTION_SCALES_REQUEST_HEAD] = batch * p->kv_heads};
    return counts[p->scales];
}

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_attention_problem *p = problem;
    const struct gm_attention_args *a = arguments;
    const gm_device_ptr addresses[GM_ATTENTION_OPERANDS] = {a->q, a->out, a->k, p->v_is_k ? a->k : a->v, a->lse};
    const int is_ragged = p->kv_layout == GM_ATTENTION_KV_RAGGED, is_paged = p->kv_layout == GM_ATTENTION_KV_PAGED;
    struct gm_strided o[GM_ATTENTION_OPERANDS];
    gm_attention_operands_of(p, a->batch, o);
    for (int i = 0; i < GM_ATTENTION_OPERANDS; i++) {
        const struct gm_matrix m = gm_matrix_of(&o[i]);
        found[i] = gm_range_of(&m, addresses[i], i == GM_ATTENTION_O || i == GM_ATTENTION_LSE);
    }
    const int64_t pages = GM_CEIL_DIV(p->max_kv_len, p->page_size);
    const int64_t entries = is_paged && a->batch ? (a->batch - 1) * p->table_stride + pages : 0;
    found[RANGE_Q_INDPTR] = array("q_indptr", a->q_indptr, a->batch + 1, sizeof(int32_t));
    found[RANGE_KV_LEN] = array("kv_len", a->kv_len, a->batch, sizeof(int32_t));
    found[RANGE_KV_INDPTR] = array("kv_indptr", a->kv_indptr, is_ragged ? a->batch : 0, sizeof(int32_t));
    found[RANGE_PAGE_TABLE] = array("page_table", a->page_table, entries, sizeof(int32_t));
    found[RANGE_SINKS] = array("sinks", a->sinks, p->has_sinks ? p->q_heads : 0, sizeof(float));
    found[RANGE_TREE_MASK] = array("tree_mask", a->tree_mask, p->has_tree_mask ? p->max_q_tokens : 0, sizeof(uint64_t));
    const int64_t scales = gm_attention_scales(p, a->batch);
    found[RANGE_Q_SCALE] = array("q_scale", a->q_scale, p->type == GM_E4M3 ? scales : 0, sizeof(float));
    found[RANGE_K_SCALE] = array("k_scale", a->k_scale, scales, sizeof(float));
    found[RANGE_V_SCALE] = array("v_scale", a->v_scale, scales, sizeof(float));
    workspace->address = a->workspace;
    workspace->bytes = a->workspace_bytes;
    return RANGES;
}

const struct gm_operation gm_operation_attention = {
    .name = "attention",
    .computes = "out = softmax(scale * q k^T, of what the mask shows) v, of every request and head",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_MAX_KV_LEN,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_attention_problem),
    .problem_bytes_least = sizeof(struct gm_attention_problem),
    .args_bytes = sizeof(struct gm_attention_args),
    .args_bytes_least = sizeof(struct gm_attention_args),
    .planned_bytes = sizeof(struct gm_attention_problem),
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .check_call = check_call,
    .ranges = ranges,
};

/* ---- the public functions -------------------------------------------------------------------------------- */

enum gm_status gm_attention_plan_create(gm_context *context, const struct gm_attention_problem *problem,
                                        const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_attention, context, problem, options, plan);
}

enum gm_status gm_attention_execute(const gm_plan *plan, const struct gm_attention_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_attention, args, stream);
}

enum gm_status gm_attention(gm_context *context, const struct gm_attention_problem *problem,
                            const struct gm_attention_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_attention, context, problem, args, stream);
}

enum gm_status gm_attention_explain(const struct gm_device *device, const struct gm_attention_problem *problem,
                                    const struct gm_plan_options *options, struct gm_candidate *candidates,
                                    size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_attention, device, problem, options, candidates, capacity, count);
}
