/* SPDX-License-Identifier: Apache-2.0 */
/* A row with another image in its place: the PTX of --image, which the driver compiles (or simulates). This is how
 * tests/mutants/ runs its bugs, here and on hardware. Only for --test=image (or stream_k) --kernel=<row>. */
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"
#include "host/image.h"
#include "host/table.h"

enum { IMAGE_HEAD = 16 }; /* bytes: a magic number, and the length */

static struct gm_driver substituted;
static CUresult (*load_data)(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned);
static char *ptx;

/* The bytes begin with the image of a row that opt.kernel names. An image's first bytes say how long it is. */
static bool is_named_image(const void *bytes) {
    bool is = false;
    for (size_t i = 0; i < gm_kernel_count() && !is; i++) {
        unsigned char *image =
            glob_match(opt.kernel, gm_kernels[i].name) ? gm_image_unpack(&gm_kernels[i].image) : NULL;
        is = image && memcmp(image, bytes, IMAGE_HEAD) == 0 && memcmp(image, bytes, gm_kernels[i].image.bytes) == 0;
        free(image);
    }
    return is;
}

static CUresult load_substitute(CUlibrary *library, const void *image, int *jit_options, void **jit_values,
                                unsigned jit_count, int *options, void **values, unsigned count) {
    return load_data(library, is_named_image(image) ? ptx : image, jit_options, jit_values, jit_count, options, values,
                     count);
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long bytes = ftell(file);
        rewind(file);
        text = bytes >= 0 ? calloc(1, (size_t)bytes + 1) : NULL;
        if (text && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
            free(text);
            text = NULL;
        }
    }
    if (file)
        fclose(file);
    return text;
}

bool substitute_image(const char *path) {
    const struct gm_driver *driver = gm_driver();
    if (!driver || ptx)
        return driver != NULL;
    ptx = read_text(path);
    if (!ptx)
        return false;
    substituted = *driver;
    load_data = driver->cuLibraryLoadData;
    substituted.cuLibraryLoadData = load_substitute;
    gm_driver_install(&substituted);
    return true;
}
