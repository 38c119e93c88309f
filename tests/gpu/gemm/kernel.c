/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the table, as cases see them. */
#include "gemm_tests.h"

bool read_kernel(size_t index, struct kernel *kernel) {
    struct gm_kernel_info info = {.size = sizeof info};
    struct gm_gemm_kernel_info gemm = {.size = sizeof gemm};
    if (gm_kernel_get(index, &info) != GM_OK || gm_gemm_kernel_get(index, &gemm) != GM_OK)
        return false;
    *kernel = (struct kernel){
        .name = info.name,
        .arch = info.arch,
        .type = info.type,
        .a_major = gemm.a_major,
        .b_major = gemm.b_major,
        .tile_m = gemm.tile_m,
        .tile_n = gemm.tile_n,
        .tile_k = gemm.tile_k,
        .stages = gemm.stages,
        .cluster_m = gemm.cluster_m,
        .cluster_n = gemm.cluster_n,
        .cluster_k = gemm.cluster_k,
        .warp_k = gemm.warp_k,
        .schedule = gemm.schedule,
        .smem_map = gemm.smem_map,
        .smem_bytes = info.smem_bytes,
        .is_gemv = strcmp(info.family, "gemv") == 0,
        .uses_tma = strcmp(info.family, "gemm_sm90") == 0,
        .has_split_k = gemm.split_k != 0,
        .is_swapped = gemm.swap != 0,
    };
    return true;
}
