/* SPDX-License-Identifier: Apache-2.0 */
/* An embedded image made launchable: image -> library -> kernel -> function of the current context. */
#ifndef GM_IMAGE_H
#define GM_IMAGE_H

#include "driver.h"

/* How far it came: the driver's answer, and the step that gave it. */
struct gm_image_step {
    CUresult result;
    const char *name;
};

/* Loads an image. It must stay where it is until cuLibraryUnload(): the driver does not copy it. */
struct gm_image_step gm_image_load(const struct gm_driver *driver, const void *image, CUlibrary *library);

/* One of its kernels, allowed to use `shared_bytes` of dynamic shared memory (0: as much as every kernel may). */
struct gm_image_step gm_image_function(const struct gm_driver *driver, CUlibrary library, const char *kernel,
                                       int shared_bytes, CUfunction *function);

#endif
