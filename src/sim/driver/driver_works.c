/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of work, shared by a graph and its executables, and the graphs that own them. */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ----------------------------------------------------------------------------------------------------- */

enum { PARAMS_ALIGN = 128 };

uint8_t *sim_params_new(const struct ptx_function *code) {
    const size_t bytes = ((size_t)code->parameter_bytes + PARAMS_ALIGN) / PARAMS_ALIGN * PARAMS_ALIGN;
    uint8_t *params = aligned_alloc(PARAMS_ALIGN, bytes);
    if (params)
        memset(params, 0, bytes);
    return params;
}

struct sim_works *sim_works_new(void) {
    struct sim_works *works = calloc(1, sizeof *works);
    if (works)
        works->owners = 1;
    return works;
}

void sim_works_cut(struct sim_works *works, size_t count) {
    while (works->count > count)
        free(works->work[--works->count].launch.params);
}

void sim_works_release(struct sim_works *works) {
    if (--works->owners)
        return;
    sim_works_cut(works, 0);
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

static CUgraphNode first_node(const struct CUgraph_st *graph) {
    CUgraphNode node;
    for (size_t i = 0; (node = sim_handle_at(i, SIM_HANDLE_GRAPH_NODE)); i++)
        if (node->graph == graph)
            return node;
    return NULL;
}

static void free_graph(void *handle) {
    CUgraph graph = handle;
    CUgraphNode node;
    while ((node = first_node(graph)))
        sim_handle_free(node);
    sim_works_release(graph->works);
}

CUgraph sim_graph_new(struct sim_works *works) {
    CUgraph made = sim_handle_new(sizeof *made, SIM_HANDLE_GRAPH, NULL);
    if (!made)
        return NULL;
    made->handle.free = free_graph;
    made->works = works;
    works->owners++;
    return made;
}
