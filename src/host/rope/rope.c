/* SPDX-License-Identifier: Apache-2.0 */
/* The family rope: which problems a variant takes and how long it should take, and what a launch of one is told. */
#include "host/rope/rope.h"

#include "columns.h"
#include "common/arith.h"
#include "common/rope/params.h"
#include "host/occupancy.h"
#include "host/plan.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

enum { WARP = 32 };

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int threads, heads, vector_bytes;
    int chunk; /* elements */
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .threads = c[GM_ROPE_THREADS],
        .heads = c[GM_ROPE_HEADS],
        .vector_bytes = c[GM_ROPE_VECTOR_BYTES],
        .chunk = c[GM_ROPE_VECTOR_BYTES] / gm_type_bytes(kernel->type),
    };
}

/* ---- how a head is divided among lanes ------------------------------------------------------------------- */

/* Items of a head, two chunks each. */
static int64_t rotary_items(const struct variant *v, const struct gm_rope_problem *p) {
    return p->rotary_dim / 2 / v->chunk;
}

static int64_t items_of(const struct variant *v, const struct gm_rope_problem *p) {
    return rotary_items(v, p) + GM_CEIL_DIV(p->head_dim - p->rotary_dim, 2 * v->chunk);
}

/* The least power of 2 of lanes with an item each, or a warp. */
static int lanes_log2(const struct variant *v, const struct gm_rope_problem *p) {
    int log2 = 0;
    while (1 << log2 < WARP && 1 << log2 < items_of(v, p))
        log2++;
    return log2;
}

/* Blocks of heads that a token has of q, k and v. */
static int64_t blocks_of(const struct variant *v, const struct gm_rope_problem *p) {
    return GM_CEIL_DIV(p->q_heads, v->heads) + (p->append ? 2 : 1) * GM_CEIL_DIV(p->kv_heads, v->heads);
}

/* ---- which problems --------------------------------------------------------------------------------------- */

/* Whether both chunks of every item begin on whole chunks. */
static enum gm_reason check_rotary(const struct variant *v, const struct gm_rope_problem *p,
                                   const struct gm_sentence *why) {
    const int bytes = gm_type_bytes(p->type);
    if (p->rotary_dim / 2 % v->chunk)
        return gm_say(why, GM_REASON_SIZE,
                      "half of rotary_dim has %" PRId64 " elements x %d B = %" PRId64
                      " B, which is not a multiple of the %d that it loads at once",
                      p->rotary_dim / 2, bytes, p->rotary_dim / 2 * bytes, v->vector_bytes);
    if (p->rotary_offset % v->chunk)
        return gm_say(why, GM_REASON_SIZE,
                      "rotary_offset %" PRId64 " x %d B = %" PRId64
                      " B is not a multiple of the %d that it loads at once",
                      p->rotary_offset, bytes, p->rotary_offset * bytes, v->vector_bytes);
    if (v->chunk > 1 && items_of(v, p) > WARP)
        return gm_say(why, GM_REASON_SIZE,
                      "head_dim %" PRId64 " x %d B = %" PRId64 " B is more than the %d that a warp holds", p->head_dim,
                      bytes, p->head_dim * bytes, 2 * WARP * v->vector_bytes);
    return GM_ACCEPTED;
}

/* The weights and the table are loaded 16 bytes at a time beside chunks of 16 bytes. */
static enum gm_reason check_rows(const struct variant *v, const struct gm_rope_problem *p,
                                 const struct gm_sentence *why) {
    struct gm_matrix rows[GM_ROPE_ROWS];
    enum gm_reason reason = GM_ACCEPTED;
    gm_rope_rows_of(p, rows);
    for (int i = GM_ROPE_Q_WEIGHT; i <= GM_ROPE_TABLE && reason == GM_ACCEPTED && v->chunk > 1; i++)
        reason = gm_check_vectors(&rows[i], 16, why);
    return reason;
}

