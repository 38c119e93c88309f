/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: the work that a capture kept, or that was put together node by node, done again at every launch. */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of work, shared by a graph and its executables ------------------------------------------------------ */

struct sim_works *sim_works_new(void) {
    struct sim_works *works = calloc(1, sizeof *works);
    if (works)
        works->owners = 1;
    return works;
}

/* The list becomes shorter. */
static void cut(struct sim_works *works, size_t count) {
    while (works->count > count)
        free(works->work[--works->count].launch.params);
}

void sim_works_release(struct sim_works *works) {
    if (--works->owners)
        return;
    cut(works, 0);
    free(works->work);
    free(works);
}

/* A copy, with its parameters. */
CUresult sim_works_add(struct sim_works *works, const struct sim_work *work) {
    if (works->count == works->room) {
        const size_t room = works->room ? 2 * works->room : 16;
        struct sim_work *grown = realloc(works->work, room * sizeof *grown);
        if (!grown)
            return CUDA_ERROR_OUT_OF_MEMORY;
        works->work = grown;
        works->room = room;
    }
    struct sim_work *added = &works->work[works->count];
    *added = *work;
    if (work->kind == SIM_WORK_LAUNCH) {
        added->launch.params = sim_params_new(work->launch.function->code);
        if (!added->launch.params)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(added->launch.params, work->launch.params, work->launch.function->code->parameter_bytes);
    }
    works->count++;
    return CUDA_SUCCESS;
}

bool sim_work_lives(const struct sim_work *work) {
    if (work->kind != SIM_WORK_LAUNCH)
        return true;
    CUfunction function = sim_handle_find(work->launch.function, SIM_HANDLE_FUNCTION);
    return function && function->handle.serial == work->launch.serial;
}

CUresult sim_works_unshare(struct sim_works **works) {
    struct sim_works *shared = *works;
    if (shared->owners == 1)
        return CUDA_SUCCESS;
    struct sim_works *own = sim_works_new();
    CUresult result = own ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < shared->count && result == CUDA_SUCCESS; i++)
        result = sim_work_lives(&shared->work[i]) ? sim_works_add(own, &shared->work[i]) : CUDA_ERROR_INVALID_HANDLE;
    if (own && result != CUDA_SUCCESS)
        sim_works_release(own);
    if (result != CUDA_SUCCESS)
        return result;
    sim_works_release(shared);
    *works = own;
    return CUDA_SUCCESS;
}

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

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
        cut(before.capture->works, captured);
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
    sim_works_release(exec->works);
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
    sim_graph_nodes_free(graph);
    sim_works_release(graph->works);
    sim_handle_free(graph);
    return CUDA_SUCCESS;
}
