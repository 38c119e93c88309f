/* SPDX-License-Identifier: Apache-2.0 */
/* Programmatic dependent launch, of every sm90 variant: the kernel before writes an operand, slowly, and lets ours start at
 * once. Until it has ended the operand is NaN, so whatever is read too early shows in out. */
#include "columns.h"
#include "rms_norm/rms_norm_tests.h"

/* The operand at `address` once more, from elsewhere, by the slow kernel. */
static bool run_after(struct result *result, const struct slow_copy *copy, const struct placed_norm *placed,
                      CUdeviceptr address, int64_t rows, struct arena *arena, const gm_plan *plan) {
    const char *const what = "after a slow kernel";
    const size_t bytes = (size_t)(rows * placed->nc->columns * gm_type_bytes(placed->nc->type));
    const CUdeviceptr elsewhere = arena_take(result, arena, bytes);
    return elsewhere && poison_output(result, &placed->call) &&
           check_cuda(result, env.drv->cuMemcpyDtoD(elsewhere, address, bytes), what) &&
           check_cuda(result, env.drv->cuMemsetD8(address, 0xff, bytes), what) &&
           check_cuda(result, env.drv->cuCtxSynchronize(), what) &&
           launch_slow_copy(result, copy, address, elsewhere, bytes / 2) &&
           check_ok(result, gm_rms_norm_execute(plan, &placed->args, env.stream), what) &&
           check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) &&
           check_output(result, &placed->call, what);
}

static void run_operands(struct result *result, const struct slow_copy *copy, const struct norm_case *nc,
                         const char *kernel) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel};
    struct norm_buffers buffers = {0};
    struct arena elsewhere = {0};
    struct placed_norm placed;
    gm_plan *plan = NULL;
    heartbeat(kernel);
    if (place_norm(result, nc, &buffers, &placed) &&
        check_ok(result, gm_rms_norm_plan_create(env.context, &placed.problem, &options, &plan), "plan")) {
        result->cases += run_after(result, copy, &placed, placed.args.x, nc->rows, &elsewhere, plan);
        result->cases += run_after(result, copy, &placed, placed.args.residual, nc->rows, &elsewhere, plan);
        result->cases += run_after(result, copy, &placed, placed.args.weight, 1, &elsewhere, plan);
    }
    gm_plan_destroy(plan);
    arena_free(&elsewhere);
    free_norm(&buffers);
}

static void run_variant(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    const int64_t chunk = c[GM_RMS_NORM_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    const struct norm_case nc = {.rows = env.simulated ? 20 : 300,
                                 .columns = (int64_t)c[GM_RMS_NORM_ROW_THREADS] * c[GM_RMS_NORM_VECTORS] * chunk,
                                 .type = kernel->type,
                                 .eps = 1e-5f,
                                 .residual = 1,
                                 .inputs = NORMAL_ROWS};
    struct slow_copy copy = {0};
    if (load_slow_copy(result, &copy))
        run_operands(result, &copy, &nc, kernel->name);
    if (copy.library)
        env.drv->cuLibraryUnload(copy.library);
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
