/* SPDX-License-Identifier: Apache-2.0 */
/* The family gemm_sm80: what its kernels ask of a problem, and what a launch of one is told. */
#include "host/gemm_sm80/gemm_sm80.h"

#include "host/gemm/extended.h"
#include "host/gemm/judge.h"
#include "host/gemm/launch.h"
#include "host/gemm/raster.h"

#define OLDER_MARGIN   1.25 /* on kernels of gemm_sm80 where gemm_sm90 runs too: 1.15 was the least they took */
#define DECODED_MARGIN 1e6  /* on those that decode fp8 where wgmma takes it as it is: for what no other kernel does */

/* ---- what a kernel is ----------------------------------------------------------------------------------- */

static struct gm_gemm_variant variant(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct gm_gemm_variant){
        .kernel = kernel,
        .layout = c[GM_GEMM_SM80_LAYOUT],
        .tile_m = c[GM_GEMM_SM80_TILE_M],
        .tile_n = c[GM_GEMM_SM80_TILE_N],
        .tile_k = c[GM_GEMM_SM80_TILE_K],
        .stages = c[GM_GEMM_SM80_STAGES],
        .cluster_m = 1,
        .cluster_n = 1,
        .cluster_k = 1,
        .warp_k = c[GM_GEMM_SM80_WARP_K],
        .batch = c[GM_GEMM_SM80_BATCH],
        .extended = c[GM_GEMM_SM80_EXTENDED],
        .persistent = 1,
        .stream_k_slots = 1,
    };
}

static void describe(const struct gm_kernel *kernel, struct gm_gemm_kernel_info *info) {
    const int32_t *c = kernel->columns;
    info->schedule = GM_MULTISTAGE;
    info->smem_map = (enum gm_smem_map)c[GM_GEMM_SM80_SMEM_MAP];
    info->warps_m = c[GM_GEMM_SM80_WARPS_M];
    info->warps_n = c[GM_GEMM_SM80_WARPS_N];
}

/* cp.async copies no fewer than 4 bytes; elements of 2 come through registers where they must. */
static int is_on_words(struct gm_operand operand, int align) {
    return gm_copy_bytes((uint64_t)align, operand.stride * operand.element_bytes, operand.rows) >= 4;
}

static enum gm_reason check_words(const struct gm_gemm_inquiry *q) {
    const struct gm_gemm_problem *p = q->problem;
    const int a = is_on_words(gm_operand_a(p), p->a_align) && p->a_batch_stride % 4 == 0;
    const int b = is_on_words(gm_operand_b(p), p->b_align) && p->b_batch_stride % 4 == 0;
    if (!gm_gemm_is_of_8_bits(p) || p->k == 0 || (a && b))
        return GM_ACCEPTED;
    return gm_say(q->why, GM_REASON_STRIDE,
                  "rows or matrices of %s begin on no multiple of 4 bytes: %s needs it, or a workspace_limit that lets "
                  "the plan copy them",
                  a ? "B" : "A", gm_type_name(p->ab_type));
}

static enum gm_reason check(const struct gm_gemm_inquiry *q) {
    const int orders = gm_is_batch_invariant(q->question) && q->variant->warp_k == 1;
    if (orders && !q->question->options->kernel && gm_gemm_tma_may_load(q))
        return gm_say(q->why, GM_REASON_ORDER, "a batch-invariant plan takes wgmma's order of K wherever TMA can load");
    if (gm_gemm_has_8_bits(q->problem) && q->problem->d_scaling != GM_SCALE_STATIC)
        return gm_say(q->why, GM_REASON_EPILOGUE,
                      "quantises by a static scale only; a workspace_limit lets a quantiser make the others");
    return check_words(q);
}

static double margin(const struct gm_gemm_inquiry *q) {
    const struct gm_device *device = q->question->device;
    if (gm_gemm_is_of_fp8(q->problem) && device->cc_major == 9 && device->cc_minor == 0)
        return DECODED_MARGIN;
    return gm_gemm_tma_may_load(q) ? OLDER_MARGIN : 1;
}

