/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of axpby, for host and device. */
#ifndef GM_AXPBY_PARAMS_H
#define GM_AXPBY_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

struct gm_axpby_operand {
    uint64_t address;
    int64_t pitch;           /* bytes from one row to the next */
    int32_t type, log_bytes; /* of an element, the binary logarithm */
    float factor;
    int32_t unused;
};

struct gm_axpby_params {
    uint64_t out, row_count;            /* addresses */
    int64_t out_pitch;                  /* bytes */
    struct gm_axpby_operand operand[2]; /* in the order in which they are added to gamma: y, x, or x alone */
    int32_t rows, columns;
    int32_t is_packed;            /* nothing is between rows: they are one row, cut into slabs */
    int32_t slab_rows;            /* rows whose chunks are numbered with 31 bits */
    struct gm_divisor row_chunks; /* chunks of a row, or of a slab */
    int32_t out_type, out_log_bytes;
    int32_t operands; /* 0, 1 or 2 */
    int32_t chunk;    /* elements: 8, 4 or 1 */
    int32_t taken;    /* chunks that a thread takes at once */
    float gamma;      /* -0 where nothing is added to operands */
};

#define GM_AXPBY_SLAB_CHUNKS (1 << 30) /* of packed operands */

/* CTAs on an SM: 1280 threads at least, of up to 48 registers, each with `slots` chunks of x and y under way, in shared memory:
 * 16 bytes of each, or a word where it is one element. */
#define GM_AXPBY_CTAS(threads)                        (1280 / (threads))
#define GM_AXPBY_SMEM_BYTES(threads, slots, elements) ((threads) * (slots) * ((elements) > 1 ? 16 : 4))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_axpby_params) == 144, "host and device agree");
#endif

#endif
