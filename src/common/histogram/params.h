/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the histogram kernels, for host and device. */
#ifndef GM_HISTOGRAM_PARAMS_H
#define GM_HISTOGRAM_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

/* Division of any 32 bits by `width`: with high = the upper word of number * magic, (high + (number - high >> first)) >>
 * second. The magic number is 2^32 + magic, of 33 bits. */
struct gm_histogram_width {
    uint32_t magic, first, second;
};

struct gm_histogram_params {
    uint64_t x, counts, row_count; /* addresses */
    uint64_t turns;                /* in the workspace: one for each histogram and slice, where there are parts */
    uint64_t ready;                /* a turn's flag of this value says that the counts there are cleared */
    int64_t pitch, counts_pitch;   /* bytes from one row of x, or histogram, to the next */
    int64_t row_bytes;             /* of x */
    int64_t first, width;          /* of integers */
    int32_t rows, bins;
    int32_t of_rows;              /* a histogram for each row */
    int32_t is_packed;            /* all rows are one */
    int32_t accumulates, is_wide; /* counts are added; have 64 bits */
    int32_t row_blocks;           /* of the grid: a histogram each at a time */
    int32_t parts, slices;        /* CTAs that share a histogram's elements; and its bins */
    int32_t slice_bins;           /* of a CTA */
    int32_t copies;               /* of a bin, side by side */
    int32_t slab_rows;            /* rows whose chunks are numbered at once, where several are */
    struct gm_divisor row_chunks; /* of 16 bytes in a row */
    struct gm_histogram_width by_width;
    float lower, upper, scale; /* of floats */
};

/* One for each histogram and slice: the flag, and how many parts have seen it. */
#define GM_HISTOGRAM_TURN_BYTES 16
#define GM_HISTOGRAM_TURN_SEEN  8 /* where that number is */

/* Values of a byte, which are counted one by one, in a copy for every lane; and then their sums. */
#define GM_HISTOGRAM_BYTES  256
#define GM_HISTOGRAM_COPIES 32

/* Counts of a slice beside its bins: of floats on the upper end, and of what is in none of the bins. */
#define GM_HISTOGRAM_APART 2

/* Chunks that a CTA counts before it adds its 32-bit counts to those of all. */
#define GM_HISTOGRAM_SLAB (1 << 27)

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_histogram_params) == 168, "host and device agree");
#endif

#endif
