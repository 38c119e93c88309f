/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of moe_align, for host and device. */
#ifndef GM_MOE_ALIGN_PARAMS_H
#define GM_MOE_ALIGN_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

struct gm_moe_align_params {
    uint64_t ids, offsets, rows, inverse, row_count; /* addresses */
    int32_t tokens, k, experts;
    struct gm_divisor alignment;
};

enum { GM_MOE_ALIGN_EXPERTS = 1024 /* at most */ };

/* Shared memory of a CTA: counts of 4 bytes for each expert, one for each warp and three more; a sum of each warp. */
#define GM_MOE_ALIGN_SMEM(threads) (((threads) / 32 + 3) * GM_MOE_ALIGN_EXPERTS * 4 + 128)

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_moe_align_params) == 64, "host and device agree");
#endif

#endif
