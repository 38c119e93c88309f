/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel is told that stores its rows in 8 bits, for host and device: who shares a scale and where scales are. */
#ifndef GM_QUANTIZED_STORE_H
#define GM_QUANTIZED_STORE_H

#include "common/fixed_width.h"

/* Values of enum gm_scaling and enum gm_scale_format. */
enum { SCALE_STATIC = 0, SCALE_AMAX_ONLY = 1, SCALE_ROW = 2, SCALE_GROUP = 3, SCALE_BLOCK = 4 };
enum { SCALE_FP32 = 0, SCALE_POWER_OF_2 = 1, SCALE_E8M0 = 2 };

enum { SCALE_BLOCK_SIDE = 128 }; /* rows and columns of a block */

struct gm_quantized_store {
    uint64_t scales;                  /* address */
    int64_t scale_down, scale_across; /* bytes to the scale of the next row, of the next group */
    int32_t scaling, scale_format, out_type, by_reciprocal;
    float limit, one_by_limit; /* the largest number of out's type */
    float scale_floor;         /* 2^-126 or more */
    int32_t group_shift;       /* of a group's columns, the binary logarithm */
};

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_quantized_store) == 56, "host and device agree");
#endif

#endif
