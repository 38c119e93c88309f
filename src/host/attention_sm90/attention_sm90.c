/* SPDX-License-Identifier: Apache-2.0 */
/* The family attention_sm90: which problems a variant takes and how long it should take, and what a launch is told. */
#include "columns.h"
#include "common/arith.h"
#include "common/attention_sm90/params.h"
#include "common/attention_sm90/tile.h"
#include "host/attention/attention.h"
#include "host/attention/maps.h"
#include "host/context.h"
#include "host/error.h"
#include "host/random.h"
#include "host/tensor_map.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int head_dim, v_dim, tile_m, tile_n, ctas;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .head_dim = c[GM_ATTENTION_SM90_HEAD_DIM],
        .v_dim = GM_ATTENTION_SM90_V_DIM(c[GM_ATTENTION_SM90_HEAD_DIM], c[GM_ATTENTION_SM90_V_HEAD_DIM]),
        .tile_m = c[GM_ATTENTION_SM90_TILE_M],
        .tile_n = c[GM_ATTENTION_SM90_TILE_N],
        .ctas = c[GM_ATTENTION_SM90_CTAS],
    };
}

/* Tiles of rows of one head that all requests have together, at most. */
static int64_t tiles_of(const struct variant *v, const struct gm_attention_problem *p) {
    return GM_MIN(p->max_batch * GM_CEIL_DIV(p->max_q_len, v->tile_m), p->max_q_tokens / v->tile_m + p->max_batch);
}

/* ---- tensor maps ---------------------------------------------------------------------------------------- */

#define MOST_BOXES 32 /* of a block: one for each lane of the warp that loads */

/* Tokens of a box: all of a block, or as many as divide both it and a page. */
static int64_t box_tokens(const struct variant *v, const struct gm_attention_problem *p) {
    return gm_attention_box_tokens(p, v->tile_n);
}

/* Whether boxes of pages have whole rows, of K and of V. */
static int has_whole_rows(const struct variant *v, const struct gm_attention_problem *p, const struct gm_strided *o) {
    const int has_slabs = v->head_dim > 64 && v->v_dim > 64 && !GM_ATTENTION_SM90_IS_8BIT(v->kernel->type);
    const int fills_them = p->head_dim == v->head_dim && p->v_head_dim == v->v_dim;
    return p->kv_layout == GM_ATTENTION_KV_PAGED && has_slabs && fills_them &&
           gm_attention_head_spans(&o[GM_ATTENTION_K]) && gm_attention_head_spans(&o[GM_ATTENTION_V]);
}

enum { MAP_Q, MAP_K, MAP_V, MAPS };
static const char *const map_names[MAPS] = {[MAP_Q] = "q", [MAP_K] = "k", [MAP_V] = "v"};

static void describe_maps(const struct variant *v, const struct gm_attention_problem *p,
                          struct gm_map_desc maps[MAPS]) {
    struct gm_strided o[GM_ATTENTION_OPERANDS];
    gm_attention_operands_of(p, p->max_batch, o);
    const struct gm_dimension *q = o[GM_ATTENTION_Q].dimension; /* token, head */
    const int bytes = o[GM_ATTENTION_Q].element_bytes;
    const struct gm_attention_extent rows[] = {{q[0].count, q[0].stride * bytes, (uint32_t)v->tile_m},
                                               {q[1].count, q[1].stride * bytes, 1}};
    maps[MAP_Q] = gm_attention_describe(p, p->head_dim, rows, 2);
    const uint32_t box = (uint32_t)box_tokens(v, p);
    const int whole = has_whole_rows(v, p, o);
    const struct gm_strided *k = &o[GM_ATTENTION_K], *values = &o[GM_ATTENTION_V];
    maps[MAP_K] = whole ? gm_attention_describe_rows(p, k, box) : gm_attention_describe_cache(p, k, box);
    maps[MAP_V] = whole ? gm_attention_describe_rows(p, values, box) : gm_attention_describe_cache(p, values, box);
}

/* ---- which problems ------------------------------------------------------------------------------------- */

