/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts, one a device, and every thread's stack of current ones. */
#include "sim/driver/driver_sim.h"

enum { CONTEXTS_MAX = 16, STACK_MAX = 256 };

static struct CUctx_st contexts[CONTEXTS_MAX];

/* The top of the stack is current; an empty stack, or NULL on top: none is. */
static _Thread_local CUcontext stack[STACK_MAX];
static _Thread_local int depth;

static bool is_context(const struct CUctx_st *context) {
    for (int i = 0; i < CONTEXTS_MAX; i++)
        if (context == &contexts[i])
            return sim_device_exists(i);
    return false;
}

CUcontext sim_context_of(CUdevice device) {
    return &contexts[device];
}

CUresult sim_context_current(CUcontext *context) {
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    *context = depth ? stack[depth - 1] : NULL;
    if (!*context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if ((*context)->retained == 0)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return (*context)->fault;
}

CUresult sim_stream_find(CUcontext context, CUstream handle, CUstream *stream) {
    *stream = NULL;
    if (sim_stream_is_default(handle))
        return CUDA_SUCCESS;
    *stream = sim_handle_find(handle, SIM_HANDLE_STREAM);
    return *stream && (*stream)->handle.context == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- primary contexts ------------------------------------------------------------------------------------------- */

/* A context that faulted stays so: its memory may be anything, and a GPU's would be out of reach as well. */
static CUresult begin_context(CUcontext context) {
    const uint64_t offered = sim_options_now()->memory_bytes, own = sim_device_presented()->memory_bytes;
    context->memory = sim_memory_new(offered && offered < own ? offered : own);
    return context->memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void end_context(CUcontext context) {
    sim_handles_end(context);
    sim_memory_free(context->memory);
    context->memory = NULL;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS || !context)
        return started != CUDA_SUCCESS ? started : CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_exists(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext primary = &contexts[device];
    if (primary->fault)
        return primary->fault;
    const CUresult begun = primary->retained ? CUDA_SUCCESS : begin_context(primary);
    if (begun != CUDA_SUCCESS)
        return begun;
    primary->retained++;
    *context = primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!sim_device_exists(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext primary = &contexts[device];
    if (primary->retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary->retained == 0)
        end_context(primary);
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease);

/* ---- which one is current --------------------------------------------------------------------------------------- */

CUresult cuCtxPushCurrent(CUcontext context) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!is_context(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == STACK_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuCtxPushCurrent_v2, cuCtxPushCurrent);

CUresult cuCtxPopCurrent(CUcontext *context) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth];
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuCtxPopCurrent_v2, cuCtxPopCurrent);

CUresult cuCtxGetCurrent(CUcontext *context) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS || !context)
        return started != CUDA_SUCCESS ? started : CUDA_ERROR_INVALID_VALUE;
    *context = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

/* Takes the place of the top; NULL: removes it. */
CUresult cuCtxSetCurrent(CUcontext context) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (context && !is_context(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context)
        depth -= depth > 0;
    else if (depth == 0)
        stack[depth++] = context;
    else
        stack[depth - 1] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS || !device)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    *device = (CUdevice)(context - contexts);
    return CUDA_SUCCESS;
}
