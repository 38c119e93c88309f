/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the input as a list of driver calls, whose arguments are handles from earlier calls, handles of another kind,
 * or no handles at all, and PTX out of a list, with bytes changed. Nothing may crash, leak or hang.
 *
 * Build: CC=clang cmake -DGM_FUZZ=ON -DGM_SANITIZE=address,undefined. */
#include <stdlib.h>
#include <string.h>

#include "driver_input.h"
#include "sim/driver/driver_sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS_MAX = 64, SLOTS = 4, BUFFER = 4096, DEVICES = 2 };

/* What calls have returned, last come last overwritten. */
static struct {
    void *library[SLOTS], *kernel[SLOTS], *function[SLOTS], *module[SLOTS], *stream[SLOTS], *event[SLOTS],
        *graph[SLOTS], *node[SLOTS], *exec[SLOTS], *context[SLOTS];
    CUdeviceptr memory[SLOTS];
} have;
static uint8_t host[BUFFER];
static _Alignas(128) uint8_t map[128];

/* Mostly a handle of the right kind; now and then of another kind, or of none. */
static void *pick(void *const slots[SLOTS]) {
    const unsigned choice = byte();
    if (choice < 224)
        return slots[choice % SLOTS];
    void *const wrong[] = {NULL,           (void *)1,     (void *)2,       (void *)0x1234560,
                           have.stream[0], have.event[0], have.library[0], host};
    return wrong[choice % 8];
}
static CUdeviceptr address(void) {
    const CUdeviceptr base = have.memory[below(SLOTS)];
    return byte() < 200 ? base + (byte() < 128 ? 0 : below(64) * 4) : (CUdeviceptr)byte() << below(64);
}
static size_t length(void) {
    static const size_t lengths[] = {0, 1, 4, 16, 64, 100, 256, 1000, BUFFER};
    return lengths[below(sizeof lengths / sizeof *lengths)];
}

/* ---- the calls, by topic --------------------------------------------------------------------------------------- */

static void devices(void) {
    int number;
    size_t bytes;
    char name[16];
    cuDeviceGet(&number, (int)below(4) - 1);
    cuDeviceGetAttribute(&number, (int)byte(), (int)below(4) - 1);
    cuDeviceGetName(name, (int)below(sizeof name + 1), (int)below(3));
    cuDeviceTotalMem(&bytes, (int)below(3));
}
static void contexts(void) {
    const unsigned slot = below(SLOTS);
    int number;
    switch (below(8)) {
    case 0:
        cuDevicePrimaryCtxRetain((CUcontext *)&have.context[slot], (int)below(3));
        break;
    case 1:
        cuDevicePrimaryCtxRelease((int)below(3));
        break;
    case 2:
        cuCtxPushCurrent(pick(have.context));
        break;
    case 3:
        cuCtxPopCurrent((CUcontext *)&have.context[slot]);
        break;
    case 4:
        cuCtxSetCurrent(pick(have.context));
        break;
    case 5:
        cuCtxSynchronize();
        break;
    case 6:
        cuCtxGetDevice(&number);
        break;
    default:
        devices();
        break;
    }
}
static void memory(void) {
    const unsigned slot = below(SLOTS);
    CUstream stream = pick(have.stream);
    switch (below(10)) {
    case 0:
        cuMemAlloc(&have.memory[slot], length());
        break;
    case 1:
        cuMemFree(address());
        break;
    case 2:
        cuMemcpyHtoD(address(), host, length());
        break;
    case 3:
        cuMemcpyDtoH(host, address(), length());
        break;
    case 4:
        cuMemcpyDtoD(address(), address(), length());
        break;
    case 5:
        cuMemsetD8(address(), (unsigned char)byte(), length());
        break;
    case 6:
        cuMemcpyDtoDAsync(address(), address(), length(), stream);
        break;
    case 7:
        cuMemsetD8Async(address(), (unsigned char)byte(), length(), stream);
        break;
    case 8:
        cuMemcpyHtoDAsync(address(), host, length(), stream);
        break;
    default:
        cuMemcpyDtoHAsync(host, address(), length(), stream);
        break;
    }
}
static void libraries(void) {
    const unsigned slot = below(SLOTS);
    const char *name = byte() < 200 ? "k" : byte() < 128 ? "g" : "gemm_sm90";
    size_t bytes;
    switch (below(9)) {
    case 0:
    case 1:
        cuLibraryLoadData((CUlibrary *)&have.library[slot], image(), NULL, NULL, 0, NULL, NULL, 0);
        break;
    case 2:
        cuLibraryUnload(pick(have.library));
        break;
    case 3:
        cuLibraryGetKernel((CUkernel *)&have.kernel[slot], pick(have.library), name);
        break;
    case 4:
        cuKernelGetFunction((CUfunction *)&have.function[slot], pick(have.kernel));
        break;
    case 5:
        cuModuleLoadData((CUmodule *)&have.module[slot], image());
        break;
    case 6:
        cuModuleUnload(pick(have.module));
        break;
    case 7:
        cuModuleGetFunction((CUfunction *)&have.function[slot], pick(have.module), name);
        break;
    default:
        cuLibraryGetGlobal(&have.memory[slot], &bytes, pick(have.library), "g");
        break;
    }
}
static void functions(void) {
    CUfunction function = pick(byte() < 200 ? have.function : have.kernel);
    size_t offset, bytes;
    int value;
    cuFuncGetAttribute(&value, (int)below(20) - 1, function);
    cuFuncSetAttribute(function, (int)below(20), (int)byte() << below(16));
    cuFuncGetParamInfo(function, below(3), &offset, &bytes);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, (int)byte() * 8, (size_t)byte() << below(24));
}

