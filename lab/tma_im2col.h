/* SPDX-License-Identifier: Apache-2.0 */
/* One TMA load in im2col mode (ptx/tma_im2col.ptx), on paper: rank 4, C W H N, elements of one byte. */
#ifndef LAB_TMA_IM2COL_H
#define LAB_TMA_IM2COL_H

#include <stdbool.h>
#include <stdint.h>

#include "gristmill/smem.h"

struct im2col {
    int channels, width, height, images; /* the tensor; a channel is innermost */
    int lower[2], upper[2];              /* as the driver gets them, from the near and the far corner */
    int box_channels, box_pixels;        /* what a load delivers: so many pixels, one a row */
    enum gm_swizzle_mode swizzle;
    int c, w, h, n; /* the first pixel */
    int offset_w, offset_h;
};

/* Which entry of the corners belongs to W. */
enum im2col_order { IM2COL_W_FIRST, IM2COL_H_FIRST, IM2COL_ORDERS };

/* Writes the bytes that the load puts into shared memory, whose first one has address `base`, to `image`. */
void im2col_predict(const struct im2col *load, enum im2col_order order, const unsigned char *tensor, uint32_t base,
                    unsigned char *image);

#endif
