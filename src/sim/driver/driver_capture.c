/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: the work of a stream, and of those that join it through events, kept instead of done.
 *
 *     origin   begin . a . record e . . . . . . . wait f . end      a, b, c are kept in the order of the calls
 *     other                        wait e . b . c . record f         without the wait for f: UNJOINED */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>

void sim_capture_invalidate(struct sim_capture *capture) {
    capture->invalidated = true;
}

CUresult sim_capture_add(CUstream stream, const struct sim_work *work) {
    if (stream->capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const CUresult result = sim_works_add(stream->capture->works, work);
    stream->captured += result == CUDA_SUCCESS;
    return result;
}

/* Streams and events forget it. */
void sim_capture_end(struct sim_capture *capture) {
    CUstream stream;
    CUevent event;
    for (size_t i = 0; (stream = sim_handle_at(i, SIM_HANDLE_STREAM)); i++)
        if (stream->capture == capture) {
            stream->capture = NULL;
            stream->captured = stream->joined = 0;
        }
    for (size_t i = 0; (event = sim_handle_at(i, SIM_HANDLE_EVENT)); i++)
        if (event->capture == capture) {
            event->capture = NULL;
            event->recorded = false;
        }
    sim_works_release(capture->works);
    free(capture);
}

/* ---- what captures forbid -------------------------------------------------------------------------------------- */

/* A call that a capture forbids spoils it as well. */
static CUresult spoil(struct sim_capture *capture, CUresult result) {
    sim_capture_invalidate(capture);
    return result;
}

/* Of this thread, as cuThreadExchangeStreamCaptureMode() left it. */
static _Thread_local int thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    const int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult sim_capture_allows_unsafe(CUcontext context) {
    CUstream stream;
    (void)context;
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    for (size_t i = 0; (stream = sim_handle_at(i, SIM_HANDLE_STREAM)); i++) {
        struct sim_capture *capture = stream->capture;
        if (!capture || capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        const bool of_all = thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if ((of_all && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL) ||
            pthread_equal(capture->thread, pthread_self()))
            return spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    return CUDA_SUCCESS;
}

/* The capture that the default stream would have to be part of. */
static struct sim_capture *capture_beside_default(CUcontext context) {
    CUstream stream;
    for (size_t i = 0; (stream = sim_handle_at(i, SIM_HANDLE_STREAM)); i++)
        if (stream->capture && stream->handle.context == context && !(stream->flags & CU_STREAM_NON_BLOCKING))
            return stream->capture;
    return NULL;
}

CUresult sim_capture_allows_default(CUcontext context) {
    struct sim_capture *capture = capture_beside_default(context);
    return capture ? spoil(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) : CUDA_SUCCESS;
}

CUresult sim_capture_allows_wait(CUcontext context) {
    CUstream stream;
    for (size_t i = 0; (stream = sim_handle_at(i, SIM_HANDLE_STREAM)); i++)
        if (stream->capture && stream->handle.context == context)
            return spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return CUDA_SUCCESS;
}

/* ---- begin and end --------------------------------------------------------------------------------------------- */

static CUresult enter(CUstream handle, CUstream *stream) {
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    return result != CUDA_SUCCESS ? result : sim_stream_find(context, handle, stream);
}

CUresult cuStreamBeginCapture(CUstream handle, int mode) {
    SIM_LOCKED();
    CUstream stream = NULL;
    const CUresult result = enter(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (!stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct sim_capture *capture = calloc(1, sizeof *capture);
    struct sim_works *works = sim_works_new();
    if (!capture || !works) {
        free(capture);
        free(works);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *capture = (struct sim_capture){mode, pthread_self(), stream, false, works};
    stream->capture = capture;
    stream->captured = stream->joined = 0;
    return CUDA_SUCCESS;
}
SIM_ALIAS(cuStreamBeginCapture_v2, cuStreamBeginCapture);

/* A stream that joined has captured something that the origin does not wait for. */
static bool has_unjoined(const struct sim_capture *capture) {
    CUstream stream;
    for (size_t i = 0; (stream = sim_handle_at(i, SIM_HANDLE_STREAM)); i++)
        if (stream->capture == capture && stream != capture->origin && stream->captured > stream->joined)
            return true;
    return false;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    SIM_LOCKED();
    CUstream stream = NULL;
    CUresult result = enter(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = NULL;
    if (!stream || !stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct sim_capture *capture = stream->capture;
    if (capture->origin != stream)
        return spoil(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (capture->invalidated)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (has_unjoined(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    else if (!(*graph = sim_graph_new(capture->works)))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_ERROR_OUT_OF_MEMORY) /* which another call may find */
        sim_capture_end(capture);
    return result;
}

CUresult cuStreamIsCapturing(CUstream handle, int *status) {
    SIM_LOCKED();
    CUcontext context;
    CUstream stream = NULL;
    CUresult result = sim_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = sim_stream_find(context, handle, &stream);
    if (result != CUDA_SUCCESS || !status)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (!stream && capture_beside_default(context)) /* a question does not spoil it */
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = !stream || !stream->capture    ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                             : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

/* ---- streams that wait for each other -------------------------------------------------------------------------- */

/* An event of a capture takes the stream into it, or joins what came before the event. */
static CUresult wait_in_capture(CUstream stream, const struct CUevent_st *event) {
    if (!stream)
        return spoil(event->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    if (stream->capture && stream->capture != event->capture) {
        sim_capture_invalidate(stream->capture);
        return spoil(event->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (!stream->capture) {
        stream->capture = event->capture;
        stream->captured = stream->joined = 0;
    }
    CUstream from = sim_handle_find(event->stream, SIM_HANDLE_STREAM);
    if (from && from->capture == event->capture && event->captured > from->joined)
        from->joined = event->captured;
    return event->capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
    SIM_LOCKED();
    CUstream stream = NULL;
    const CUresult result = enter(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUevent_st *event = sim_handle_find(event_handle, SIM_HANDLE_EVENT);
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1) /* CU_EVENT_WAIT_EXTERNAL */
        return CUDA_ERROR_INVALID_VALUE;
    if (event->capture)
        return wait_in_capture(stream, event);
    if (stream && stream->capture && event->recorded)
        return spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    return CUDA_SUCCESS;
}
