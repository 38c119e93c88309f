/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of moe_finalize, for host and device. */
#ifndef GM_MOE_FINALIZE_PARAMS_H
#define GM_MOE_FINALIZE_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

struct gm_moe_finalize_params {
    uint64_t x, inverse, weights, residual, out, row_count; /* addresses */
    int64_t x_pitch, residual_pitch, out_pitch;             /* bytes from one row to the next */
    int32_t tokens, k;
    uint32_t x_rows;
    int32_t slab_rows;            /* rows whose chunks are numbered with 31 bits, */
    struct gm_divisor row_chunks; /* and the chunks of a row of out */
};

/* CTAs on an SM: with 4 slots at once, 64 KB of x are under way on it. */
#define GM_MOE_FINALIZE_CTAS(threads) (1024 / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_moe_finalize_params) == 104, "host and device agree");
#endif

#endif
