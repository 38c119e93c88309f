/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of attention_sm80 and its shared memory, for host and device. */
#ifndef GM_ATTENTION_SM80_PARAMS_H
#define GM_ATTENTION_SM80_PARAMS_H

#include "common/attention/params.h"

struct gm_attention_sm80_params {
    struct gm_attention_params a; /* first */
    /* Tiles of rows that all requests have together, at most: the grid has so many for each of kv_heads, and CTAs
     * beyond the real number end at once. */
    int32_t tiles;
    int32_t section; /* kv heads whose tiles run at the same time: their keys fit L2 */
};

/* Shared memory: q's rows, a ring of tiles of k and v in turns, and what the CTA's tile of rows is. */
#define GM_ATTENTION_SM80_SLOTS      3
#define GM_ATTENTION_SM80_TILE_BYTES 128
#define GM_ATTENTION_SM80_SMEM_BYTES(head_dim, tile_rows, tile_keys)                                                   \
    (2 * (head_dim) * ((tile_rows) + GM_ATTENTION_SM80_SLOTS * (tile_keys)) + GM_ATTENTION_SM80_TILE_BYTES)
/* CTAs on an SM that registers leave room for, 255 of a thread. */
#define GM_ATTENTION_SM80_CTAS(warps) (65536 / (32 * (warps) * 256))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_attention_sm80_params) == 320, "host and device agree");
#endif

#endif
