/* SPDX-License-Identifier: Apache-2.0 */
/* A started driver, and kernels for it. */
#include "driver_kit.h"

#include <stdlib.h>
#include <string.h>

const char kit_ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".global .align 4 .u32 cell = 77;\n"
                       ".const .align 4 .u32 table[2] = {5, 6};\n"
                       ".visible .entry fill(.param .u64 to, .param .u32 value) {\n"
                       ".reg .b32 %r<6>;\n.reg .b64 %d<4>;\n"
                       "ld.param.u64 %d1, [to];\nld.param.u32 %r1, [value];\n"
                       "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
                       "mad.lo.s32 %r5, %r2, %r3, %r4;\nmul.wide.u32 %d2, %r5, 4;\nadd.s64 %d3, %d1, %d2;\n"
                       "st.global.u32 [%d3], %r1;\nret;\n}\n"
                       ".visible .entry nothing() {\nret;\n}\n"
                       ".visible .entry wild() {\n.reg .b64 %d<2>;\n.reg .b32 %r<2>;\n"
                       "mov.u64 %d1, 64;\nmov.u32 %r1, 1;\nst.global.u32 [%d1], %r1;\nret;\n}\n"
                       ".visible .entry torn() {\n.reg .b64 %d<2>;\n.reg .b32 %r<2>;\n"
                       "mov.u64 %d1, cell;\nmov.u32 %r1, 1;\nst.global.u32 [%d1+1], %r1;\nret;\n}\n"
                       ".visible .entry stale(.param .u64 to) {\n.reg .b64 %d<2>;\n.reg .b32 %r<2>;\n"
                       ".shared .align 4 .b8 cold[16];\n"
                       "ld.param.u64 %d1, [to];\nld.shared.u32 %r1, [cold];\nst.global.u32 [%d1], %r1;\nret;\n}\n"
                       ".visible .entry bounded()\n.maxntid 64, 1, 1\n{\n.shared .align 4 .b8 room[1024];\n"
                       ".reg .b32 %r<2>;\nmov.u32 %r1, room;\nret;\n}\n"
                       ".visible .entry wide(.param .u64 a, .param .u8 b, .param .align 8 .b8 c[24]) {\nret;\n}\n";

const char kit_ptx_90a[] = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry nothing() {\nret;\n}\n";

static CUcontext context;

bool kit_shares_process(void) {
    const char *fork = getenv("CK_FORK");
    return fork && strcmp(fork, "no") == 0;
}

void kit_start(void) {
    gm_sim_set_reports("quiet");
    kit_ok(cuInit(0));
    kit_ok(cuDevicePrimaryCtxRetain(&context, 0));
    kit_ok(cuCtxSetCurrent(context));
}

void kit_stop(void) {
    kit_ok(cuCtxSetCurrent(NULL));
    kit_ok(cuDevicePrimaryCtxRelease(0));
    gm_sim_reports_clear();
}

CUlibrary kit_module;
CUfunction kit_filler;
CUdeviceptr kit_memory;
CUstream kit_stream;

void kit_start_module(void) {
    kit_start();
    kit_module = kit_library(kit_ptx);
}

void kit_stop_module(void) {
    kit_ok(cuLibraryUnload(kit_module));
    kit_stop();
}

void kit_start_stream(void) {
    kit_start_module();
    kit_filler = kit_function(kit_module, "fill");
    kit_ok(cuMemAlloc(&kit_memory, 4096));
    kit_ok(cuMemsetD8(kit_memory, 0, 4096));
    kit_ok(cuStreamCreate(&kit_stream, CU_STREAM_NON_BLOCKING));
}

CUcontext kit_context(void) {
    return context;
}

CUlibrary kit_library(const char *text) {
    CUlibrary library = NULL;
    kit_ok(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

CUfunction kit_function(CUlibrary library, const char *name) {
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    kit_ok(cuLibraryGetKernel(&kernel, library, name));
    kit_ok(cuKernelGetFunction(&function, kernel));
    return function;
}

CUlaunchConfig kit_config(unsigned threads) {
    return (CUlaunchConfig){
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = threads, .blockDimY = 1, .blockDimZ = 1};
}

CUresult kit_fill(CUfunction fill, CUstream stream, CUdeviceptr to, uint32_t value, unsigned threads) {
    CUlaunchConfig config = kit_config(threads);
    void *params[] = {&to, &value};
    config.hStream = stream;
    return cuLaunchKernelEx(&config, fill, params, NULL);
}

uint32_t kit_word(CUdeviceptr at) {
    uint32_t word = 0;
    kit_ok(cuMemcpyDtoH(&word, at, sizeof word));
    return word;
}
