/* SPDX-License-Identifier: Apache-2.0 */
/* Loading and launching a reader's kernel. */
#include "program/sim/launch_start.h"

CUresult launch_load(const struct gpu *gpu, const char *ptx, const char *kernel, CUlibrary *library,
                     CUfunction *function) {
    CUkernel handle;
    int options[] = {CU_JIT_GENERATE_LINE_INFO};
    void *values[] = {(void *)(uintptr_t)1};
    CUresult result = gpu->drv->cuLibraryLoadData(library, ptx, options, values, 1, NULL, NULL, 0);
    if (result != CUDA_SUCCESS) {
        *library = NULL;
        return result;
    }
    result = gpu->drv->cuLibraryGetKernel(&handle, *library, kernel);
    return result == CUDA_SUCCESS ? gpu->drv->cuKernelGetFunction(function, handle) : result;
}

CUresult launch_allow_shared(const struct gpu *gpu, CUfunction function, int bytes) {
    return gpu->drv->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

CUresult launch_start(const struct gpu *gpu, CUfunction function, const struct launch_options *given,
                      const unsigned cluster[LAUNCH_DIMENSIONS], struct launch_arguments *arguments) {
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {cluster[0], cluster[1], cluster[2]}};
    const CUlaunchConfig config = {.gridDimX = given->grid[0],
                                   .gridDimY = given->grid[1],
                                   .gridDimZ = given->grid[2],
                                   .blockDimX = given->block[0],
                                   .blockDimY = given->block[1],
                                   .blockDimZ = given->block[2],
                                   .sharedMemBytes = (unsigned)given->shared,
                                   .hStream = gpu->stream,
                                   .attrs = &attribute,
                                   .numAttrs = cluster[0] != 0};
    void *values[LAUNCH_ARGUMENTS_MAX];
    for (size_t i = 0; i < arguments->count; i++) {
        struct launch_argument *argument = &arguments->each[i];
        values[i] = argument->is_buffer ? (void *)&argument->address : argument->bytes;
    }
    const CUresult result = gpu->drv->cuLaunchKernelEx(&config, function, values, NULL);
    return result == CUDA_SUCCESS ? gpu->drv->cuStreamSynchronize(gpu->stream) : result;
}
