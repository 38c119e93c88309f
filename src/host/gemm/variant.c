/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of all GEMM families have in common. */
#include "host/gemm/variant.h"

#include "common/arith.h"
#include "common/gemm/tokens.h"
#include "host/error.h"
#include "host/structs.h"

const struct gm_kernel *gm_gemm_kernel_named(const char *name) {
    const int index = gm_find_kernel(gm_kernels, gm_kernel_count(), name);
    return index >= 0 && gm_kernels[index].family->operation == &gm_operation_gemm ? &gm_kernels[index] : NULL;
}

int64_t gm_tiles_m(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->m, (int64_t)v->tile_m * v->cluster_m);
}

int64_t gm_tiles_n(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem) {
    return GM_CEIL_DIV(problem->n, (int64_t)v->tile_n * v->cluster_n);
}

int64_t gm_tiles(const struct gm_gemm_variant *v, const struct gm_gemm_problem *problem) {
    return problem->batch * gm_tiles_m(v, problem) * gm_tiles_n(v, problem);
}

enum gm_status gm_gemm_kernel_get(size_t index, struct gm_gemm_kernel_info *info) {
    const enum gm_status status = gm_struct_check_output(info, GM_GEMM_KERNEL_INFO_BYTES, sizeof *info, "info");
    if (status != GM_OK)
        return status;
    if (index >= gm_kernel_count() || gm_kernels[index].family->operation != &gm_operation_gemm)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "kernel index %zu is no kernel of gemm; the table has %zu kernels",
                       index, gm_kernel_count());
    const struct gm_gemm_variant v = gm_gemm_variant(&gm_kernels[index]);
    struct gm_gemm_kernel_info found = {
        .a_major = GM_LAYOUT_A_MN(v.layout) ? GM_MN_MAJOR : GM_K_MAJOR,
        .b_major = GM_LAYOUT_B_MN(v.layout) ? GM_MN_MAJOR : GM_K_MAJOR,
        .tile_m = v.tile_m,
        .tile_n = v.tile_n,
        .tile_k = v.tile_k,
        .stages = v.stages,
        .cluster_m = v.cluster_m,
        .cluster_n = v.cluster_n,
        .cluster_k = v.cluster_k,
        .warp_k = v.warp_k,
        .split_k = v.split_k,
        .gate = v.gate,
        .batch = v.batch,
        .extended = v.extended,
        .fast_accumulation = v.fast_accumulation,
        .sum_scales = v.sum_scales,
    };
    gm_gemm_family_of(v.kernel)->describe(v.kernel, &found);
    GM_OUTPUT(info, &found);
    return GM_OK;
}
