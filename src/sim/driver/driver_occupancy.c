/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's questions after occupancy. */
#include "sim/driver/driver_limits.h"
#include "sim/driver/driver_sim.h"

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int block_threads,
                                                     size_t shared_bytes) {
    SIM_LOCKED();
    CUcontext context;
    CUfunction function = NULL;
    CUresult result = sim_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = sim_function_find(handle, context, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!blocks || block_threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = 0;
    if (block_threads <= SIM_BLOCK_THREADS_MAX)
        *blocks = sim_ctas_per_sm(function, (uint32_t)block_threads, shared_bytes);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle, const CUlaunchConfig *config) {
    SIM_LOCKED();
    CUcontext context;
    CUfunction function = NULL;
    struct sim_shape shape;
    CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!clusters || !config)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_function_find(handle, context, &function);
    if (result == CUDA_SUCCESS)
        result = sim_shape_of(config, &shape);
    if (result == CUDA_SUCCESS)
        result = sim_check_shape(function, &shape);
    if (result == CUDA_SUCCESS)
        *clusters = sim_clusters_resident(function, &shape);
    return result;
}
