/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. Everything is done when the call that orders it returns, so streams keep the order of the calls;
 * the time between events is the host's. */
#include "sim/driver/driver_sim.h"

#include <time.h>

/* ---- streams --------------------------------------------------------------------------------------------------- */

/* The current context and a stream of it. */
static CUresult enter(CUstream handle, CUcontext *context, CUstream *stream) {
    const CUresult result = sim_context_current(context);
    return result != CUDA_SUCCESS ? result : sim_stream_find(*context, handle, stream);
}

/* What it has captured so far is lost, and with it the whole sequence. */
static void end_capture(void *handle) {
    CUstream stream = handle;
    struct sim_capture *capture = stream->capture;
    if (capture && capture->origin == stream)
        sim_capture_end(capture);
    else if (capture)
        sim_capture_invalidate(capture);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!stream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    CUstream made = sim_handle_new(sizeof *made, SIM_HANDLE_STREAM, context);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->handle.free = end_capture;
    made->flags = flags;
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle) {
    SIM_LOCKED();
    CUcontext context;
    CUstream stream = NULL;
    const CUresult result = enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS || !stream)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
    sim_handle_free(stream);
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuStreamDestroy_v2, cuStreamDestroy);

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS || !context)
        return started != CUDA_SUCCESS ? started : CUDA_ERROR_INVALID_VALUE;
    if (sim_stream_is_default(handle))
        return sim_context_current(context);
    const struct CUstream_st *stream = sim_handle_find(handle, SIM_HANDLE_STREAM);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    *context = stream->handle.context;
    return CUDA_SUCCESS;
}

static CUresult wait_for(CUstream handle) {
    CUcontext context;
    CUstream stream = NULL;
    const CUresult result = enter(handle, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream && stream->capture) {
        sim_capture_invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    const CUresult allowed = sim_capture_allows_unsafe(context);
    return allowed != CUDA_SUCCESS || stream ? allowed : sim_capture_allows_default(context);
}

CUresult cuStreamSynchronize(CUstream stream) {
    SIM_LOCKED();
    return wait_for(stream);
}

CUresult cuStreamQuery(CUstream stream) {
    SIM_LOCKED();
    return wait_for(stream);
}

CUresult cuCtxSynchronize(void) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    return result != CUDA_SUCCESS ? result : sim_capture_allows_wait(context);
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

static CUresult find_event(CUevent handle, CUcontext *context, CUevent *event) {
    const CUresult result = sim_context_current(context);
    if (result != CUDA_SUCCESS)
        return result;
    *event = sim_handle_find(handle, SIM_HANDLE_EVENT);
    return *event && (*event)->handle.context == *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const unsigned all = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!event || (flags & ~all) || ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    CUevent made = sim_handle_new(sizeof *made, SIM_HANDLE_EVENT, context);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->flags = flags;
    *event = made;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent handle) {
    SIM_LOCKED();
    CUcontext context;
    CUevent event = NULL;
    const CUresult result = find_event(handle, &context, &event);
    if (result == CUDA_SUCCESS)
        sim_handle_free(event);
    return result;
}
SIM_ALIAS(cuEventDestroy_v2, cuEventDestroy);

static uint64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

CUresult cuEventRecord(CUevent handle, CUstream on) {
    SIM_LOCKED();
    CUcontext context;
    CUevent event = NULL;
    CUstream stream = NULL;
    CUresult result = find_event(handle, &context, &event);
    if (result == CUDA_SUCCESS)
        result = sim_stream_find(context, on, &stream);
    if (result == CUDA_SUCCESS && !stream)
        result = sim_capture_allows_default(context);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream && stream->capture && stream->capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    event->recorded = true;
    event->nanoseconds = nanoseconds_now();
    event->capture = stream ? stream->capture : NULL;
    event->stream = stream;
    event->captured = stream ? stream->captured : 0;
    return CUDA_SUCCESS;
}

/* For calls on an event that must not be part of a capture. */
static CUresult find_uncaptured(CUevent handle, CUcontext *context, CUevent *event) {
    const CUresult result = find_event(handle, context, event);
    if (result != CUDA_SUCCESS || !(*event)->capture)
        return result;
    sim_capture_invalidate((*event)->capture);
    return CUDA_ERROR_CAPTURED_EVENT;
}

static CUresult wait_for_event(CUevent handle) {
    CUcontext context;
    CUevent event = NULL;
    const CUresult result = find_uncaptured(handle, &context, &event);
    return result != CUDA_SUCCESS ? result : sim_capture_allows_unsafe(context);
}

CUresult cuEventSynchronize(CUevent event) {
    SIM_LOCKED();
    return wait_for_event(event);
}

CUresult cuEventQuery(CUevent event) {
    SIM_LOCKED();
    return wait_for_event(event);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop) {
    SIM_LOCKED();
    CUcontext context;
    CUevent from = NULL, to = NULL;
    CUresult result = find_uncaptured(start, &context, &from);
    if (result == CUDA_SUCCESS)
        result = find_uncaptured(stop, &context, &to);
    if (result != CUDA_SUCCESS)
        return result;
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    if (!from->recorded || !to->recorded || ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(int64_t)(to->nanoseconds - from->nanoseconds) * 1e-6);
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);