/* Few CTAs, or more than there can be. */
static unsigned extent(void) {
    static const unsigned extents[] = {1, 1, 1, 2, 3, 4, 0, UINT32_MAX};
    return extents[below(8)];
}
/* Of any kernel: an address or a tensor map comes first. */
static void **parameters(void) {
    static uint8_t large[32764 + 1]; /* a kernel may declare parameters of as many bytes as there can be */
    static void *as_map[] = {large, large, large, large}, *as_address[] = {large + sizeof map, large, large, large};
    const CUdeviceptr parameter = address();
    memcpy(large, map, sizeof map);
    memcpy(large + sizeof map, &parameter, sizeof parameter);
    return byte() < 128 ? as_address : as_map;
}
static void launches(void) {
    CUlaunchAttribute attributes[2] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1 + below(4), 1 + below(2), 1}},
        {.id = (int)byte()}};
    const CUlaunchConfig config = {.gridDimX = extent(),
                                   .gridDimY = extent(),
                                   .gridDimZ = extent(),
                                   .blockDimX = byte() < 200 ? below(130) : byte() * 16,
                                   .blockDimY = 1 + below(2),
                                   .blockDimZ = 1,
                                   .sharedMemBytes = byte() < 200 ? 0 : byte() << below(16),
                                   .hStream = pick(have.stream),
                                   .attrs = attributes,
                                   .numAttrs = below(3)};
    int clusters;
    cuOccupancyMaxActiveClusters(&clusters, pick(have.function), &config);
    cuLaunchKernelEx(&config, pick(have.function), parameters(), NULL);
}
static void streams(void) {
    const unsigned slot = below(SLOTS);
    float milliseconds;
    int status;
    CUcontext context;
    switch (below(11)) {
    case 0:
        cuStreamCreate((CUstream *)&have.stream[slot], below(3));
        break;
    case 1:
        cuStreamDestroy(pick(have.stream));
        break;
    case 2:
        cuStreamSynchronize(pick(have.stream));
        break;
    case 3:
        cuStreamWaitEvent(pick(have.stream), pick(have.event), below(3));
        break;
    case 4:
        cuEventCreate((CUevent *)&have.event[slot], below(9));
        break;
    case 5:
        cuEventDestroy(pick(have.event));
        break;
    case 6:
        cuEventRecord(pick(have.event), pick(have.stream));
        break;
    case 7:
        cuEventElapsedTime(&milliseconds, pick(have.event), pick(have.event));
        break;
    case 8:
        cuEventSynchronize(pick(have.event));
        break;
    case 9:
        cuStreamGetCtx(pick(have.stream), &context);
        break;
    default:
        cuStreamIsCapturing(pick(have.stream), &status);
        break;
    }
}
static void nodes(void) {
    const unsigned slot = below(SLOTS);
    const CUDA_KERNEL_NODE_PARAMS params = {.func = byte() < 200 ? pick(have.function) : NULL,
                                            .gridDimX = extent(),
                                            .gridDimY = extent(),
                                            .gridDimZ = 1,
                                            .blockDimX = below(130),
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = parameters(),
                                            .kern = pick(have.kernel),
                                            .ctx = byte() < 128 ? NULL : pick(have.context)};
    const CUlaunchAttributeValue cluster = {.clusterDim = {below(4), 1, 1}};
    CUgraphNode before = pick(have.node);
    switch (below(4)) {
    case 0:
        cuGraphCreate((CUgraph *)&have.graph[slot], byte() > 250);
        break;
    case 1:
        cuGraphAddKernelNode((CUgraphNode *)&have.node[slot], pick(have.graph), &before, byte() < 128, &params);
        break;
    case 2:
        cuGraphKernelNodeSetAttribute(before, (int)below(20), &cluster);
        break;
    default:
        cuGraphExecKernelNodeSetParams(pick(have.exec), before, &params);
        break;
    }
}
static void graphs(void) {
    const unsigned slot = below(SLOTS);
    switch (below(6)) {
    case 0:
        cuStreamBeginCapture(pick(have.stream), (int)below(4));
        break;
    case 1:
        cuStreamEndCapture(pick(have.stream), (CUgraph *)&have.graph[slot]);
        break;
    case 2:
        cuGraphInstantiateWithFlags((CUgraphExec *)&have.exec[slot], pick(have.graph), below(20));
        break;
    case 3:
        cuGraphLaunch(pick(have.exec), pick(have.stream));
        break;
    case 4:
        cuGraphExecDestroy(pick(have.exec));
        break;
    default:
        cuGraphDestroy(pick(have.graph));
        break;
    }
}
static void tensor_maps(void) {
    uint64_t dims[5], strides[5];
    uint32_t box[5], steps[5];
    int corners[5];
    for (int i = 0; i < 5; i++) {
        dims[i] = (uint64_t)byte() << below(28);
        strides[i] = (uint64_t)byte() << below(36);
        box[i] = byte() + below(3);
        steps[i] = below(10);
        corners[i] = (int)below(40) - 20;
    }
    void *to = (void *)(uintptr_t)address();
    if (below(2))
        cuTensorMapEncodeTiled(map, (int)below(14), below(7), to, dims, strides, box, steps, (int)below(4),
                               (int)below(5), (int)below(5), (int)below(3));
    else
        cuTensorMapEncodeIm2col(map, (int)below(14), below(7), to, dims, strides, corners, corners + 1, byte(),
                                byte() * 8, steps, (int)below(4), (int)below(5), (int)below(5), (int)below(3));
    cuTensorMapReplaceAddress(map, (void *)(uintptr_t)address());
}

