/* SPDX-License-Identifier: Apache-2.0 */
/* The merge of two states of attention as an operation: its fields, its problem, what a call reads and writes, and its
 * public functions. */
#include "gristmill/attention_merge.h"
#include "host/attention_merge/attention_merge.h"
#include "host/check_problem.h"
#include "host/plan.h"
#include "host/types.h"

#define MOST_TOKENS   INT32_MAX
#define MOST_HEADS    65536
#define MOST_HEAD_DIM 512

/* ---- fields --------------------------------------------------------------------------------------------- */

/* 0: that of a and b; then types. */
static const char *const out_words[] = {"same", "bf16", "fp16", "fp32", NULL};

#define AT(member) offsetof(struct gm_attention_merge_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_attention_merge_problem, a)
GM_ALIGN_FUNCTIONS(gm_attention_merge_problem, b)
GM_ALIGN_FUNCTIONS(gm_attention_merge_problem, out)

enum gm_type gm_attention_merge_out_type(const struct gm_attention_merge_problem *p) {
    return p->has_out_type ? p->out_type : p->type;
}

static int64_t get_out(const void *problem) {
    const struct gm_attention_merge_problem *p = problem;
    return gm_attention_merge_out_type(p) == p->type ? 0 : 1 + (int64_t)p->out_type;
}

static int set_out(void *problem, int64_t word) {
    struct gm_attention_merge_problem *p = problem;
    p->has_out_type = word > 0;
    p->out_type = word > 0 ? (enum gm_type)(word - 1) : GM_BF16;
    return 1;
}

