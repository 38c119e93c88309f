/* SPDX-License-Identifier: Apache-2.0 */
/* The convolution ladders: what they convolve and their tiles, written once for the kernels and for what predicts their
 * counters. Outside the line or the image everything is 0. */
#ifndef LAB_CONVOLUTION_H
#define LAB_CONVOLUTION_H

#include <stdint.h>

/* to[i] = sum of tap[k] * from[i + k - LINE_RADIUS]. The filter is a kernel parameter, and parameters lie in constant
 * memory: an FFMA takes a tap from there at no cost, since all lanes want the same one. */
#define LINE_RADIUS 8
#define LINE_TAPS   (2 * LINE_RADIUS + 1)

struct line {
    const float *from;
    float *to;
    uint32_t count; /* less than 2^31 */
    float tap[LINE_TAPS];
};

#define LINE_THREADS  256
#define LINE_OUTPUTS  4                       /* of a thread of the last step */
#define LINE_WORDS(n) ((n) + 2 * LINE_RADIUS) /* of the tile that n outputs need */

/* The same with a square of taps, which here is a column times a row, so that the last step can use these alone. */
#define IMAGE_RADIUS 3
#define IMAGE_TAPS   (2 * IMAGE_RADIUS + 1)

struct image {
    const float *from;
    float *to;
    int width, height;
    float tap[IMAGE_TAPS][IMAGE_TAPS], row[IMAGE_TAPS], column[IMAGE_TAPS];
};

/* 8 warps make 32 x 32 outputs; lanes go along x. The naive step has 32 x 8 outputs a CTA. */
#define IMAGE_THREADS 256
#define IMAGE_WARPS   8
#define IMAGE_TILE    32
#define IMAGE_SPAN    (IMAGE_TILE + 2 * IMAGE_RADIUS) /* of the tile with its halo, along x and along y */
#define IMAGE_ROWS    (IMAGE_TILE / IMAGE_WARPS)      /* of a warp in the last steps */
#define IMAGE_REACH   (IMAGE_ROWS + 2 * IMAGE_RADIUS) /* rows of the tile that these need */

#endif
