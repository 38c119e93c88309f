/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of moe_route, for host and device. */
#ifndef GM_MOE_ROUTE_PARAMS_H
#define GM_MOE_ROUTE_PARAMS_H

#include "common/fixed_width.h"

/* Values of enum gm_route_method. */
enum { ROUTE_SOFTMAX_TOP_K = 0, ROUTE_TOP_K_SOFTMAX = 1, ROUTE_SIGMOID_GROUPED = 2 };

struct gm_moe_route_params {
    uint64_t logits, bias, ids, weights, row_count; /* addresses */
    int64_t logits_pitch;                           /* bytes from one row to the next */
    int32_t tokens, experts, k;
    int32_t by_elements; /* rows that are no whole number of 16 bytes, or begin on no multiple of that */
    int32_t is_sigmoid;
    int32_t renormalizes; /* the weights are divided by their sum, not by that of all experts, or 1 */
    int32_t groups, top_groups;
    int32_t lanes_log2; /* of a group: 1 << lanes_log2 lanes of a warp score it */
    int32_t group_size; /* experts */
    float scale;
};

enum {
    GM_MOE_ROUTE_EXPERTS = 1024, /* at most */
    GM_MOE_ROUTE_UNIT = 8,       /* neighbouring experts of a lane */
    GM_MOE_ROUTE_CTAS = 8,       /* on an SM */
};

/* Shared memory of a CTA: a key of 4 bytes for each expert and warp. */
#define GM_MOE_ROUTE_SMEM(threads) ((threads) / 32 * GM_MOE_ROUTE_EXPERTS * 4)

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_moe_route_params) == 96, "host and device agree");
#endif

#endif
