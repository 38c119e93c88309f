/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the SM clock on the stream. Every SM counts its own clocks, so it is always the same SM that is asked: a grid of
 * twice as many CTAs as there are SMs reaches all of them. */
#include "clock_meter.h"

#include <string.h>

/* gm_bench_stamp(to): the clock of SM 0. */
const char clock_meter_ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                         ".visible .entry gm_bench_stamp(.param .u64 p_to)\n{\n"
                         ".reg .pred %other;\n.reg .b32 %sm;\n.reg .b64 %to, %clock;\n"
                         "mov.u32 %sm, %smid;\nsetp.ne.u32 %other, %sm, 0;\n@%other ret;\n"
                         "ld.param.u64 %to, [p_to];\ncvta.to.global.u64 %to, %to;\n"
                         "mov.u64 %clock, %clock64;\nst.global.u64 [%to], %clock;\nret;\n}\n";

int clock_meter_open(const struct gpu *gpu, struct clock_meter *meter) {
    *meter = (struct clock_meter){0};
    if (gpu->drv->cuLibraryLoadData(&meter->library, clock_meter_ptx, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS) {
        meter->library = NULL;
        return 0;
    }
    CUkernel kernel = NULL;
    GPU_TRY(gpu, cuLibraryGetKernel, &kernel, meter->library, "gm_bench_stamp");
    GPU_TRY(gpu, cuKernelGetFunction, &meter->stamp, kernel);
    return 0;
}

void clock_meter_close(const struct gpu *gpu, struct clock_meter *meter) {
    if (meter->stamps)
        gpu_free(gpu, &meter->stamps);
    if (meter->library)
        gpu->drv->cuLibraryUnload(meter->library);
    *meter = (struct clock_meter){0};
}

int clock_meter_clear(const struct gpu *gpu, struct clock_meter *meter, size_t count) {
    if (!meter->stamp)
        return 0;
    if (count > meter->room) {
        if (meter->stamps)
            gpu_free(gpu, &meter->stamps);
        meter->room = 0;
        if (gpu_alloc(gpu, &meter->stamps, count * sizeof(uint64_t)) != 0)
            return -1;
        meter->room = count;
    }
    GPU_TRY(gpu, cuMemsetD8Async, meter->stamps, 0, count * sizeof(uint64_t), gpu->stream);
    return 0;
}

int clock_meter_stamp(const struct gpu *gpu, const struct clock_meter *meter, size_t index) {
    if (!meter->stamp)
        return 0;
    CUdeviceptr to = meter->stamps + index * sizeof(uint64_t);
    void *params[] = {&to};
    const CUlaunchConfig config = {.gridDimX = 2 * (unsigned)gpu->device.sm_count,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = gpu->stream};
    GPU_TRY(gpu, cuLaunchKernelEx, &config, meter->stamp, params, NULL);
    return 0;
}

int clock_meter_read(const struct gpu *gpu, const struct clock_meter *meter, uint64_t *stamps, size_t count) {
    memset(stamps, 0, count * sizeof *stamps);
    if (meter->stamp)
        GPU_TRY(gpu, cuMemcpyDtoH, stamps, meter->stamps, count * sizeof *stamps);
    return 0;
}
