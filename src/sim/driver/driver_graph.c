/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: the work that a capture kept, or that was put together node by node, done again at every launch. */
#include "sim/driver/driver_sim.h"

static void free_exec(void *handle) {
    sim_works_release(((CUgraphExec)handle)->works);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph handle, unsigned long long flags) {
    SIM_LOCKED();
    enum { ALL_FLAGS = 15 };
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    CUgraph graph = sim_handle_find(handle, SIM_HANDLE_GRAPH);
    if (!exec || flags > ALL_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    if (!graph)
        return CUDA_ERROR_INVALID_HANDLE;
    const CUresult allowed = sim_capture_allows_unsafe(context);
    if (allowed != CUDA_SUCCESS)
        return allowed;
    CUgraphExec made = sim_handle_new(sizeof *made, SIM_HANDLE_GRAPH_EXEC, context);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->handle.free = free_exec;
    made->works = graph->works;
    made->works->owners++;
    made->graph = graph->handle.serial;
    made->nodes = graph->works->count;
    *exec = made;
    return CUDA_SUCCESS;
}

/* Into the stream's capture, or at once. */
static CUresult launch_one(CUcontext context, CUstream stream, const struct sim_work *work) {
    if (!sim_work_lives(work))
        return CUDA_ERROR_INVALID_HANDLE;
    return stream && stream->capture ? sim_capture_add(stream, work) : sim_work_run(context, work);
}

/* A capture gets all of the works or none. */
static CUresult launch_all(CUcontext context, CUstream stream, const struct sim_works *works) {
    const struct CUstream_st before = stream ? *stream : (struct CUstream_st){0};
    const size_t captured = before.capture ? before.capture->works->count : 0;
    const size_t count = works->count; /* as it is now: a capture may add to the same list */
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const struct sim_work work = works->work[i];
        result = launch_one(context, stream, &work);
    }
    if (result != CUDA_SUCCESS && before.capture) {
        sim_works_cut(before.capture->works, captured);
        stream->captured = before.captured;
    }
    return result;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream on) {
    SIM_LOCKED();
    CUcontext context;
    CUstream stream = NULL;
    CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    CUgraphExec exec = sim_handle_find(handle, SIM_HANDLE_GRAPH_EXEC);
    if (!exec || exec->handle.context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    result = sim_stream_find(context, on, &stream);
    if (result == CUDA_SUCCESS && !stream)
        result = sim_capture_allows_default(context);
    return result == CUDA_SUCCESS ? launch_all(context, stream, exec->works) : result;
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    CUgraphExec exec = sim_handle_find(handle, SIM_HANDLE_GRAPH_EXEC);
    if (!exec)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_handle_free(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    CUgraph graph = sim_handle_find(handle, SIM_HANDLE_GRAPH);
    if (!graph)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_handle_free(graph);
    return CUDA_SUCCESS;
}
