/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the convolution ladders should compute, and what they should make the counters show. */
#ifndef LAB_CONVOLUTION_MODEL_H
#define LAB_CONVOLUTION_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* A line is an image of one row. */
enum convolution_step {
    LINE_NAIVE,
    LINE_TILE,
    LINE_REGISTERS,
    IMAGE_NAIVE,
    IMAGE_TILED,
    IMAGE_REGISTERS,
    IMAGE_SEPARABLE,
    CONVOLUTION_STEPS
};

bool convolution_of_line(enum convolution_step step);
/* Outputs of a CTA, along x and along y. */
int convolution_cta_width(enum convolution_step step);
int convolution_cta_height(enum convolution_step step);

/* Per launch on whole CTAs. */
struct convolution_counts {
    double sectors; /* of 32 bytes, asked of L1 by loads */
    double load_wavefronts, store_wavefronts;
};

struct convolution_counts convolution_predict(enum convolution_step step, int width, int height);

/* Tap k of the line's filter; of the image's row and column, which are the same. */
int convolution_line_tap(int k);
int convolution_image_tap(int k);
/* Element k of the input. */
int convolution_value(uint32_t k);
/* Row y of the result: `width` numbers, all of them exact in fp32. `scratch` has room for as many. */
void convolution_row(bool line, int width, int height, int y, int *scratch, int *result);

#endif