/* ---- a plan, and a call --------------------------------------------------------------------------------- */

enum gm_status gm_gemm_sm80_prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_gemm_problem *p = &gm_gemm_planned_of(plan)->problem;
    const struct gm_gemm_variant v = gm_gemm_variant(plan->kernel);
    const struct gm_gemm_division division = gm_gemm_division_of(verdict);
    struct gm_gemm_sm80_params *params = plan->params;
    params->epilogue = gm_gemm_epilogue_template(p);
    params->lda = p->lda;
    params->ldb = p->ldb;
    params->k = (int32_t)p->k;
    params->b_early = gm_gemm_b_is_early(plan);
    params->scaling = gm_gemm_scaling_template(p);
    params->batch = gm_gemm_batch_template(&v, p);
    params->a_batch = p->a_batch_stride * gm_type_bytes(p->ab_type);
    params->b_batch = p->b_batch_stride * gm_type_bytes(p->ab_type);
    params->pointer_arrays = (int32_t)p->pointer_arrays;
    params->b_is_e5m2 = gm_gemm_b_type(p) == GM_E5M2;
    if (v.extended)
        ((struct gm_gemm_sm80_extended_params *)plan->params)->extension = gm_gemm_extension_template(p);
    gm_gemm_plan_divide(plan, &division);
    return GM_OK;
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_gemm_variant v = variant(plan->kernel);
    struct gm_gemm_sm80_params *params = plan->params;
    params->raster = gm_raster_choose(&v, &gm_gemm_planned_of(plan)->problem, &plan->device);
    return gm_gemm_sm80_prepare(plan, verdict);
}

CUresult gm_gemm_sm80_bind(const struct gm_plan *plan, const void *args, void *into) {
    const struct gm_gemm_planned *planned = gm_gemm_planned_of(plan);
    const struct gm_operand a = gm_operand_a(&planned->problem), b = gm_operand_b(&planned->problem);
    struct gm_gemm_sm80_params *params = into;
    const struct gm_gemm_call call = gm_gemm_bind(planned, args, &params->epilogue);
    params->a = call.a;
    params->b = call.b;
    params->stream_k.workspace = call.workspace;
    params->left_out = ((const struct gm_gemm_args *)args)->left_out;
    const int is_extended = gm_gemm_is_extended(&planned->problem);
    if (gm_gemm_is_of_8_bits(&planned->problem) || is_extended)
        gm_gemm_bind_scaling(planned, args, &params->scaling);
    if (is_extended)
        gm_gemm_bind_extension(&planned->problem, args, &((struct gm_gemm_sm80_extended_params *)into)->extension);
    /* The kernel looks at what it finds in pointer arrays itself. */
    const uint64_t a_base = params->pointer_arrays ? 0 : call.a | (uint64_t)params->a_batch;
    const uint64_t b_base = params->pointer_arrays ? 0 : call.b | (uint64_t)params->b_batch;
    params->a_vector = gm_copy_bytes(a_base, a.stride * a.element_bytes, a.rows);
    params->b_vector = gm_copy_bytes(b_base, b.stride * b.element_bytes, b.rows);
    return CUDA_SUCCESS;
}

static const struct gm_gemm_family own = {
    .variant = variant,
    .describe = describe,
    .check = check,
    .margin = margin,
    .cost_us = gm_gemm_sm80_cost_us,
    .stream_k = offsetof(struct gm_gemm_sm80_params, stream_k),
};

const struct gm_family gm_family_gemm_sm80 = {
    .name = "gemm_sm80",
    .operation = &gm_operation_gemm,
    .params_bytes = sizeof(struct gm_gemm_sm80_extended_params),
    .own = &own,
    .judge = gm_gemm_judge,
    .prepare = prepare,
    .bind = gm_gemm_sm80_bind,
    .tensor_share = gm_gemm_sm80_tensor_share,
    .divisions = GM_DIVISIONS,
    .division_suffix = gm_division_suffix,
    .division_of = gm_division_of,
};
