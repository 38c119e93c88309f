/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in driver's images, tensor maps, launches and graphs: a launch computes the kernel at once, or
 * is kept by the stream that captures it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_tests.h"
#include "fake_driver.h"
#include "host/plan.h"
#include "host/tensor_map.h"

struct launch {
    const struct gm_kernel *kernel;
    unsigned char params[GM_PARAMS_MAX];
};

struct CUgraph_st {
    struct launch *launches;
    int count;
    int updates; /* of the node's parameters */
};

struct CUstream_st {
    struct CUgraph_st *capture;
};

/* What cuLibraryGetKernel and cuKernelGetFunction hand out. */
struct CUkern_st {
    const struct gm_kernel *kernel;
};

/* ---- images and launches --------------------------------------------------------------------------- */

CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *image, int *jit_options, void **jit_values,
                                unsigned jit_count, int *library_options, void **library_values,
                                unsigned library_count) {
    (void)jit_options, (void)jit_values, (void)jit_count, (void)library_options, (void)library_values,
        (void)library_count;
    if (!image || *(const unsigned char *)image == 0x5a) /* the damaged image of the bad-input test */
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    *library = calloc(1, sizeof(struct CUkern_st));
    return *library ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult fake_cuLibraryUnload(CUlibrary library) {
    return free(library), CUDA_SUCCESS;
}
CUresult fake_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    const int index = gm_find_kernel(gm_kernels, gm_kernel_count(), name);
    if (index < 0)
        return CUDA_ERROR_INVALID_VALUE;
    *kernel = (struct CUkern_st *)(void *)library;
    (*kernel)->kernel = &gm_kernels[index];
    return CUDA_SUCCESS;
}
CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    return *function = (CUfunction)(void *)kernel, CUDA_SUCCESS;
}
static const struct gm_kernel *kernel_of(CUfunction function) {
    return ((const struct CUkern_st *)(const void *)function)->kernel;
}
CUresult fake_cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value < kernel_of(function)->smem_bytes
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}
CUresult fake_cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    (void)attribute;
    return *value = kernel_of(function)->registers, CUDA_SUCCESS;
}

CUresult fake_cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *dims,
                                     const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                                     int interleave, int swizzle, int l2, int oob) {
    struct gm_map_desc desc = {type, rank, (uintptr_t)address, {0}, {0}, {0}, {0}, interleave, swizzle, l2, oob};
    char sentence[200];
    for (unsigned i = 0; i < rank && i < 5; i++) {
        desc.dims[i] = dims[i];
        desc.box[i] = box[i];
        desc.element_strides[i] = steps[i];
        if (i + 1 < rank && i < 4)
            desc.strides[i] = strides[i];
    }
    if (planted_bug == BUG_MAP_RULES && rank > 0 && rank < 6 && box[rank - 1] > 60)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gm_tensor_map_check(&desc, sentence, sizeof sentence))
        return CUDA_ERROR_INVALID_VALUE;
    struct fake_map made = {desc.address, {dims[0], dims[1 % rank]}, {0}};
    memcpy(made.strides, desc.strides, sizeof made.strides);
    memcpy(map, &made, sizeof made);
    return CUDA_SUCCESS;
}
CUresult fake_cuTensorMapReplaceAddress(void *map, void *address) {
    ((struct fake_map *)map)->address = (uintptr_t)address;
    return (uintptr_t)address % 16 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Whole warps of no more threads than the kernel has at most, and no more shared memory. */
static bool is_within(const struct gm_kernel *kernel, unsigned threads, unsigned shared_bytes) {
    return threads > 0 && threads % 32 == 0 && threads <= (unsigned)kernel->threads &&
           shared_bytes <= (unsigned)kernel->smem_bytes;
}

static bool config_ok(const CUlaunchConfig *config, const struct gm_kernel *kernel) {
    unsigned cluster = 1;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            cluster = config->attrs[i].value.clusterDim.x;
    return is_within(kernel, config->blockDimX, config->sharedMemBytes) && config->gridDimX > 0 &&
           config->gridDimX % cluster == 0 && config->gridDimY > 0 && config->gridDimZ == 1 &&
           cluster == (unsigned)kernel->cluster_ctas;
}

static void keep(struct launch *launch, const struct gm_kernel *kernel, void **params) {
    launch->kernel = kernel;
    memcpy(launch->params, params[0], kernel->family->params_bytes);
}

CUresult fake_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
    const struct gm_kernel *kernel = kernel_of(function);
    CUcontext current = NULL;
    fake_cuCtxGetCurrent(&current);
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (extra || !config_ok(config, kernel))
        return CUDA_ERROR_INVALID_VALUE;
    if (planted_bug == BUG_HANGS)
        pause();
    if (planted_bug == BUG_FAULTS)
        abort();
    struct CUgraph_st *graph = config->hStream ? config->hStream->capture : NULL;
    if (!graph) {
        operation_of(kernel)->compute(kernel, params[0]);
        return CUDA_SUCCESS;
    }
    struct launch *l = graph->launches = realloc(graph->launches, (size_t)(graph->count + 1) * 2 * sizeof *l);
    keep(&l[graph->count++], kernel, params);
    return CUDA_SUCCESS;
}

