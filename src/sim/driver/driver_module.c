/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, which are libraries of one context, and the addresses of global variables. */
#include "sim/driver/driver_sim.h"

#include <string.h>

/* ---- modules --------------------------------------------------------------------------------------------------- */

static void free_library(void *module) {
    sim_handle_free(((CUmodule)module)->library);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    SIM_LOCKED();
    CUcontext context;
    CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    CUlibrary library;
    result = sim_library_load(&library, image);
    if (result != CUDA_SUCCESS)
        return result;
    CUmodule made = sim_handle_new(sizeof *made, SIM_HANDLE_MODULE, context);
    if (!made) {
        sim_handle_free(library);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->of_module = true;
    made->handle.free = free_library;
    made->library = library;
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values) {
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    return cuModuleLoadData(module, image);
}

static CUresult find_module(CUmodule handle, CUcontext *context, CUmodule *module) {
    const CUresult result = sim_context_current(context);
    if (result != CUDA_SUCCESS)
        return result;
    *module = sim_handle_find(handle, SIM_HANDLE_MODULE);
    return *module && (*module)->handle.context == *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleUnload(CUmodule handle) {
    SIM_LOCKED();
    CUcontext context;
    CUmodule module = NULL;
    const CUresult result = find_module(handle, &context, &module);
    if (result != CUDA_SUCCESS)
        return result;
    sim_handle_free(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
    SIM_LOCKED();
    CUcontext context;
    CUmodule module = NULL;
    CUkernel kernel;
    CUresult result = find_module(handle, &context, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_kernel_get(&kernel, module->library, name);
    return result == CUDA_SUCCESS ? sim_function_get(function, kernel, context) : result;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

static const struct ptx_variable *find_variable(const struct ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        if ((variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST) && variable->name &&
            strcmp(variable->name, name) == 0)
            return variable;
    }
    return NULL;
}

/* In the context's image of the library, which is placed now when it was not. */
static CUresult get_variable(CUlibrary library, CUcontext context, const char *name, CUdeviceptr *address,
                             size_t *bytes) {
    if (!name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    for (struct sim_image *image = library->images; image; image = image->next) {
        const struct ptx_variable *variable = find_variable(image->module, name);
        if (!variable || (image->context && image->context != context))
            continue;
        const CUresult placed = image->context ? CUDA_SUCCESS : sim_image_place(image, context);
        if (placed != CUDA_SUCCESS)
            return placed;
        if (address)
            *address = variable->address;
        if (bytes)
            *bytes = variable->bytes;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name) {
    SIM_LOCKED();
    CUcontext context;
    CUmodule module = NULL;
    const CUresult result = find_module(handle, &context, &module);
    return result == CUDA_SUCCESS ? get_variable(module->library, context, name, address, bytes) : result;
}
SIM_ALIAS(cuModuleGetGlobal_v2, cuModuleGetGlobal);

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name) {
    SIM_LOCKED();
    CUcontext context;
    const CUresult result = sim_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    CUlibrary library = sim_handle_find(handle, SIM_HANDLE_LIBRARY);
    return library ? get_variable(library, context, name, address, bytes) : CUDA_ERROR_INVALID_HANDLE;
}
