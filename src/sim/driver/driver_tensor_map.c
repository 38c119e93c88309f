/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: the driver's part of tensor_map.c. Encoding needs no context. */
#include "sim/copies/tensor_map.h"
#include "sim/driver/driver_sim.h"

/* Devices without TMA have no maps. */
static CUresult check(const void *map) {
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS || !map)
        return started != CUDA_SUCCESS ? started : CUDA_ERROR_INVALID_VALUE;
    return sim_device_presented()->major >= 9 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                                int interleave, int swizzle, int l2_promotion, int oob_fill) {
    SIM_LOCKED();
    const CUresult result = check(map);
    return result != CUDA_SUCCESS
               ? result
               : sim_tensor_map_encode_tiled(map, type, rank, (uint64_t)(uintptr_t)address, dims, strides, box,
                                             element_strides, interleave, swizzle, l2_promotion, oob_fill);
}

CUresult cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address, const uint64_t *dims,
                                 const uint64_t *strides, const int *lower_corner, const int *upper_corner,
                                 uint32_t channels, uint32_t pixels, const uint32_t *element_strides, int interleave,
                                 int swizzle, int l2_promotion, int oob_fill) {
    SIM_LOCKED();
    const CUresult result = check(map);
    return result != CUDA_SUCCESS
               ? result
               : sim_tensor_map_encode_im2col(map, type, rank, (uint64_t)(uintptr_t)address, dims, strides,
                                              lower_corner, upper_corner, channels, pixels, element_strides, interleave,
                                              swizzle, l2_promotion, oob_fill);
}

CUresult cuTensorMapReplaceAddress(void *map, void *address) {
    SIM_LOCKED();
    const CUresult result = check(map);
    return result != CUDA_SUCCESS ? result : sim_tensor_map_replace_address(map, (uint64_t)(uintptr_t)address);
}
