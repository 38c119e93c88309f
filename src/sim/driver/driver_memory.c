/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, copies, fills. */
#include "sim/driver/driver_sim.h"

/* ---- allocations ------------------------------------------------------------------------------------------------ */

/* The current context, unless a capture forbids calls like these. */
static CUresult enter(CUcontext *context) {
    const CUresult result = sim_context_current(context);
    return result != CUDA_SUCCESS ? result : sim_capture_allows_unsafe(*context);
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!address || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *address = sim_memory_allocate(context->memory, bytes);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
SIM_ALIAS(cuMemAlloc_v2, cuMemAlloc);

CUresult cuMemFree(CUdeviceptr address) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    return sim_memory_release(context->memory, address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
SIM_ALIAS(cuMemFree_v2, cuMemFree);

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t unused, total;
    sim_memory_info(context->memory, &unused, &total);
    if (free_bytes)
        *free_bytes = unused;
    if (total_bytes)
        *total_bytes = total;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuMemGetInfo_v2, cuMemGetInfo);

/* ---- copies and fills ------------------------------------------------------------------------------------------ */

static struct sim_work copy(int kind, uint64_t to, uint64_t from, size_t bytes) {
    struct sim_work work = {.kind = kind, .to = to, .from = from, .bytes = bytes};
    return work;
}

static uint64_t host(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

static CUresult do_now(struct sim_work work) {
    SIM_LOCKED();
    CUcontext context;
    CUresult result = enter(&context);
    if (result == CUDA_SUCCESS)
        result = sim_capture_allows_default(context);
    return result == CUDA_SUCCESS ? sim_work_run(context, &work) : result;
}

static CUresult do_on(CUstream stream, struct sim_work work) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    return result == CUDA_SUCCESS ? sim_work_submit(context, stream, &work) : result;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
    return do_now(copy(SIM_WORK_TO_DEVICE, to, host(from), bytes));
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    return do_now(copy(SIM_WORK_TO_HOST, host(to), from, bytes));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return do_now(copy(SIM_WORK_ON_DEVICE, to, from, bytes));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    return do_on(stream, copy(SIM_WORK_TO_DEVICE, to, host(from), bytes));
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return do_on(stream, copy(SIM_WORK_TO_HOST, host(to), from, bytes));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return do_on(stream, copy(SIM_WORK_ON_DEVICE, to, from, bytes));
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t bytes) {
    return do_now((struct sim_work){.kind = SIM_WORK_FILL, .to = to, .bytes = bytes, .value = value});
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
    return do_on(stream, (struct sim_work){.kind = SIM_WORK_FILL, .to = to, .bytes = bytes, .value = value});
}
SIM_ALIAS(cuMemcpyHtoD_v2, cuMemcpyHtoD);
SIM_ALIAS(cuMemcpyDtoH_v2, cuMemcpyDtoH);
SIM_ALIAS(cuMemcpyDtoD_v2, cuMemcpyDtoD);
SIM_ALIAS(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync);
SIM_ALIAS(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync);
SIM_ALIAS(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync);
SIM_ALIAS(cuMemsetD8_v2, cuMemsetD8);