static enum gm_reason check_maps(const struct variant *v, const struct gm_attention_problem *p,
                                 const struct gm_sentence *why) {
    struct gm_map_desc maps[MAPS];
    describe_maps(v, p, maps);
    for (int i = 0; i < MAPS; i++) {
        char sentence[160];
        if (!gm_tensor_map_check(&maps[i], sentence, sizeof sentence))
            return gm_say(why, GM_REASON_SIZE, "no tensor map of %s: %s", map_names[i], sentence);
    }
    return GM_ACCEPTED;
}

/* Of a batch-invariant plan blocks are those of one variant, however many requests there are. */
static enum gm_reason check_blocks(const struct variant *v, const struct gm_question *question,
                                   const struct gm_sentence *why) {
    if (v->ctas == 1 || !(question->options->flags & GM_PLAN_BATCH_INVARIANT) || question->options->kernel)
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_ORDER, "a batch-invariant plan takes the variant of one CTA on an SM");
}

static enum gm_reason check(const struct variant *v, const struct gm_question *question,
                            const struct gm_sentence *why) {
    const struct gm_attention_problem *p = question->problem;
    const int64_t box = box_tokens(v, p);
    if (gm_attention_check_kv_type(p, v->kernel->type, why) != GM_ACCEPTED)
        return GM_REASON_TYPE;
    if (p->head_dim > v->head_dim || p->v_head_dim > v->v_dim)
        return gm_say(why, GM_REASON_SIZE,
                      "heads of k have %" PRId64 " elements and of v %" PRId64 "; it holds %d and %d", p->head_dim,
                      p->v_head_dim, v->head_dim, v->v_dim);
    if (p->scale < 0)
        return gm_say(why, GM_REASON_SIZE, "scale is %g; it takes none below 0", (double)p->scale);
    if (p->has_tree_mask)
        return gm_say(why, GM_REASON_SIZE, "it has no tree mask");
    if (box < GM_ATTENTION_LEAST_BOX || v->tile_n / box > MOST_BOXES)
        return gm_say(why, GM_REASON_SIZE,
                      "a block of %d tokens and a page of %" PRId64 " have boxes of %" PRId64
                      " tokens; they must have %d or more",
                      v->tile_n, p->page_size, box, GM_ATTENTION_LEAST_BOX);
    if (tiles_of(v, p) * p->q_heads > INT32_MAX)
        return gm_say(why, GM_REASON_SIZE, "there are %" PRId64 " tiles of %d rows for each of %" PRId64 " heads",
                      tiles_of(v, p), v->tile_m, p->q_heads);
    enum gm_reason reason = gm_attention_check_vectors(p, GM_ATTENTION_LOADED, why);
    if (reason == GM_ACCEPTED)
        reason = gm_attention_check_vectors(p, GM_ATTENTION_BIT(GM_ATTENTION_O), why);
    if (reason == GM_ACCEPTED)
        reason = check_maps(v, p, why);
    if (reason == GM_ACCEPTED)
        reason = gm_attention_check_order(question, GM_ATTENTION_BY_MAPS, why);
    return reason == GM_ACCEPTED ? check_blocks(v, question, why) : reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, tiles of an SM * (blocks of a tile * a block's clocks + a tile's own)),
 *
 * and of CTAs alone max(that, bytes of all blocks / L2).
 *
 * Constants are of an H200, from times that docs/TUNING-LOG.md has (entry 70). */

#define LAUNCH_US       4.0
#define DRAM_EFFICIENCY 0.85
#define FLOP_PER_CLOCK  4096.0 /* of an SM, of 16 bits; of 8 bits twice as many */
#define CLOCK_MHZ       1750.0

/* Consumers in turns. */
#define TENSOR_SHARE      0.76   /* of the dense rate, with exponentials under the products */
#define TENSOR_SHARE_8BIT 0.50   /* and the transposes of V */
#define BLOCK_CLOCKS      1700.0 /* of a block of 128 x 128 at least: its exponentials */
#define TILE_CLOCKS       5300.0 /* beside its blocks: it begins, ends */
#define LAST_TILE         0.25   /* tiles of unlike length end a part of one after another */

