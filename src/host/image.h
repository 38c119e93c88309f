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
/* The same of an image of the table, its part for this compute capability. Without a step's name there is no host memory
 * to unpack it. */
struct gm_image_step gm_image_load_packed(const struct gm_driver *driver, const struct gm_packed_image *packed,
                                          int cc_major, int cc_minor, CUlibrary *library);
/* The part that this compute capability runs: the cubin of the highest target among those of its major number, else PTX,
 * else the first. */
const struct gm_packed_part *gm_image_part(const struct gm_packed_image *image, int cc_major, int cc_minor);
/* A fatbin of this part alone, of part->bytes + GM_FATBIN_HEAD bytes, the caller's to free; NULL: no host memory. */
unsigned char *gm_image_unpack(const struct gm_packed_part *part);

enum { GM_FATBIN_HEAD = 16 }; /* bytes: the magic number, the version, the size of all parts */

/* One of its kernels, allowed to use `shared_bytes` of dynamic shared memory (0: as much as every kernel may). */
struct gm_image_step gm_image_function(const struct gm_driver *driver, CUlibrary library, const char *kernel,
                                       int shared_bytes, CUfunction *function);

#endif
