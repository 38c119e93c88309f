/* SPDX-License-Identifier: Apache-2.0 */
/* The family attention_decode: how long a variant should take, how many parts there are, and what a launch is told. */
#include "columns.h"
#include "common/arith.h"
#include "common/attention_decode/params.h"
#include "host/attention/attention.h"
#include "host/occupancy.h"
#include "host/random.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int head_dim, warps, stages;
    int block; /* keys that a CTA takes at once */
    enum gm_type kv_type;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .head_dim = c[GM_ATTENTION_DECODE_HEAD_DIM],
        .warps = c[GM_ATTENTION_DECODE_WARPS],
        .stages = c[GM_ATTENTION_DECODE_STAGES],
        .block = GM_ATTENTION_DECODE_BLOCK(c[GM_ATTENTION_DECODE_HEAD_DIM], c[GM_ATTENTION_DECODE_WARPS],
                                           c[GM_ATTENTION_DECODE_CACHE]),
        .kv_type = c[GM_ATTENTION_DECODE_CACHE] == GM_CACHE_e4m3 ? GM_E4M3 : kernel->type,
    };
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

static size_t workspace_of(const struct variant *v, int64_t parts) {
    return (size_t)parts * (GM_ATTENTION_DECODE_SLOT_BYTES((size_t)v->head_dim) + GM_ATTENTION_DECODE_FLAG_BYTES);
}

static int64_t ctas_at_once(const struct variant *v, const struct gm_device *device) {
    const int64_t most =
        GM_ATTENTION_DECODE_CTAS(v->head_dim, v->warps, v->stages, v->kernel->columns[GM_ATTENTION_DECODE_CACHE]);
    return device->sm_count * GM_MIN(gm_ctas_per_sm(v->kernel, device), most);
}

static int64_t units_of(const struct gm_attention_problem *p) {
    return gm_attention_tiles(p, GM_ATTENTION_DECODE_ROWS) * p->kv_heads;
}

struct division {
    int64_t parts;
    int64_t lists; /* that heads of k and parts are dealt to, as many to each */
    int cuts;      /* units among parts: it takes a workspace, and their order follows from all requests */
};

#define IDLE_PARTS 16 /* of so many one may be idle, that there be more lists */

static struct division deal(int64_t parts, int64_t kv_heads, int cuts) {
    int64_t lists = GM_MAX(GM_MIN(kv_heads, parts), 1);
    while (kv_heads % lists != 0 || parts % lists * IDLE_PARTS > parts)
        lists--;
    return (struct division){parts - parts % lists, lists, cuts};
}

