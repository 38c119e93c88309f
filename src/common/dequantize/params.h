/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of dequantize, for host and device. */
#ifndef GM_DEQUANTIZE_PARAMS_H
#define GM_DEQUANTIZE_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

struct gm_dequantize_params {
    uint64_t x, out, scales, row_count; /* addresses */
    int64_t x_pitch, out_pitch;         /* bytes from one row to the next */
    int64_t scale_down, scale_across;   /* bytes from a scale to the one below, and to the one beside */
    int32_t rows, columns;
    int32_t is_packed;            /* nothing is between rows, and there is one scale: they are one row */
    int32_t slab_rows;            /* rows whose chunks are numbered with 31 bits */
    struct gm_divisor row_chunks; /* chunks of a row, or of a slab */
    int32_t x_type, out_type, is_e8m0;
    int32_t row_shift, column_shift; /* of the rows and columns that share a scale, the binary logarithms */
    int32_t chunk;                   /* elements: 8, 4 or 1 */
    int32_t taken;                   /* chunks that a thread takes at once */
};

#define GM_DEQUANTIZE_SLAB_CHUNKS (1 << 30) /* of packed operands */

/* CTAs on an SM: 1536 threads, each with up to four chunks of x under way. */
#define GM_DEQUANTIZE_CTAS(threads) (1536 / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_dequantize_params) == 120, "host and device agree");
#endif

#endif