/* CTAs alone: what one waits for, others hide, but products and exponentials add up. */
#define ALONE_EXPONENTIALS 16.0   /* a clock */
#define ALONE_CLOCKS       64.0   /* of a block, beside both */
#define ALONE_TILE         2.0    /* blocks that a tile takes beside its own */
#define ALONE_PAGES        800.0  /* clocks of a CTA: which pages a block has */
#define ALONE_L2_GBS       6800.0 /* of k and v, which each 64 rows read anew */
#define ALONE_MARGIN       1.15   /* it must be so much faster: 64 prompts of heads of 128 took 66.4 us, not 57 */

/* Of a tile, in the mean. Keys of a causal mask begin with a block; a window does not. */
static double blocks_of(const struct variant *v, const struct gm_attention_problem *p) {
    const double mean = gm_attention_seen(p) / (double)p->max_q_len;
    const double rows = fmin((double)p->max_q_len, v->tile_m), all = ceil((double)p->max_kv_len / v->tile_n);
    if (mean >= (double)p->max_kv_len)
        return all;
    const double keys = fmin((double)p->max_kv_len, mean + (rows - 1) / 2);
    const double cut = (p->mask == GM_ATTENTION_WINDOW ? 0.5 : 0) + (v->tile_m % v->tile_n ? 0.5 : 0);
    return fmin(fmax(keys / v->tile_n + cut, 1), all);
}

/* Clocks of an SM for a tile. */
static double clocks_of_turns(const struct variant *v, double blocks) {
    const int is_8bit = GM_ATTENTION_SM90_IS_8BIT(v->kernel->type);
    const double rate = is_8bit ? 2 * FLOP_PER_CLOCK * TENSOR_SHARE_8BIT : FLOP_PER_CLOCK * TENSOR_SHARE;
    const double products = 2.0 * v->tile_m * v->tile_n * (v->head_dim + v->v_dim) / rate;
    return blocks * fmax(products, BLOCK_CLOCKS * v->tile_n / 128 * v->tile_m / 128) + TILE_CLOCKS;
}

static double clocks_of_alone(const struct variant *v, const struct gm_attention_problem *p, double blocks) {
    const double scores = (double)v->tile_m * v->tile_n;
    const double block =
        2 * scores * (v->head_dim + v->v_dim) / FLOP_PER_CLOCK + scores / ALONE_EXPONENTIALS + ALONE_CLOCKS;
    const double pages = p->kv_layout == GM_ATTENTION_KV_PAGED ? ALONE_PAGES / v->ctas : 0;
    return blocks * (block + pages) + ALONE_TILE * block;
}

static double l2_us(const struct variant *v, const struct gm_attention_problem *p, double blocks) {
    const double of_block = (double)v->tile_n * (v->head_dim + v->v_dim) * gm_type_bytes(v->kernel->type);
    return (double)tiles_of(v, p) * (double)p->q_heads * blocks * of_block / ALONE_L2_GBS * 1e-3;
}

