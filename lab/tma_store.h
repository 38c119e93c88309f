/* SPDX-License-Identifier: Apache-2.0 */
/* One TMA store of one box (ptx/tma_store.ptx), on paper. */
#ifndef LAB_TMA_STORE_H
#define LAB_TMA_STORE_H

#include "lab/lab.h"

struct tma_store {
    struct gm_tensor_map_request map; /* rank 2, no swizzle; its address counts from the start of the output */
    int32_t x, y;                     /* the box's first element and row; either may lie outside */
};

/* Writes to `out` what the store writes of `source`, the box, when the end of a cut row is rounded up to a multiple of
 * `unit` bytes. */
void tma_predict_store(const struct tma_store *store, const unsigned char *source, uint32_t unit, unsigned char *out);

#endif
