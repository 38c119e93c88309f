/* SPDX-License-Identifier: Apache-2.0 */
/* A driver whose device is the CPU: host memory as device memory. The tests test themselves on it, with bugs
 * planted. Images, launches and graphs are in fake_launch.c. */
#include "fake_driver.h"

#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"

int planted_bug;

static struct CUctx_st {
    int retained;
} primary;

enum { CONTEXTS = 16 };
static _Thread_local CUcontext current[CONTEXTS];
static _Thread_local int depth;

/* ---- start, devices, contexts ---------------------------------------------------------------------- */

CUresult fake_cuInit(unsigned flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult fake_cuDriverGetVersion(int *version) {
    return *version = 13000, CUDA_SUCCESS;
}
CUresult fake_cuGetErrorName(CUresult error, const char **name) {
    *name = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "an error of the stand-in";
    return CUDA_SUCCESS;
}
CUresult fake_cuDeviceGetCount(int *count) {
    return *count = 1, CUDA_SUCCESS;
}
CUresult fake_cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult fake_cuDeviceGetName(char *name, int length, CUdevice device) {
    snprintf(name, (size_t)length, "CPU stand-in %d", device);
    return CUDA_SUCCESS;
}
/* Three SMs, so that persistent grids come round. Attributes without an entry are clocks. */
CUresult fake_cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    static const int known[][2] = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
                                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
                                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
                                   {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
                                   {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20},
                                   {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120}};
    *value = 1500000;
    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i][0] == attribute)
            *value = known[i][1];
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    *bytes = (size_t)8 << 30;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    primary.retained++;
    *context = &primary;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device) {
    return primary.retained -= 1, (CUresult)device;
}
CUresult fake_cuCtxPushCurrent(CUcontext context) {
    if (depth + 1 >= CONTEXTS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    current[++depth] = context;
    return CUDA_SUCCESS;
}
CUresult fake_cuCtxPopCurrent(CUcontext *context) {
    if (depth == 0 && !current[0])
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = current[depth];
    current[depth] = NULL;
    depth -= depth > 0;
    return CUDA_SUCCESS;
}
CUresult fake_cuCtxGetCurrent(CUcontext *context) {
    return *context = current[depth], CUDA_SUCCESS;
}
CUresult fake_cuCtxSetCurrent(CUcontext context) {
    return current[depth] = context, CUDA_SUCCESS;
}
CUresult fake_cuStreamGetCtx(CUstream stream, CUcontext *context) {
    (void)stream;
    return *context = &primary, CUDA_SUCCESS;
}
CUresult fake_cuCtxSynchronize(void) {
    return CUDA_SUCCESS;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

CUresult fake_cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    *address = (CUdeviceptr)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult fake_cuMemFree(CUdeviceptr address) {
    return free((void *)(uintptr_t)address), CUDA_SUCCESS;
}
CUresult fake_cuMemGetInfo(size_t *free_bytes, size_t *total) {
    return *free_bytes = *total = (size_t)1 << 30, CUDA_SUCCESS;
}
CUresult fake_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
    return memcpy((void *)(uintptr_t)to, from, bytes), CUDA_SUCCESS;
}
CUresult fake_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    return memcpy(to, (void *)(uintptr_t)from, bytes), CUDA_SUCCESS;
}
CUresult fake_cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return fake_cuMemcpyHtoD(to, (void *)(uintptr_t)from, bytes);
}
CUresult fake_cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
    return memset((void *)(uintptr_t)to, value, bytes), CUDA_SUCCESS;
}

/* The functions that gpu_tests and the library call; the rest of the table stays NULL. */
#define HAS(name) .name = fake_##name
static const struct gm_driver fake = {
    .version = 13000,
    HAS(cuInit),
    HAS(cuDriverGetVersion),
    HAS(cuGetErrorName),
    HAS(cuDeviceGetCount),
    HAS(cuDeviceGet),
    HAS(cuDeviceGetName),
    HAS(cuDeviceGetAttribute),
    HAS(cuDeviceTotalMem),
    HAS(cuDevicePrimaryCtxRetain),
    HAS(cuDevicePrimaryCtxRelease),
    HAS(cuCtxPushCurrent),
    HAS(cuCtxPopCurrent),
    HAS(cuCtxGetCurrent),
    HAS(cuCtxSetCurrent),
    HAS(cuCtxSynchronize),
    HAS(cuLibraryLoadData),
    HAS(cuLibraryUnload),
    HAS(cuLibraryGetKernel),
    HAS(cuKernelGetFunction),
    HAS(cuFuncSetAttribute),
    HAS(cuFuncGetAttribute),
    HAS(cuTensorMapEncodeTiled),
    HAS(cuTensorMapReplaceAddress),
    HAS(cuLaunchKernelEx),
    HAS(cuMemAlloc),
    HAS(cuMemFree),
    HAS(cuMemGetInfo),
    HAS(cuMemcpyHtoD),
    HAS(cuMemcpyDtoH),
    HAS(cuMemcpyDtoD),
    HAS(cuMemsetD8),
    HAS(cuStreamCreate),
    HAS(cuStreamDestroy),
    HAS(cuStreamSynchronize),
    HAS(cuStreamBeginCapture),
    HAS(cuStreamEndCapture),
    HAS(cuStreamGetCtx),
    HAS(cuStreamIsCapturing),
    HAS(cuThreadExchangeStreamCaptureMode),
    HAS(cuGraphCreate),
    HAS(cuGraphAddKernelNode),
    HAS(cuGraphKernelNodeSetAttribute),
    HAS(cuGraphExecKernelNodeSetParams),
    HAS(cuGraphInstantiateWithFlags),
    HAS(cuGraphLaunch),
    HAS(cuGraphExecDestroy),
    HAS(cuGraphDestroy),
};

const struct gm_driver *fake_driver(void) {
    return &fake;
}
