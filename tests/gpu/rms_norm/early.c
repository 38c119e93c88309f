/* SPDX-License-Identifier: Apache-2.0 */
/* Programmatic dependent launch, of every sm90 variant: the kernel before writes x, slowly, and lets ours start at once.
 * Until it has ended x is NaN, so whatever is read too early shows in out. */
#include "columns.h"
#include "rms_norm/rms_norm_tests.h"

/* The same x, from elsewhere, by the slow kernel. */
static bool run_after(struct result *result, const struct slow_copy *copy, const struct placed_norm *placed,
                      CUdeviceptr elsewhere, const gm_plan *plan, const char *what) {
    const size_t bytes = (size_t)(placed->nc->rows * placed->problem.x_stride * gm_type_bytes(placed->nc->type));
    const CUdeviceptr x = (CUdeviceptr)placed->args.x;
    return check_cuda(result, env.drv->cuMemcpyDtoD(elsewhere, x, bytes), what) &&
           check_cuda(result, env.drv->cuMemsetD8(x, 0xff, bytes), what) && poison_output(result, &placed->call) &&
           launch_slow_copy(result, copy, x, elsewhere, bytes / 2) &&
           check_ok(result, gm_rms_norm_execute(plan, &placed->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
           check_output(result, &placed->call, what);
}

static void run_variant(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    const int64_t chunk = c[GM_RMS_NORM_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    const struct norm_case nc = {.rows = env.simulated ? 20 : 300,
                                 .columns = (int64_t)c[GM_RMS_NORM_ROW_THREADS] * c[GM_RMS_NORM_VECTORS] * chunk,
                                 .type = kernel->type,
                                 .eps = 1e-5f,
                                 .inputs = NORMAL_ROWS};
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
    struct slow_copy copy = {0};
    struct norm_buffers buffers = {0};
    struct arena elsewhere = {0};
    struct placed_norm placed;
    gm_plan *plan = NULL;
    heartbeat(kernel->name);
    if (load_slow_copy(result, &copy) && place_norm(result, &nc, &buffers, &placed) &&
        arena_take(result, &elsewhere, (size_t)(nc.rows * nc.columns * gm_type_bytes(nc.type))) &&
        check_ok(result, gm_rms_norm_plan_create(env.context, &placed.problem, &options, &plan), "plan"))
        result->cases += run_after(result, &copy, &placed, elsewhere.base, plan, kernel->name);
    gm_plan_destroy(plan);
    if (copy.library)
        env.drv->cuLibraryUnload(copy.library);
    arena_free(&elsewhere);
    free_norm(&buffers);
}

static void run_if_sm90(const struct test *test, struct result *result) {
    if (opt.self_test)
        skip(result, "the stand-in runs no kernel but ours");
    else if (env.device.cc_major != 9)
        skip(result, "griddepcontrol and these variants want compute capability 9.0");
    else
        run_variant(test, result);
}

void add_norm_early_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (gm_kernels[i].family->operation == &gm_operation_rms_norm && gm_kernels[i].arch == GM_ARCH_SM90)
            add_test("early", gm_kernels[i].name, run_if_sm90, (int)i, 0);
}
