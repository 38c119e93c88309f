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
 *          pages it is the greatest common divisor of tile_n and the page's tokens, 8 at least.
 *
 * Pages whose heads are whole slabs have boxes of all of them, half as many or fewer: (element, token of 8, slab, 8 tokens of
 * the page, page), n x 8 x slabs x box_tokens / 8 x 1. A head is found by its slabs. Then 8 tokens of a slab are followed by
 * those of the next slab, and else by the slab's next 8. */
struct gm_attention_sm90_params {
    struct gm_tensor_map q, k, v;
    struct gm_attention_params attention;
    uint64_t tickets;       /* address of 8 bytes of the workspace, or 0: CTAs take tiles with the grid's stride */
    uint64_t nonce;         /* what `tickets` holds between launches; anything that the workspace hardly holds before */
    int32_t box_tokens;     /* of a box of K or V */
    int32_t boxes;          /* of a block of tile_n tokens: tile_n / box_tokens, up to 32 */
    int32_t together_bytes; /* of K and V that L2 is to keep while all tiles of their heads are computed */
    /* Rows of SPAN bytes from a head of K, and of V, to the next; 0: boxes have a slab. Else they have all slabs of a row. */
    int32_t k_head_spans, v_head_spans;
};
GM_STATIC_ASSERT(sizeof(struct gm_attention_sm90_params) == 768, "the same layout in C11 and CUDA C");

#endif
