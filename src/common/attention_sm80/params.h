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

/* Shared memory: q's rows, one tile of k and one of v. */
#define GM_ATTENTION_SM80_SMEM_BYTES(head_dim, tile_rows, tile_keys) (2 * (head_dim) * ((tile_rows) + 2 * (tile_keys)))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_attention_sm80_params) == 288, "host and device agree");
#endif

#endif
