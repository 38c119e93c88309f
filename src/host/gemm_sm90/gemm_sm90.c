/* SPDX-License-Identifier: Apache-2.0 */
/* The family gemm_sm90: what its kernels ask of a problem, and what a launch of one is told. */
#include "host/gemm_sm90/gemm_sm90.h"

#include "host/error.h"
#include "host/gated.h"
#include "host/gemm/extended.h"
#include "host/gemm/judge.h"
#include "host/gemm/launch.h"
#include "host/gemm/raster.h"
#include "host/text.h"

#include <inttypes.h>

#define DUMMY_ADDRESS 0x1000000 /* what a template map points at until a call replaces it */

/* ---- what a kernel is ----------------------------------------------------------------------------------- */

static struct gm_gemm_variant variant(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    struct gm_gemm_variant v = {
        .kernel = kernel,
        .layout = c[GM_GEMM_SM90_LAYOUT],
        .tile_m = c[GM_GEMM_SM90_TILE_M],
        .tile_n = c[GM_GEMM_SM90_TILE_N],
        .tile_k = c[GM_GEMM_SM90_TILE_K],
        .stages = c[GM_GEMM_SM90_STAGES],
        .cluster_m = c[GM_GEMM_SM90_CLUSTER_M],
        .cluster_n = c[GM_GEMM_SM90_CLUSTER_N],
        .cluster_k = c[GM_GEMM_SM90_CLUSTER_K],
        .warp_k = 1,
        .split_k = c[GM_GEMM_SM90_SPLIT_K],
        .batch = c[GM_GEMM_SM90_BATCH],
        .extended = c[GM_GEMM_SM90_EXTENDED],
        .fast_accumulation = c[GM_GEMM_SM90_FAST],
        .sum_scales = c[GM_GEMM_SM90_SCALES],
        .persistent = !c[GM_GEMM_SM90_SPLIT_K],
        .gate = c[GM_GEMM_SM90_GATE],
    };
    v.stream_k_slots = GM_SM90_TILE_CONSUMERS(gm_sm90_roles(&v));
    return v;
}

static void describe(const struct gm_kernel *kernel, struct gm_gemm_kernel_info *info) {
    const int32_t *c = kernel->columns;
    info->schedule = (enum gm_schedule)c[GM_GEMM_SM90_SCHEDULE];
    info->smem_map = (enum gm_smem_map)c[GM_GEMM_SM90_SWIZZLE];
    info->consumers = c[GM_GEMM_SM90_CONSUMERS];
    info->swap = c[GM_GEMM_SM90_SWAP];
}

/* ---- a plan --------------------------------------------------------------------------------------------- */

static enum gm_status encode(const struct gm_plan *plan, const char *letter, struct gm_map_desc desc,
                             struct gm_tensor_map *map) {
    char why[160];
    const char *of = gm_gemm_planned_of(plan)->transposed ? " (in D^T = B^T A^T)" : "";
    desc.address = DUMMY_ADDRESS;
    if (!gm_tensor_map_check(&desc, why, sizeof why))
        return gm_fail(GM_ERROR_DRIVER, "%s: the tensor map of %s%s is not legal: %s", plan->kernel->name, letter, of,
                       why);
    const CUresult result = gm_tensor_map_encode(plan->context->driver, &desc, map);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "%s: the driver refused the tensor map of %s%s",
                            plan->kernel->name, letter, of);
    return GM_OK;
}

static int is_stored_by_tma(int plain) {
    return plain == GM_SM90_BY_TMA || plain == GM_SM90_SCALED_BY_TMA;
}

static enum gm_status encode_maps(const struct gm_plan *plan, const struct gm_gemm_variant *v,
                                  struct gm_gemm_sm90_params *params) {
    const struct gm_gemm_maps maps = gm_gemm_sm90_maps(v, &gm_gemm_planned_of(plan)->problem);
    params->a_tiles = maps.a_tiles;
    params->b_tiles = maps.b_tiles;
    enum gm_status status = encode(plan, "A", maps.a, &params->a);
    if (status == GM_OK)
        status = encode(plan, "B", maps.b, &params->b);
    if (status == GM_OK && is_stored_by_tma(params->plain))
        status = encode(plan, "D", maps.d, &params->d);
    if (status == GM_OK && maps.a_tiles.rows)
        status = encode(plan, "A's last rows", maps.a_tail, &params->a_tail);
    if (status == GM_OK && maps.b_tiles.rows)
        status = encode(plan, "B's last rows", maps.b_tail, &params->b_tail);
    return status;
}

