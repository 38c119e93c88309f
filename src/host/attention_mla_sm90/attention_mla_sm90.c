/* SPDX-License-Identifier: Apache-2.0 */
/* The family attention_mla_sm90: which problems a variant takes and how long it should take, how many parts there are, and what a
 * launch is told. */
#include "columns.h"
#include "common/arith.h"
#include "common/attention_mla_sm90/params.h"
#include "host/attention/attention.h"
#include "host/attention/maps.h"
#include "host/context.h"
#include "host/error.h"
#include "host/occupancy.h"
#include "host/random.h"
#include "host/tensor_map.h"
#include "host/types.h"

#include <inttypes.h>
#include <math.h>

/* A variant's columns. */
struct variant {
    const struct gm_kernel *kernel;
    int head_dim, v_head_dim, block, cluster;
    int rows; /* of a unit */
};

static struct variant variant_of(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct variant){
        .kernel = kernel,
        .head_dim = c[GM_ATTENTION_MLA_SM90_HEAD_DIM],
        .v_head_dim = c[GM_ATTENTION_MLA_SM90_V_HEAD_DIM],
        .block = c[GM_ATTENTION_MLA_SM90_BLOCK],
        .cluster = c[GM_ATTENTION_MLA_SM90_CLUSTER],
        .rows = c[GM_ATTENTION_MLA_SM90_CLUSTER] * GM_MLA_ROWS,
    };
}

/* ---- parts ---------------------------------------------------------------------------------------------- */

static int64_t units_of(const struct variant *v, const struct gm_attention_problem *p) {
    return gm_attention_tiles(p, v->rows) * p->kv_heads;
}

/* Rows that a CTA has of a unit at most, as a power of 2: so many that a slot is a multiple of 16 bytes. */
static int64_t slot_rows_of(const struct gm_attention_problem *p) {
    int64_t rows = 2;
    while (rows < GM_MLA_ROWS && rows < p->max_q_len * gm_attention_group(p))
        rows *= 2;
    return rows;
}

/* CTAs that put a cut unit together: so many that all units' run at once, if they do not have more than a row each. */
static int64_t slices_of(const struct variant *v, const struct gm_attention_problem *p, int64_t parts) {
    int64_t slices = 1;
    while (2 * slices <= slot_rows_of(p) && 2 * slices * units_of(v, p) <= parts)
        slices *= 2;
    return slices;
}

struct division {
    int64_t parts;
    int64_t slices; /* 0: units are whole */
    size_t workspace_bytes;
};

/* As many as run at once and have slots, and no more than there can be units, or blocks of those that are cut. Plans that may use
 * some SMs only have whole units: CTAs behind the parts would be more than these hold. */
static struct division divide_among_parts(const struct variant *v, const struct gm_question *question) {
    const struct gm_attention_problem *p = question->problem;
    const int64_t at_once = gm_clusters_at_once(v->kernel, question->device), units = GM_MAX(units_of(v, p), 1);
    const int64_t blocks = GM_CEIL_DIV(p->max_kv_len, v->block), slices = slices_of(v, p, at_once);
    const size_t slot = GM_MLA_SLOT_BYTES((size_t)slot_rows_of(p), (size_t)v->v_head_dim);
    const size_t of_part = 2 * (size_t)v->cluster * (slot + (size_t)slices * GM_MLA_FLAG_BYTES);
    const int64_t work = blocks < at_once ? GM_MIN(at_once, units * blocks) : at_once;
    const int64_t parts = (int64_t)GM_MIN((size_t)work, question->options->workspace_limit / of_part);
    const int whole = (question->options->flags & GM_PLAN_BATCH_INVARIANT) != 0 || question->options->sm_budget != 0;
    if (whole || parts < 2 || blocks < 2 || parts < GM_MIN(at_once, units))
        return (struct division){.parts = GM_MIN(at_once, units)};
    return (struct division){.parts = parts, .slices = slices, .workspace_bytes = (size_t)parts * of_part};
}

/* ---- tensor map ----------------------------------------------------------------------------------------- */

/* Tokens of a box, of which a stage's half has some; 0: of pages that have none. */
static int64_t box_tokens(const struct variant *v, const struct gm_attention_problem *p) {
    const int64_t box = gm_attention_box_tokens(p, v->block / 2);
    return box < GM_ATTENTION_LEAST_BOX ? 0 : box;
}

