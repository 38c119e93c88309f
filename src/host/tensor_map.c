/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of cuTensorMapEncodeTiled on compute capability 9.0, as a pure function, and the call itself.
 *
 * NOTE: these are the rules that the driver (580, H200) enforces; the GPU tests compare verdicts over thousands of
 * random descriptors. Its documentation differs in three places: it asks for the 32-byte swizzle with the 32-byte
 * interleave (not enforced), says that the innermost element stride is ignored without interleave (it must still be
 * 1 to 8), and does not name the limit on the size of a box. */
#include "tensor_map.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MAX_RANK 5
#define MAX_BOX 256
#define MAX_BOX_BYTES 233472 /* 228 KB, the shared memory of an SM */
#define MAX_ELEMENT_STRIDE 8
#define MAX_DIM (UINT64_C(1) << 32)
#define STRIDE_LIMIT (UINT64_C(1) << 40)

/* Element types 0 to 12 of CUtensorMapDataType; the packed ones above them need a newer architecture. */
static const struct {
    unsigned char bytes, floating;
} types[] = {{1, 0}, {2, 0}, {4, 0}, {4, 0}, {8, 0}, {8, 0}, {2, 1}, {4, 1}, {8, 1}, {2, 1}, {4, 1}, {4, 1}, {4, 1}};
#define TYPES ((int)(sizeof types / sizeof *types))

struct verdict {
    char *sentence;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct verdict v, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v.sentence, v.bytes, format, arguments);
    va_end(arguments);
    return 0;
}

static int check_modes(const struct gm_map_desc *d, struct verdict v) {
    if (d->type < 0 || d->type >= TYPES)
        return refuse(v, "element type %d is not one of 0 to %d", d->type, TYPES - 1);
    if (d->interleave < CU_TENSOR_MAP_INTERLEAVE_NONE || d->interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return refuse(v, "interleave %d is not one of 0 to 2", d->interleave);
    if (d->swizzle < CU_TENSOR_MAP_SWIZZLE_NONE || d->swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return refuse(v, "swizzle %d is not one of 0 to 3", d->swizzle);
    if (d->l2_promotion < CU_TENSOR_MAP_L2_PROMOTION_NONE || d->l2_promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return refuse(v, "L2 promotion %d is not one of 0 to 3", d->l2_promotion);
    if (d->oob_fill < CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
        d->oob_fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return refuse(v, "out-of-bounds fill %d is not 0 or 1", d->oob_fill);
    if (d->oob_fill && !types[d->type].floating)
        return refuse(v, "out-of-bounds fill with NaN needs a floating type, not type %d", d->type);
    return 1;
}

static int check_memory(const struct gm_map_desc *d, struct verdict v) {
    const unsigned lowest = d->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 3;
    if (d->rank < lowest || d->rank > MAX_RANK)
        return refuse(v, "rank %u is not %u to %d", d->rank, lowest, MAX_RANK);
    const unsigned align = d->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    if (d->address % align)
        return refuse(v, "address 0x%" PRIx64 " is not a multiple of %u", d->address, align);
    for (unsigned i = 0; i < d->rank; i++)
        if (d->dims[i] == 0 || d->dims[i] > MAX_DIM)
            return refuse(v, "dimension %u has %" PRIu64 " elements, not 1 to 2^32", i, d->dims[i]);
    for (unsigned i = 0; i + 1 < d->rank; i++) {
        if (d->strides[i] % align)
            return refuse(v, "the stride of dimension %u, %" PRIu64 " bytes, is not a multiple of %u", i + 1,
                          d->strides[i], align);
        if (d->strides[i] >= STRIDE_LIMIT)
            return refuse(v, "the stride of dimension %u, %" PRIu64 " bytes, is not under 2^40", i + 1, d->strides[i]);
    }
    return 1;
}

/* The box, with each dimension divided by its element stride and rounded down, fits the shared memory of an SM. */
static int check_box_size(const struct gm_map_desc *d, struct verdict v) {
    uint64_t bytes = types[d->type].bytes;
    for (unsigned i = 0; i < d->rank; i++)
        bytes *= d->box[i] / d->element_strides[i];
    if (bytes > MAX_BOX_BYTES)
        return refuse(v, "the box has %" PRIu64 " bytes, more than the %d of an SM's shared memory", bytes,
                      MAX_BOX_BYTES);
    return 1;
}

static int check_box(const struct gm_map_desc *d, struct verdict v) {
    for (unsigned i = 0; i < d->rank; i++) {
        if (d->box[i] == 0 || d->box[i] > MAX_BOX)
            return refuse(v, "the box has %u elements in dimension %u, not 1 to %d", d->box[i], i, MAX_BOX);
        if (d->element_strides[i] == 0 || d->element_strides[i] > MAX_ELEMENT_STRIDE)
            return refuse(v, "the element stride of dimension %u is %u, not 1 to %d", i, d->element_strides[i],
                          MAX_ELEMENT_STRIDE);
    }
    const unsigned inner = d->box[0] * types[d->type].bytes;
    if (inner % 16)
        return refuse(v, "a row of the box has %u bytes, not a multiple of 16", inner);
    const unsigned span = 16u << d->swizzle; /* swizzle 1, 2, 3: 32, 64, 128 bytes */
    if (d->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && d->swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && inner > span)
        return refuse(v, "a row of the box has %u bytes, more than the swizzle span of %u", inner, span);
    return check_box_size(d, v);
}

int gm_tensor_map_check(const struct gm_map_desc *desc, char *sentence, size_t sentence_bytes) {
    const struct verdict v = {sentence, sentence_bytes};
    if (sentence_bytes)
        sentence[0] = 0;
    return check_modes(desc, v) && check_memory(desc, v) && check_box(desc, v);
}

CUresult gm_tensor_map_encode(const struct gm_driver *driver, const struct gm_map_desc *d, struct gm_tensor_map *map) {
    return driver->cuTensorMapEncodeTiled(map->bytes, d->type, d->rank, (void *)(uintptr_t)d->address, d->dims,
                                          d->strides, d->box, d->element_strides, d->interleave, d->swizzle,
                                          d->l2_promotion, d->oob_fill);
}
