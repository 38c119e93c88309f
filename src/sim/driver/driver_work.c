/* SPDX-License-Identifier: Apache-2.0 */
/* One thing to do: a copy, a fill or a launch, done now or captured. */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>
#include <string.h>

/* What was never written stays so in the copy. */
static void mark_as(struct sim_memory *memory, uint64_t to, uint64_t from, uint64_t bytes) {
    enum { CHUNK = 256 };
    if (sim_memory_is_initialised(memory, from, bytes)) {
        sim_memory_mark(memory, to, bytes);
        return;
    }
    if (bytes > CHUNK) {
        for (uint64_t at = 0; at < bytes; at += CHUNK)
            mark_as(memory, to + at, from + at, bytes - at < CHUNK ? bytes - at : CHUNK);
        return;
    }
    for (uint64_t at = 0; at < bytes; at++)
        if (sim_memory_is_initialised(memory, from + at, 1))
            sim_memory_mark(memory, to + at, 1);
}

static CUresult run_copy(struct sim_memory *memory, const struct sim_work *work) {
    void *to =
        work->kind == SIM_WORK_TO_HOST ? (void *)(uintptr_t)work->to : sim_memory_view(memory, work->to, work->bytes);
    const void *from = work->kind == SIM_WORK_TO_DEVICE ? (const void *)(uintptr_t)work->from
                                                        : sim_memory_view(memory, work->from, work->bytes);
    if (!to || !from)
        return CUDA_ERROR_INVALID_VALUE;
    memmove(to, from, work->bytes);
    if (work->kind == SIM_WORK_TO_DEVICE)
        sim_memory_mark(memory, work->to, work->bytes);
    else if (work->kind == SIM_WORK_ON_DEVICE)
        mark_as(memory, work->to, work->from, work->bytes);
    return CUDA_SUCCESS;
}

static CUresult run_fill(struct sim_memory *memory, const struct sim_work *work) {
    void *to = sim_memory_view(memory, work->to, work->bytes);
    if (!to)
        return CUDA_ERROR_INVALID_VALUE;
    memset(to, work->value, work->bytes);
    sim_memory_mark(memory, work->to, work->bytes);
    return CUDA_SUCCESS;
}

CUresult sim_work_run(CUcontext context, const struct sim_work *work) {
    if (work->kind == SIM_WORK_LAUNCH)
        return sim_launch_run(context, &work->launch);
    if (work->bytes == 0)
        return CUDA_SUCCESS;
    return work->kind == SIM_WORK_FILL ? run_fill(context->memory, work) : run_copy(context->memory, work);
}

CUresult sim_work_submit(CUcontext context, CUstream handle, struct sim_work *work) {
    CUstream stream;
    CUresult result = sim_stream_find(context, handle, &stream);
    if (result == CUDA_SUCCESS && !stream)
        result = sim_capture_allows_default(context);
    if (result == CUDA_SUCCESS)
        result = stream && stream->capture ? sim_capture_add(stream, work) : sim_work_run(context, work);
    free(work->launch.params);
    work->launch.params = NULL;
    return result;
}
