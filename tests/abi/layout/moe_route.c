/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/moe_route.h. */
#include "gristmill/moe_route.h"
#include "layout.h"

MEMBER(gm_moe_route_problem, size, 0)
MEMBER(gm_moe_route_problem, tokens, 8)
MEMBER(gm_moe_route_problem, experts, 16)
MEMBER(gm_moe_route_problem, k, 24)
MEMBER(gm_moe_route_problem, groups, 32)
MEMBER(gm_moe_route_problem, top_groups, 40)
MEMBER(gm_moe_route_problem, logits_stride, 48)
MEMBER(gm_moe_route_problem, type, 56)
MEMBER(gm_moe_route_problem, method, 60)
MEMBER(gm_moe_route_problem, renormalize, 64)
MEMBER(gm_moe_route_problem, scale, 68)
MEMBER(gm_moe_route_problem, logits_align, 72)
END(gm_moe_route_problem, logits_align, 80)

MEMBER(gm_moe_route_args, size, 0)
MEMBER(gm_moe_route_args, logits, 8)
MEMBER(gm_moe_route_args, bias, 16)
MEMBER(gm_moe_route_args, ids, 24)
MEMBER(gm_moe_route_args, weights, 32)
MEMBER(gm_moe_route_args, row_count, 40)
END(gm_moe_route_args, row_count, 48)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_ROUTE_SOFTMAX_TOP_K, 0)
VALUE(GM_ROUTE_TOP_K_SOFTMAX, 1)
VALUE(GM_ROUTE_SIGMOID_GROUPED, 2)
