/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the quantisers, for host and device. */
#ifndef GM_QUANTIZE_PARAMS_H
#define GM_QUANTIZE_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"
#include "common/quantize/tokens.h"
#include "common/quantized_store.h"

enum {
    QUANTIZE_CHUNK = 8, /* elements of a chunk, of every type */
    QUANTIZE_BLOCK = SCALE_BLOCK_SIDE,
};

struct gm_quantize_params {
    uint64_t x, out, scales, row_count; /* addresses */
    int64_t x_pitch, out_pitch;         /* bytes from one row to the next */
    int64_t scale_down,
        scale_across; /* bytes to the scale of the next row or block below, of the next group or block */
    int32_t rows, columns, slab_rows; /* a slab's units, chunks or blocks, are numbered with 31 bits */
    struct gm_divisor row_units;      /* of a row, or of 128 rows: of the numbers */
    int32_t span_shift;               /* of the chunks of a span, which are a group's, the binary logarithm */
    int32_t scaling, scale_format, out_type, by_reciprocal;
    float limit, one_by_limit; /* the largest number of out's type */
    float scale_floor;         /* 2^-126 or more */
};

/* CTAs on an SM: 64 KB of x and more are under way on it, as their registers allow. `words` are those that a thread holds. */
#define GM_QUANTIZE_THREADS(words)       ((words) > 16 ? 768 : (words) > 8 ? 1024 : (words) > 4 ? 1280 : 1536) /* of an SM */
#define GM_QUANTIZE_CTAS(threads, words) ((GM_QUANTIZE_THREADS(words) + (threads) / 2) / (threads))
#define GM_QUANTIZE_SMEM_BYTES(threads)  ((threads) / 32 * 8) /* two maxima of each warp */

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_quantize_params) == 120, "host and device agree");
#endif

#endif
