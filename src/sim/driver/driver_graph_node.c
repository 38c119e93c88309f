/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs put together node by node: kernel nodes, and new parameters for those of an executable graph. */
#include "sim/driver/driver_sim.h"

#include <stdlib.h>

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS || !graph || flags)
        return started != CUDA_SUCCESS ? started : CUDA_ERROR_INVALID_VALUE;
    struct sim_works *works = sim_works_new();
    if (!works)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUgraph made = sim_graph_new(works);
    sim_works_release(works);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *graph = made;
    return CUDA_SUCCESS;
}

/* A launch as the node's parameters have it, with the cluster of the launch that it takes the place of. */
static CUresult make_launch(const CUDA_KERNEL_NODE_PARAMS *params, const struct sim_launch *before,
                            struct sim_work *work) {
    CUcontext context;
    CUlaunchAttribute cluster;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!params->func && params->ctx && params->ctx != context) /* the real driver takes any of its contexts */
        return CUDA_ERROR_INVALID_CONTEXT;
    CUlaunchConfig config = {.numAttrs = 0};
    if (before)
        config = sim_launch_config(before, &cluster);
    config.gridDimX = params->gridDimX, config.gridDimY = params->gridDimY, config.gridDimZ = params->gridDimZ;
    config.blockDimX = params->blockDimX, config.blockDimY = params->blockDimY, config.blockDimZ = params->blockDimZ;
    config.sharedMemBytes = params->sharedMemBytes;
    return sim_launch_make(context, params->func ? params->func : (CUfunction)params->kern, &config,
                           params->kernelParams, params->extra, work);
}

/* Work is done in the order in which nodes were added, which no dependency contradicts. */
static bool are_of_graph(const CUgraphNode *nodes, size_t count, const struct CUgraph_st *graph) {
    for (size_t i = 0; i < count; i++) {
        const struct CUgraphNode_st *node = nodes ? sim_handle_find(nodes[i], SIM_HANDLE_GRAPH_NODE) : NULL;
        if (!node || node->graph != graph)
            return false;
    }
    return true;
}

static CUresult add(CUgraph graph, const struct sim_work *work, CUgraphNode *node) {
    CUgraphNode made = sim_handle_new(sizeof *made, SIM_HANDLE_GRAPH_NODE, NULL);
    CUresult result = made ? sim_works_unshare(&graph->works) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = sim_works_add(graph->works, work);
    if (result != CUDA_SUCCESS) {
        if (made)
            sim_handle_free(made);
        return result;
    }
    made->graph = graph;
    made->index = graph->works->count - 1;
    *node = made;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph handle, const CUgraphNode *dependencies,
                              size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS *params) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    CUgraph graph = sim_handle_find(handle, SIM_HANDLE_GRAPH);
    if (!graph)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!node || !params || !are_of_graph(dependencies, dependency_count, graph))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work work;
    CUresult result = make_launch(params, NULL, &work);
    if (result != CUDA_SUCCESS)
        return result;
    result = add(graph, &work, node);
    free(work.launch.params);
    return result;
}
SIM_ALIAS(cuGraphAddKernelNode_v2, cuGraphAddKernelNode);

/* Of executables that were made before nothing changes. */
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, int attribute, const CUlaunchAttributeValue *value) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    const struct CUgraphNode_st *node = sim_handle_find(handle, SIM_HANDLE_GRAPH_NODE);
    if (!node)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!value || attribute == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) /* of launches only */
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_work_lives(&node->graph->works->work[node->index]))
        return CUDA_ERROR_INVALID_HANDLE;
    const CUresult result = sim_works_unshare(&node->graph->works);
    const CUlaunchAttribute one = {.id = attribute, .value = *value};
    return result != CUDA_SUCCESS ? result : sim_launch_attribute(&node->graph->works->work[node->index].launch, &one);
}

/* The function may be another one, of the same context. */
static CUresult set_params(CUgraphExec exec, size_t index, const CUDA_KERNEL_NODE_PARAMS *params) {
    struct sim_work work;
    CUresult result = sim_works_unshare(&exec->works);
    if (result == CUDA_SUCCESS)
        result = make_launch(params, &exec->works->work[index].launch, &work);
    if (result != CUDA_SUCCESS)
        return result;
    if (work.launch.function->handle.context != exec->works->work[index].launch.function->handle.context) {
        free(work.launch.params);
        return CUDA_ERROR_INVALID_VALUE;
    }
    free(exec->works->work[index].launch.params);
    exec->works->work[index] = work;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec_handle, CUgraphNode node_handle,
                                        const CUDA_KERNEL_NODE_PARAMS *params) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    CUgraphExec exec = sim_handle_find(exec_handle, SIM_HANDLE_GRAPH_EXEC);
    const struct CUgraphNode_st *node = sim_handle_find(node_handle, SIM_HANDLE_GRAPH_NODE);
    if (!exec || !node)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!params || node->graph->handle.serial != exec->graph || node->index >= exec->nodes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_work_lives(&exec->works->work[node->index]))
        return CUDA_ERROR_INVALID_HANDLE;
    return set_params(exec, node->index, params);
}
SIM_ALIAS(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams);
