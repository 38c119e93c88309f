/* SPDX-License-Identifier: Apache-2.0 */
/* A row with another image in its place: the PTX of --image, which the driver compiles (or simulates). This is how
 * tests/mutants/ runs its bugs, here and on hardware. Only for --test=image (or stream_k) --kernel=<row>. */
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"
#include "host/image.h"
#include "host/table.h"

static struct gm_driver substituted;
static CUresult (*load_data)(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned);
static char *ptx;

/* Whether the bytes are a fatbin of this part. Its head says how long it is. */
static bool is_part(const void *bytes, const struct gm_packed_part *part) {
    unsigned char *fatbin = gm_image_unpack(part);
    const bool is = fatbin && memcmp(fatbin, bytes, GM_FATBIN_HEAD) == 0 &&
                    memcmp(fatbin, bytes, GM_FATBIN_HEAD + part->bytes) == 0;
    free(fatbin);
    return is;
}

/* The bytes are of the image of a row that opt.kernel names. */
static bool is_named_image(const void *bytes) {
    bool is = false;
    for (size_t i = 0; i < gm_kernel_count() && !is; i++) {
        const struct gm_packed_image *image = &gm_kernels[i].image;
        for (int k = 0; k < image->count && !is && glob_match(opt.kernel, gm_kernels[i].name); k++)
            is = is_part(bytes, &gm_parts[image->first + k]);
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
