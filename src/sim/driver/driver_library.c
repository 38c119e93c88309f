/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries and modules: PTX text, or an image of this build, whose kernels' PTX is in the table (driver_table.c).
 *
 * A library belongs to no context; its functions, and its variables in global memory, do. So each context in which a
 * kernel of it becomes a function has the module parsed for itself. */
#include "sim/driver/driver_limits.h"
#include "sim/driver/driver_sim.h"

#include <stdlib.h>
#include <string.h>

/* ---- libraries ------------------------------------------------------------------------------------------------- */

static void *first_of(CUlibrary library, enum sim_handle_kind kind) {
    void *handle;
    for (size_t i = 0; (handle = sim_handle_at(i, kind)); i++)
        if ((kind == SIM_HANDLE_KERNEL ? ((CUkernel)handle)->library : ((CUfunction)handle)->library) == library)
            return handle;
    return NULL;
}

static void free_library(void *freed) {
    CUlibrary library = freed;
    void *handle;
    while ((handle = first_of(library, SIM_HANDLE_FUNCTION)))
        sim_handle_free(handle);
    while ((handle = first_of(library, SIM_HANDLE_KERNEL)))
        sim_handle_free(handle);
    for (struct sim_image *image = library->images, *next; image; image = next) {
        next = image->next;
        sim_image_free(image);
    }
    free(library->text);
}

static void free_kernel(void *kernel) {
    free(((CUkernel)kernel)->name);
}

/* The context has ended, and with it the library's functions there: its images in the context go. */
static void leave_context(void *handle, CUcontext context) {
    CUlibrary library = handle;
    for (struct sim_image **link = &library->images; *link;) {
        struct sim_image *image = *link;
        if (image->context != context) {
            link = &image->next;
            continue;
        }
        *link = image->next;
        sim_image_free(image);
    }
}

/* Text is parsed at once, so that what is wrong with it shows where it is loaded. */
CUresult sim_library_load(CUlibrary *library, const void *data) {
    struct sim_image *image;
    const enum sim_image_kind kind = sim_image_kind_of(data);
    if (kind == SIM_IMAGE_UNKNOWN)
        return CUDA_ERROR_INVALID_IMAGE;
    CUlibrary made = sim_handle_new(sizeof *made, SIM_HANDLE_LIBRARY, NULL);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->handle.free = free_library;
    made->handle.leave = leave_context;
    CUresult result = CUDA_SUCCESS;
    if (kind == SIM_IMAGE_TEXT) {
        made->text = strdup(data);
        result = made->text ? sim_image_add_text(made, &image) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS)
        *library = made;
    else
        sim_handle_free(made);
    return result;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, int *jit_options, void **jit_values,
                           unsigned jit_count, int *library_options, void **library_values, unsigned library_count) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    if (!library || !image || (jit_count && (!jit_options || !jit_values)) ||
        (library_count && (!library_options || !library_values)))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_library_load(library, image);
}

CUresult cuLibraryUnload(CUlibrary handle) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    CUlibrary library = sim_handle_find(handle, SIM_HANDLE_LIBRARY);
    if (!library || library->of_module)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_handle_free(library);
    return CUDA_SUCCESS;
}

/* ---- kernels and functions ------------------------------------------------------------------------------------- */

static CUkernel find_kernel(CUlibrary library, const char *name) {
    CUkernel kernel;
    for (size_t i = 0; (kernel = sim_handle_at(i, SIM_HANDLE_KERNEL)); i++)
        if (kernel->library == library && strcmp(kernel->name, name) == 0)
            return kernel;
    return NULL;
}

CUresult sim_kernel_get(CUkernel *kernel, CUlibrary library, const char *name) {
    *kernel = find_kernel(library, name);
    if (*kernel)
        return CUDA_SUCCESS;
    struct sim_image *image = sim_image_find(library, name, NULL);
    CUresult result = CUDA_SUCCESS;
    if (!image)
        result = library->text ? CUDA_ERROR_NOT_FOUND : sim_image_add_from_table(library, name, &image);
    if (result != CUDA_SUCCESS)
        return result;
    if (!ptx_find_function(image->module, name))
        return CUDA_ERROR_NOT_FOUND;
    CUkernel made = sim_handle_new(sizeof *made, SIM_HANDLE_KERNEL, NULL);
    char *copy = strdup(name);
    if (!made || !copy) {
        free(copy);
        sim_handle_free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->handle.free = free_kernel;
    made->library = library;
    made->name = copy;
    *kernel = made;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary handle, const char *name) {
    SIM_LOCKED();
    const CUresult started = sim_check_started();
    if (started != CUDA_SUCCESS)
        return started;
    CUlibrary library = sim_handle_find(handle, SIM_HANDLE_LIBRARY);
    if (!kernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    return library ? sim_kernel_get(kernel, library, name) : CUDA_ERROR_INVALID_HANDLE;
}

static CUfunction find_function(const struct CUkern_st *kernel, CUcontext context) {
    CUfunction function;
    for (size_t i = 0; (function = sim_handle_at(i, SIM_HANDLE_FUNCTION)); i++)
        if (function->library == kernel->library && function->handle.context == context &&
            strcmp(function->code->name, kernel->name) == 0)
            return function;
    return NULL;
}

static CUresult make_function(CUfunction *function, CUkernel kernel, struct sim_image *image, CUcontext context) {
    CUfunction made = sim_handle_new(sizeof *made, SIM_HANDLE_FUNCTION, context);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->library = kernel->library;
    made->image = image;
    made->code = ptx_find_function(image->module, kernel->name);
    made->registers = sim_function_registers(made->code, image->from_table);
    made->carveout = -1;
    const int most = sim_device_presented()->shared_per_block - (int)made->code->static_shared_bytes;
    made->dynamic_shared_max = most > 0 ? most : 0;
    *function = made;
    return CUDA_SUCCESS;
}

CUresult sim_function_get(CUfunction *function, CUkernel kernel, CUcontext context) {
    *function = find_function(kernel, context);
    if (*function)
        return CUDA_SUCCESS;
    CUlibrary library = kernel->library;
    struct sim_image *image = sim_image_find(library, kernel->name, context);
    CUresult result = CUDA_SUCCESS;
    if (!image)
        result = library->text ? sim_image_add_text(library, &image)
                               : sim_image_add_from_table(library, kernel->name, &image);
    if (result == CUDA_SUCCESS && !image->context)
        result = sim_image_place(image, context);
    return result == CUDA_SUCCESS ? make_function(function, kernel, image, context) : result;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel handle) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    CUkernel kernel = sim_handle_find(handle, SIM_HANDLE_KERNEL);
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    return kernel ? sim_function_get(function, kernel, context) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_function_find(CUfunction handle, CUcontext context, CUfunction *function) {
    *function = sim_handle_find(handle, SIM_HANDLE_FUNCTION);
    if (*function)
        return CUDA_SUCCESS;
    CUkernel kernel = sim_handle_find(handle, SIM_HANDLE_KERNEL);
    return kernel ? sim_function_get(function, kernel, context) : CUDA_ERROR_INVALID_HANDLE;
}
