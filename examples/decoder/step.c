/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include "moe.h"
#include "plans.h"

#include <stdlib.h>

/* Matrices of one type, and norms that make the rows that they read. */
struct linear_plans {
    gm_plan *norm;
    gm_plan *norm_after_add; /* of decoding: the branch is added, and the sum normed */
    gm_plan *norm_between;   /* with a sandwich: the branch is normed, added, and the sum normed again */
    gm_plan *qkv, *attention_out, *gate_up, *down;
};

struct step {
    struct step_shape shape;
    gm_plan *embed;
    struct linear_plans of[ROWS_TYPES]; /* those that layers have */
    gm_plan *rope;
    gm_plan *attend, *attend_window;
    gm_plan *quantize, *glu; /* e4m3 of what attention made, and of gates and ups */
    gm_plan *gather, *head, *cap, *sample;
};

/* ---- memory that steps share ---------------------------------------------------------------------------- */

static int64_t q_columns(const struct config *c) {
    return c->q_heads * c->head_dim;
}

static int64_t qkv_columns(const struct config *c) {
    return (c->q_heads + 2 * c->kv_heads) * c->head_dim;
}

/* The first layer that has these of enum e4m3 in e4m3, or for ROWS_DTYPE not; -1: none has. */
static int64_t layer_with(const struct config *c, enum rows_type rows_type, enum e4m3 which) {
    for (int64_t i = 0; i < c->layers; i++)
        if (!(which == E4M3_MLP && c->has_experts[i]) && !(c->e4m3[i] & which) == (rows_type == ROWS_DTYPE))
            return i;
    return -1;
}

/* Columns of a unit that a GEMM makes. */
static int64_t gated_columns(const struct config *c) {
    return layer_with(c, ROWS_DTYPE, E4M3_MLP) >= 0 ? c->intermediate : 0;
}

/* Columns that rows have where matrices are of e4m3. */
static int64_t quantized_columns(const struct config *c) {
    return c->any_e4m3 ? q_columns(c) : 0;
}

