/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the convolution ladders should compute, and what they should make the counters show: every warp's
 * loads from global memory, gone through one by one, and the accesses of a CTA to its tile, which has no conflicts. */
#include "lab/convolution_model.h"

#include "gristmill/smem.h"
#include "lab/kernels/convolution.h"
#include "lab/ladders.h"

/* ---- the steps ------------------------------------------------------------------------------------ */

bool convolution_of_line(enum convolution_step step) {
    return step < IMAGE_NAIVE;
}

int convolution_cta_width(enum convolution_step step) {
    if (step == LINE_REGISTERS)
        return LINE_THREADS * LINE_OUTPUTS;
    return convolution_of_line(step) ? LINE_THREADS : IMAGE_TILE;
}

int convolution_cta_height(enum convolution_step step) {
    return convolution_of_line(step) ? 1 : step == IMAGE_NAIVE ? IMAGE_WARPS : IMAGE_TILE;
}

/* ---- sectors -------------------------------------------------------------------------------------- */

enum { SECTOR_WORDS = 8 };

struct size {
    int width, height;
};

/* A warp's load of `lanes` points from number `first` of a block of rows `span` wide, whose corner is (x, y). Neighbours lie
 * in ascending order, so a sector is new when it is not the one before. */
static int load_sectors(const struct size *size, int x, int y, int span, int first, int lanes) {
    long last = -1;
    int count = 0;
    for (int i = first; i < first + lanes; i++) {
        const int column = x + i % span, row = y + i / span;
        if (column < 0 || column >= size->width || row < 0 || row >= size->height)
            continue;
        const long sector = ((long)row * size->width + column) / SECTOR_WORDS;
        count += sector != last;
        last = sector;
    }
    return count;
}

/* A CTA's outputs, each with all taps around it. */
static double naive_sectors(enum convolution_step step, const struct size *size, int x, int y) {
    const int across = convolution_of_line(step) ? LINE_RADIUS : IMAGE_RADIUS;
    const int down = convolution_of_line(step) ? 0 : IMAGE_RADIUS;
    double sum = 0;
    for (int row = y; row < y + convolution_cta_height(step); row++) {
        for (int column = x; column < x + convolution_cta_width(step); column += GM_LANES) {
            for (int j = -down; j <= down; j++) {
                for (int i = -across; i <= across; i++)
                    sum += load_sectors(size, column + i, row + j, GM_LANES, 0, GM_LANES);
            }
        }
    }
    return sum;
}

/* The words of a CTA's tile, with its halo. */
static int tile_words(enum convolution_step step) {
    return convolution_of_line(step) ? LINE_WORDS(convolution_cta_width(step)) : IMAGE_SPAN * IMAGE_SPAN;
}

static double tile_sectors(enum convolution_step step, const struct size *size, int x, int y) {
    const bool line = convolution_of_line(step);
    const int words = tile_words(step), span = line ? words : IMAGE_SPAN;
    double sum = 0;
    for (int first = 0; first < words; first += GM_LANES)
        sum += load_sectors(size, x - (line ? LINE_RADIUS : IMAGE_RADIUS), line ? y : y - IMAGE_RADIUS, span, first,
                            words - first < GM_LANES ? words - first : GM_LANES);
    return sum;
}

/* ---- all counters --------------------------------------------------------------------------------- */

/* Of a CTA, a wavefront each: lanes are side by side in all accesses, with 16 bytes each in LINE_REGISTERS. */
static struct convolution_counts cta_wavefronts(enum convolution_step step) {
    const double filled = (tile_words(step) + GM_LANES - 1) / GM_LANES; /* stores of a warp */
    switch (step) {
    case LINE_TILE:
        return (struct convolution_counts){0, LINE_THREADS / GM_LANES * LINE_TAPS, filled};
    case LINE_REGISTERS: /* loads of 16 bytes a lane, 4 wavefronts each */
        return (struct convolution_counts){0, 4.0 * LINE_THREADS / GM_LANES * ((LINE_OUTPUTS + 2 * LINE_RADIUS) / 4),
                                           filled};
    case IMAGE_TILED:
        return (struct convolution_counts){0, IMAGE_TILE * IMAGE_TAPS * IMAGE_TAPS, filled};
    case IMAGE_REGISTERS:
        return (struct convolution_counts){0, IMAGE_WARPS * IMAGE_REACH * IMAGE_TAPS, filled};
    case IMAGE_SEPARABLE:
        return (struct convolution_counts){0, IMAGE_SPAN * IMAGE_TAPS + IMAGE_WARPS * IMAGE_REACH, filled + IMAGE_SPAN};
    default:
        return (struct convolution_counts){0};
    }
}

struct convolution_counts convolution_predict(enum convolution_step step, int width, int height) {
    const struct size size = {width, height};
    const struct convolution_counts cta = cta_wavefronts(step);
    const bool naive = step == LINE_NAIVE || step == IMAGE_NAIVE;
    struct convolution_counts sum = {0};
    for (int y = 0; y < height; y += convolution_cta_height(step)) {
        for (int x = 0; x < width; x += convolution_cta_width(step)) {
            sum.sectors += naive ? naive_sectors(step, &size, x, y) : tile_sectors(step, &size, x, y);
            sum.load_wavefronts += cta.load_wavefronts;
            sum.store_wavefronts += cta.store_wavefronts;
        }
    }
    return sum;
}

/* ---- results -------------------------------------------------------------------------------------- */

/* 1 2 3 ... 3 2 1 */
static int triangle(int k, int taps) {
    return 1 + (k < taps - 1 - k ? k : taps - 1 - k);
}

int convolution_line_tap(int k) {
    return triangle(k, LINE_TAPS);
}

int convolution_image_tap(int k) {
    return triangle(k, IMAGE_TAPS);
}

int convolution_value(uint32_t k) {
    return (int)(ladder_hash(k) % 5) - 2;
}

void convolution_row(bool line, int width, int height, int y, int *scratch, int *result) {
    const int across = line ? LINE_RADIUS : IMAGE_RADIUS, down = line ? 0 : IMAGE_RADIUS;
    for (int x = 0; x < width; x++)
        scratch[x] = result[x] = 0;
    for (int j = -down; j <= down; j++) {
        const int tap = line ? 1 : convolution_image_tap(j + down);
        for (int x = 0; x < width && y + j >= 0 && y + j < height; x++)
            scratch[x] += tap * convolution_value((uint32_t)(y + j) * (uint32_t)width + (uint32_t)x);
    }
    for (int i = -across; i <= across; i++) {
        const int tap = line ? convolution_line_tap(i + across) : convolution_image_tap(i + across);
        for (int x = i < 0 ? -i : 0; x < width && x + i < width; x++)
            result[x] += tap * scratch[x + i];
    }
}
