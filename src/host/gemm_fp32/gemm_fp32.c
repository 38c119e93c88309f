/* SPDX-License-Identifier: Apache-2.0 */
/* The family gemm_fp32: what its kernels ask of a problem, which is nothing, and what a launch of one is told. */
#include "host/gemm_fp32/gemm_fp32.h"

#include "host/gemm/judge.h"
#include "host/gemm/launch.h"
#include "host/gemm/raster.h"
#include "host/gemm_sm80/gemm_sm80.h"

static struct gm_gemm_variant variant(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct gm_gemm_variant){
        .kernel = kernel,
        .layout = c[GM_GEMM_FP32_LAYOUT],
        .tile_m = c[GM_GEMM_FP32_TILE_M],
        .tile_n = c[GM_GEMM_FP32_TILE_N],
        .tile_k = c[GM_GEMM_FP32_TILE_K],
        .stages = c[GM_GEMM_FP32_STAGES],
        .cluster_m = 1,
        .cluster_n = 1,
        .cluster_k = 1,
        .warp_k = 1,
        .batch = c[GM_GEMM_FP32_BATCH],
        .persistent = 1,
        .stream_k_slots = 1,
    };
}

static void describe(const struct gm_kernel *kernel, struct gm_gemm_kernel_info *info) {
    info->schedule = GM_MULTISTAGE;
    info->smem_map = GM_SMEM_XOR;
    info->warps_m = kernel->columns[GM_GEMM_FP32_WARPS_M];
    info->warps_n = kernel->columns[GM_GEMM_FP32_WARPS_N];
}

static enum gm_reason check(const struct gm_gemm_inquiry *q) {
    (void)q;
    return GM_ACCEPTED;
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_gemm_variant v = variant(plan->kernel);
    struct gm_gemm_sm80_params *params = plan->params;
    params->raster = gm_raster_choose(&v, &gm_gemm_planned_of(plan)->problem, &plan->device);
    return gm_gemm_sm80_prepare(plan, verdict);
}

static const struct gm_gemm_family own = {
    .variant = variant,
    .describe = describe,
    .check = check,
    .cost_us = gm_gemm_fp32_cost_us,
    .stream_k = offsetof(struct gm_gemm_sm80_params, stream_k),
};

const struct gm_family gm_family_gemm_fp32 = {
    .name = "gemm_fp32",
    .operation = &gm_operation_gemm,
    .params_bytes = sizeof(struct gm_gemm_sm80_params),
    .own = &own,
    .judge = gm_gemm_judge,
    .prepare = prepare,
    .bind = gm_gemm_sm80_bind,
    .divisions = GM_DIVISIONS,
    .division_suffix = gm_division_suffix,
    .division_of = gm_division_of,
};
