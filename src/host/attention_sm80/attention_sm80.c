/* SPDX-License-Identifier: Apache-2.0 */
/* The family attention_sm80: which problems a variant takes and how long it should take, and what a launch is told. */
#include "columns.h"
#include "common/arith.h"
#include "common/attention_sm80/params.h"
#include "host/attention/attention.h"
#include "host/occupancy.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int head_dim, tile_rows, tile_keys, warps;
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .head_dim = c[GM_ATTENTION_SM80_HEAD_DIM],
        .tile_rows = c[GM_ATTENTION_SM80_TILE_ROWS],
        .tile_keys = c[GM_ATTENTION_SM80_TILE_KEYS],
        .warps = c[GM_ATTENTION_SM80_WARPS],
    };
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + max(bytes / DRAM, steps of the busiest SM * what one takes)
 *
 * Within 13 % of five times on an H200, d 64 and 128. */

#define LAUNCH_US       3.5
#define DRAM_EFFICIENCY 0.85
#define TENSOR_SHARE    0.6   /* of mma.sync's, with exponentials between the products */
#define STEP_CLOCKS     900.0 /* of a step alone: both products and what is between, one behind the other */
#define STEP_FLOP       4e6   /* in which there are so many operations */
#define TILE_US         5.5   /* of an SM, of a tile that others do not hide: lengths, q, the first keys, out */

/* bf16 FLOP of one SM in a clock. */
static double flop_per_clock(const struct variant *v, const struct gm_device *device) {
    double rate = device->cc_major == 9 ? 4096 : device->cc_minor == 0 ? 2048 : 1024;
    if (device->tensor_tflops > 0)
        rate = device->tensor_tflops * 1e6 / (device->sm_count * gm_attention_clock_mhz(device));
    return rate * gm_attention_mma_sync_share(v->kernel, device) * TENSOR_SHARE;
}

static double cost_us(const struct variant *v, const struct gm_attention_problem *p, const struct gm_device *device) {
    const double tiles = (double)gm_attention_tiles(p, v->tile_rows) * (double)p->kv_heads;
    const double tokens = fmin((double)p->max_q_len, ceil(v->tile_rows / (double)gm_attention_group(p)));
    const double mean = gm_attention_seen(p) / (double)p->max_q_len;
    const double keys = fmin((double)p->max_kv_len, mean + (tokens - 1) / 2);
    const double steps = ceil(keys / v->tile_keys + (mean < (double)p->max_kv_len ? 0.5 : 0));
    const double flop = 4.0 * v->tile_rows * v->tile_keys * v->head_dim; /* of a step */
    const double resident = gm_ctas_per_sm(v->kernel, device), sms = device->sm_count;
    const double on_busiest = mean < (double)p->max_kv_len ? tiles / sms + 0.5 : ceil(tiles / sms);
    const double together = fmax(1, fmin(resident, on_busiest));
    const double step_clocks =
        fmax(together * flop / flop_per_clock(v, device), STEP_CLOCKS * fmax(0.5, flop / STEP_FLOP)) / together;
    const double later = fmax(0, on_busiest - together); /* tiles that begin when others have ended */
    const double sms_us = fmax(1, on_busiest) * steps * step_clocks / gm_attention_clock_mhz(device) + TILE_US * later;
    const double bytes = gm_operation_attention.work(p).least_bytes;
    const double dram_us = device->dram_gbs > 0 ? bytes / (DRAM_EFFICIENCY * device->dram_gbs) * 1e-3 : 0;
    return LAUNCH_US + fmax(dram_us, sms_us);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static enum gm_reason check(const struct variant *v, const struct gm_question *question,
                            const struct gm_sentence *why) {
    const struct gm_attention_problem *p = question->problem;
    const int64_t most = GM_MAX(p->head_dim, p->v_head_dim);
    if (gm_attention_check_kv_type(p, v->kernel->type, why) != GM_ACCEPTED)
        return GM_REASON_TYPE;
    if (most > v->head_dim)
        return gm_say(why, GM_REASON_SIZE, "heads have up to %" PRId64 " elements; it holds %d", most, v->head_dim);
    const enum gm_reason reason = gm_attention_check_vectors(p, GM_ATTENTION_LOADED, why);
    if (reason != GM_ACCEPTED)
        return reason;
    if (p->scale < 0)
        return gm_say(why, GM_REASON_SIZE, "scale is %g; it takes none below 0", (double)p->scale);
    if (gm_attention_tiles(p, v->tile_rows) * p->kv_heads > INT32_MAX)
        return gm_say(why, GM_REASON_SIZE, "there are %" PRId64 " tiles of %d rows for each of %" PRId64 " heads",
                      gm_attention_tiles(p, v->tile_rows), v->tile_rows, p->kv_heads);
    return gm_attention_check_order(question, GM_ATTENTION_BY_TILES, why);
}

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_attention_problem *p = question->problem;
    const enum gm_reason reason = check(&v, question, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const double us = gm_operation_attention.is_empty(p) ? 0 : cost_us(&v, p, question->device);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: up to %" PRId64 " tiles of %d rows for each of %" PRId64 " heads", us,
           gm_attention_tiles(p, v.tile_rows), v.tile_rows, p->kv_heads);
    return (struct gm_verdict){.reason = GM_ACCEPTED, .predicted_us = us, .ranking_us = us};
}

#define SECTION_BYTES (24 << 20) /* of k and v, which L2 holds beside all else */

/* Heads of k whose tiles run at the same time. */
static int64_t section_of(const struct gm_attention_problem *p) {
    const int64_t head = p->max_kv_len * (p->head_dim + p->v_head_dim) * gm_type_bytes(p->type);
    return GM_MIN(GM_MAX(SECTION_BYTES / head, 1), p->kv_heads);
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_attention_problem *p = plan->problem;
    const int64_t tiles = gm_attention_tiles(p, v.tile_rows);
    (void)verdict;
    *(struct gm_attention_sm80_params *)plan->params = (struct gm_attention_sm80_params){
        .a = gm_attention_template(p),
        .tiles = (int32_t)tiles,
        .section = (int32_t)section_of(p),
    };
    plan->config.gridDimX = gm_plan_ctas(plan, tiles * p->kv_heads);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    (void)plan;
    gm_attention_bind(arguments, &((struct gm_attention_sm80_params *)into)->a);
    return CUDA_SUCCESS;
}

const struct gm_family gm_family_attention_sm80 = {
    .name = "attention_sm80",
    .operation = &gm_operation_attention,
    .params_bytes = sizeof(struct gm_attention_sm80_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .tensor_share = gm_attention_mma_sync_share,
    .divisions = 1,
};
