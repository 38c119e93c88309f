/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU in use by the bench: the library's context, the driver's table, one stream. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include "host/driver.h"
#include "gristmill/gristmill.h"
#include "program/base/messages.h"

struct gpu {
    const struct gm_driver *drv;
    gm_context *context;
    CUcontext primary;
    CUdevice handle;
    CUstream stream;
    struct gm_device device;
};

/* 0, or -1 with a printed sentence. Makes the device's primary context current on this thread. */
int gpu_open(struct gpu *gpu, int ordinal);
void gpu_close(struct gpu *gpu);

/* Prints "<call> failed: <CUresult name> (<what>)"; returns -1. */
int gpu_fail(CUresult result, const char *call);
/* Prints the library's own sentence for a failed gristmill call; returns -1. */
int gpu_fail_library(enum gm_status status, const char *call);

/* Calls a driver function; on failure prints a sentence and returns -1 from the function it stands in. */
#define GPU_TRY(gpu, name, ...)                                                                                        \
    do {                                                                                                               \
        if (!(gpu)->drv->name)                                                                                         \
            return complain("this driver has no " #name ", which the bench needs");                                    \
        CUresult gpu_try_result = (gpu)->drv->name(__VA_ARGS__);                                                       \
        if (gpu_try_result != CUDA_SUCCESS)                                                                            \
            return gpu_fail(gpu_try_result, #name);                                                                    \
    } while (0)

int gpu_alloc(const struct gpu *gpu, CUdeviceptr *address, size_t bytes);
void gpu_free(const struct gpu *gpu, CUdeviceptr *address); /* 0 is allowed; sets it to 0 */
int gpu_finish(const struct gpu *gpu);                      /* waits for the stream */

/* What is launched on the stream between the two becomes a graph. `status` of those launches: other than 0 there is none,
 * and -1 is returned. */
int gpu_begin_capture(const struct gpu *gpu);
int gpu_end_capture(const struct gpu *gpu, int status, CUgraphExec *exec);

/* Seconds of a clock that never steps. */
double gpu_seconds(void);

/* How many GPUs the driver has: 0 when there is no driver or no device, with the reason in `why`. */
int gpu_count(char *why, size_t bytes);
/* The same; but where there is none and GM_DRIVER is not set, the simulated GPU takes its place, and a note says so. */
int gpu_count_or_simulate(char *why, size_t bytes);
/* The simulated `device` ("h100") is the GPU of this process, if no driver is open yet. 0, or -1 with a printed sentence. */
int gpu_simulate(const char *device);

#endif
