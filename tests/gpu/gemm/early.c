/* SPDX-License-Identifier: Apache-2.0 */
/* Programmatic dependent launch, of every sm90 row: the kernel before writes A, slowly, and lets ours start at once.
 * Until it has ended A is NaN, so whatever is read too early shows in D. With GM_PLAN_CONSTANT_B and without. */
#include "gemm/gemm_tests.h"

/* The same A, from elsewhere, by the slow kernel. */
static bool run_after(struct result *result, const struct slow_copy *copy, const struct placed *placed,
                      struct arena *arena, const gm_plan *plan, const char *what) {
    const struct gemm_case *gc = placed->gc;
    const int64_t rows = gc->a_major == GM_K_MAJOR ? gc->m : gc->k;
    const size_t elements = (size_t)(rows * leading(gc, 'a')), bytes = elements * (size_t)gm_type_bytes(gc->ab_type);
    const CUdeviceptr a = (CUdeviceptr)placed->args.a, elsewhere = arena_take(result, arena, bytes);
    return elsewhere && check_cuda(result, env.drv->cuMemcpyDtoD(elsewhere, a, bytes), what) &&
           check_cuda(result, env.drv->cuMemsetD8(a, 0xff, bytes), what) && poison_output(result, &placed->call) &&
           launch_slow_copy(result, copy, a, elsewhere, bytes / 2) &&
           check_ok(result, gm_gemm_execute(plan, &placed->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
           check_output(result, &placed->call, what);
}

/* How many whole tiles of a cluster N has: more of them, of one row or of two, than a GPU has SMs, or the simulated one
 * holds clusters. */
static int64_t tiles_of(const struct variant *variant, bool many) {
    const int64_t held =
        env.device.sm_count / (variant->gemm.cluster_m * variant->gemm.cluster_n * variant->gemm.cluster_k);
    if (env.simulated)
        return (many ? held : held / 2) + 1;
    return many ? 140 : 67;
}

/* Odd sizes, with strides that TMA takes. Many tiles and more K than the ring holds, or both sides ragged and less. */
static struct gemm_case case_of(const struct variant *variant, bool many) {
    struct gemm_case gc = {.m = many ? 1 : variant->gemm.tile_m * variant->gemm.cluster_m + 5,
                           .n = variant->gemm.tile_n * variant->gemm.cluster_n * tiles_of(variant, many) + 8,
                           .k = variant->gemm.tile_k * (many ? variant->gemm.stages + 2 : 2) -
                                row_unit(variant->kernel.type),
                           .ab_type = variant->kernel.type,
                           .d_type = d_type_of(variant),
                           .a_major = variant->gemm.a_major,
                           .b_major = variant->gemm.b_major,
                           .alpha = 1};
    gc.a_pad = gc.a_major == GM_K_MAJOR ? 0 : pad_row(gc.ab_type, gc.m);
    gc = fit_type(&gc);
    return fit_variant(variant, &gc);
}

static void run_flags(struct result *result, const struct slow_copy *copy, const char *kernel,
                      const struct placed *placed, struct arena *elsewhere) {
    static const uint32_t flags[] = {GM_PLAN_CONSTANT_B, 0, GM_PLAN_CONSTANT_B | GM_PLAN_NO_OVERLAP};
    for (size_t i = 0; i < (env.simulated ? 1 : COUNT(flags)); i++) {
        char what[700];
        const int length = snprintf(what, sizeof what, "flags %u: ", flags[i]);
        describe_gemm(placed->gc, what + length, sizeof what - (size_t)length);
        heartbeat(what);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .flags = flags[i]};
        gm_plan *plan = NULL;
        result->cases += check_ok(result, gm_gemm_plan_create(env.context, &placed->problem, &options, &plan), what) &&
                         run_after(result, copy, placed, elsewhere, plan, what);
        gm_plan_destroy(plan);
    }
}

static void run_row(const struct test *test, struct result *result) {
    struct variant variant;
    struct slow_copy copy = {0};
    struct buffers buffers = {0};
    struct arena elsewhere = {0};
    bool ok = read_variant((size_t)test->kernel, &variant) && load_slow_copy(result, &copy);
    for (int many = 0; many < 2 && ok; many++) {
        const struct gemm_case gc = case_of(&variant, many);
        struct placed placed;
        ok = place_gemm(result, &gc, &buffers, &placed);
        if (ok)
            run_flags(result, &copy, variant.kernel.name, &placed, &elsewhere);
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

void add_gemm_early_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct variant variant;
        if (read_variant(i, &variant) && variant.kernel.arch == GM_ARCH_SM90)
            add_test("early", variant.kernel.name, run_if_sm90, (int)i, 0);
    }
}
