/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/permute.h. */
#include "gristmill/permute.h"
#include "layout.h"

MEMBER(gm_permute_problem, size, 0)
MEMBER(gm_permute_problem, rank, 8)
MEMBER(gm_permute_problem, extents, 16)
MEMBER(gm_permute_problem, x_strides, 56)
MEMBER(gm_permute_problem, out_strides, 96)
MEMBER(gm_permute_problem, order, 136)
MEMBER(gm_permute_problem, element_bytes, 156)
MEMBER(gm_permute_problem, type, 160)
MEMBER(gm_permute_problem, out_type, 164)
MEMBER(gm_permute_problem, x_align, 168)
MEMBER(gm_permute_problem, out_align, 172)
END(gm_permute_problem, out_align, 176)

MEMBER(gm_permute_args, size, 0)
MEMBER(gm_permute_args, x, 8)
MEMBER(gm_permute_args, out, 16)
END(gm_permute_args, out, 24)

_Static_assert(GM_PERMUTE_RANK_MAX == 5, "arrays of a struct cannot grow");