/* How many k-blocks of a CTA's first piece L2 is asked for before the wait for the kernel before. Where memory sets the
 * pace, as many as it brings while one kernel gives way to the next; but what is loaded before it has come is brought
 * twice, so less where there is less in all, and where each line is asked for twice. docs/TUNING-LOG.md, entry 43. */
static int32_t prefetched_blocks(const struct gm_plan *plan, const struct gm_gemm_variant *v) {
    enum { LEAST = 20 << 10, SHARE = 8, MOST_BLOCKS = 8, USUAL_BLOCKS = 4 };
    const struct gm_gemm_problem *p = &gm_gemm_planned_of(plan)->problem;
    if (!gm_is_streamed(p))
        return USUAL_BLOCKS;
    const struct gm_operand streamed = p->m > p->n ? gm_operand_a(p) : gm_operand_b(p);
    const int tile_rows = p->m > p->n ? v->tile_m / v->cluster_n : v->tile_n / v->cluster_m;
    const int64_t block_bytes = (int64_t)tile_rows * v->tile_k * gm_type_bytes(p->ab_type);
    const int64_t passing =
        p->batch * streamed.rows * streamed.columns * streamed.element_bytes / plan->config.gridDimX;
    int64_t bytes = LEAST + passing / SHARE;
    if (streamed.stride * streamed.element_bytes % gm_sm90_swizzle(v) != 0)
        bytes /= 2;
    const int64_t blocks = (bytes + block_bytes / 2) / block_bytes;
    return (int32_t)(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

/* An operand that is read once should not push the one that is read by every tile out of L2. One for all matrices of a
 * batch is read again. Nothing of a batch's D that is larger than L2 is left there for whoever reads it: entry 86. */
static void set_policies(struct gm_gemm_sm90_params *params, const struct gm_gemm_problem *p,
                         const struct gm_device *device) {
    const double d_bytes = (double)p->batch * (double)p->m * (double)p->n * gm_type_bytes(p->d_type);
    params->d_policy = d_bytes > (double)device->l2_bytes ? GM_L2_EVICT_FIRST : GM_L2_EVICT_NORMAL;
    const int a_once = params->raster.tiles_n == 1 && (p->batch == 1 || params->a_steps);
    const int b_once = params->raster.tiles_m == 1 && (p->batch == 1 || params->b_steps);
    params->a_policy = a_once == b_once ? GM_L2_EVICT_NORMAL : a_once ? GM_L2_EVICT_FIRST : GM_L2_EVICT_LAST;
    params->b_policy = a_once == b_once ? GM_L2_EVICT_NORMAL : b_once ? GM_L2_EVICT_FIRST : GM_L2_EVICT_LAST;
}

static struct gm_gate_params gate_params(const struct gm_gemm_problem *p) {
    const int pairs = p->gate == GM_GATE_PAIRS;
    return (struct gm_gate_params){
        .has_limit = p->limit > 0,
        .limit = p->limit,
        .silu_exponent = gm_silu_exponent(p->sigmoid_factor),
        .up_offset = p->up_offset,
        .gate_step = pairs ? 2 : 1,
        .up_first = pairs ? 1 : (int32_t)(p->n / 2),
    };
}

/* Kernels with a gate or an extended epilogue have only D left to store, swapped ones of these not by TMA. */
static int plain_store(const struct gm_gemm_variant *v, const struct gm_gemm_problem *p) {
    if (v->extended && v->kernel->columns[GM_GEMM_SM90_SWAP])
        return GM_SM90_ALONG_ROWS;
    return gm_has_plain_store(p)        ? GM_SM90_BY_TMA
           : gm_has_scaled_store(p)     ? GM_SM90_SCALED_BY_TMA
           : gm_has_general_epilogue(p) ? 0
                                        : GM_SM90_ALONG_ROWS;
}

static struct gm_sum_scales sum_scales(struct gm_out operand) {
    const int is_one = operand.scaling == GM_SCALE_STATIC;
    int64_t down, across;
    gm_scale_pitches(&operand, &down, &across);
    return (struct gm_sum_scales){
        .row_step = is_one ? 0 : down,
        .sum_step = is_one ? 0 : across,
        .shift = operand.scaling == GM_SCALE_BLOCK ? 7 : 0,
        .is_e8m0 = operand.scale_format == GM_SCALE_E8M0,
        .rows = (int32_t)operand.rows,
    };
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_gemm_variant v = variant(plan->kernel);
    const struct gm_gemm_problem *p = &gm_gemm_planned_of(plan)->problem;
    const struct gm_gemm_division division = gm_gemm_division_of(verdict);
    struct gm_gemm_sm90_params *params = plan->params;
    params->epilogue = gm_gemm_epilogue_template(p);
    params->raster = gm_raster_choose(&v, p, &plan->device);
    params->plain = plain_store(&v, p); /* unless beta is not 0 */
    params->k_blocks = (int32_t)GM_CEIL_DIV(p->k, (int64_t)v.tile_k);
    params->b_early = gm_gemm_b_is_early(plan);
    params->gate = gate_params(p);
    params->scaling = gm_gemm_scaling_template(p);
    params->a_sum_scales = sum_scales(gm_gemm_quantised_a(p));
    params->b_sum_scales = sum_scales(gm_gemm_quantised_b(p));
    params->sums = (int32_t)GM_CEIL_DIV(p->k, (int64_t)GM_SM90_SUM_K);
    params->batch = gm_gemm_batch_template(&v, p);
    params->a_steps = p->a_batch_stride != 0;
    params->b_steps = p->b_batch_stride != 0;
    if (v.extended)
        ((struct gm_gemm_sm90_extended_params *)plan->params)->extension = gm_gemm_extension_template(p);
    gm_gemm_plan_divide(plan, &division);
    params->prefetched = prefetched_blocks(plan, &v);
    set_policies(params, p, &plan->device);
    return encode_maps(plan, &v, params);
}

/* ---- a call --------------------------------------------------------------------------------------------- */

/* This call's address into a map of the plan, where the map is in use and nothing has failed so far. */
static void readdress(const struct gm_driver *driver, struct gm_tensor_map *map, gm_device_ptr address, int in_use,
                      CUresult *result) {
    if (in_use && *result == CUDA_SUCCESS)
        *result = driver->cuTensorMapReplaceAddress(map->bytes, (void *)(uintptr_t)address);
}

/* Scales of sums are multiplied by before the epilogue, which has none then. */
static void scale_sums(struct gm_gemm_sm90_params *params) {
    params->a_sum_scales.values = params->scaling.row_scales;
    params->b_sum_scales.values = params->scaling.column_scales;
    params->scaling.row_scales = params->scaling.column_scales = 0;
}

static CUresult bind(const struct gm_plan *plan, const void *args, void *into) {
    const struct gm_driver *driver = plan->context->driver;
    struct gm_gemm_sm90_params *params = into;
    const struct gm_gemm_planned *planned = gm_gemm_planned_of(plan);
    const struct gm_gemm_call call = gm_gemm_bind(planned, args, &params->epilogue);
    const int is_extended = gm_gemm_is_extended(&planned->problem);
    if (gm_gemm_is_of_8_bits(&planned->problem) || is_extended)
        gm_gemm_bind_scaling(planned, args, &params->scaling);
    if (gm_has_scales_of_sums(&planned->problem))
        scale_sums(params);
    if (is_extended)
        gm_gemm_bind_extension(&planned->problem, args, &((struct gm_gemm_sm90_extended_params *)into)->extension);
    else if (params->epilogue.beta != 0)
        params->plain = 0;
    params->stream_k.workspace = call.workspace;
    CUresult result = CUDA_SUCCESS;
    readdress(driver, &params->a, call.a, 1, &result);
    readdress(driver, &params->b, call.b, 1, &result);
    readdress(driver, &params->d, params->epilogue.d, is_stored_by_tma(params->plain), &result);
    readdress(driver, &params->a_tail, call.a, params->a_tiles.rows, &result);
    readdress(driver, &params->b_tail, call.b, params->b_tiles.rows, &result);
    return result;
}

/* Scales of groups of 128 are made where a warpgroup has whole groups of a row in its registers, and TMA stores D. */
static enum gm_reason check_quantized(const struct gm_gemm_inquiry *q) {
    const struct gm_gemm_problem *p = q->problem;
    const int columns = q->variant->tile_n / (1 + q->variant->gate);
    if (!gm_gemm_has_8_bits(p) || p->d_scaling == GM_SCALE_STATIC)
        return GM_ACCEPTED;
    if (p->d_scaling == GM_SCALE_GROUP && !q->variant->kernel->columns[GM_GEMM_SM90_SWAP] && p->d_group == 128 &&
        columns % 128 == 0 && gm_may_tma_store(p))
        return GM_ACCEPTED;
    return gm_say(q->why, GM_REASON_EPILOGUE,
                  "makes no such scales of D: of groups of 128 columns that its tile has whole, and of a D that TMA "
                  "stores; a workspace_limit lets a quantiser make the others");
}

/* A kernel with a gate loads 8 gates and 8 ups by turns. */
static enum gm_reason check_gate(const struct gm_gemm_inquiry *q) {
    const struct gm_gemm_problem *p = q->problem;
    if (p->n % GM_SM90_GATE_COLUMNS != 0)
        return gm_say(q->why, GM_REASON_SIZE,
                      "N %" PRId64 " is not a multiple of 16: a kernel with a gate loads 8 gates and 8 ups by turns",
                      p->n);
    if (p->d_type != p->ab_type && !q->variant->extended)
        return gm_say(q->why, GM_REASON_TYPE, "D is %s: a kernel with a gate makes D of A's type, %s",
                      gm_type_name(p->d_type), gm_type_name(p->ab_type));
    const struct gm_gate_strides s = gm_gemm_sm90_gate_strides(p);
    if (s.up >= GM_TMA_STRIDE_LIMIT || s.eight >= GM_TMA_STRIDE_LIMIT)
        return gm_say(q->why, GM_REASON_SIZE,
                      "an up lies %" PRId64 " B behind its gate, 8 gates take %" PRId64 " B: TMA steps less than 2^40",
                      s.up, s.eight);
    return GM_ACCEPTED;
}

/* Where a tile's columns have one scale, B has no more of as many rows. */
static enum gm_reason check_sum_scales(const struct gm_gemm_inquiry *q) {
    const enum gm_granularity scales = q->problem->b_scales;
    if (q->variant->sum_scales == GM_SCALES_blocks && (scales == GM_PER_ROW || scales == GM_PER_GROUP))
        return gm_say(q->why, GM_REASON_EPILOGUE,
                      "scales a tile's columns by one factor; B has one for each, as kernels with an xc take it");
    return GM_ACCEPTED;
}

/* Promoted sums do where fast ones would. */
static enum gm_reason check_accumulation(const struct gm_gemm_inquiry *q) {
    if (!q->variant->fast_accumulation || q->problem->fast_accumulation)
        return GM_ACCEPTED;
    return gm_say(q->why, GM_REASON_EPILOGUE,
                  "leaves sums in the tensor cores, which keep some 14 bits of them: fast_accumulation allows it");
}

/* Kernels of e5m2 have it on wgmma's M side, and e4m3 on its N side. */
static enum gm_reason check_sides(const struct gm_gemm_inquiry *q) {
    const int swap = q->variant->kernel->columns[GM_GEMM_SM90_SWAP];
    const enum gm_type m_side = swap ? gm_gemm_b_type(q->problem) : q->problem->ab_type;
    if (q->variant->kernel->type != GM_E5M2 || m_side == GM_E5M2)
        return GM_ACCEPTED;
    return gm_say(q->why, GM_REASON_TYPE, "has %s on wgmma's M side, where it takes e5m2; the problem's %s is e4m3",
                  swap != q->transposed ? "B" : "A", swap != q->transposed ? "B" : "A");
}

static enum gm_reason check(const struct gm_gemm_inquiry *q) {
    enum gm_reason reason = check_sides(q);
    if (reason == GM_ACCEPTED)
        reason = gm_gemm_check_tma(q);
    if (reason == GM_ACCEPTED)
        reason = check_accumulation(q);
    if (reason == GM_ACCEPTED)
        reason = check_sum_scales(q);
    if (reason == GM_ACCEPTED && q->variant->gate)
        reason = check_gate(q);
    return reason == GM_ACCEPTED ? check_quantized(q) : reason;
}

static const struct gm_gemm_family own = {
    .variant = variant,
    .describe = describe,
    .check = check,
    .cost_us = gm_gemm_sm90_cost_us,
    .stream_k = offsetof(struct gm_gemm_sm90_params, stream_k),
};

const struct gm_family gm_family_gemm_sm90 = {
    .name = "gemm_sm90",
    .operation = &gm_operation_gemm,
    .params_bytes = sizeof(struct gm_gemm_sm90_extended_params),
    .own = &own,
    .judge = gm_gemm_judge,
    .prepare = prepare,
    .bind = bind,
    .tensor_share = gm_gemm_sm90_tensor_share,
    .divisions = GM_DIVISIONS,
    .division_suffix = gm_division_suffix,
    .division_of = gm_division_of,
};
