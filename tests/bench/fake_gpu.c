/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU that is not there. */
#include "fake_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "bench_tests.h"
#include "common/gemm_sm80/params.h"
#include "common/gemm_sm90/params.h"
#include "bench/measure/operands.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct fake_gpu fake;

static double now_us;      /* of the fake device */
static double captured_us; /* of the graph that is being captured */
static bool capturing;
static bool captured_sm90;  /* it has launches of sm90 rows */
static CUgraphExec running; /* the graph that ran last */
static double running_us;   /* and for how long without another */
static long begun;          /* how often another one began */

struct CUevent_st {
    double us;
};
struct CUgraph_st {
    double us;
    bool is_sm90;
};
struct CUgraphExec_st {
    double us;
    bool is_sm90;
};

void fake_spend(double us) {
    *(capturing ? &captured_us : &now_us) += us;
}

void fake_compute(CUdeviceptr a_at, CUdeviceptr b_at, CUdeviceptr d_at, int64_t rows) {
    const uint16_t *a = (const uint16_t *)(uintptr_t)a_at, *b = (const uint16_t *)(uintptr_t)b_at;
    uint16_t *d = (uint16_t *)(uintptr_t)d_at;
    for (int64_t m = 0; m < rows && !capturing; m++) {
        for (int64_t n = 0; n < fake.n; n++) {
            float sum = 0;
            for (int64_t k = 0; k < fake.k; k++)
                sum += operands_from_bf16(a[m * fake.k + k]) * operands_from_bf16(b[n * fake.k + k]);
            d[m * fake.n + n] = operands_to_bf16(sum);
        }
    }
}

/* ---- the driver: what matters here; the rest of the table answers success ----------------------------- */

#define DRIVER(name, abi, need, params)                                                                                \
    static CUresult succeed_##name params {                                                                            \
        return CUDA_SUCCESS;                                                                                           \
    }
#include "host/driver.def"
#undef DRIVER

static CUresult get_count(int *count) {
    *count = 1;
    return CUDA_SUCCESS;
}

static CUresult get_name(char *name, int length, CUdevice device) {
    strncpy(name, "NVIDIA FAKE 9", (size_t)length);
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, int attribute, CUdevice device) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = fake.ampere ? 8 : 9;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 4;
        break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = 1980000; /* kHz */
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = 64 << 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = 2048;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        *value = 233472;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = 232448;
        break;
    default:
        *value = 1000000;
    }
    return CUDA_SUCCESS;
}

