/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: what is asked for, checked and packed up with its parameters. */
#include "sim/driver/driver_limits.h"
#include "sim/driver/driver_sim.h"

#include <stdlib.h>
#include <string.h>

/* ---- parameters ------------------------------------------------------------------------------------------------ */

/* One pointer for each parameter. */
static CUresult copy_values(const struct ptx_function *code, void *const *values, uint8_t *params) {
    for (uint32_t i = 0; i < code->parameter_count; i++) {
        if (!values[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(params + code->parameters[i].offset, values[i], code->parameters[i].bytes);
    }
    return CUDA_SUCCESS;
}

/* All parameters in one buffer: {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
 * CU_LAUNCH_PARAM_END}, in any order. */
static CUresult copy_buffer(const struct ptx_function *code, void *const *extra, uint8_t *params) {
    enum { ENTRIES = 2 };
    const void *buffer = NULL;
    const size_t *bytes = NULL;
    for (int i = 0; i < ENTRIES && (uintptr_t)extra[2 * i] != CU_LAUNCH_PARAM_END_AS_INT; i++) {
        if ((uintptr_t)extra[2 * i] == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
            buffer = extra[2 * i + 1];
        else if ((uintptr_t)extra[2 * i] == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
            bytes = extra[2 * i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!buffer || !bytes || *bytes < code->parameter_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(params, buffer, code->parameter_bytes);
    return CUDA_SUCCESS;
}

static CUresult copy_params(const struct ptx_function *code, void *const *values, void *const *extra, uint8_t *params) {
    if (values && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (code->parameter_count == 0)
        return CUDA_SUCCESS;
    if (!values && !extra)
        return CUDA_ERROR_INVALID_VALUE;
    return values ? copy_values(code, values, params) : copy_buffer(code, extra, params);
}

/* ---- a launch, packed up --------------------------------------------------------------------------------------- */

static CUresult check_shape(const struct CUfunc_st *function, const struct sim_shape *shape, int *resident) {
    const CUresult result = sim_check_shape(function, shape);
    *resident = result == CUDA_SUCCESS ? sim_clusters_resident(function, shape) : 0;
    return result == CUDA_SUCCESS && *resident == 0 ? CUDA_ERROR_INVALID_CLUSTER_SIZE : result;
}

CUresult sim_launch_make(CUcontext context, CUfunction handle, const CUlaunchConfig *config, void *const *values,
                         void *const *extra, struct sim_work *work) {
    CUfunction function = NULL;
    struct sim_shape shape;
    int resident = 0;
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_function_find(handle, context, &function);
    if (result == CUDA_SUCCESS && function->handle.context != context)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        result = sim_shape_of(config, &shape);
    if (result == CUDA_SUCCESS)
        result = check_shape(function, &shape, &resident);
    if (result != CUDA_SUCCESS)
        return result;
    *work = (struct sim_work){.kind = SIM_WORK_LAUNCH,
                              .launch = {.dynamic_shared = shape.dynamic_shared,
                                         .resident_clusters = (uint32_t)resident,
                                         .function = function,
                                         .serial = function->handle.serial,
                                         .params = sim_params_new(function->code)}};
    memcpy(work->launch.grid, shape.grid, sizeof shape.grid);
    memcpy(work->launch.block, shape.block, sizeof shape.block);
    memcpy(work->launch.cluster, shape.cluster, sizeof shape.cluster);
    if (!work->launch.params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = copy_params(function->code, values, extra, work->launch.params);
    if (result != CUDA_SUCCESS)
        free(work->launch.params);
    return result;
}

CUlaunchConfig sim_launch_config(const struct sim_launch *launch, CUlaunchAttribute *cluster) {
    *cluster = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {launch->cluster[0], launch->cluster[1], launch->cluster[2]}};
    return (CUlaunchConfig){.gridDimX = launch->grid[0],
                            .gridDimY = launch->grid[1],
                            .gridDimZ = launch->grid[2],
                            .blockDimX = launch->block[0],
                            .blockDimY = launch->block[1],
                            .blockDimZ = launch->block[2],
                            .sharedMemBytes = launch->dynamic_shared,
                            .attrs = cluster,
                            .numAttrs = 1};
}

CUresult sim_launch_attribute(struct sim_launch *launch, const CUlaunchAttribute *attribute) {
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config = sim_launch_config(launch, attributes);
    struct sim_shape shape;
    int resident = 0;
    attributes[config.numAttrs++] = *attribute;
    CUresult result = sim_shape_of(&config, &shape);
    if (result == CUDA_SUCCESS)
        result = check_shape(launch->function, &shape, &resident);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(launch->cluster, shape.cluster, sizeof shape.cluster);
    launch->resident_clusters = (uint32_t)resident;
    return CUDA_SUCCESS;
}

/* ---- the calls ------------------------------------------------------------------------------------------------- */

static CUresult launch(CUfunction handle, const CUlaunchConfig *config, void *const *values, void *const *extra) {
    CUcontext context;
    struct sim_work work;
    CUresult result = sim_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = sim_launch_make(context, handle, config, values, extra, &work);
    return result == CUDA_SUCCESS ? sim_work_submit(context, config->hStream, &work) : result;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
    SIM_LOCKED();
    return launch(function, config, params, extra);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                        void **extra) {
    SIM_LOCKED();
    const CUlaunchConfig config = {.gridDimX = grid_x,
                                   .gridDimY = grid_y,
                                   .gridDimZ = grid_z,
                                   .blockDimX = block_x,
                                   .blockDimY = block_y,
                                   .blockDimZ = block_z,
                                   .sharedMemBytes = shared_bytes,
                                   .hStream = stream};
    return launch(function, &config, params, extra);
}