#define STRIDE(operand, dimension)                                                                                     \
    {.name = #operand "_" #dimension "_stride",                                                                        \
     .kind = GM_FIELD_SIZE,                                                                                            \
     .uses = GM_IN_OPTIONS,                                                                                            \
     .offset = AT(operand##_##dimension##_stride),                                                                     \
     .about = "elements from " #dimension " to " #dimension " (default: packed)"}
#define STRIDES(operand) STRIDE(operand, token), STRIDE(operand, head)

enum { FIELD_TYPE, FIELD_OUT, FIELD_TOKENS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of a and b: also --dtype"},
    [FIELD_OUT] = {.name = "out",
                   .kind = GM_FIELD_WORD,
                   .uses = SUITES,
                   .words = out_words,
                   .get = get_out,
                   .set = set_out,
                   .about = "its type (default: same)"},
    [FIELD_TOKENS] = {.name = "tokens", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(tokens)},
    {.name = "heads", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(heads)},
    {.name = "head_dim", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(head_dim)},
    STRIDES(a),
    STRIDES(b),
    STRIDES(out),
    STRIDES(lse_a),
    STRIDES(lse_b),
    STRIDES(lse),
    GM_ALIGN_FIELD(a),
    GM_ALIGN_FIELD(b),
    GM_ALIGN_FIELD(out),
};

/* ---- operands ------------------------------------------------------------------------------------------- */

static struct gm_strided operand(const struct gm_attention_merge_problem *p, const char *name, int64_t token_stride,
                                 int64_t head_stride) {
    return (struct gm_strided){.name = name,
                               .dimension = {{"token", p->tokens, token_stride}, {"head", p->heads, head_stride}},
                               .dimensions = 2,
                               .columns = 1,
                               .element_bytes = sizeof(float),
                               .align = sizeof(float)};
}

static void make_heads(struct gm_strided *s, int64_t head_dim, enum gm_type type, int32_t align) {
    s->columns = head_dim;
    s->element_bytes = gm_type_bytes(type);
    s->align = align;
}

void gm_attention_merge_operands(const struct gm_attention_merge_problem *p, struct gm_strided s[GM_MERGE_OPERANDS]) {
    s[GM_MERGE_A] = operand(p, "a", p->a_token_stride, p->a_head_stride);
    s[GM_MERGE_B] = operand(p, "b", p->b_token_stride, p->b_head_stride);
    s[GM_MERGE_OUT] = operand(p, "out", p->out_token_stride, p->out_head_stride);
    s[GM_MERGE_LSE_A] = operand(p, "lse_a", p->lse_a_token_stride, p->lse_a_head_stride);
    s[GM_MERGE_LSE_B] = operand(p, "lse_b", p->lse_b_token_stride, p->lse_b_head_stride);
    s[GM_MERGE_LSE] = operand(p, "lse", p->lse_token_stride, p->lse_head_stride);
    make_heads(&s[GM_MERGE_A], p->head_dim, p->type, p->a_align);
    make_heads(&s[GM_MERGE_B], p->head_dim, p->type, p->b_align);
    make_heads(&s[GM_MERGE_OUT], p->head_dim, gm_attention_merge_out_type(p), p->out_align);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

static enum gm_status check(const struct gm_attention_merge_problem *p) {
    enum gm_status status = gm_check_size("tokens", p->tokens, 0, MOST_TOKENS);
    if (status == GM_OK)
        status = gm_check_size("heads", p->heads, 0, MOST_HEADS);
    if (status == GM_OK)
        status = gm_check_size("head_dim", p->head_dim, 1, MOST_HEAD_DIM);
    if (status == GM_OK)
        status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("has_out_type", p->has_out_type, 0, 1);
    return status == GM_OK && p->has_out_type ? gm_check_enum("out_type", (int)p->out_type, GM_BF16, GM_FP32) : status;
}

/* Out's type is there, as if it had been asked for or not. */
static enum gm_status normalize(void *problem) {
    struct gm_attention_merge_problem *p = problem;
    struct gm_strided s[GM_MERGE_OPERANDS];
    int64_t *const strides[GM_MERGE_OPERANDS][2] = {
        {&p->a_token_stride, &p->a_head_stride},         {&p->b_token_stride, &p->b_head_stride},
        {&p->out_token_stride, &p->out_head_stride},     {&p->lse_a_token_stride, &p->lse_a_head_stride},
        {&p->lse_b_token_stride, &p->lse_b_head_stride}, {&p->lse_token_stride, &p->lse_head_stride}};
    int32_t *const aligns[GM_MERGE_HEADS] = {&p->a_align, &p->b_align, &p->out_align};
    enum gm_status status = check(p);
    if (status != GM_OK)
        return status;
    p->out_type = gm_attention_merge_out_type(p);
    p->has_out_type = p->out_type != p->type;
    gm_attention_merge_operands(p, s);
    for (int i = 0; i < GM_MERGE_OPERANDS; i++) {
        status = gm_fill_strided(&s[i]);
        if (status != GM_OK)
            return status;
        *strides[i][0] = s[i].dimension[0].stride;
        *strides[i][1] = s[i].dimension[1].stride;
        if (i < GM_MERGE_HEADS)
            *aligns[i] = s[i].align;
    }
    return GM_OK;
}

static int is_empty(const void *problem) {
    const struct gm_attention_merge_problem *p = problem;
    return p->tokens == 0 || p->heads == 0;
}

/* Two multiplications and an addition for an element; lse is written. */
static struct gm_work work(const void *problem) {
    const struct gm_attention_merge_problem *p = problem;
    const double heads = (double)p->tokens * (double)p->heads, elements = heads * (double)p->head_dim;
    const int bytes = 2 * gm_type_bytes(p->type) + gm_type_bytes(gm_attention_merge_out_type(p));
    return (struct gm_work){.flops = 3 * elements, .least_bytes = elements * bytes + heads * 3 * sizeof(float)};
}

/* ---- a call --------------------------------------------------------------------------------------------- */

/* Whether one may be in the other's place: each element at its own. */
static int is_alike(const struct gm_strided *x, const struct gm_strided *y, enum gm_type x_type, enum gm_type y_type) {
    for (int i = 0; i < x->dimensions; i++)
        if (x->dimension[i].count > 1 && x->dimension[i].stride != y->dimension[i].stride)
            return 0;
    return x_type == y_type;
}

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_attention_merge_problem *p = problem;
    const struct gm_attention_merge_args *args = arguments;
    const gm_device_ptr addresses[GM_MERGE_OPERANDS] = {args->a,     args->b,     args->out,
                                                        args->lse_a, args->lse_b, args->lse};
    const enum gm_type out_type = gm_attention_merge_out_type(p);
    struct gm_strided s[GM_MERGE_OPERANDS];
    gm_attention_merge_operands(p, s);
    for (int i = 0; i < GM_MERGE_OPERANDS; i++) {
        struct gm_matrix m = gm_matrix_of(&s[i]);
        if (i == GM_MERGE_LSE && !args->lse)
            m.rows = 0;
        found[i] = gm_range_of(&m, addresses[i], i == GM_MERGE_OUT || i == GM_MERGE_LSE);
    }
    for (int i = GM_MERGE_A; i <= GM_MERGE_B; i++)
        if (is_alike(&s[i], &s[GM_MERGE_OUT], p->type, out_type))
            found[i].may_equal = GM_MERGE_OUT;
    for (int i = GM_MERGE_LSE_A; i <= GM_MERGE_LSE_B; i++)
        if (is_alike(&s[i], &s[GM_MERGE_LSE], GM_FP32, GM_FP32))
            found[i].may_equal = GM_MERGE_LSE;
    found[GM_MERGE_OPERANDS] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return GM_MERGE_OPERANDS + 1;
}

const struct gm_operation gm_operation_attention_merge = {
    .name = "attention_merge",
    .computes = "out, lse = two partial states of attention as one",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_TOKENS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_attention_merge_problem),
    .problem_bytes_least = 152,
    .planned_bytes = sizeof(struct gm_attention_merge_problem),
    .args_bytes = sizeof(struct gm_attention_merge_args),
    .args_bytes_least = 64,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_attention_merge_plan_create(gm_context *context, const struct gm_attention_merge_problem *problem,
                                              const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_attention_merge, context, problem, options, plan);
}

enum gm_status gm_attention_merge_execute(const gm_plan *plan, const struct gm_attention_merge_args *args,
                                          void *stream) {
    return gm_plan_execute(plan, &gm_operation_attention_merge, args, stream);
}

enum gm_status gm_attention_merge(gm_context *context, const struct gm_attention_merge_problem *problem,
                                  const struct gm_attention_merge_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_attention_merge, context, problem, args, stream);
}

enum gm_status gm_attention_merge_explain(const struct gm_device *device,
                                          const struct gm_attention_merge_problem *problem,
                                          const struct gm_plan_options *options, struct gm_candidate *candidates,
                                          size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_attention_merge, device, problem, options, candidates, capacity, count);
}
