/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, and the lazy loading of kernel images into them. */
#include "context.h"

#include "error.h"
#include "image.h"
#include "log.h"
#include "structs.h"
#include "table.h"

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
    struct gm_loaded *loaded = calloc(gm_kernel_count(), sizeof *loaded);
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

enum gm_status gm_context_enter(const gm_context *context) {
    CUresult result = context->driver->cuCtxPushCurrent(context->cuda);
    if (result != CUDA_SUCCESS)
        return gm_fail_cuda(GM_ERROR_DRIVER, result, "cannot make the context of device %d current",
                            context->device.ordinal);
    return GM_OK;
}

void gm_context_leave(const gm_context *context) {
    CUcontext popped = NULL;
    context->driver->cuCtxPopCurrent(&popped);
}

static void load(const struct gm_driver *driver, const struct gm_kernel *row, struct gm_loaded *loaded) {
    struct gm_image_step step = gm_image_load(driver, row->image, &loaded->library);
    if (step.result == CUDA_SUCCESS) {
        step = gm_image_function(driver, loaded->library, row->name, row->smem_bytes, &loaded->function);
        if (step.result != CUDA_SUCCESS)
            driver->cuLibraryUnload(loaded->library);
    }
    loaded->result = step.result;
    loaded->step = step.name;
    loaded->state = step.result == CUDA_SUCCESS ? GM_LOADED : GM_LOAD_FAILED;
}

enum gm_status gm_context_load(gm_context *context, int kernel, CUfunction *function) {
    const struct gm_kernel *row = &gm_kernels[kernel];
    struct gm_loaded *loaded = &context->loaded[kernel];
    pthread_mutex_lock(&context->lock);
    if (loaded->state == GM_NOT_LOADED) {
        load(context->driver, row, loaded);
        gm_log(GM_LOG_INFO, "%s: %s", row->name, loaded->state == GM_LOADED ? "loaded" : "failed to load");
    }
    const struct gm_loaded found = *loaded;
    if (found.result == CUDA_ERROR_OUT_OF_MEMORY) /* may pass: the next plan may try again */
        loaded->state = GM_NOT_LOADED;
    pthread_mutex_unlock(&context->lock);
    if (found.state != GM_LOADED)
        return gm_fail_cuda(GM_ERROR_IMAGE, found.result, "the image of %s failed to load on device %d: %s", row->name,
                            context->device.ordinal, found.step);
    *function = found.function;
    return GM_OK;
}