static double cost_us(const struct variant *v, const struct gm_attention_problem *p, const struct gm_device *device) {
    const double tiles = (double)tiles_of(v, p) * (double)p->q_heads / device->sm_count, blocks = blocks_of(v, p);
    const int are_alike = gm_attention_seen(p) >= (double)p->max_q_len * (double)p->max_kv_len;
    double sms_us;
    if (v->ctas > 1) { /* few of them take as long as if the SM were full */
        sms_us = fmax(v->ctas, tiles + 1) * clocks_of_alone(v, p, blocks) / CLOCK_MHZ;
        sms_us = fmax(sms_us, l2_us(v, p, blocks));
    } else {
        sms_us = (are_alike ? ceil(tiles) : fmax(1, tiles + LAST_TILE)) * clocks_of_turns(v, blocks) / CLOCK_MHZ;
    }
    const double bytes = gm_operation_attention.work(p).least_bytes;
    const double dram_us = device->dram_gbs > 0 ? bytes / (DRAM_EFFICIENCY * device->dram_gbs) * 1e-3 : 0;
    return LAUNCH_US + fmax(dram_us, sms_us);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

#define TICKETS_BYTES GM_WORKSPACE_ALIGN /* a word, in a workspace: tiles, of other lengths, go to whoever is free */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_attention_problem *p = question->problem;
    const enum gm_reason reason = check(&v, question, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const int is_empty = gm_operation_attention.is_empty(p);
    const double us = is_empty ? 0 : cost_us(&v, p, question->device);
    const int has_tickets =
        !is_empty && v.ctas == 1 && p->mask != GM_ATTENTION_FULL && question->options->workspace_limit >= TICKETS_BYTES;
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: up to %" PRId64 " tiles of %d rows for each of %" PRId64 " heads", us,
           tiles_of(&v, p), v.tile_m, p->q_heads);
    return (struct gm_verdict){.reason = GM_ACCEPTED,
                               .predicted_us = us,
                               .ranking_us = v.ctas > 1 ? us * ALONE_MARGIN : us,
                               .workspace_bytes = has_tickets ? TICKETS_BYTES : 0};
}

#define TOGETHER_BYTES (32 << 20) /* of k and v: what is read anew from DRAM takes power from the tensor cores */

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_attention_problem *p = plan->problem;
    const int64_t tiles = tiles_of(&v, p) * p->q_heads, box = box_tokens(&v, p);
    struct gm_attention_sm90_params *params = plan->params;
    struct gm_tensor_map *const maps[MAPS] = {&params->q, &params->k, &params->v};
    struct gm_map_desc descs[MAPS];
    (void)verdict;
    *params = (struct gm_attention_sm90_params){
        .attention = gm_attention_template(p),
        .nonce = gm_random_number(),
        .box_tokens = (int32_t)box,
        .boxes = (int32_t)(v.tile_n / box),
        .together_bytes = TOGETHER_BYTES,
    };
    struct gm_strided o[GM_ATTENTION_OPERANDS];
    gm_attention_operands_of(p, p->max_batch, o);
    if (has_whole_rows(&v, p, o)) {
        params->k_head_spans = (int32_t)gm_attention_head_spans(&o[GM_ATTENTION_K]);
        params->v_head_spans = (int32_t)gm_attention_head_spans(&o[GM_ATTENTION_V]);
        params->attention.flags |= GM_ATTENTION_WHOLE_ROWS;
    }
    plan->config.gridDimX = (unsigned)(v.ctas > 1 ? tiles : GM_MIN(tiles, plan->device.sm_count));
    describe_maps(&v, p, descs);
    for (int i = 0; i < MAPS; i++) {
        const CUresult result = gm_tensor_map_encode(plan->context->driver, &descs[i], maps[i]);
        if (result != CUDA_SUCCESS)
            return gm_fail_cuda(GM_ERROR_DRIVER, result, "%s: the driver refused the tensor map of %s",
                                plan->kernel->name, map_names[i]);
    }
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_attention_args *args = arguments;
    const struct gm_driver *driver = plan->context->driver;
    struct gm_attention_sm90_params *params = into;
    gm_attention_bind(args, &params->attention);
    params->tickets = plan->workspace_bytes ? args->workspace : 0;
    CUresult result = driver->cuTensorMapReplaceAddress(params->q.bytes, (void *)(uintptr_t)args->q);
    if (result == CUDA_SUCCESS)
        result = driver->cuTensorMapReplaceAddress(params->k.bytes, (void *)(uintptr_t)args->k);
    if (result == CUDA_SUCCESS)
        result = driver->cuTensorMapReplaceAddress(params->v.bytes, (void *)(uintptr_t)args->v);
    return result;
}

const struct gm_family gm_family_attention_sm90 = {
    .name = "attention_sm90",
    .operation = &gm_operation_attention,
    .params_bytes = sizeof(struct gm_attention_sm90_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
