/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that count through several dimensions, and what lies there on both sides of a permutation. */
#ifndef GM_PERMUTE_WALK_H
#define GM_PERMUTE_WALK_H

#include "common/divide.h"
#include "common/fixed_width.h"

enum { GM_PERMUTE_DIMENSIONS = 5 };

/* Numbers are below 2^31; the first dimension is the fastest. The last one that is counted needs no divisor. */
struct gm_permute_walk {
    int64_t x_pitch[GM_PERMUTE_DIMENSIONS], out_pitch[GM_PERMUTE_DIMENSIONS]; /* bytes from one index to the next */
    struct gm_divisor extent[GM_PERMUTE_DIMENSIONS];
    int32_t rank; /* dimensions that a number counts through, 1 to 5 */
};

#endif
