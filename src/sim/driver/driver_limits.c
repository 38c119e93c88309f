/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch may look like. */
#include "sim/driver/driver_limits.h"

#include <string.h>

enum {
    DEPTH_MAX = 64,        /* of a block */
    GRID_ROWS_MAX = 65535, /* along y and z */
    ATTRIBUTES_MAX = 64,
    ATTRIBUTE_LAST = 16 /* of CUlaunchAttributeID; those not named below are hints */
};

/* ---- from the configuration ------------------------------------------------------------------------------------ */

static CUresult read_attribute(const CUlaunchAttribute *attribute, struct sim_shape *shape) {
    if (attribute->id < 0 || attribute->id > ATTRIBUTE_LAST)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        shape->cooperative = attribute->value.cooperative != 0;
    if (attribute->id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return CUDA_SUCCESS;
    const uint32_t dims[3] = {attribute->value.clusterDim.x, attribute->value.clusterDim.y,
                              attribute->value.clusterDim.z};
    memcpy(shape->cluster, dims, sizeof dims);
    return dims[0] && dims[1] && dims[2] ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_shape_of(const CUlaunchConfig *config, struct sim_shape *shape) {
    *shape = (struct sim_shape){.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                .cluster = {1, 1, 1},
                                .dynamic_shared = config->sharedMemBytes};
    if (config->numAttrs > ATTRIBUTES_MAX || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUresult result = read_attribute(&config->attrs[i], shape);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

static uint64_t product(const uint32_t dims[3]) { /* of numbers below 2^16 but for the first: no overflow */
    return (uint64_t)dims[0] * dims[1] * dims[2];
}

static bool grid_is_legal(const uint32_t grid[3]) {
    return grid[0] && grid[1] && grid[2] && grid[0] <= INT32_MAX && grid[1] <= GRID_ROWS_MAX &&
           grid[2] <= GRID_ROWS_MAX;
}

/* A block larger than the kernel's launch bounds is refused as one of more than 1024 threads is. */
static bool block_is_legal(const uint32_t block[3], const struct ptx_function *code) {
    return block[0] && block[1] && block[2] && block[0] <= SIM_BLOCK_THREADS_MAX && block[1] <= SIM_BLOCK_THREADS_MAX &&
           block[2] <= DEPTH_MAX && product(block) <= (uint64_t)sim_block_limit(code);
}

static CUresult check_cluster(const struct CUfunc_st *function, const struct sim_shape *shape) {
    const struct sim_device *device = sim_device_presented();
    const uint32_t *cluster = shape->cluster;
    for (int i = 0; i < 3; i++)
        if (cluster[i] > SIM_CLUSTER_MAX)
            return device->max_cluster > 1 ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_ERROR_INVALID_VALUE;
    const uint64_t size = product(cluster);
    if (size > 1 && device->max_cluster <= 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (size > (function->any_cluster_size ? SIM_CLUSTER_MAX : (uint64_t)device->max_cluster))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    for (int i = 0; i < 3; i++)
        if (shape->grid[i] % cluster[i])
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult sim_check_shape(const struct CUfunc_st *function, const struct sim_shape *shape) {
    if (!grid_is_legal(shape->grid) || !block_is_legal(shape->block, function->code) ||
        shape->dynamic_shared > (uint32_t)function->dynamic_shared_max)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = check_cluster(function, shape);
    if (result != CUDA_SUCCESS)
        return result;
    const int ctas = sim_ctas_per_sm(function, (uint32_t)product(shape->block), shape->dynamic_shared);
    if (ctas == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (shape->cooperative && product(shape->grid) > (uint64_t)ctas * (uint64_t)sim_device_presented()->sm_count)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return CUDA_SUCCESS;
}