static enum gm_reason check(const struct variant *v, const struct gm_rope_problem *p, const struct gm_sentence *why) {
    struct gm_strided heads[GM_ROPE_HEAD_OPERANDS];
    gm_rope_heads_of(p, heads);
    enum gm_reason reason = GM_ACCEPTED;
    for (int i = 0; i < GM_ROPE_HEAD_OPERANDS && reason == GM_ACCEPTED; i++)
        reason = gm_check_strided_vectors(&heads[i], v->chunk * heads[i].element_bytes, why);
    if (reason == GM_ACCEPTED)
        reason = check_rotary(v, p, why);
    return reason == GM_ACCEPTED ? check_rows(v, p, why) : reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, what the SMs do at once)
 *
 * What one wave of CTAs takes at once is bound by DRAM only. The constants are those of the family glu, which moves
 * rows likewise; they are not fitted to this family yet. */

#define LAUNCH_US       1.6  /* launch, the position, and its row of the table */
#define HEAD_US         0.15 /* for each head of a lane */
#define ALONE_US        0.25 /* more, where launches do not overlap */
#define DRAM_EFFICIENCY 0.91 /* reachable share of the datasheet's bandwidth, reads and writes */
#define BLOCK_US        2.4  /* of a CTA among others, from its first load to its last store, */
#define NORM_US         0.6  /* more with a norm */

