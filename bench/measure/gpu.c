/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU in use by the bench. */
#include "bench/measure/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int gpu_fail(CUresult result, const char *call) {
    return complain("%s failed: %s", call, gm_driver_error_name(result));
}

int gpu_fail_library(enum gm_status status, const char *call) {
    return complain("%s: %s: %s", call, gm_status_name(status), gm_last_error());
}

int gpu_count(char *why, size_t bytes) {
    int count = 0;
    enum gm_status status = gm_device_count(&count);
    if (status != GM_OK)
        count = 0;
    if (count == 0)
        snprintf(why, bytes, "%s", status == GM_OK ? "the driver found no CUDA device" : gm_last_error());
    return count;
}

int gpu_count_or_simulate(char *why, size_t bytes) {
    const int count = gpu_count(why, bytes);
    if (count || !gm_driver_fall_back())
        return count;
    const char *device = getenv("GM_SIM_DEVICE");
    note("no GPU here: using the simulated %s; its results are real, its times mean nothing",
         device && *device ? device : "h100");
    return gpu_count(why, bytes);
}

int gpu_simulate(const char *device) {
    static const char *const devices[] = {
#define DEVICE(token, ...) #token,
#include "sim/machine/devices.def"
#undef DEVICE
    };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(device, devices[i]) == 0)
            return setenv("GM_DRIVER", "sim", 1) || setenv("GM_SIM_DEVICE", device, 1) ? complain("out of memory") : 0;
    return complain("the simulated GPU is an a100, h100, h200 or rtx4090, not %s", device);
}

static int open_stream(struct gpu *gpu, int ordinal) {
    GPU_TRY(gpu, cuDeviceGet, &gpu->handle, ordinal);
    GPU_TRY(gpu, cuDevicePrimaryCtxRetain, &gpu->primary, gpu->handle);
    GPU_TRY(gpu, cuCtxSetCurrent, gpu->primary);
    GPU_TRY(gpu, cuStreamCreate, &gpu->stream, CU_STREAM_NON_BLOCKING);
    return 0;
}

int gpu_open(struct gpu *gpu, int ordinal) {
    *gpu = (struct gpu){.device.size = sizeof gpu->device};
    enum gm_status status = gm_context_create(ordinal, &gpu->context);
    if (status != GM_OK)
        return gpu_fail_library(status, "gm_context_create");
    status = gm_context_device(gpu->context, &gpu->device);
    if (status != GM_OK)
        return gpu_fail_library(status, "gm_context_device");
    gpu->drv = gm_driver();
    if (!gpu->drv)
        return complain("%s", gm_last_error());
    return open_stream(gpu, ordinal);
}

void gpu_close(struct gpu *gpu) {
    if (gpu->stream)
        gpu->drv->cuStreamDestroy(gpu->stream);
    if (gpu->primary) {
        gpu->drv->cuCtxSetCurrent(NULL);
        gpu->drv->cuDevicePrimaryCtxRelease(gpu->handle);
    }
    gm_context_destroy(gpu->context);
    *gpu = (struct gpu){0};
}

int gpu_alloc(const struct gpu *gpu, CUdeviceptr *address, size_t bytes) {
    CUresult result = gpu->drv->cuMemAlloc ? gpu->drv->cuMemAlloc(address, bytes) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        return 0;
    *address = 0;
    return complain("cuMemAlloc of %zu MiB failed: %s", bytes >> 20, gm_driver_error_name(result));
}

void gpu_free(const struct gpu *gpu, CUdeviceptr *address) {
    if (*address)
        gpu->drv->cuMemFree(*address);
    *address = 0;
}

int gpu_finish(const struct gpu *gpu) {
    GPU_TRY(gpu, cuStreamSynchronize, gpu->stream);
    return 0;
}

int gpu_begin_capture(const struct gpu *gpu) {
    GPU_TRY(gpu, cuStreamBeginCapture, gpu->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    return 0;
}

int gpu_end_capture(const struct gpu *gpu, int status, CUgraphExec *exec) {
    CUgraph graph = NULL;
    GPU_TRY(gpu, cuStreamEndCapture, gpu->stream, &graph);
    const CUresult result = status == 0 ? gpu->drv->cuGraphInstantiateWithFlags(exec, graph, 0) : CUDA_SUCCESS;
    gpu->drv->cuGraphDestroy(graph);
    if (result != CUDA_SUCCESS)
        return gpu_fail(result, "cuGraphInstantiateWithFlags");
    return status == 0 ? 0 : -1;
}

double gpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
