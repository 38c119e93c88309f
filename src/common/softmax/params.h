/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the softmax kernels, for host and device. */
#ifndef GM_SOFTMAX_PARAMS_H
#define GM_SOFTMAX_PARAMS_H

#include "common/fixed_width.h"
#include "common/types.h"

/* What a call asks for, in gm_softmax_params.flags. */
enum gm_softmax_flag {
    GM_SOFTMAX_LOG = 1,
    GM_SOFTMAX_WIDE_OUT = 2, /* out is fp32 beside a 16-bit x */
    GM_SOFTMAX_CAPPED = 4,
};

struct gm_softmax_params {
    uint64_t x, out, lse, temperatures, row_count; /* addresses */
    int64_t x_pitch, out_pitch;                    /* bytes from one row to the next */
    int32_t rows, columns;
    float temperature, cap, cap_exponent; /* -2 / (cap ln 2) */
    int32_t flags;                        /* of enum gm_softmax_flag */
    int32_t rows_ahead;                   /* that many behind, a row comes to L2; 0: none does */
    int32_t padding;
};

/* The order of a row's sum, in numbers of elements. */
#define GM_SOFTMAX_GROUP_BYTES 1024      /* neighbours that one warp adds up */
#define GM_SOFTMAX_BLOCK       (1 << 18) /* columns whose groups are added up in a binary tree; blocks one after the other */

/* Sums of a block's warps, where a CTA takes tile after tile of a row. */
#define GM_SOFTMAX_BLOCK_SLOTS 512

/* Dynamic shared memory of a CTA, in bytes: a maximum and a sum of every warp that shares the row. */
#define GM_SOFTMAX_SMEM_BYTES(row_threads, row_ctas, passes)                                                           \
    ((row_threads) <= 32 ? 0                                                                                           \
     : (passes) == 1     ? 2 * (row_threads) / 32 * (row_ctas) * 4                                                     \
                         : ((row_threads) / 32 + GM_SOFTMAX_BLOCK_SLOTS) * 4)

/* CTAs on an SM: so many threads that 40 KB of x and more are under way on it, as their registers allow. */
#define GM_SOFTMAX_CTAS(threads, vectors, vector_bytes)                                                                \
    (((vectors) <= 2 && (vector_bytes) == 16 ? 1280 : 1024) / (threads))

/* Whether a variant has a cap: where a thread holds many elements, that would be as much code again. */
#define GM_SOFTMAX_CAPS(type, vectors, vector_bytes) ((vectors) * (vector_bytes) / GM_TYPE_BYTES(type) <= 32)

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_softmax_params) == 88, "host and device agree");
#endif

#endif
