/* SPDX-License-Identifier: Apache-2.0 */
/* An image of the library made launchable. */
#include "host/image.h"

#include "host/unpack.h"

#include <stdlib.h>
#include <string.h>

/* The image at the end of its base, in memory of the caller's; NULL: no memory. Bases are few deep. */
static unsigned char *unpack_behind_base(const struct gm_packed_image *image, size_t *start) {
    size_t before = 0;
    unsigned char *base = NULL, *bytes = NULL;
    const struct gm_packed_image *of = image->base < 0 ? NULL : &gm_kernels[image->base].image;
    *start = of ? of->bytes : 0;
    if (of && !(base = unpack_behind_base(of, &before)))
        return NULL;
    bytes = malloc(*start + image->bytes);
    if (bytes && of)
        memcpy(bytes, base + before, of->bytes);
    free(base);
    if (bytes && !gm_unpack(gm_images + image->offset, image->packed_bytes, bytes, *start, *start + image->bytes)) {
        free(bytes); /* the build has tried it, so this is broken memory */
        bytes = NULL;
    }
    return bytes;
}

unsigned char *gm_image_unpack(const struct gm_packed_image *image) {
    size_t start;
    unsigned char *bytes = unpack_behind_base(image, &start);
    if (bytes)
        memmove(bytes, bytes + start, image->bytes);
    return bytes;
}

struct gm_image_step gm_image_load(const struct gm_driver *driver, const void *image, CUlibrary *library) {
    return (struct gm_image_step){driver->cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0),
                                  "cuLibraryLoadData"};
}

struct gm_image_step gm_image_load_packed(const struct gm_driver *driver, const struct gm_packed_image *packed,
                                          CUlibrary *library) {
    unsigned char *image = gm_image_unpack(packed);
    if (!image)
        return (struct gm_image_step){CUDA_ERROR_OUT_OF_MEMORY, NULL};
    const struct gm_image_step step = gm_image_load(driver, image, library);
    free(image);
    return step;
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