/* ---- streams, graphs, events: everything is done when the call returns ------------------------------ */

CUresult fake_cuStreamCreate(CUstream *stream, unsigned flags) {
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult fake_cuStreamDestroy(CUstream stream) {
    return free(stream), CUDA_SUCCESS;
}
CUresult fake_cuStreamSynchronize(CUstream stream) {
    return stream && stream->capture ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult fake_cuStreamBeginCapture(CUstream stream, int mode) {
    (void)mode;
    stream->capture = calloc(1, sizeof *stream->capture);
    return stream->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    *graph = stream->capture;
    stream->capture = NULL;
    return CUDA_SUCCESS;
}
CUresult fake_cuThreadExchangeStreamCaptureMode(int *mode) {
    static _Thread_local int thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    const int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult fake_cuStreamIsCapturing(CUstream stream, int *status) {
    *status = stream && stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

/* A graph put together has one node, whose handle is the graph's. */
CUresult fake_cuGraphCreate(CUgraph *graph, unsigned flags) {
    *graph = calloc(1, sizeof **graph);
    return flags || !*graph ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult fake_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS *params) {
    const struct gm_kernel *kernel = kernel_of(params->func);
    if (dependencies || dependency_count || !is_within(kernel, params->blockDimX, params->sharedMemBytes))
        return CUDA_ERROR_INVALID_VALUE;
    graph->launches = malloc(sizeof *graph->launches);
    keep(&graph->launches[graph->count++], kernel, params->kernelParams);
    return *node = (CUgraphNode)(void *)graph, CUDA_SUCCESS;
}
CUresult fake_cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute, const CUlaunchAttributeValue *value) {
    const struct gm_kernel *kernel = ((CUgraph)(void *)node)->launches[0].kernel;
    const unsigned cluster = (unsigned)kernel->cluster_ctas;
    return attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && value->clusterDim.x == cluster
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}
CUresult fake_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                             const CUDA_KERNEL_NODE_PARAMS *params) {
    CUgraph own = (CUgraph)(void *)exec;
    (void)node;
    if (own->updates++ == 0 || planted_bug != BUG_STALE_NODE)
        keep(own->launches, kernel_of(params->func), params->kernelParams);
    return CUDA_SUCCESS;
}
CUresult fake_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    CUgraph copied = calloc(1, sizeof *copied);
    (void)flags;
    copied->launches = malloc((size_t)graph->count * sizeof *copied->launches + 1);
    copied->count = graph->count;
    memcpy(copied->launches, graph->launches, (size_t)graph->count * sizeof *copied->launches);
    *exec = (CUgraphExec)(void *)copied;
    return CUDA_SUCCESS;
}
CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    const struct CUgraph_st *graph = (const void *)exec;
    (void)stream;
    for (int i = 0; i < graph->count && planted_bug != BUG_STALE_GRAPH; i++) {
        _Alignas(GM_PARAMS_ALIGN) unsigned char params[GM_PARAMS_MAX];
        memcpy(params, graph->launches[i].params, sizeof params);
        operation_of(graph->launches[i].kernel)->compute(graph->launches[i].kernel, params);
    }
    return CUDA_SUCCESS;
}
CUresult fake_cuGraphDestroy(CUgraph graph) {
    free(graph->launches);
    free(graph);
    return CUDA_SUCCESS;
}
CUresult fake_cuGraphExecDestroy(CUgraphExec exec) {
    return fake_cuGraphDestroy((CUgraph)(void *)exec);
}
