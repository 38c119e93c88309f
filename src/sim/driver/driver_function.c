/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: their attributes and parameters. */
#include "sim/driver/driver_limits.h"
#include "sim/driver/driver_sim.h"

/* ---- finding one ----------------------------------------------------------------------------------------------- */

static CUresult enter(CUfunction handle, CUfunction *function) {
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    return result == CUDA_SUCCESS ? sim_function_find(handle, context, function) : result;
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

/* An image of the table holds machine code for 8.0 and 9.0; text is compiled for the device itself. */
static int binary_version(const struct CUfunc_st *function) {
    const struct sim_device *device = sim_device_presented();
    return device->major * 10 + (function->image->from_table && device->major == 8 ? 0 : device->minor);
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction handle) {
    SIM_LOCKED();
    CUfunction function = NULL;
    const CUresult result = enter(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    const struct ptx_function *code = function->code;
    const int values[] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = sim_block_limit(code),
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)code->static_shared_bytes,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)code->local_bytes,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = function->registers,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = (int)code->module->target,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = binary_version(function),
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = function->dynamic_shared_max,
        [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = function->carveout,
        [CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] = function->any_cluster_size,
        [CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE] = function->scheduling,
    };
    if (!value || attribute < 0 || attribute >= (int)(sizeof values / sizeof *values))
        return CUDA_ERROR_INVALID_VALUE;
    *value = values[attribute];
    return CUDA_SUCCESS;
}

/* Into *target when the value is one of least .. most. */
static CUresult set(int *target, int value, int least, int most) {
    if (value < least || value > most)
        return CUDA_ERROR_INVALID_VALUE;
    *target = value;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
    SIM_LOCKED();
    CUfunction function = NULL;
    const CUresult result = enter(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_device *device = sim_device_presented();
    const int shared_limit = device->shared_per_block_optin - (int)function->code->static_shared_bytes;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return set(&function->dynamic_shared_max, value, 0, shared_limit);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return set(&function->carveout, value, -1, 100); /* percent */
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        if (device->max_cluster <= 1)
            return CUDA_ERROR_NOT_SUPPORTED;
        function->any_cluster_size = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return set(&function->scheduling, value, 0, 2);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes) {
    SIM_LOCKED();
    CUfunction function = NULL;
    const CUresult result = enter(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!offset || index >= function->code->parameter_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = function->code->parameters[index].offset;
    if (bytes)
        *bytes = function->code->parameters[index].bytes;
    return CUDA_SUCCESS;
}