static int64_t gate_columns(const struct config *c) {
    return c->any_e4m3 ? 2 * c->intermediate : 0;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Scales that a row of e4m3 has, at most. */
static int64_t scales_of_row(const struct config *c) {
    if (!c->any_e4m3)
        return 0;
    return c->scaled == SCALED_BLOCKS ? blocks_of(larger(c->hidden, larger(q_columns(c), c->intermediate))) : 1;
}

/* Bytes that a row has in all of scratch. */
static int64_t row_bytes(const struct config *c) {
    const int64_t elements = 3 * c->hidden + qkv_columns(c) + q_columns(c) + c->intermediate + gate_columns(c);
    return elements * ELEMENT_BYTES + quantized_columns(c) + scales_of_row(c) * (int64_t)sizeof(float);
}

size_t gated_workspace_bytes(int64_t rows, int64_t columns) {
    const int64_t pitch = (2 * columns + 63) / 64 * 64; /* whole lines */
    return WORKSPACE_BYTES + (size_t)(rows * pitch) * ELEMENT_BYTES;
}

size_t scratch_bytes(const struct config *c, int64_t rows, int64_t results) {
    return (size_t)(rows * row_bytes(c) + results * c->hidden * ELEMENT_BYTES) +
           (size_t)(results * (c->vocabulary + 2)) * 4 + gated_workspace_bytes(rows, gated_columns(c)) +
           moe_bytes(c, rows);
}

/* Zeros, since a step has rows of no request as well: nobody wants what comes of them, but it is computed. */
static gm_device_ptr matrix(int64_t rows, int64_t columns) {
    return device_zeros((size_t)(rows * columns) * ELEMENT_BYTES, "a step's matrices");
}

struct scratch scratch_create(gm_context *context, const struct config *c, int64_t rows, int64_t results,
                              uint32_t flags) {
    return (struct scratch){.rows = rows,
                            .results = results,
                            .stream = matrix(rows, c->hidden),
                            .normed = matrix(rows, c->hidden),
                            .branch = matrix(rows, c->hidden),
                            .qkv = matrix(rows, qkv_columns(c)),
                            .attended = matrix(rows, q_columns(c)),
                            .mlp = matrix(rows, c->intermediate),
                            .quantized = matrix(rows, quantized_columns(c) / ELEMENT_BYTES),
                            .gates = matrix(rows, gate_columns(c)),
                            .row_scales = matrix(rows, 2 * scales_of_row(c)),
                            .last = matrix(results, c->hidden),
                            .logits = matrix(results, 2 * c->vocabulary),
                            .sampled = matrix(results, 2),
                            .logprobs = matrix(results, 2),
                            .workspace =
                                matrix((int64_t)gated_workspace_bytes(rows, gated_columns(c)) / ELEMENT_BYTES, 1),
                            .workspace_bytes = gated_workspace_bytes(rows, gated_columns(c)),
                            .moe = c->experts ? moe_create(context, c, rows, flags) : NULL};
}

void scratch_free(struct scratch *s) {
    const gm_device_ptr all[] = {s->stream, s->normed,    s->branch,   s->qkv,        s->attended,
                                 s->mlp,    s->quantized, s->gates,    s->row_scales, s->last,
                                 s->logits, s->sampled,   s->logprobs, s->workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        device_release(all[i]);
    moe_free(s->moe);
}

/* ---- plans ---------------------------------------------------------------------------------------------- */

static gm_plan *plan_norm(const struct maker *maker, enum rows_type rows_type, int64_t rows,
                          enum gm_residual residual) {
    const struct config *c = maker->config;
    const struct gm_rms_norm_problem problem = {.size = sizeof problem,
                                                .rows = rows,
                                                .columns = c->hidden,
                                                .type = type_of(c),
                                                .residual = residual,
                                                .eps = (float)c->eps,
                                                .weight_offset = (float)c->weight_offset,
                                                .has_out_type = rows_type == ROWS_E4M3,
                                                .out_type = GM_E4M3,
                                                .scaling = scaling_of(c),
                                                .scale_order = scale_order_of(c)};
    gm_plan *plan = NULL;
    PLAN(maker, rms_norm, problem, plan);
    return plan;
}

/* q is rotated where it is; k goes rotated to the cache, v as it is. */
static gm_plan *plan_rope(const struct maker *maker, int64_t rows, const struct cache *cache, int64_t positions) {
    const struct config *c = maker->config;
    const int64_t row = qkv_columns(c);
    const struct gm_rope_problem problem = {.size = sizeof problem,
                                            .tokens = rows,
                                            .q_heads = c->q_heads,
                                            .kv_heads = c->kv_heads,
                                            .head_dim = c->head_dim,
                                            .max_position = positions,
                                            .page_size = cache->page_size,
                                            .slot_count = cache->pages * cache->page_size,
                                            .q_token_stride = row,
                                            .k_token_stride = row,
                                            .v_token_stride = row,
                                            .q_out_token_stride = row,
                                            .type = type_of(c),
                                            .norm = c->has_head_norm ? GM_ROPE_NORM : GM_ROPE_NO_NORM,
                                            .eps = (float)c->eps,
                                            .weight_offset = (float)c->weight_offset,
                                            .append = GM_ROPE_APPEND};
    gm_plan *plan = NULL;
    PLAN(maker, rope, problem, plan);
    return plan;
}

static gm_plan *plan_attention(const struct maker *maker, struct step_shape shape, const struct cache *cache,
                               int64_t context_length, int64_t window) {
    const struct config *c = maker->config;
    const struct gm_attention_problem problem = {.size = sizeof problem,
                                                 .max_batch = shape.requests,
                                                 .max_q_tokens = shape.rows,
                                                 .max_q_len = shape.longest,
                                                 .max_kv_len = context_length,
                                                 .q_heads = c->q_heads,
                                                 .kv_heads = c->kv_heads,
                                                 .head_dim = c->head_dim,
                                                 .page_size = cache->page_size,
                                                 .page_count = cache->pages,
                                                 .table_stride = cache->table_stride,
                                                 .q_token_stride = qkv_columns(c),
                                                 .type = type_of(c),
                                                 .kv_layout = GM_ATTENTION_KV_PAGED,
                                                 .mask = window ? GM_ATTENTION_WINDOW : GM_ATTENTION_CAUSAL,
                                                 .left = window ? window - 1 : 0,
                                                 .scale = (float)c->attention_scale,
                                                 .softcap = (float)c->attention_cap};
    gm_plan *plan = NULL;
    PLAN(maker, attention, problem, plan);
    return plan;
}

static gm_plan *plan_cap(const struct maker *maker, int64_t results) {
    const struct gm_process_logits_problem problem = {.size = sizeof problem,
                                                      .rows = results,
                                                      .columns = maker->config->vocabulary,
                                                      .type = GM_FP32,
                                                      .cap = (float)maker->config->logits_cap};
    gm_plan *plan = NULL;
    PLAN(maker, process_logits, problem, plan);
    return plan;
}

static gm_plan *plan_sample(const struct maker *maker, int64_t results) {
    const struct gm_sample_problem problem = {
        .size = sizeof problem, .rows = results, .columns = maker->config->vocabulary, .type = GM_FP32};
    gm_plan *plan = NULL;
    PLAN(maker, sample, problem, plan);
    return plan;
}

/* A norm of 16 bits there is always: that of what the last matrix reads. */
static void plan_norms(const struct maker *maker, struct linear_plans *plans, enum rows_type rows_type,
                       struct step_shape shape) {
    const struct config *c = maker->config;
    plans->norm = plan_norm(maker, rows_type, shape.rows, GM_RESIDUAL_NONE);
    if (shape.decodes && !c->has_sandwich)
        plans->norm_after_add = plan_norm(maker, rows_type, shape.rows, GM_RESIDUAL_BEFORE);
    if (c->has_sandwich)
        plans->norm_between = plan_norm(maker, rows_type, shape.rows, GM_RESIDUAL_BETWEEN);
}

/* The matrices of all layers that have them in this type are alike. */
static void plan_linears(const struct maker *maker, struct linear_plans *plans, const struct model *model,
                         enum rows_type rows_type, int64_t rows) {
    const struct config *c = maker->config;
    const enum gm_type type = type_of(c);
    const int64_t qkv = layer_with(c, rows_type, E4M3_QKV), out = layer_with(c, rows_type, E4M3_ATTENTION_OUT),
                  mlp = layer_with(c, rows_type, E4M3_MLP);
    if (qkv >= 0)
        plans->qkv = plan_gemm(maker, &model->layer[qkv].qkv, rows, qkv_columns(c), c->hidden, type);
    if (out >= 0)
        plans->attention_out = plan_gemm(maker, &model->layer[out].attention_out, rows, c->hidden, q_columns(c), type);
    if (mlp < 0)
        return;
    const struct linear *gate_up = &model->layer[mlp].gate_up, *down = &model->layer[mlp].down;
    plans->gate_up = rows_type == ROWS_E4M3 ? plan_gemm(maker, gate_up, rows, 2 * c->intermediate, c->hidden, type)
                                            : plan_gated(maker, rows, c->intermediate, c->hidden);
    plans->down = plan_gemm(maker, down, rows, c->hidden, c->intermediate, type);
}

/* Rows of e4m3 are made by norms, and by these. */
static void plan_quantizers(const struct maker *maker, struct step *step) {
    const struct config *c = maker->config;
    if (c->any_e4m3 & E4M3_ATTENTION_OUT)
        step->quantize = plan_quantize(maker, step->shape.rows, q_columns(c));
    if (c->any_e4m3 & E4M3_MLP)
        step->glu = plan_glu(maker, ROWS_E4M3, step->shape.rows, c->intermediate);
}

struct step *step_create(gm_context *context, const struct model *model, const struct cache *cache,
                         int64_t context_length, struct step_shape shape, uint32_t flags) {
    const struct config *c = &model->config;
    const enum gm_type type = type_of(c);
    const int64_t rows = shape.rows, results = shape.results ? shape.results : rows;
    const struct maker maker = maker_of(context, c, flags);
    struct step *step = grab(1, sizeof *step);
    step->shape = shape;
    step->embed = plan_gather(&maker, rows, c->vocabulary, c->hidden, type, c->embedding_scale);
    for (int i = ROWS_DTYPE; i <= (c->any_e4m3 ? ROWS_E4M3 : ROWS_DTYPE); i++) {
        plan_norms(&maker, &step->of[i], (enum rows_type)i, shape);
        plan_linears(&maker, &step->of[i], model, (enum rows_type)i, rows);
    }
    plan_quantizers(&maker, step);
    step->rope = plan_rope(&maker, rows, cache, model->positions);
    step->attend = plan_attention(&maker, shape, cache, context_length, 0);
    if (c->window)
        step->attend_window = plan_attention(&maker, shape, cache, context_length, c->window);
    if (shape.results)
        step->gather = plan_gather(&maker, results, rows, c->hidden, type, 0);
    step->head = plan_gemm(&maker, &model->head, results, c->vocabulary, c->hidden, GM_FP32);
    if (c->logits_cap > 0)
        step->cap = plan_cap(&maker, results);
    step->sample = plan_sample(&maker, results);
    return step;
}

/* Every plan with its name: for those who go through all. */
struct named_plan {
    const char *name;
    gm_plan *plan;
};
enum { PLANS = 24 };

static void plans_of(const struct step *s, struct named_plan named[PLANS]) {
    const struct linear_plans *of = s->of, *e4m3 = &s->of[ROWS_E4M3];
    const struct named_plan all[PLANS] = {{"embed", s->embed},
                                          {"norm", of->norm},
                                          {"norm to e4m3", e4m3->norm},
                                          {"sum, norm", of->norm_after_add},
                                          {"sum, norm to e4m3", e4m3->norm_after_add},
                                          {"norm, sum, norm", of->norm_between},
                                          {"norm, sum, to e4m3", e4m3->norm_between},
                                          {"q, k, v", of->qkv},
                                          {"q, k, v of e4m3", e4m3->qkv},
                                          {"rope, append", s->rope},
                                          {"attention", s->attend},
                                          {"attention, window", s->attend_window},
                                          {"attention to e4m3", s->quantize},
                                          {"out of attention", of->attention_out},
                                          {"out, of e4m3", e4m3->attention_out},
                                          {"gate, up, unit", of->gate_up},
                                          {"gate, up of e4m3", e4m3->gate_up},
                                          {"unit to e4m3", s->glu},
                                          {"down", of->down},
                                          {"down of e4m3", e4m3->down},
                                          {"gather", s->gather},
                                          {"logits", s->head},
                                          {"cap", s->cap},
                                          {"sample", s->sample}};
    for (int i = 0; i < PLANS; i++)
        named[i] = all[i];
}

void step_destroy(struct step *step) {
    struct named_plan named[PLANS];
    if (!step)
        return;
    plans_of(step, named);
    for (int i = 0; i < PLANS; i++)
        gm_plan_destroy(named[i].plan);
    free(step);
}

void step_explain(const struct step *step, const struct scratch *scratch) {
    struct named_plan named[PLANS];
    plans_of(step, named);
    for (int i = 0; i < PLANS; i++)
        explain_plan(named[i].name, named[i].plan);
    if (scratch->moe)
        moe_explain(scratch->moe, step->shape.rows);
}

/* ---- a run ---------------------------------------------------------------------------------------------- */

static void run_gather(const struct step *step, const gm_plan *plan, gm_device_ptr ids, gm_device_ptr table,
                       gm_device_ptr out) {
    const struct gm_embed_args args = {.size = sizeof args, .ids = ids, .table = table, .out = out};
    RUN(step->shape.parts, PART_REST, embed, plan, args);
}

/* What comes next behind a branch: a norm, and the matrix that reads what it makes, in the type that this wants. */
struct next {
    gm_device_ptr norm;
    const struct linear *reader;
};

/* The residual stream, normed by the weights of what comes next. */
static void run_norm(const struct step *step, const struct scratch *s, struct next next) {
    const struct gm_rms_norm_args args = {.size = sizeof args,
                                          .x = s->stream,
                                          .weight = next.norm,
                                          .out = s->normed,
                                          .scales = row_scales(s, next.reader)};
    RUN(step->shape.parts, PART_REST, rms_norm, step->of[rows_of(next.reader)].norm, args);
}

/* stream += branch, or norm(branch) by weights of its own; the sum is normed by the weights of what comes next. */
static void run_norm_of_sum(const struct step *step, const struct scratch *s, gm_device_ptr branch_weight,
                            struct next next) {
    const struct linear_plans *plans = &step->of[rows_of(next.reader)];
    const struct gm_rms_norm_args args = {.size = sizeof args,
                                          .x = s->branch,
                                          .x_weight = branch_weight,
                                          .residual = s->stream,
                                          .weight = next.norm,
                                          .out = s->normed,
                                          .scales = row_scales(s, next.reader)};
    RUN(step->shape.parts, PART_REST, rms_norm, branch_weight ? plans->norm_between : plans->norm_after_add, args);
}

/* What a branch's last matrix makes is added to the residual stream, and what comes next gets it normed. Of a prompt's rows
 * the matrix adds it, which saves their bytes. Of a row a request the norm does: a GEMM reads what it adds to behind its
 * last product, and waits for it. */
static void end_branch(const struct step *step, const struct scratch *s, const gm_plan *gemm, gm_device_ptr in,
                       const struct linear *linear, gm_device_ptr branch_weight, struct next next) {
    const int norm_adds = step->of->norm_after_add || step->of->norm_between;
    run_linear(step->shape.parts, s, gemm, in, linear, norm_adds ? s->branch : s->stream, !norm_adds);
    if (norm_adds)
        run_norm_of_sum(step, s, branch_weight, next);
    else
        run_norm(step, s, next);
}

struct layer_cache {
    gm_device_ptr k, v;
};

static struct layer_cache cache_of(const struct config *c, const struct cache *cache, int64_t layer) {
    const size_t bytes = (size_t)(cache->pages * cache->page_size * c->kv_heads * c->head_dim) * ELEMENT_BYTES;
    return (struct layer_cache){cache->k + (size_t)layer * bytes, cache->v + (size_t)layer * bytes};
}

static void run_rope(const struct step *step, const struct model *model, const struct inputs *in,
                     const struct scratch *s, int64_t layer, struct layer_cache cache) {
    const struct config *c = &model->config;
    const gm_device_ptr k = s->qkv + (size_t)q_columns(c) * ELEMENT_BYTES;
    const struct gm_rope_args args = {.size = sizeof args,
                                      .q = s->qkv,
                                      .k = k,
                                      .v = k + (size_t)(c->kv_heads * c->head_dim) * ELEMENT_BYTES,
                                      .positions = in->positions,
                                      .table = c->has_window[layer] ? model->local_rope : model->rope,
                                      .q_weight = model->layer[layer].q_norm,
                                      .k_weight = model->layer[layer].k_norm,
                                      .q_out = s->qkv,
                                      .k_cache = cache.k,
                                      .v_cache = cache.v,
                                      .slots = in->slots};
    RUN(step->shape.parts, PART_REST, rope, step->rope, args);
}

static void run_attention(const struct step *step, const struct model *model, const struct inputs *in,
                          const struct scratch *s, int64_t layer, struct layer_cache cache) {
    const struct gm_attention_args args = {.size = sizeof args,
                                           .batch = step->shape.requests,
                                           .q = s->qkv,
                                           .k = cache.k,
                                           .v = cache.v,
                                           .out = s->attended,
                                           .q_indptr = in->q_indptr,
                                           .kv_len = in->kv_len,
                                           .page_table = in->table,
                                           .workspace = s->workspace,
                                           .workspace_bytes = s->workspace_bytes};
    RUN(step->shape.parts, PART_ATTENTION, attention,
        model->config.has_window[layer] ? step->attend_window : step->attend, args);
}

/* What attention made, through the matrix behind it. */
static void run_attention_out(const struct step *step, const struct scratch *s, const struct layer *layer) {
    const struct linear *linear = &layer->attention_out;
    const struct gm_quantize_args args = {
        .size = sizeof args, .x = s->attended, .out = s->quantized, .scales = row_scales(s, linear)};
    if (linear->scales)
        RUN(step->shape.parts, PART_REST, quantize, step->quantize, args);
    end_branch(step, s, step->of[rows_of(linear)].attention_out, linear->scales ? s->quantized : s->attended, linear,
               layer->after_attention_norm, (struct next){layer->mlp_norm, &layer->gate_up});
}

/* The unit of gate and up, to `mlp`: of 16 bits the GEMM may make it, of e4m3 it is made with its scales. */
static void run_unit(const struct step *step, const struct config *c, const struct scratch *s,
                     const struct layer *layer) {
    const struct linear *gate_up = &layer->gate_up;
    const struct gm_glu_args args = {.size = sizeof args,
                                     .gate = s->gates,
                                     .up = s->gates + (size_t)c->intermediate * ELEMENT_BYTES,
                                     .out = s->mlp,
                                     .scales = row_scales(s, &layer->down)};
    const int is_e4m3 = rows_of(gate_up) == ROWS_E4M3;
    run_linear(step->shape.parts, s, step->of[rows_of(gate_up)].gate_up, s->normed, gate_up,
               is_e4m3 ? s->gates : s->mlp, 0);
    if (is_e4m3)
        RUN(step->shape.parts, PART_REST, glu, step->glu, args);
}

/* The unit of gate and up, and down; or experts, which add to the stream themselves. How many rows are requests' stands
 * in q_indptr, behind the first rows of all requests. */
static void run_mlp(const struct step *step, const struct config *c, const struct inputs *in, const struct scratch *s,
                    int64_t number, const struct layer *layer, struct next next) {
    if (c->has_experts[number]) {
        const gm_device_ptr row_count = in->q_indptr + (size_t)step->shape.requests * sizeof(int32_t);
        moe_run(s->moe, s, layer, step->shape.rows, row_count, step->shape.parts);
        run_norm(step, s, next);
        return;
    }
    run_unit(step, c, s, layer);
    end_branch(step, s, step->of[rows_of(&layer->down)].down, s->mlp, &layer->down, layer->after_mlp_norm, next);
}

/* The token that follows each of the wanted rows. */
static void run_sample(const struct step *step, const struct inputs *in, const struct scratch *s) {
    const struct gm_process_logits_args cap = {.size = sizeof cap, .logits = s->logits, .out = s->logits};
    const struct gm_sample_args args = {.size = sizeof args,
                                        .logits = s->logits,
                                        .ids = s->sampled,
                                        .logprobs = s->logprobs,
                                        .temperatures = in->temperatures,
                                        .top_ks = in->top_ks,
                                        .top_ps = in->top_ps,
                                        .min_ps = in->min_ps,
                                        .seeds = in->seeds,
                                        .steps = in->steps};
    if (step->cap)
        RUN(step->shape.parts, PART_REST, process_logits, step->cap, cap);
    RUN(step->shape.parts, PART_REST, sample, step->sample, args);
}

/* What a layer begins with, or what is behind the last. */
static struct next before_layer(const struct model *model, int64_t layer) {
    if (layer < model->config.layers)
        return (struct next){model->layer[layer].attention_norm, &model->layer[layer].qkv};
    return (struct next){model->final_norm, &model->head};
}

void step_run(const struct step *step, const struct model *model, const struct cache *cache, const struct inputs *in,
              const struct scratch *s) {
    const struct config *c = &model->config;
    run_gather(step, step->embed, in->tokens, model->embeddings, s->stream);
    run_norm(step, s, before_layer(model, 0));
    for (int64_t i = 0; i < c->layers; i++) {
        const struct layer *layer = &model->layer[i];
        const struct layer_cache of_layer = cache_of(c, cache, i);
        run_linear(step->shape.parts, s, step->of[rows_of(&layer->qkv)].qkv, s->normed, &layer->qkv, s->qkv, 0);
        run_rope(step, model, in, s, i, of_layer);
        run_attention(step, model, in, s, i, of_layer);
        run_attention_out(step, s, layer);
        run_mlp(step, c, in, s, i, layer, before_layer(model, i + 1));
    }
    if (step->gather)
        run_gather(step, step->gather, in->wanted, s->normed, s->last);
    run_linear(step->shape.parts, s, step->head, step->gather ? s->last : s->normed, &model->head, s->logits, 0);
    run_sample(step, in, s);
}
