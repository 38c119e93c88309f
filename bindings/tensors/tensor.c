/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

#include <stdio.h>

int64_t leading_stride(struct leading leading) {
    return leading.count > 1 ? leading.stride : 0;
}

int64_t tensor_elements(const struct tensor *t) {
    int64_t elements = 1;
    for (int i = 0; i < t->rank; i++) {
        elements *= t->size[i];
    }
    return elements;
}

bool tensor_leading(const struct tensor *t, int32_t dimensions, struct leading *leading) {
    int64_t count = 1, stride = 0;
    bool one_stride = true;
    for (int i = dimensions - 1; i >= 0; i--) {
        if (t->size[i] != 1) {
            if (count == 1) {
                stride = t->stride[i];
            } else if (t->stride[i] != stride * count) {
                one_stride = false;
            }
            count *= t->size[i];
        }
    }
    *leading = (struct leading){count, stride};
    return one_stride || tensor_elements(t) == 0;
}

bool tensor_is_dense_last(const struct tensor *t) {
    int last = t->rank - 1;
    return last < 0 || t->size[last] == 1 || t->stride[last] == 1 || tensor_elements(t) == 0;
}

bool tensor_is_contiguous(const struct tensor *t) {
    struct leading all;
    return tensor_leading(t, t->rank, &all) && (all.count <= 1 || all.stride == 1);
}

int32_t tensor_align(const struct tensor *t) {
    int32_t align = 16;
    while (t->data % (gm_device_ptr)align != 0) {
        align /= 2;
    }
    return align;
}

void tensor_settle(struct tensor *t) {
    int64_t extent = 1;
    for (int i = 0; i < t->rank; i++) {
        if (t->size[i] > 1 && t->size[i] * t->stride[i] > extent) {
            extent = t->size[i] * t->stride[i];
        }
    }
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->size[i] <= 1) {
            t->stride[i] = extent;
        }
    }
}

void tensor_pack(struct tensor *t) {
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        t->stride[i] = stride;
        stride *= t->size[i] > 1 ? t->size[i] : 1;
    }
}

void tensor_pack_by_column(struct tensor *t, int64_t multiple) {
    const int last = t->rank - 1;
    int64_t stride = 1;
    for (int i = last - 1; i >= 0; i--) {
        t->stride[i] = stride;
        stride *= t->size[i] > 1 ? t->size[i] : 1;
    }
    t->stride[last] = (stride + multiple - 1) / multiple * multiple;
}

const char *tensor_sizes(const struct tensor *t, char text[TENSOR_SIZES_BYTES]) {
    int length = snprintf(text, TENSOR_SIZES_BYTES, "[");
    for (int i = 0; i < t->rank && length < TENSOR_SIZES_BYTES; i++) {
        length += snprintf(text + length, (size_t)(TENSOR_SIZES_BYTES - length), i ? ", %lld" : "%lld",
                           (long long)t->size[i]);
    }
    if (length < TENSOR_SIZES_BYTES) {
        snprintf(text + length, (size_t)(TENSOR_SIZES_BYTES - length), "]");
    }
    return text;
}
