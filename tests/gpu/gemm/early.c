/* SPDX-License-Identifier: Apache-2.0 */
/* Programmatic dependent launch, of every sm90 row: the kernel before writes A, slowly, and lets ours start at once.
 * Until it has ended A is NaN, so whatever is read too early shows in D. With GM_PLAN_CONSTANT_B and without. */
#include "gemm_tests.h"

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

struct slow_copy {
    CUlibrary library;
    CUfunction function;
};

static bool load_slow_copy(struct result *result, struct slow_copy *copy) {
    CUkernel kernel;
    return check_cuda(result, env.drv->cuLibraryLoadData(&copy->library, slow_copy, NULL, NULL, 0, NULL, NULL, 0),
                      "load") &&
           check_cuda(result, env.drv->cuLibraryGetKernel(&kernel, copy->library, "slow_copy"), "cuLibraryGetKernel") &&
           check_cuda(result, env.drv->cuKernelGetFunction(&copy->function, kernel), "cuKernelGetFunction");
}

static bool launch_slow_copy(struct result *result, const struct slow_copy *copy, CUdeviceptr to, CUdeviceptr from,
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

/* The same A, from elsewhere, by the slow kernel. */
static bool run_after(struct result *result, const struct slow_copy *copy, const struct placed *placed,
                      struct arena *arena, const gm_plan *plan, const char *what) {
    const struct gemm_case *gc = placed->gc;
    const int64_t rows = gc->a_major == GM_K_MAJOR ? gc->m : gc->k;
    const size_t elements = (size_t)(rows * leading(gc, 'a')), bytes = elements * 2;
    const CUdeviceptr a = (CUdeviceptr)placed->args.a, elsewhere = arena_take(result, arena, bytes);
    return elsewhere && check_cuda(result, env.drv->cuMemcpyDtoD(elsewhere, a, bytes), what) &&
           check_cuda(result, env.drv->cuMemsetD8(a, 0xff, bytes), what) && poison_output(result, placed) &&
           launch_slow_copy(result, copy, a, elsewhere, elements) &&
           check_ok(result, gm_gemm_execute(plan, &placed->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) && check_output(result, placed, what);
}

/* Odd sizes, with strides that TMA takes. Many tiles and more K than the ring holds, or both sides ragged and less. */
static struct gemm_case case_of(const struct kernel *info, bool many) {
    const int64_t tiles = env.simulated ? 5 : many ? 140 : 67;
    struct gemm_case gc = {.m = many ? 1 : info->tile_m * info->cluster_m + 5,
                           .n = info->tile_n * info->cluster_n * tiles + 8,
                           .k = info->tile_k * (many ? info->stages + 2 : 2) - 8,
                           .ab_type = info->type,
                           .d_type = info->type,
                           .a_major = info->a_major,
                           .b_major = info->b_major,
                           .alpha = 1};
    gc.a_pad = gc.a_major == GM_K_MAJOR ? 0 : (8 - gc.m % 8) % 8;
    return gc;
}

static void run_flags(struct result *result, const struct slow_copy *copy, const char *kernel,
                      const struct placed *placed, struct arena *elsewhere) {
    static const uint32_t flags[] = {GM_PLAN_CONSTANT_B, 0, GM_PLAN_CONSTANT_B | GM_PLAN_NO_OVERLAP};
    for (size_t i = 0; i < (env.simulated ? 1 : COUNT(flags)); i++) {
        char what[400];
        const int length = snprintf(what, sizeof what, "flags %u: ", flags[i]);
        describe_case(placed->gc, what + length, sizeof what - (size_t)length);
        heartbeat(what);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .flags = flags[i]};
        gm_plan *plan = NULL;
        result->cases += check_ok(result, gm_gemm_plan_create(env.context, &placed->problem, &options, &plan), what) &&
                         run_after(result, copy, placed, elsewhere, plan, what);
        gm_plan_destroy(plan);
    }
}

static void run_row(const struct test *test, struct result *result) {
    struct kernel info;
    struct slow_copy copy = {0};
    struct buffers buffers = {0};
    struct arena elsewhere = {0};
    if (!read_kernel((size_t)test->kernel, &info))
        return fail(result, "%s", gm_last_error());
    bool ok = load_slow_copy(result, &copy);
    for (int many = 0; many < 2 && ok; many++) {
        const struct gemm_case gc = case_of(&info, many);
        struct placed placed;
        ok = place_case(result, &gc, &buffers, &placed);
        if (ok)
            run_flags(result, &copy, info.name, &placed, &elsewhere);
    }
    if (copy.library)
        env.drv->cuLibraryUnload(copy.library);
    if (elsewhere.base)
        env.drv->cuMemFree(elsewhere.base);
    free_buffers(&buffers);
}

static void run_if_sm90(const struct test *test, struct result *result) {
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these rows want compute capability 9.0");
    else
        run_row(test, result);
}

void add_early_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct kernel info;
        if (read_kernel(i, &info) && info.arch == GM_ARCH_SM90)
            add_test("early", info.name, run_if_sm90, (int)i, 0);
    }
}
