/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine can do at best: memory and launch. */
#include "bench/measure/ceilings.h"

#include <math.h>
#include <stdio.h>

#include "program/base/stats.h"

#define BUFFER_BYTES_MAX ((size_t)2 << 30)
#define REPEATS          5
#define READ_THREADS     512
#define READ_CTAS_PER_SM 4
#define READ_LOADS       8 /* 16-byte loads in flight of each thread */
#define EMPTY_LAUNCHES   1000
/* A plain read kernel / cudaMemcpy on an H200: 4.64 and 4.27 TB/s. Only for drivers that refuse the PTX below. */
#define READ_PER_COPY   1.087
#define LAUNCH_US_GUESS 1.5

#define LOAD(i)                                                                                                        \
    "ld.global.nc.v4.u32 {%v" #i "0, %v" #i "1, %v" #i "2, %v" #i "3}, [%from];\n"                                     \
    "add.u64 %from, %from, %stride;\n"
#define FOLD(i)                                                                                                        \
    "xor.b32 %sum, %sum, %v" #i "0; xor.b32 %sum, %sum, %v" #i "1;\n"                                                  \
    "xor.b32 %sum, %sum, %v" #i "2; xor.b32 %sum, %sum, %v" #i "3;\n"
#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* gm_bench_read(from, trips, to): every thread reads 8 x 16 bytes a trip, strided by the grid; `to` is written only
 * if the folded value is one that it never is, so that no load is dead. */
const char ceilings_ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry gm_bench_empty()\n{\nret;\n}\n"
    ".visible .entry gm_bench_read(.param .u64 p_from, .param .u32 p_trips, .param .u64 p_to)\n{\n"
    ".reg .pred %more, %hit;\n.reg .b64 %from, %to, %stride;\n"
    ".reg .b32 %cta, %threads, %ctas, %lane, %trips, %sum;\n"
    ".reg .b32 %v00, %v01, %v02, %v03, %v10, %v11, %v12, %v13, %v20, %v21, %v22, %v23, %v30, %v31, %v32, %v33;\n"
    ".reg .b32 %v40, %v41, %v42, %v43, %v50, %v51, %v52, %v53, %v60, %v61, %v62, %v63, %v70, %v71, %v72, %v73;\n"
    "ld.param.u64 %from, [p_from];\nld.param.u32 %trips, [p_trips];\nld.param.u64 %to, [p_to];\n"
    "cvta.to.global.u64 %from, %from;\ncvta.to.global.u64 %to, %to;\n"
    "mov.u32 %cta, %ctaid.x;\nmov.u32 %threads, %ntid.x;\nmov.u32 %ctas, %nctaid.x;\nmov.u32 %lane, %tid.x;\n"
    "mad.lo.u32 %lane, %cta, %threads, %lane;\nmad.wide.u32 %from, %lane, 16, %from;\n"
    "mul.lo.u32 %ctas, %ctas, %threads;\nmul.wide.u32 %stride, %ctas, 16;\nmov.u32 %sum, 0;\n"
    "TRIP:\n" EIGHT(LOAD)
        EIGHT(FOLD) "sub.u32 %trips, %trips, 1;\nsetp.ne.u32 %more, %trips, 0;\n@%more bra TRIP;\n"
                    "setp.eq.u32 %hit, %sum, 0x9e3779b9;\n@%hit st.global.u32 [%to], %sum;\nret;\n}\n";

enum work { WORK_COPY, WORK_WRITE, WORK_READ, WORK_EMPTY };

struct bandwidth {
    const struct gpu *gpu;
    CUevent start, stop;
    CUdeviceptr from, to;
    size_t bytes, read_bytes;
    uint32_t trips;
    CUlibrary library;
    CUfunction read, empty; /* NULL: the driver refused the PTX */
    CUgraphExec graph;
};

static int launch_empty(const struct gpu *gpu, CUfunction function) {
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 32,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = gpu->stream};
    GPU_TRY(gpu, cuLaunchKernelEx, &config, function, NULL, NULL);
    return 0;
}

static int launch_read(const struct bandwidth *with) {
    CUdeviceptr from = with->from, to = with->to;
    uint32_t trips = with->trips;
    void *params[] = {&from, &trips, &to};
    const CUlaunchConfig config = {.gridDimX = (unsigned)with->gpu->device.sm_count * READ_CTAS_PER_SM,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = READ_THREADS,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = with->gpu->stream};
    GPU_TRY(with->gpu, cuLaunchKernelEx, &config, with->read, params, NULL);
    return 0;
}

static int do_work(const struct bandwidth *with, enum work work) {
    CUstream stream = with->gpu->stream;
    switch (work) {
    case WORK_COPY:
        GPU_TRY(with->gpu, cuMemcpyDtoDAsync, with->to, with->from, with->bytes, stream);
        return 0;
    case WORK_WRITE:
        GPU_TRY(with->gpu, cuMemsetD8Async, with->to, 0x55, with->bytes, stream);
        return 0;
    case WORK_READ:
        return launch_read(with);
    case WORK_EMPTY:
        GPU_TRY(with->gpu, cuGraphLaunch, with->graph, stream);
        return 0;
    }
    return -1;
}