static CUresult total_memory(size_t *bytes, CUdevice device) {
    *bytes = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

static CUresult memory_info(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = *total_bytes = (size_t)32 << 20;
    return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *address, size_t bytes) {
    void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    *address = (CUdeviceptr)(uintptr_t)memory;
    fake.allocations += memory != NULL;
    return memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(CUdeviceptr address) {
    free((void *)(uintptr_t)address);
    fake.allocations--;
    return CUDA_SUCCESS;
}

static CUresult copy_in(CUdeviceptr to, const void *from, size_t bytes) {
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

static CUresult copy_out(void *to, CUdeviceptr from, size_t bytes) {
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

static CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    fake_spend((double)bytes * 2 / 4.27e6);
    return CUDA_SUCCESS;
}

static CUresult set(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
    memset((void *)(uintptr_t)to, value, bytes);
    fake_spend((double)bytes / 4.34e6);
    return CUDA_SUCCESS;
}

static CUresult replace_address(void *map, void *address) {
    memcpy(map, &address, sizeof address);
    return CUDA_SUCCESS;
}

static CUresult load_library(CUlibrary *library, const void *image, int *options, void **values, unsigned count,
                             int *library_options, void **library_values, unsigned library_count) {
    *library = (CUlibrary)(uintptr_t)1;
    fake.libraries += fake.load_result == CUDA_SUCCESS;
    return fake.load_result;
}

static CUresult unload_library(CUlibrary library) {
    fake.libraries--;
    return CUDA_SUCCESS;
}

/* The two kernels of ceilings.c are told from ours by their handles; the handle of one of the laboratory is its name.
 */
static CUresult get_kernel(CUkernel *kernel, CUlibrary library, const char *name) {
    if (strncmp(name, "lab_", 4) == 0)
        *kernel = (CUkernel)(uintptr_t)name;
    else
        *kernel = (CUkernel)(uintptr_t)(strncmp(name, "gm_bench_", 9) == 0     ? 2
                                        : strncmp(name, "gemm_sm90_", 10) == 0 ? 90
                                                                               : 80);
    return CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *function, CUkernel kernel) {
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

static CUresult parameter_info(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
    size_t count = 0;
    while (fake.lab_parameters && fake.lab_parameters[count])
        count++;
    if (!fake.lab_parameters)
        return CUDA_ERROR_INVALID_HANDLE;
    *offset = 0;
    *bytes = index < count ? fake.lab_parameters[index] : 0;
    return index < count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
    uint64_t a, b;
    const bool is_sm80 = (uintptr_t)function == 80;
    int64_t rows = fake.wrong || (is_sm80 && fake.sm80_wrong) ? fake.m - 1 : fake.m;
    fake_spend(is_sm80 && fake.sm80_us > 0 ? fake.sm80_us : fake.ours_us);
    if ((uintptr_t)function == 2)
        return CUDA_SUCCESS;
    if ((uintptr_t)function > 4096) {
        fake.launches += !capturing;
        return fake.lab_kernel && !capturing ? fake.lab_kernel((const char *)function, params) : CUDA_SUCCESS;
    }
    fake.launches++;
    captured_sm90 |= (uintptr_t)function == 90;
    if ((uintptr_t)function == 90) {
        const struct gm_gemm_sm90_params *gemm = params[0];
        memcpy(&a, gemm->a.bytes, sizeof a);
        memcpy(&b, gemm->b.bytes, sizeof b);
        if (gemm->epilogue.m == fake.m)
            fake_compute(a, b, gemm->epilogue.d, rows);
    } else {
        const struct gm_gemm_sm80_params *gemm = params[0];
        if (gemm->epilogue.m == fake.m)
            fake_compute(gemm->a, gemm->b, gemm->epilogue.d, rows);
    }
    return CUDA_SUCCESS;
}

static CUresult make_stream(CUstream *stream, unsigned flags) {
    *stream = (CUstream)(uintptr_t)1;
    return CUDA_SUCCESS;
}

static CUresult retain(CUcontext *context, CUdevice device) {
    *context = (CUcontext)(uintptr_t)1;
    return CUDA_SUCCESS;
}

static CUresult begin_capture(CUstream stream, int mode) {
    capturing = true;
    captured_us = 0;
    captured_sm90 = false;
    return CUDA_SUCCESS;
}

static CUresult end_capture(CUstream stream, CUgraph *graph) {
    capturing = false;
    *graph = malloc(sizeof **graph);
    **graph = (struct CUgraph_st){captured_us, captured_sm90};
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    *exec = malloc(sizeof **exec);
    **exec = (struct CUgraphExec_st){graph->us, graph->is_sm90};
    fake.graphs++;
    return CUDA_SUCCESS;
}

static CUresult launch_graph(CUgraphExec exec, CUstream stream) {
    begun += exec != running;
    running_us = exec == running ? running_us : 0;
    running = exec;
    const bool throttled = fake.throttle_us > 0 && exec->is_sm90 && running_us >= fake.throttle_us;
    const double us = exec->us * (throttled ? 1.1 : 1) * (1 + fake.warming * (double)begun);
    running_us += us;
    now_us += us;
    return CUDA_SUCCESS;
}

static CUresult free_exec(CUgraphExec exec) {
    running = exec == running ? NULL : running;
    free(exec);
    fake.graphs--;
    return CUDA_SUCCESS;
}

static CUresult free_graph(CUgraph graph) {
    free(graph);
    return CUDA_SUCCESS;
}

static CUresult make_event(CUevent *event, unsigned flags) {
    *event = calloc(1, sizeof **event);
    return CUDA_SUCCESS;
}

static CUresult free_event(CUevent event) {
    free(event);
    return CUDA_SUCCESS;
}

static CUresult record(CUevent event, CUstream stream) {
    event->us = now_us;
    return CUDA_SUCCESS;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent stop) {
    *milliseconds = (float)((stop->us - start->us) * 1e-3);
    return CUDA_SUCCESS;
}

static const struct gm_driver *fake_driver(void) {
    static struct gm_driver driver;
#define DRIVER(name, abi, need, params) driver.name = succeed_##name;
#include "host/driver.def"
#undef DRIVER
    driver.version = 13000;
    driver.cuDeviceGetCount = get_count;
    driver.cuDeviceGetName = get_name;
    driver.cuDeviceGetAttribute = get_attribute;
    driver.cuDeviceTotalMem = total_memory;
    driver.cuMemGetInfo = memory_info;
    driver.cuMemAlloc = allocate;
    driver.cuMemFree = release;
    driver.cuMemcpyHtoD = copy_in;
    driver.cuMemcpyDtoH = copy_out;
    driver.cuMemcpyDtoDAsync = copy;
    driver.cuMemsetD8Async = set;
    driver.cuTensorMapReplaceAddress = replace_address;
    driver.cuLibraryLoadData = load_library;
    driver.cuLibraryUnload = unload_library;
    driver.cuLibraryGetKernel = get_kernel;
    driver.cuKernelGetFunction = get_function;
    driver.cuFuncGetParamInfo = parameter_info;
    driver.cuLaunchKernelEx = launch;
    driver.cuGraphCreate = NULL; /* plans launch plainly: graphs keep their time only */
    driver.cuStreamCreate = make_stream;
    driver.cuDevicePrimaryCtxRetain = retain;
    driver.cuStreamBeginCapture = begin_capture;
    driver.cuStreamEndCapture = end_capture;
    driver.cuGraphInstantiateWithFlags = instantiate;
    driver.cuGraphLaunch = launch_graph;
    driver.cuGraphExecDestroy = free_exec;
    driver.cuGraphDestroy = free_graph;
    driver.cuEventCreate = make_event;
    driver.cuEventDestroy = free_event;
    driver.cuEventRecord = record;
    driver.cuEventElapsedTime = elapsed;
    return &driver;
}

void fake_gpu_install(struct fake_gpu gpu) {
    fake = gpu;
    gm_driver_install(fake_driver());
}

void fake_gpu_remove(void) {
    gm_driver_install(NULL);
    ck_assert_int_eq(fake.allocations, 0);
    ck_assert_int_eq(fake.graphs, 0);
    ck_assert_int_eq(fake.libraries, 0);
}
