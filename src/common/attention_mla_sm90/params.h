/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of attention_mla_sm90, its workspace and its shared memory, for host and device. */
#ifndef GM_ATTENTION_MLA_SM90_PARAMS_H
#define GM_ATTENTION_MLA_SM90_PARAMS_H

#include "common/attention/params.h"
#include "common/tensor_map.h"

/* The map of k: 16-bit elements with the swizzle of 128 bytes and zeros outside, (element, token, head, page) in boxes of
 * 64 x box_tokens x 1 x 1: of half a block, or with pages of the greatest common divisor of that and a page, 8 at least. */
struct gm_attention_mla_sm90_params {
    struct gm_tensor_map k;
    struct gm_attention_params a;
    uint64_t slots, flags; /* addresses: two slots for each CTA, then `slices` flags for each slot; 0: no unit is cut */
    uint64_t ready;        /* what a flag holds when its slot is filled */
    int32_t parts;         /* clusters that take keys; CTAs behind them put together what cut units have in slots, */
    int32_t slices;        /* so many for each 64 rows */
    int32_t slot_rows;     /* a power of 2, as `slices` is */
    int32_t box_tokens;    /* of a box; 0: pages have none, and tokens are gathered */
};
GM_STATIC_ASSERT(sizeof(struct gm_attention_mla_sm90_params) == 512, "the same layout in C11 and CUDA C");

/* Packed rows of a CTA: the M of wgmma. A unit has those of a cluster. */
#define GM_MLA_ROWS 64
/* A warpgroup for loads and the list of work, one for scores, and one for each 256 columns of out. */
#define GM_MLA_ADDERS(v_head_dim)  ((v_head_dim) / 256)
#define GM_MLA_THREADS(v_head_dim) (128 * (2 + GM_MLA_ADDERS(v_head_dim)))

/* Bytes of a slot: rows of sums of values, unnormalised, fp32; then a largest score and a sum for each row. */
#define GM_MLA_SLOT_BYTES(rows, v_head_dim) (4 * (rows) * ((v_head_dim) + 2))
#define GM_MLA_FLAG_BYTES                   8

/* ---- shared memory, from a 1024-byte boundary: q | stages | barriers | rows' words | pieces --------------- */

#define GM_MLA_ALIGN                        1024 /* bytes after which the swizzle pattern repeats */
#define GM_MLA_Q_BYTES(head_dim)            (GM_MLA_ROWS * (head_dim) * 2)
#define GM_MLA_STAGE_BYTES(head_dim, block) ((block) * (head_dim) * 2)
#define GM_MLA_PIECE_SLOTS                  2
#define GM_MLA_PIECE_BYTES                  64
/* Of a stage: what its rows' sums are multiplied by. Of a piece: a largest score and a sum for each row. */
#define GM_MLA_ROW_BYTES(stages) (GM_MLA_ROWS * (4 * (stages) + 8 * GM_MLA_PIECE_SLOTS))
#define GM_MLA_BARRIER_BYTES     256
#define GM_MLA_SMEM_BYTES(head_dim, block, stages)                                                                     \
    (GM_MLA_ALIGN + GM_MLA_Q_BYTES(head_dim) + (stages) * GM_MLA_STAGE_BYTES(head_dim, block) + GM_MLA_BARRIER_BYTES + \
     GM_MLA_ROW_BYTES(stages) + GM_MLA_PIECE_SLOTS * GM_MLA_PIECE_BYTES)

#endif