/* As many as run at once, and no more than there can be units, or blocks of those that are cut. */
static struct division divide_among_parts(const struct variant *v, const struct gm_question *question) {
    const struct gm_attention_problem *p = question->problem;
    const int64_t at_once = ctas_at_once(v, question->device);
    const int64_t units = GM_MAX(units_of(p), 1), blocks = GM_CEIL_DIV(p->max_kv_len, v->block);
    const int64_t parts = blocks < at_once ? GM_MIN(at_once, units * blocks) : at_once;
    const int invariant = (question->options->flags & GM_PLAN_BATCH_INVARIANT) != 0;
    if (invariant || parts < 2 || blocks < 2 || workspace_of(v, parts) > question->options->workspace_limit)
        return deal(GM_MIN(at_once, units), p->kv_heads, 0);
    return deal(parts, p->kv_heads, 1);
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, bytes of all units / L2, a part's blocks * what one takes) + collecting
 *
 * Within 11 % of eight times on an H200, of 1 to 256 requests of 200 to 8192 tokens; several tokens a request take longer than
 * this says. */

#define LAUNCH_US       2.7 /* launch, lengths, the first page numbers, */
#define PIECE_US        1.7 /* and of a part, for each unit that it has some of: q, the first keys, the warps' sums together */
#define ALONE_US        0.25 /* more where launches do not overlap */
#define DRAM_EFFICIENCY 0.92
#define L2_BYTES_CLOCK  32.0 /* into one SM */
#define ARRIVAL_US      1.0  /* from a load to its data, of a stage */
#define CHAIN_US        0.25 /* scores, largest, exponentials and sums of 16 keys of 128 elements, of a warp, */
#define KEY_CLOCKS      4.0  /* and of an SM for each key, with all its warps, */
#define E4M3_CLOCKS     4.0  /* more of e4m3 that becomes fp16, by an instruction, */
#define SHIFT_CLOCKS    12.0 /* and by shifts: by arithmetic, not fitted */
#define COLLECT_US      1.0  /* slots, flags, */
#define PARTIAL_US      0.09 /* and the sums of each other part */
#define ELEMENT_FACTOR  8.0  /* by single elements */
#define ZEROS_FACTOR    0.5  /* more for the share of a variant's elements that are zeros */

/* Keys of a unit: what its rows see on average, and what only some of them do. */
static double keys_of_unit(const struct gm_attention_problem *p) {
    const double mean = gm_attention_seen(p) / (double)p->max_q_len;
    const double tokens = fmin((double)p->max_q_len, ceil(GM_ATTENTION_DECODE_ROWS / (double)gm_attention_group(p)));
    return fmin((double)p->max_kv_len, mean + tokens - 1);
}

/* Clocks of an SM for a key of 128 elements. */
static double key_clocks(const struct variant *v) {
    const double as_fp16 = v->kernel->arch == GM_ARCH_SM80 ? SHIFT_CLOCKS : E4M3_CLOCKS;
    return KEY_CLOCKS + (v->kv_type == GM_E4M3 ? as_fp16 : 0);
}

static double cost_us(const struct variant *v, const struct gm_attention_problem *p, const struct gm_device *device,
                      const struct division *division, int by_element) {
    const double units = (double)units_of(p), keys = keys_of_unit(p), parts = (double)division->parts;
    const double wide = v->head_dim / 128.0, sms = device->sm_count;
    const double unit_bytes = keys * (double)(p->head_dim + p->v_head_dim) * gm_type_bytes(v->kv_type);
    const double dram_us =
        device->dram_gbs > 0 ? gm_attention_cache_bytes(p) / (DRAM_EFFICIENCY * device->dram_gbs) * 1e-3 : 0;
    const double l2_us = units * unit_bytes / (fmin(sms, parts) * L2_BYTES_CLOCK) / gm_attention_clock_mhz(device);
    const double sm_us = units * keys * key_clocks(v) * wide / fmin(sms, parts) / gm_attention_clock_mhz(device);
    const double blocks =
        division->cuts ? ceil(units * ceil(keys / v->block) / parts) : ceil(units / parts) * ceil(keys / v->block);
    const double chain_us = blocks * fmax(ARRIVAL_US / v->stages, CHAIN_US * wide);
    const double alone = v->kernel->arch == GM_ARCH_SM80 ? ALONE_US : 0;
    const double zeros = 1 - (double)GM_MAX(p->head_dim, p->v_head_dim) / v->head_dim;
    const double slow = (by_element ? ELEMENT_FACTOR : 1) * (1 + ZEROS_FACTOR * zeros);
    const double collects = division->cuts ? COLLECT_US + PARTIAL_US * parts / units : 0;
    const double busy_us = fmax(fmax(dram_us, l2_us), fmax(sm_us, chain_us + ARRIVAL_US));
    const double pieces = units / parts + (division->cuts ? 1 : 0);
    return LAUNCH_US + alone + collects + PIECE_US * pieces + slow * busy_us;
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static enum gm_reason check(const struct variant *v, const struct gm_question *question,
                            const struct gm_sentence *why) {
    const struct gm_attention_problem *p = question->problem;
    const int64_t most = GM_MAX(p->head_dim, p->v_head_dim);
    if (gm_attention_check_kv_type(p, v->kv_type, why) != GM_ACCEPTED)
        return GM_REASON_TYPE;
    if (most > v->head_dim)
        return gm_say(why, GM_REASON_SIZE, "heads have up to %" PRId64 " elements; it holds %d", most, v->head_dim);
    return gm_attention_check_order(question, GM_ATTENTION_BY_ROWS, why);
}

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_attention_problem *p = question->problem;
    const enum gm_reason reason = check(&v, question, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const int is_empty = gm_operation_attention.is_empty(p);
    const struct division division = divide_among_parts(&v, question);
    const int by_element = (gm_attention_template(p).flags & GM_ATTENTION_KV_BY_ELEMENT) != 0;
    const double us = is_empty ? 0 : cost_us(&v, p, question->device, &division, by_element);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " parts of %s, %d keys at once each, %d stages", us,
           division.parts, division.cuts ? "all keys" : "whole units", v.block, v.stages);
    return (struct gm_verdict){.reason = GM_ACCEPTED,
                               .predicted_us = us,
                               .ranking_us = us,
                               .workspace_bytes = division.cuts && !is_empty ? workspace_of(&v, division.parts) : 0,
                               .detail = {division.parts, division.lists}};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_attention_problem *p = plan->problem;
    const int64_t parts = verdict->detail[0], lists = verdict->detail[1];
    *(struct gm_attention_decode_params *)plan->params = (struct gm_attention_decode_params){
        .a = gm_attention_template(p),
        .ready = gm_random_number(),
        .lists = gm_divisor_of((uint32_t)lists),
        .heads = (int32_t)(p->kv_heads / lists),
        .shares = (int32_t)(parts / lists),
    };
    plan->config.gridDimX = (unsigned)parts;
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_attention_args *args = arguments;
    const int head_dim = variant_of(plan->kernel).head_dim;
    struct gm_attention_decode_params *params = into;
    gm_attention_bind(args, &params->a);
    if (plan->workspace_bytes) {
        params->slots = args->workspace;
        params->flags = args->workspace + (uint64_t)params->shares * params->lists.divisor *
                                              GM_ATTENTION_DECODE_SLOT_BYTES((uint64_t)head_dim);
    }
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_attention_decode = {
    .name = "attention_decode",
    .operation = &gm_operation_attention,
    .params_bytes = sizeof(struct gm_attention_decode_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .tensor_share = gm_attention_mma_sync_share,
    .divisions = 1,
};
