/* SPDX-License-Identifier: Apache-2.0 */
/* What every operation refuses alike: images that the driver refuses, streams of another device, contexts that are
 * gone. */
#include <string.h>

#include "gpu_tests.h"

/* ---- images ---------------------------------------------------------------------------------------- */

static CUresult refuse_image(CUlibrary *library, const void *image, int *jit_options, void **jit_values,
                             unsigned jit_count, int *library_options, void **library_values, unsigned library_count) {
    (void)library, (void)image, (void)jit_options, (void)jit_values, (void)jit_count;
    (void)library_options, (void)library_values, (void)library_count;
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Hands the real driver an image whose bytes are damaged. */
static CUresult damage_image(CUlibrary *library, const void *image, int *jit_options, void **jit_values,
                             unsigned jit_count, int *library_options, void **library_values, unsigned library_count) {
    static unsigned char damaged[4096];
    (void)image;
    memset(damaged, 0x5a, sizeof damaged - 1); /* ends in a NUL: what is no binary, the driver reads as PTX text */
    return env.drv->cuLibraryLoadData(library, damaged, jit_options, jit_values, jit_count, library_options,
                                      library_values, library_count);
}

static void run_image(const struct test *test, struct result *result) {
    struct gm_driver broken = *env.drv;
    struct call *call = test->operation->new_call(false);
    if (!test->operation->place_call(result, call, 0, false)) {
        test->operation->free_call(call);
        return;
    }
    for (int i = 0; i < 2; i++) {
        gm_context *context = NULL; /* a fresh one each time: it has loaded nothing and remembers no failure */
        gm_plan *plan = NULL;
        broken.cuLibraryLoadData = i ? damage_image : refuse_image;
        gm_driver_install(&broken);
        enum gm_status status = gm_context_create(0, &context);
        if (check_ok(result, status, "context"))
            status = test->operation->plan(context, call->problem, NULL, &plan);
        const int cuda = gm_last_cuda_result();
        check_refusal(result, status, GM_ERROR_IMAGE, i ? "a damaged image" : "an image that the driver refuses");
        if (cuda == CUDA_SUCCESS || (i == 0 && cuda != CUDA_ERROR_NO_BINARY_FOR_GPU))
            fail(result, "gm_last_cuda_result() is %d", cuda);
        gm_context_destroy(context);
        gm_driver_install(opt.self_test ? env.drv : NULL);
    }
    test->operation->free_call(call);
}

/* ---- devices --------------------------------------------------------------------------------------- */

static void run_wrong_device(const struct test *test, struct result *result) {
    gm_context *other = NULL;
    gm_plan *plan = NULL;
    if (env.device_count < 2) {
        skip(result, "needs two GPUs");
        return;
    }
    const struct tested_operation *operation = test->operation;
    struct call *call = operation->new_call(false);
    if (operation->place_call(result, call, 0, false) && check_ok(result, gm_context_create(1, &other), "context") &&
        check_ok(result, operation->plan(other, call->problem, NULL, &plan), "plan")) {
        check_refusal(result, operation->execute(plan, call->args, env.stream), GM_ERROR_WRONG_DEVICE,
                      "a stream of another device");
        check_unwritten(result, call, "a stream of another device");
    }
    gm_plan_destroy(plan);
    gm_context_destroy(other);
    operation->free_call(call);
}

/* Gone is the context of device 1, which these tests do not need: released once more than it was retained. */
static void run_reset(const struct test *test, struct result *result) {
    static const char words[] = "the primary context of device 1";
    const struct tested_operation *operation = test->operation;
    gm_context *context = NULL;
    gm_plan *plan = NULL, *later = NULL;
    CUcontext again = NULL;
    if (!env.simulated || env.device_count < 2) {
        skip(result, "would end a GPU's context");
        return;
    }
    struct call *call = operation->new_call(false);
    if (operation->place_call(result, call, 0, false) && check_ok(result, gm_context_create(1, &context), "context") &&
        check_ok(result, operation->plan(context, call->problem, NULL, &plan), "plan") &&
        check_cuda(result, env.drv->cuDevicePrimaryCtxRelease(1), "release")) {
        check_refusal(result, operation->plan(context, call->problem, NULL, &later), GM_ERROR_DRIVER, "a plan");
        if (!strstr(gm_last_error(), words))
            fail(result, "a plan in a context that is gone: %s", gm_last_error());
        check_refusal(result, operation->execute(plan, call->args, NULL), GM_ERROR_DRIVER, "a launch");
        if (!strstr(gm_last_error(), words))
            fail(result, "a launch in a context that is gone: %s", gm_last_error());
        check_cuda(result, env.drv->cuDevicePrimaryCtxRetain(&again, 1), "retain");
        check_refusal(result, operation->execute(plan, call->args, NULL), GM_ERROR_DRIVER, "a launch of the old plan");
        if (!strstr(gm_last_error(), words))
            fail(result, "a plan from before the reset: %s", gm_last_error());
        check_ok(result, operation->plan(context, call->problem, NULL, &later), "a plan in the context that is back");
    }
    gm_plan_destroy(plan);
    gm_plan_destroy(later);
    gm_context_destroy(context);
    operation->free_call(call);
}

void add_refusal_tests(void) {
    add_operation_test("badinput", "image", run_image, 0);
    add_operation_test("badinput", "wrong_device", run_wrong_device, 0);
    add_operation_test("badinput", "reset", run_reset, 0);
}
