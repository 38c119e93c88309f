/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the SM clock on the stream. Every SM counts its own clocks, so a stamp is made by each, and two stamps are
 * compared where one SM has made both: which SMs a small grid reaches is nobody's promise. */
#include "bench/measure/clock_meter.h"

#include <stdlib.h>

/* gm_bench_stamp(to, sms): to[SM] = its clock. NOTE: no register may be named %clock, which is a special one. */
static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry gm_bench_stamp(.param .u64 p_to, .param .u32 p_sms)\n{\n"
    ".reg .pred %beyond;\n.reg .b32 %sm, %sms;\n.reg .b64 %to, %now;\n"
    "ld.param.u64 %to, [p_to];\nld.param.u32 %sms, [p_sms];\ncvta.to.global.u64 %to, %to;\n"
    "mov.u32 %sm, %smid;\nsetp.ge.u32 %beyond, %sm, %sms;\n@%beyond ret;\n"
    "mad.wide.u32 %to, %sm, 8, %to;\nmov.u64 %now, %clock64;\nst.global.u64 [%to], %now;\nret;\n}\n";

#define CTAS_PER_SM 4

static size_t stamp_bytes(const struct gpu *gpu) {
    return (size_t)gpu->device.sm_count * sizeof(uint64_t);
}

int clock_meter_open(const struct gpu *gpu, struct clock_meter *meter) {
    *meter = (struct clock_meter){0};
    if (gpu->drv->cuLibraryLoadData(&meter->library, ptx, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS) {
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
        if (gpu_alloc(gpu, &meter->stamps, count * stamp_bytes(gpu)) != 0)
            return -1;
        meter->room = count;
    }
    GPU_TRY(gpu, cuMemsetD8Async, meter->stamps, 0, count * stamp_bytes(gpu), gpu->stream);
    return 0;
}

int clock_meter_stamp(const struct gpu *gpu, const struct clock_meter *meter, size_t index) {
    if (!meter->stamp)
        return 0;
    CUdeviceptr to = meter->stamps + index * stamp_bytes(gpu);
    uint32_t sms = (uint32_t)gpu->device.sm_count;
    void *params[] = {&to, &sms};
    const CUlaunchConfig config = {.gridDimX = CTAS_PER_SM * sms,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = gpu->stream};
    GPU_TRY(gpu, cuLaunchKernelEx, &config, meter->stamp, params, NULL);
    return 0;
}

int clock_meter_read(const struct gpu *gpu, const struct clock_meter *meter, size_t count, uint64_t **stamps) {
    *stamps = NULL;
    if (!meter->stamp)
        return 0;
    *stamps = malloc(count * stamp_bytes(gpu));
    if (!*stamps)
        return complain("out of host memory");
    GPU_TRY(gpu, cuMemcpyDtoH, *stamps, meter->stamps, count * stamp_bytes(gpu));
    return 0;
}

double clock_meter_between(const uint64_t *stamps, int sm_count, size_t begin, size_t end) {
    for (size_t sm = 0; stamps && sm < (size_t)sm_count; sm++) {
        const uint64_t from = stamps[begin * (size_t)sm_count + sm], to = stamps[end * (size_t)sm_count + sm];
        if (from > 0 && to > from)
            return (double)(to - from);
    }
    return 0;
}