/* Median microseconds of REPEATS runs after one that does not count. */
static int time_work(const struct bandwidth *with, enum work work, double *us) {
    double times[REPEATS];
    if (do_work(with, work) != 0)
        return -1;
    for (int i = 0; i < REPEATS; i++) {
        float milliseconds = 0;
        if (do_work(with, work) != 0) /* keeps the GPU busy while the host queues the timed one */
            return -1;
        GPU_TRY(with->gpu, cuEventRecord, with->start, with->gpu->stream);
        if (do_work(with, work) != 0)
            return -1;
        GPU_TRY(with->gpu, cuEventRecord, with->stop, with->gpu->stream);
        GPU_TRY(with->gpu, cuEventSynchronize, with->stop);
        GPU_TRY(with->gpu, cuEventElapsedTime, &milliseconds, with->start, with->stop);
        times[i] = milliseconds * 1e3;
    }
    *us = stats_median(times, REPEATS);
    return 0;
}

static void set_source(char source[SOURCE_BYTES], const char *text) {
    snprintf(source, SOURCE_BYTES, "%s", text);
}

static int measure_memory(const struct bandwidth *with, struct bench_ceilings *ceilings) {
    double us;
    if (time_work(with, WORK_COPY, &us) != 0)
        return -1;
    ceilings->copy_gbs = 2e-3 * (double)with->bytes / us;
    if (time_work(with, WORK_WRITE, &us) != 0)
        return -1;
    ceilings->write_gbs = 1e-3 * (double)with->bytes / us;
    if (with->read && time_work(with, WORK_READ, &us) == 0) {
        ceilings->read_gbs = 1e-3 * (double)with->read_bytes / us;
        set_source(ceilings->read_source, "measured: a plain read kernel");
    } else {
        ceilings->read_gbs = READ_PER_COPY * ceilings->copy_gbs;
        set_source(ceilings->read_source, "estimated: 1.087 x the measured copy, the ratio seen on an H200");
    }
    return 0;
}

static int call_empty(const void *what) {
    const struct bandwidth *with = what;
    return launch_empty(with->gpu, with->empty);
}

static int capture_empty(struct bandwidth *with) {
    int status = 0;
    if (gpu_begin_capture(with->gpu) != 0)
        return -1;
    for (int i = 0; i < EMPTY_LAUNCHES && status == 0; i++)
        status = launch_empty(with->gpu, with->empty);
    return gpu_end_capture(with->gpu, status, &with->graph);
}

static int measure_launch(struct bandwidth *with, struct bench_ceilings *ceilings) {
    double us;
    ceilings->launch_us = LAUNCH_US_GUESS;
    set_source(ceilings->launch_source, "assumed");
    if (!with->empty)
        return 0;
    if (capture_empty(with) != 0 || time_work(with, WORK_EMPTY, &us) != 0)
        return -1;
    ceilings->launch_us = us / EMPTY_LAUNCHES;
    set_source(ceilings->launch_source, "measured: an empty kernel in a CUDA graph");
    return time_host_calls(with->gpu, &(struct host_call){call_empty, with, &ceilings->launch_host_ns}, 1);
}

/* A driver that refuses the PTX costs two measured ceilings, not the run. */
static void load_kernels(struct bandwidth *with) {
    const struct gm_driver *drv = with->gpu->drv;
    CUkernel read, empty;
    if (drv->cuLibraryLoadData(&with->library, ceilings_ptx, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS)
        return;
    if (drv->cuLibraryGetKernel(&read, with->library, "gm_bench_read") != CUDA_SUCCESS ||
        drv->cuKernelGetFunction(&with->read, read) != CUDA_SUCCESS)
        with->read = NULL;
    if (drv->cuLibraryGetKernel(&empty, with->library, "gm_bench_empty") != CUDA_SUCCESS ||
        drv->cuKernelGetFunction(&with->empty, empty) != CUDA_SUCCESS)
        with->empty = NULL;
}

static int prepare(struct bandwidth *with) {
    size_t free_bytes = 0, total_bytes = 0;
    GPU_TRY(with->gpu, cuMemGetInfo, &free_bytes, &total_bytes);
    with->bytes = free_bytes / 4 < BUFFER_BYTES_MAX ? free_bytes / 4 / 4096 * 4096 : BUFFER_BYTES_MAX;
    GPU_TRY(with->gpu, cuEventCreate, &with->start, CU_EVENT_DEFAULT);
    GPU_TRY(with->gpu, cuEventCreate, &with->stop, CU_EVENT_DEFAULT);
    if (gpu_alloc(with->gpu, &with->from, with->bytes) != 0 || gpu_alloc(with->gpu, &with->to, with->bytes) != 0)
        return -1;
    GPU_TRY(with->gpu, cuMemsetD8Async, with->from, 0x5a, with->bytes, with->gpu->stream);
    size_t trip = (size_t)with->gpu->device.sm_count * READ_CTAS_PER_SM * READ_THREADS * READ_LOADS * 16;
    with->trips = (uint32_t)(with->bytes / trip);
    with->read_bytes = with->trips * trip;
    load_kernels(with);
    if (with->trips == 0)
        with->read = NULL;
    return 0;
}

static void release(struct bandwidth *with) {
    const struct gm_driver *drv = with->gpu->drv;
    if (with->graph)
        drv->cuGraphExecDestroy(with->graph);
    if (with->library)
        drv->cuLibraryUnload(with->library);
    if (with->start)
        drv->cuEventDestroy(with->start);
    if (with->stop)
        drv->cuEventDestroy(with->stop);
    gpu_free(with->gpu, &with->from);
    gpu_free(with->gpu, &with->to);
}

int ceilings_measure(const struct gpu *gpu, struct bench_ceilings *ceilings) {
    struct bandwidth with = {.gpu = gpu};
    int status = prepare(&with);
    if (status == 0)
        status = measure_memory(&with, ceilings);
    if (status == 0)
        status = measure_launch(&with, ceilings);
    release(&with);
    return status;
}
