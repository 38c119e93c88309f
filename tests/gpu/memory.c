/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that is kept from case to case, and what is uploaded into it. */
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"

/* Bytes before and after the rows of an image. After them lie also the rows that a tile which ends late would read. */
enum { BEFORE = 1024, ROWS_AFTER = 16 };

CUdeviceptr arena_take_exactly(struct result *result, struct arena *arena, size_t bytes) {
    if (arena->bytes)
        env.drv->cuMemFree(arena->base);
    *arena = (struct arena){0};
    if (!check_cuda(result, env.drv->cuMemAlloc(&arena->base, bytes), "cuMemAlloc"))
        return 0;
    arena->bytes = bytes;
    return arena->base;
}

/* Grows in steps, so that a walk over shapes allocates a few times only. */
CUdeviceptr arena_take(struct result *result, struct arena *arena, size_t bytes) {
    return bytes <= arena->bytes ? arena->base : arena_take_exactly(result, arena, bytes + bytes / 2 + (1 << 20));
}

/* A copy from pageable memory may return before it has landed, and our streams do not wait for the default one. */
bool to_device(struct result *result, CUdeviceptr to, const void *from, size_t bytes) {
    return check_cuda(result, env.drv->cuMemcpyHtoD(to, from, bytes), "cuMemcpyHtoD") &&
           check_cuda(result, env.drv->cuCtxSynchronize(), "cuCtxSynchronize");
}

void free_arena(struct arena *arena) {
    if (arena->bytes)
        env.drv->cuMemFree(arena->base);
    *arena = (struct arena){0};
}

struct image new_image(int64_t rows, int64_t ld, enum gm_type type, int offset, int fill) {
    struct image image = {.start = (size_t)(BEFORE + offset * gm_type_bytes(type))};
    image.total = image.start + (size_t)((rows + ROWS_AFTER) * ld * gm_type_bytes(type)) + BEFORE;
    image.bytes = malloc(image.total);
    if (!image.bytes) {
        fprintf(stderr, "gpu_tests: out of memory for an operand of %zu bytes\n", image.total);
        exit(2);
    }
    memset(image.bytes, fill, image.total);
    return image;
}

CUdeviceptr upload_image(struct result *result, struct arena *arena, struct image *image, bool exact) {
    const CUdeviceptr base =
        exact ? arena_take_exactly(result, arena, image->total) : arena_take(result, arena, image->total);
    const bool ok = base && to_device(result, base, image->bytes, image->total);
    free(image->bytes);
    return ok ? base + image->start : 0;
}

int32_t alignment(CUdeviceptr address) {
    return address % 16 == 0 ? 16 : address % 8 == 0 ? 8 : address % 4 == 0 ? 4 : 2;
}
