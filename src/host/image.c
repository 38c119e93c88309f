/* SPDX-License-Identifier: Apache-2.0 */
/* An embedded image made launchable. */
#include "image.h"

#include <stdint.h>

struct gm_image_step gm_image_load(const struct gm_driver *driver, const void *image, CUlibrary *library) {
    int option = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = (void *)(uintptr_t)1;
    return (struct gm_image_step){driver->cuLibraryLoadData(library, image, NULL, NULL, 0, &option, &value, 1),
                                  "cuLibraryLoadData"};
}

struct gm_image_step gm_image_function(const struct gm_driver *driver, CUlibrary library, const char *name,
                                       int shared_bytes, CUfunction *function) {
    CUkernel kernel = NULL;
    struct gm_image_step step = {driver->cuLibraryGetKernel(&kernel, library, name), "cuLibraryGetKernel"};
    if (step.result == CUDA_SUCCESS)
        step = (struct gm_image_step){driver->cuKernelGetFunction(function, kernel), "cuKernelGetFunction"};
    if (step.result == CUDA_SUCCESS && shared_bytes)
        step = (struct gm_image_step){
            driver->cuFuncSetAttribute(*function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes),
            "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)"};
    return step;
}
