/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, and the lazy loading of kernel images into them. */
#include "host/context.h"

#include "host/error.h"
#include "host/image.h"
#include "host/log.h"
#include "host/structs.h"
#include "host/table.h"

#include <stdlib.h>

/* Retains the primary context of the device that `context` describes. */
static enum gm_status retain(gm_context *context) {
    const int ordinal = context->device.ordinal;
    CUresult result = context->driver->cuDeviceGet(&context->id, ordinal);
    if (result == CUDA_SUCCESS)
        result = context->driver->cuDevicePrimaryCtxRetain(&context->cuda, context->id);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "cannot retain the primary context of device %d", ordinal);
    return GM_OK;
}

enum gm_status gm_context_create(int device_ordinal, gm_context **out) {
    if (!out)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "context is NULL");
    struct gm_device device = {.size = sizeof device};
    enum gm_status status = gm_device_query(device_ordinal, &device);
    if (status != GM_OK)
        return status;
    gm_context *context = calloc(1, sizeof *context);
    struct gm_loaded_kernel *loaded = calloc(gm_kernel_count(), sizeof *loaded);
    if (!context || !loaded) {
        status = gm_fail(GM_ERROR_OUT_OF_MEMORY, "no host memory for a context");
        goto fail;
    }
    context->driver = gm_driver();
    context->device = device;
    context->loaded = loaded;
    status = retain(context);
    if (status != GM_OK)
        goto fail;
    pthread_mutex_init(&context->lock, NULL);
    gm_log(GM_LOG_INFO, "context on device %d: %s", device.ordinal, device.name);
    *out = context;
    return GM_OK;
fail:
    free(loaded);
    free(context);
    return status;
}

void gm_context_destroy(gm_context *context) {
    if (!context)
        return;
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (context->loaded[i].state == GM_LOADED)
            context->driver->cuLibraryUnload(context->loaded[i].library);
    context->driver->cuDevicePrimaryCtxRelease(context->id);
    pthread_mutex_destroy(&context->lock);
    free(context->loaded);
    free(context);
}

enum gm_status gm_context_device(const gm_context *context, struct gm_device *device) {
    if (!context)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "context is NULL");
    enum gm_status status = GM_CHECK_OUTPUT(device, "device");
    if (status == GM_OK)
        GM_OUTPUT(device, &context->device);
    return status;
}

/* ---- whether it is still there -------------------------------------------------------------------------- */

/* What the driver answers where the current context is no more: destroyed, or reset (cudaDeviceReset) and not yet
 * retained again. Its handle stays the same through all that. */
static int is_gone(CUresult result) {
    return result == CUDA_ERROR_CONTEXT_IS_DESTROYED || result == CUDA_ERROR_INVALID_CONTEXT;
}

static enum gm_status fail_gone(const gm_context *context, CUresult result) {
    return gm_fail_cuda(GM_ERROR_DRIVER, result,
                        "the primary context of device %d (%s) was reset or destroyed since gm_context_create(); "
                        "destroy the gm_context and its plans and make them anew",
                        context->device.ordinal, context->device.name);
}

enum gm_status gm_context_enter(const gm_context *context) {
    CUresult result = context->driver->cuCtxPushCurrent(context->cuda);
    if (is_gone(result))
        return fail_gone(context, result);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "cannot make the context of device %d current",
                            context->device.ordinal);
    return GM_OK;
}

void gm_context_leave(const gm_context *context) {
    CUcontext popped = NULL;
    context->driver->cuCtxPopCurrent(&popped);
}

enum gm_status gm_context_check(const gm_context *context, CUfunction function, CUresult result) {
    int registers = 0; /* of no interest: whether there is an answer is */
    if (context->driver->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS)
        return GM_OK;
    return fail_gone(context, result);
}

/* ---- loading ------------------------------------------------------------------------------------------ */

/* The library is loaded once; the function is asked for each time, since a context that was reset and is in use again
 * has another one. */
static struct gm_image_step load_kernel(const gm_context *context, const struct gm_kernel *kernel,
                                        struct gm_loaded_kernel *loaded, CUfunction *function) {
    const struct gm_driver *driver = context->driver;
    const int is_new = loaded->state == GM_NOT_LOADED;
    struct gm_image_step step = {CUDA_SUCCESS, NULL};
    if (is_new)
        step = gm_image_load_packed(driver, &kernel->image, context->device.cc_major, context->device.cc_minor,
                                    &loaded->library);
    if (step.result != CUDA_SUCCESS)
        return step;
    step = gm_image_function(driver, loaded->library, kernel->name, kernel->smem_bytes, function);
    if (step.result == CUDA_SUCCESS)
        loaded->state = GM_LOADED;
    else if (is_new)
        driver->cuLibraryUnload(loaded->library);
    return step;
}

/* Whether the next plan may try again. */
static int may_pass(CUresult result) {
    return result == CUDA_ERROR_OUT_OF_MEMORY || is_gone(result);
}

enum gm_status gm_context_load(gm_context *context, int index, CUfunction *function) {
    const struct gm_kernel *kernel = &gm_kernels[index];
    struct gm_loaded_kernel *loaded = &context->loaded[index];
    pthread_mutex_lock(&context->lock);
    const int is_new = loaded->state == GM_NOT_LOADED;
    struct gm_image_step step = {loaded->result, loaded->step};
    if (loaded->state != GM_LOAD_FAILED)
        step = load_kernel(context, kernel, loaded, function);
    if (is_new && step.result != CUDA_SUCCESS && !may_pass(step.result))
        *loaded = (struct gm_loaded_kernel){.state = GM_LOAD_FAILED, .result = step.result, .step = step.name};
    pthread_mutex_unlock(&context->lock);
    if (is_new)
        gm_log(GM_LOG_INFO, "%s: %s", kernel->name, step.result == CUDA_SUCCESS ? "loaded" : "failed to load");
    if (is_gone(step.result))
        return fail_gone(context, step.result);
    if (step.result != CUDA_SUCCESS && !step.name)
        return gm_fail(GM_ERROR_OUT_OF_MEMORY, "no host memory for an image");
    if (step.result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_IMAGE, step.result, "the image of %s failed to load on device %d: %s",
                            kernel->name, context->device.ordinal, step.name);
    return GM_OK;
}
