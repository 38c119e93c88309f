/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the sm90 attention kernels, one definition for the host (C11) and the kernels. */
#ifndef GM_ATTENTION_SM90_PARAMS_H
#define GM_ATTENTION_SM90_PARAMS_H

#include "common/attention/params.h"
#include "common/tensor_map.h"

/* The maps, all with the swizzle of 128 bytes, which are n elements, and zeros outside:
 *
 *   q      (element, row, head): boxes of n x tile_m x 1
 *   k, v   (element, token, head, page): boxes of n x box_tokens x 1 x 1. Without pages box_tokens is tile_n; with
 *          pages it is the greatest common divisor of tile_n and the page's tokens, 8 at least. */
struct gm_attention_sm90_params {
    struct gm_tensor_map q, k, v;
    struct gm_attention_params attention;
    uint64_t tickets;       /* address of 8 bytes of the workspace, or 0: CTAs take tiles with the grid's stride */
    uint64_t nonce;         /* what `tickets` holds between launches; anything that the workspace hardly holds before */
    int32_t box_tokens;     /* of a box of K or V */
    int32_t boxes;          /* of a block of tile_n tokens: tile_n / box_tokens, up to 32 */
    int32_t together_bytes; /* of K and V that L2 is to keep while all tiles of their heads are computed */
};
GM_STATIC_ASSERT(sizeof(struct gm_attention_sm90_params) == 768, "the same layout in C11 and CUDA C");

#endif