static struct gm_map_desc describe_k(const struct variant *v, const struct gm_attention_problem *p) {
    struct gm_strided o[GM_ATTENTION_OPERANDS];
    gm_attention_operands_of(p, p->max_batch, o);
    return gm_attention_describe_cache(p, &o[GM_ATTENTION_K],
                                       (uint32_t)GM_MAX(box_tokens(v, p), GM_ATTENTION_LEAST_BOX));
}

/* ---- which problems ------------------------------------------------------------------------------------- */

static enum gm_reason check_map(const struct variant *v, const struct gm_attention_problem *p,
                                const struct gm_sentence *why) {
    const struct gm_map_desc map = describe_k(v, p);
    char sentence[160];
    if (gm_tensor_map_check(&map, sentence, sizeof sentence))
        return GM_ACCEPTED;
    return gm_say(why, GM_REASON_SIZE, "no tensor map of k: %s", sentence);
}

static enum gm_reason check(const struct variant *v, const struct gm_attention_problem *p,
                            const struct gm_sentence *why) {
    if (gm_attention_check_kv_type(p, v->kernel->type, why) != GM_ACCEPTED)
        return GM_REASON_TYPE;
    if (!p->v_is_k)
        return gm_say(why, GM_REASON_SIZE, "v_is_k is 0; it takes k for v");
    if (p->head_dim > v->head_dim || p->v_head_dim > v->v_head_dim)
        return gm_say(why, GM_REASON_SIZE, "heads have %" PRId64 " elements, of v %" PRId64 "; it holds %d, of v %d",
                      p->head_dim, p->v_head_dim, v->head_dim, v->v_head_dim);
    if (units_of(v, p) > INT32_MAX / 128)
        return gm_say(why, GM_REASON_SIZE, "there are %" PRId64 " units of %d rows", units_of(v, p), v->rows);
    if (v->cluster > 1 && box_tokens(v, p) == 0)
        return gm_say(why, GM_REASON_SIZE,
                      "a page of %" PRId64 " tokens has no boxes of %d or more: no cluster shares them", p->page_size,
                      GM_ATTENTION_LEAST_BOX);
    const enum gm_reason reason =
        gm_attention_check_vectors(p, GM_ATTENTION_LOADED | GM_ATTENTION_BIT(GM_ATTENTION_O), why);
    return reason == GM_ACCEPTED ? check_map(v, p, why) : reason;
}

/* ---- how long it takes ----------------------------------------------------------------------------------
 *
 *   time = launch + fill + max(bytes / DRAM, bytes of all units / L2, a part's blocks * what one takes) + putting together
 *
 * BLOCK_CLOCKS and GATHER_FACTOR are from an H200, 64 to 128 requests of 4096 and 8192 tokens; the rest is by arithmetic. */

#define LAUNCH_US       4.0
#define FILL_US         2.5 /* lengths, pages, q, the first stage, and the last one's values */
#define PIECE_US        1.5 /* more of a part, for each further unit that it has some of: q, out */
#define DRAM_EFFICIENCY 0.85
#define L2_BYTES_CLOCK  25.0   /* into one SM, where all load */
#define BLOCK_CLOCKS    4700.0 /* of an SM: both products with stages that come and go between them */
#define CLOCK_MHZ       1750.0
#define GATHER_FACTOR   1.85 /* of pages without boxes */
#define SMALL_BOX_CLOCK 24.0 /* of a copy by TMA, from 16 a block on */
#define MERGE_US        4.5  /* slots, flags, CTAs behind the parts, */
#define APART_FACTOR    1.05 /* where CTAs that share keys load them each: not measured */
#define PARTIAL_US      0.12 /* and the rows of each part of a unit */

static double block_clocks(const struct variant *v, const struct gm_attention_problem *p) {
    const int64_t box = box_tokens(v, p);
    if (box == 0)
        return GATHER_FACTOR * BLOCK_CLOCKS;
    return fmax(BLOCK_CLOCKS, SMALL_BOX_CLOCK * (double)(v->block / box * (v->head_dim / 64)));
}

