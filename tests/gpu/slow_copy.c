/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel to launch before the one that is tested: it lets that one start at once, and writes its operand late. */
#include "gpu_tests.h"

enum { THREADS = 128, BLOCKS = 4 };

/* Lets its dependents go, reads `delay` times what nobody keeps, then copies 16-bit elements. */
static const char slow_copy[] = ".version 7.8\n"
                                ".target sm_90\n"
                                ".address_size 64\n"
                                ".visible .entry slow_copy(.param .u64 to, .param .u64 from, .param .u64 elements,\n"
                                "                          .param .u64 delay)\n"
                                "{\n"
                                "    .reg .pred %p<2>;\n"
                                "    .reg .b16 %h<2>;\n"
                                "    .reg .b32 %r<4>;\n"
                                "    .reg .b64 %d<8>;\n"
                                "    griddepcontrol.launch_dependents;\n"
                                "    ld.param.u64 %d0, [to];\n"
                                "    ld.param.u64 %d1, [from];\n"
                                "    ld.param.u64 %d2, [elements];\n"
                                "    ld.param.u64 %d3, [delay];\n"
                                "    mov.u32 %r0, %ctaid.x;\n"
                                "    mov.u32 %r1, %ntid.x;\n"
                                "    mov.u32 %r2, %tid.x;\n"
                                "    mad.lo.u32 %r2, %r0, %r1, %r2;\n"
                                "    mov.u32 %r3, %nctaid.x;\n"
                                "    mul.lo.u32 %r3, %r3, %r1;\n"
                                "    cvt.u64.u32 %d4, %r2;\n"
                                "    cvt.u64.u32 %d5, %r3;\n"
                                "wait:\n"
                                "    ld.volatile.global.u16 %h0, [%d1];\n"
                                "    sub.u64 %d3, %d3, 1;\n"
                                "    setp.ne.u64 %p0, %d3, 0;\n"
                                "    @%p0 bra wait;\n"
                                "copy:\n"
                                "    setp.ge.u64 %p1, %d4, %d2;\n"
                                "    @%p1 bra done;\n"
                                "    shl.b64 %d6, %d4, 1;\n"
                                "    add.u64 %d7, %d1, %d6;\n"
                                "    ld.global.u16 %h1, [%d7];\n"
                                "    add.u64 %d7, %d0, %d6;\n"
                                "    st.global.u16 [%d7], %h1;\n"
                                "    add.u64 %d4, %d4, %d5;\n"
                                "    bra copy;\n"
                                "done:\n"
                                "    ret;\n"
                                "}\n";

bool load_slow_copy(struct result *result, struct slow_copy *copy) {
    CUkernel kernel;
    return check_cuda(result, env.drv->cuLibraryLoadData(&copy->library, slow_copy, NULL, NULL, 0, NULL, NULL, 0),
                      "load") &&
           check_cuda(result, env.drv->cuLibraryGetKernel(&kernel, copy->library, "slow_copy"), "cuLibraryGetKernel") &&
           check_cuda(result, env.drv->cuKernelGetFunction(&copy->function, kernel), "cuKernelGetFunction");
}

bool launch_slow_copy(struct result *result, const struct slow_copy *copy, CUdeviceptr to, CUdeviceptr from,
                      size_t elements) {
    uint64_t delay = env.simulated ? 1 : 300;
    void *params[] = {&to, &from, &elements, &delay};
    const CUlaunchConfig config = {.gridDimX = BLOCKS,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = THREADS,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = env.stream};
    return check_cuda(result, env.drv->cuLaunchKernelEx(&config, copy->function, params, NULL), "slow_copy");
}
