/* SPDX-License-Identifier: Apache-2.0 */
/* An image of the library made launchable: image -> library -> kernel -> function of the current context. */
#ifndef GM_IMAGE_H
#define GM_IMAGE_H

#include "host/driver.h"
#include "host/table.h"

/* How far it came: the driver's answer, and the step that gave it. */
struct gm_image_step {
    CUresult result;
    const char *name;
};

/* Loads an image, of which the driver keeps a copy. */
struct gm_image_step gm_image_load(const struct gm_driver *driver, const void *image, CUlibrary *library);
/* The same of an image of the table. Without a step's name there is no host memory to unpack it. */
struct gm_image_step gm_image_load_packed(const struct gm_driver *driver, const struct gm_packed_image *packed,
                                          CUlibrary *library);
/* A copy of an image of the table, the caller's to free; NULL: no host memory. */
unsigned char *gm_image_unpack(const struct gm_packed_image *image);

/* One of its kernels, allowed to use `shared_bytes` of dynamic shared memory (0: as much as every kernel may). */
struct gm_image_step gm_image_function(const struct gm_driver *driver, CUlibrary library, const char *kernel,
                                       int shared_bytes, CUfunction *function);

#endif