static double cost_us(const struct variant *v, const struct gm_attention_problem *p, const struct gm_device *device,
                      const struct division *division) {
    const double units = (double)units_of(v, p), parts = (double)division->parts;
    const double tokens = fmin((double)p->max_q_len, ceil(v->rows / (double)gm_attention_group(p)));
    const double keys = fmin((double)p->max_kv_len, gm_attention_seen(p) / (double)p->max_q_len + tokens - 1);
    const double blocks = ceil(keys / v->block);
    const double of_part = division->slices ? ceil(units * blocks / parts) : ceil(units / parts) * blocks;
    const double l2_us = units * keys * (double)p->head_dim * 2 / (parts * v->cluster * L2_BYTES_CLOCK) / CLOCK_MHZ;
    const double dram_us =
        device->dram_gbs > 0 ? gm_attention_cache_bytes(p) / (DRAM_EFFICIENCY * device->dram_gbs) * 1e-3 : 0;
    const double pieces = units / parts + (division->slices ? 1 : 0);
    const double merge_us = division->slices ? MERGE_US + PARTIAL_US * parts / units : 0;
    const int is_apart = v->cluster == 1 && p->max_q_len * gm_attention_group(p) > v->rows;
    const double blocks_us = (is_apart ? APART_FACTOR : 1) * of_part * block_clocks(v, p) / CLOCK_MHZ;
    return LAUNCH_US + FILL_US + PIECE_US * fmax(pieces - 1, 0) + merge_us + fmax(fmax(dram_us, l2_us), blocks_us);
}

/* ---- the family ----------------------------------------------------------------------------------------- */

static struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_question *question,
                               const struct gm_sentence *why) {
    const struct variant v = variant_of(kernel);
    const struct gm_attention_problem *p = question->problem;
    const enum gm_reason reason = check(&v, p, why);
    if (reason != GM_ACCEPTED)
        return (struct gm_verdict){.reason = reason};
    const int is_empty = gm_operation_attention.is_empty(p);
    const struct division division = divide_among_parts(&v, question);
    const double us = is_empty ? 0 : cost_us(&v, p, question->device, &division);
    gm_say(why, GM_ACCEPTED, "predicted %.2f us: %" PRId64 " parts of %s, boxes of %" PRId64 " tokens", us,
           division.parts, division.slices ? "all keys" : "whole units", box_tokens(&v, p));
    return (struct gm_verdict){.reason = GM_ACCEPTED,
                               .predicted_us = us,
                               .ranking_us = us,
                               .workspace_bytes = is_empty ? 0 : division.workspace_bytes,
                               .detail = {division.parts, division.slices}};
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct variant v = variant_of(plan->kernel);
    const struct gm_attention_problem *p = plan->problem;
    const int64_t parts = verdict->detail[0], slices = verdict->detail[1];
    const struct gm_map_desc map = describe_k(&v, p);
    struct gm_attention_mla_sm90_params *params = plan->params;
    *params = (struct gm_attention_mla_sm90_params){
        .a = gm_attention_template(p),
        .ready = gm_random_number(),
        .parts = (int32_t)parts,
        .slices = (int32_t)slices,
        .slot_rows = (int32_t)slot_rows_of(p),
        .box_tokens = (int32_t)box_tokens(&v, p),
    };
    plan->config.gridDimX = (unsigned)((parts + slices * units_of(&v, p)) * v.cluster);
    const CUresult result = gm_tensor_map_encode(plan->context->driver, &map, &params->k);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "%s: the driver refused the tensor map of k", plan->kernel->name);
    return GM_OK;
}

static CUresult bind(const struct gm_plan *plan, const void *arguments, void *into) {
    const struct gm_attention_args *args = arguments;
    const struct variant v = variant_of(plan->kernel);
    struct gm_attention_mla_sm90_params *params = into;
    gm_attention_bind(args, &params->a);
    if (plan->workspace_bytes) {
        params->slots = args->workspace;
        params->flags = args->workspace + 2 * (uint64_t)params->parts * (uint64_t)v.cluster *
                                              GM_MLA_SLOT_BYTES((uint64_t)params->slot_rows, (uint64_t)v.v_head_dim);
    }
    return plan->context->driver->cuTensorMapReplaceAddress(params->k.bytes, (void *)(uintptr_t)args->k);
}

const struct gm_family gm_family_attention_mla_sm90 = {
    .name = "attention_mla_sm90",
    .operation = &gm_operation_attention,
    .params_bytes = sizeof(struct gm_attention_mla_sm90_params),
    .judge = judge,
    .prepare = prepare,
    .bind = bind,
    .divisions = 1,
};