static double cost_us(const struct variant *v, const struct gm_rope_problem *p, const struct gm_device *device) {
    const double ctas = fmax(1, fmin(gm_ctas_per_sm(v->kernel, device), GM_ROPE_CTAS(v->threads, v->heads)));
    const double at_once = device->sm_count * ctas * (v->threads >> lanes_log2(v, p)); /* blocks */
    const double blocks = (double)p->tokens * (double)blocks_of(v, p);
    const double bytes = gm_operation_rope.work(p).least_bytes;
    const double block_us = (BLOCK_US + (p->norm ? NORM_US : 0)) * (double)GM_CEIL_DIV(items_of(v, p), WARP);
    const double sms = at_once * bytes / blocks / block_us * 1e-3; /* GB/s */
    const double dram = DRAM_EFFICIENCY * device->dram_gbs, rate = blocks <= at_once ? dram : fmin(sms, dram);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    return LAUNCH_US + HEAD_US * v->heads + alone + (p->norm ? NORM_US : 0) + bytes / rate * 1e-3;
}

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_rope_problem *p = question->problem;
    const enum gm_reason reason = check(&v, p, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = cost_us(&v, p, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %d lanes for each %d heads of a token, %d CTAs on an SM", us,
           1 << lanes_log2(&v, p), v.heads, gm_ctas_per_sm(kernel, question->device));
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

/* ---- a launch ------------------------------------------------------------------------------------------- */

static int32_t flags_of(const struct gm_rope_problem *p) {
    return (p->pairing == GM_ROPE_INTERLEAVED ? GM_ROPE_IS_INTERLEAVED : 0) | (p->inverse ? GM_ROPE_IS_INVERSE : 0) |
           (p->rounding == GM_ROUND_EARLY ? GM_ROPE_ROUNDS : 0) | (p->norm ? GM_ROPE_HAS_NORM : 0) |
           (p->normalized_rounding == GM_ROUND_EARLY ? GM_ROPE_ROUNDS_NORMALIZED : 0) |
           (p->fp32_weight ? GM_ROPE_WIDE_WEIGHT : 0) | (p->int64_positions ? GM_ROPE_WIDE_POSITIONS : 0) |
           (p->append == GM_ROPE_APPEND_E4M3 ? GM_ROPE_CACHES_E4M3 : 0);
}

static struct gm_rope_heads from_to(const struct gm_strided *in, const struct gm_strided *out,
                                    const struct gm_strided *cache, int first_block) {
    return (struct gm_rope_heads){
        .in_token = in->dimension[0].stride * in->element_bytes,
        .in_head = in->dimension[1].stride * in->element_bytes,
        .out_token = out ? out->dimension[0].stride * out->element_bytes : 0,
        .out_head = out ? out->dimension[1].stride * out->element_bytes : 0,
        .cache_page = cache ? cache->dimension[0].stride * cache->element_bytes : 0,
        .cache_token = cache ? cache->dimension[1].stride * cache->element_bytes : 0,
        .cache_head = cache ? cache->dimension[2].stride * cache->element_bytes : 0,
        .count = (int32_t)in->dimension[1].count,
        .first_block = first_block,
    };
}

static void prepare_heads(const struct variant *v, const struct gm_rope_problem *p, struct gm_rope_params *params) {
    const int k_first = (int)GM_CEIL_DIV(p->q_heads, v->heads), k_blocks = (int)GM_CEIL_DIV(p->kv_heads, v->heads);
    struct gm_strided h[GM_ROPE_HEAD_OPERANDS];
    gm_rope_heads_of(p, h);
    params->heads[ROPE_Q] = from_to(&h[GM_ROPE_Q], &h[GM_ROPE_Q_OUT], NULL, 0);
    params->heads[ROPE_K] = from_to(&h[GM_ROPE_K], &h[GM_ROPE_K_OUT], &h[GM_ROPE_K_CACHE], k_first);
    params->heads[ROPE_V] = from_to(&h[GM_ROPE_V], NULL, &h[GM_ROPE_V_CACHE], k_first + k_blocks);
}

/* Half of the tokens at once: soon enough for DRAM, and late enough that L2 still has it. The heads of a token must follow
 * each other without a gap. */
static int32_t tokens_ahead(const struct variant *v, const struct gm_rope_params *params,
                            const struct gm_device *device) {
    const int64_t blocks =
        (int64_t)device->sm_count * gm_ctas_per_sm(v->kernel, device) * v->threads >> params->lanes_log2;
    const int64_t head_bytes = (int64_t)params->head_dim * gm_type_bytes(v->kernel->type);
    for (int kind = 0; kind < ROPE_KINDS; kind++)
        if (params->heads[kind].count > 1 && params->heads[kind].in_head != head_bytes)
            return 0;
    return (int32_t)(blocks / params->blocks.divisor / 2);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_rope_problem *p = plan->problem;
    const int64_t blocks = blocks_of(&v, p), slab_tokens = GM_MIN(p->tokens, INT32_MAX / blocks);
    const int log2 = lanes_log2(&v, p), is_interleaved = p->pairing == GM_ROPE_INTERLEAVED;
    struct gm_rope_params *params = plan->params;
    (void)verdict;
    *params = (struct gm_rope_params){
        .blocks = gm_divisor_of((uint32_t)blocks),
        .page = gm_divisor_of((uint32_t)p->page_size),
        .tokens = (int32_t)p->tokens,
        .slab_tokens = (int32_t)slab_tokens,
        .max_position = (int32_t)p->max_position,
        .slot_count = (int32_t)p->slot_count,
        .head_dim = (int32_t)p->head_dim,
        .rotary_dim = (int32_t)p->rotary_dim,
        .rotary_offset = (int32_t)p->rotary_offset,
        .pair_step = is_interleaved ? 2 * v.chunk : v.chunk,
        .pair_distance = is_interleaved ? v.chunk : (int32_t)p->rotary_dim / 2,
        .rotary_items = (int32_t)rotary_items(&v, p),
        .items = (int32_t)items_of(&v, p),
        .lanes_log2 = log2,
        .parts = (int32_t)GM_CEIL_DIV(items_of(&v, p), 1 << log2),
        .flags = flags_of(p),
        .eps = p->eps,
        .weight_offset = p->weight_offset,
        .inverse_head_dim = 1 / (float)p->head_dim,
    };
    prepare_heads(&v, p, params);
    params->tokens_ahead = tokens_ahead(&v, params, &plan->device);
    plan->config.gridDimX = gm_plan_ctas(plan, GM_CEIL_DIV(slab_tokens * blocks, v.threads >> log2));
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_rope_problem *p = plan->problem;
    const struct gm_rope_args *args = arguments;
    struct gm_rope_params *params = into;
    struct gm_rope_heads *q = &params->heads[ROPE_Q], *k = &params->heads[ROPE_K], *v = &params->heads[ROPE_V];
    q->in = args->q, q->out = args->q_out, q->weight = args->q_weight;
    k->in = args->k, k->out = args->k_out, k->weight = args->k_weight;
    if (p->append) {
        v->in = args->v;
        k->cache = args->k_cache, k->scale = args->k_scale;
        v->cache = args->v_cache, v->scale = args->v_scale;
    }
    params->positions = args->positions;
    params->table = args->table;
    params->slots = args->slots;
    params->row_count = args->row_count;
    params->error_flag = args->error_flag;
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_rope = {
    .name = "rope",
    .operation = &gm_operation_rope,
    .params_bytes = sizeof(struct gm_rope_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
