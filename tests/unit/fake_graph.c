/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver's graphs of one kernel node, with what execute asks before it launches one. */
#include "fake_driver.h"

#include "host/plan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES_MAX = 4 };

struct CUgraph_st { /* and its one node */
    CUDA_KERNEL_NODE_PARAMS params;
    unsigned char bytes[GM_PARAMS_MAX];
    CUlaunchAttribute attributes[ATTRIBUTES_MAX];
    unsigned attribute_count;
};

struct CUgraphExec_st {
    CUgraph graph;
    struct CUgraph_st own;
    atomic_flag named; /* by a call */
};

static void take(struct CUgraph_st *graph, const CUDA_KERNEL_NODE_PARAMS *params) {
    const struct gm_kernel *row = (const struct gm_kernel *)params->func;
    graph->params = *params;
    memcpy(graph->bytes, params->kernelParams[0], row->family->params_bytes);
}

static CUresult fake_cuCtxGetCurrent(CUcontext *current) {
    ENTER(cuCtxGetCurrent);
    *current = fake_current();
    return CUDA_SUCCESS;
}

static CUresult fake_cuStreamGetCtx(CUstream stream, CUcontext *context) {
    (void)stream;
    ENTER(cuStreamGetCtx);
    *context = (CUcontext)&fake.devices[fake.stream_device];
    return CUDA_SUCCESS;
}

static CUresult fake_cuStreamIsCapturing(CUstream stream, int *status) {
    ENTER(cuStreamIsCapturing);
    *status = stream && stream == fake.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult fake_cuThreadExchangeStreamCaptureMode(int *mode) {
    ENTER(cuThreadExchangeStreamCaptureMode);
    const int before = fake.capture_mode;
    fake.capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphCreate(CUgraph *graph, unsigned flags) {
    ENTER(cuGraphCreate);
    *graph = calloc(1, sizeof **graph);
    fake_add(&fake.graphs, *graph != NULL);
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult fake_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS *params) {
    ENTER(cuGraphAddKernelNode);
    if (dependencies || dependency_count || params->extra)
        return CUDA_ERROR_INVALID_VALUE;
    take(graph, params);
    *node = (CUgraphNode)(void *)graph;
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute,
                                                   const CUlaunchAttributeValue *value) {
    ENTER(cuGraphKernelNodeSetAttribute);
    CUgraph graph = (CUgraph)(void *)node;
    if (graph->attribute_count == ATTRIBUTES_MAX || attribute == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        return CUDA_ERROR_INVALID_VALUE;
    graph->attributes[graph->attribute_count++] = (CUlaunchAttribute){.id = attribute, .value = *value};
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    ENTER(cuGraphInstantiateWithFlags);
    *exec = calloc(1, sizeof **exec);
    (*exec)->graph = graph;
    (*exec)->own = *graph;
    fake_add(&fake.graphs, 1);
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static int begin(CUgraphExec exec) {
    const int alone = !atomic_flag_test_and_set(&exec->named);
    fake_add(&fake.collisions, !alone);
    return alone;
}

static CUresult fake_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                    const CUDA_KERNEL_NODE_PARAMS *params) {
    ENTER(cuGraphExecKernelNodeSetParams);
    if (exec->graph != (CUgraph)(void *)node || !begin(exec))
        return CUDA_ERROR_INVALID_VALUE;
    take(&exec->own, params);
    atomic_flag_clear(&exec->named);
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    ENTER(cuGraphLaunch);
    const CUDA_KERNEL_NODE_PARAMS *params = &exec->own.params;
    const CUlaunchConfig config = {.gridDimX = params->gridDimX,
                                   .gridDimY = params->gridDimY,
                                   .gridDimZ = params->gridDimZ,
                                   .blockDimX = params->blockDimX,
                                   .blockDimY = params->blockDimY,
                                   .blockDimZ = params->blockDimZ,
                                   .sharedMemBytes = params->sharedMemBytes,
                                   .hStream = stream,
                                   .attrs = exec->own.attributes,
                                   .numAttrs = exec->own.attribute_count};
    if (!begin(exec))
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = fake_record(&config, params->func, exec->own.bytes);
    atomic_flag_clear(&exec->named);
    return result;
}

static CUresult fake_cuGraphExecDestroy(CUgraphExec exec) {
    ENTER(cuGraphExecDestroy);
    free(exec);
    fake_add(&fake.graphs, -1);
    return CUDA_SUCCESS;
}

static CUresult fake_cuGraphDestroy(CUgraph graph) {
    ENTER(cuGraphDestroy);
    free(graph);
    fake_add(&fake.graphs, -1);
    return CUDA_SUCCESS;
}

void fake_install_graphs(enum fake_function missing) {
    static struct gm_driver driver;
    fake_install();
    driver = fake_driver;
#define HAS(name) driver.name = missing == FAKE_##name ? NULL : fake_##name;
    HAS(cuCtxGetCurrent)
    HAS(cuStreamGetCtx)
    HAS(cuStreamIsCapturing)
    HAS(cuThreadExchangeStreamCaptureMode)
    HAS(cuGraphCreate)
    HAS(cuGraphAddKernelNode)
    HAS(cuGraphKernelNodeSetAttribute)
    HAS(cuGraphInstantiateWithFlags)
    HAS(cuGraphExecKernelNodeSetParams)
    HAS(cuGraphLaunch)
    HAS(cuGraphExecDestroy)
    HAS(cuGraphDestroy)
    gm_driver_install(&driver);
}
