/* SPDX-License-Identifier: Apache-2.0 */
/* An image of the library made launchable. */
#include "host/image.h"

#include "host/unpack.h"

#include <stdlib.h>
#include <string.h>

/* Of a chain, from its first part to this one. */
static size_t chain_bytes(const struct gm_packed_part *part) {
    return part->bytes + (part->base < 0 ? 0 : gm_packing_aligned(chain_bytes(&gm_parts[part->base])));
}

static int unpack_chain(struct gm_unpacker *unpacker, const struct gm_packed_part *part) {
    return (part->base < 0 || unpack_chain(unpacker, &gm_parts[part->base])) &&
           gm_unpack(unpacker, gm_images + part->offset, part->packed_bytes, part->bytes);
}

unsigned char *gm_image_unpack(const struct gm_packed_part *part) {
    static const unsigned char magic_and_version[8] = {0x50, 0xed, 0x55, 0xba, 1, 0, GM_FATBIN_HEAD, 0};
    const uint64_t bytes = part->bytes;
    const size_t room = chain_bytes(part);
    struct gm_unpacker *unpacker = malloc(sizeof *unpacker); /* large for a stack */
    unsigned char *fatbin = malloc(GM_FATBIN_HEAD + room);
    int is_whole = 0;
    if (unpacker && fatbin) {
        gm_unpack_begin(unpacker, fatbin + GM_FATBIN_HEAD, room);
        is_whole = unpack_chain(unpacker, part); /* the build has tried it: if not, memory is broken */
    }
    if (is_whole) {
        memcpy(fatbin, magic_and_version, sizeof magic_and_version);
        memcpy(fatbin + sizeof magic_and_version, &bytes, sizeof bytes);
        memmove(fatbin + GM_FATBIN_HEAD, fatbin + GM_FATBIN_HEAD + room - part->bytes, part->bytes);
    } else {
        free(fatbin);
        fatbin = NULL;
    }
    free(unpacker);
    return fatbin;
}

const struct gm_packed_part *gm_image_part(const struct gm_packed_image *image, int cc_major, int cc_minor) {
    const struct gm_packed_part *parts = &gm_parts[image->first], *best = NULL;
    for (const struct gm_packed_part *part = parts; part < parts + image->count; part++) {
        const int runs = part->target / 10 == cc_major && part->target % 10 <= cc_minor;
        if ((runs || part->target == 0) && (!best || part->target > best->target))
            best = part;
    }
    return best ? best : parts;
}

struct gm_image_step gm_image_load(const struct gm_driver *driver, const void *image, CUlibrary *library) {
    return (struct gm_image_step){driver->cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0),
                                  "cuLibraryLoadData"};
}

struct gm_image_step gm_image_load_packed(const struct gm_driver *driver, const struct gm_packed_image *packed,
                                          int cc_major, int cc_minor, CUlibrary *library) {
    unsigned char *image = gm_image_unpack(gm_image_part(packed, cc_major, cc_minor));
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
