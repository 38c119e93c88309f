/* SPDX-License-Identifier: Apache-2.0 */
/* A TMA store on paper: which bytes of which rows it writes. */
#include "lab/tma_store.h"

static uint64_t clamp(int64_t value, uint64_t highest) {
    return value < 0 ? 0 : (uint64_t)value < highest ? (uint64_t)value : highest;
}

void tma_predict_store(const struct tma_store *store, const unsigned char *source, uint32_t unit, unsigned char *out) {
    const uint32_t bytes = gm_tensor_map_element_bytes(store->map.type);
    const uint32_t box_row = store->map.box[0] * bytes;
    const int64_t x = (int64_t)store->x * bytes;
    const uint64_t row_bytes = store->map.dims[0] * bytes, first = clamp(x, row_bytes);
    uint64_t last = clamp(x + box_row, row_bytes);
    if (last == row_bytes && last > first) { /* the edge cuts it, or just meets it */
        last = (last + unit - 1) / unit * unit;
        last = clamp(x + box_row, last);
    }
    for (uint32_t row = 0; row < store->map.box[1]; row++) {
        const int64_t y = (int64_t)store->y + row;
        if (y < 0 || (uint64_t)y >= store->map.dims[1])
            continue;
        for (uint64_t at = first; at < last; at++) {
            const uint64_t byte = (uint64_t)((int64_t)at - x);
            out[store->map.address + (uint64_t)y * store->map.strides[0] + at] = source[row * box_row + byte];
        }
    }
}