/* ---- one input ------------------------------------------------------------------------------------------------- */

/* A current context with a stream, memory and a kernel in it: what most calls need. */
static void begin(void) {
    memset(&have, 0, sizeof have);
    cuDevicePrimaryCtxRetain((CUcontext *)&have.context[0], 0);
    cuCtxSetCurrent(have.context[0]);
    cuStreamCreate((CUstream *)&have.stream[0], CU_STREAM_NON_BLOCKING);
    cuMemAlloc(&have.memory[0], BUFFER);
    gm_sim_set_seed(byte() & 3);
    if (cuLibraryLoadData((CUlibrary *)&have.library[0], image(), NULL, NULL, 0, NULL, NULL, 0) == CUDA_SUCCESS &&
        cuLibraryGetKernel((CUkernel *)&have.kernel[0], have.library[0], "k") == CUDA_SUCCESS)
        cuKernelGetFunction((CUfunction *)&have.function[0], have.kernel[0]);
}

/* Everything goes, so that what remains is a leak. */
static void end(void) {
    void *handle;
    for (int device = 0; device < DEVICES; device++) {
        sim_context_of(device)->fault = 0; /* for the next input */
        while (cuDevicePrimaryCtxRelease(device) == CUDA_SUCCESS)
            continue;
    }
    while (cuCtxPopCurrent(NULL) == CUDA_SUCCESS)
        continue;
    while ((handle = sim_handle_at(0, SIM_HANDLE_GRAPH)))
        cuGraphDestroy(handle);
    while ((handle = sim_handle_at(0, SIM_HANDLE_LIBRARY)))
        cuLibraryUnload(handle);
    gm_sim_reports_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const topics[])(void) = {contexts, memory,  libraries, libraries, functions,  launches,
                                           launches, streams, graphs,    nodes,     tensor_maps};
    setenv("GM_SIM_DEVICES", "2", 1);
    setenv("GM_SIM_MEMORY", "16777216", 1);
    gm_sim_set_reports("quiet");
    if (cuInit(0) != CUDA_SUCCESS)
        abort();
    in = (struct input){data, data + size};
    begin();
    for (int call = 0; call < CALLS_MAX && in.at < in.end; call++)
        topics[below(sizeof topics / sizeof *topics)]();
    end();
    return 0;
}
