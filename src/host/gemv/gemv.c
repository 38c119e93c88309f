/* SPDX-License-Identifier: Apache-2.0 */
/* The family gemv: what its kernels ask of a problem, and what a launch of one is told. */
#include "host/gemv/gemv.h"

#include "common/gemm/tokens.h"
#include "host/gemm/judge.h"
#include "host/gemm_sm80/gemm_sm80.h"

#include <inttypes.h>

#define MOST_M 8 /* rows of A: beyond, gemv reads B more often than tensor cores wait for it */

static struct gm_gemm_variant variant(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (struct gm_gemm_variant){
        .kernel = kernel,
        .layout = GM_LAYOUT_tn,
        .tile_m = c[GM_GEMV_TILE_M],
        .tile_n = c[GM_GEMV_TILE_N],
        .tile_k = c[GM_GEMV_TILE_K],
        .stages = c[GM_GEMV_STAGES],
        .cluster_m = 1,
        .cluster_n = 1,
        .cluster_k = 1,
        .warp_k = c[GM_GEMV_WARPS_K],
        .stream_k_slots = 1,
    };
}

static void describe(const struct gm_kernel *kernel, struct gm_gemm_kernel_info *info) {
    info->schedule = GM_MULTISTAGE;
    info->smem_map = GM_SMEM_NONE;
    info->warps_m = 1;
    info->warps_n = kernel->columns[GM_GEMV_WARPS_N];
}

static enum gm_reason check(const struct gm_gemm_inquiry *q) {
    if (q->problem->m > MOST_M && !q->question->options->kernel)
        return gm_say(q->why, GM_REASON_SIZE,
                      "M = %" PRId64 ": it reads B for every %d rows of A, and is chosen for %d at most, or by name",
                      q->problem->m, q->variant->tile_m, MOST_M);
    if (gm_is_batch_invariant(q->question)) /* named too: one row of A may be loaded more widely than several */
        return gm_say(q->why, GM_REASON_ORDER,
                      "lanes share the K of an element; a batch-invariant plan sums it as the tensor cores do");
    return GM_ACCEPTED;
}

static enum gm_status prepare(struct gm_plan *plan, const struct gm_verdict *verdict) {
    const struct gm_gemm_variant v = variant(plan->kernel);
    const struct gm_gemm_planned *planned = plan->problem;
    struct gm_gemm_sm80_params *params = plan->params;
    const int32_t tiles_m = (int32_t)gm_tiles_m(&v, &planned->problem);
    params->raster = (struct gm_raster){
        .tiles_m = tiles_m,
        .tiles_n = (int32_t)gm_tiles_n(&v, &planned->problem),
        .group = tiles_m, /* all that read the same rows of B, one after the other */
    };
    return gm_gemm_sm80_prepare(plan, verdict);
}

static const struct gm_gemm_family own = {
    .variant = variant,
    .describe = describe,
    .check = check,
    .cost_us = gm_gemv_cost_us,
    .stream_k = offsetof(struct gm_gemm_sm80_params, stream_k),
};

const struct gm_family gm_family_gemv = {
    .name = "gemv",
    .operation = &gm_operation_gemm,
    .params_bytes = sizeof(struct gm_gemm_sm80_params),
    .own = &own,
    .judge = gm_gemm_judge,
    .prepare = prepare,
    .bind = gm_gemm_sm80_bind,
    .divisions = 1,
};
