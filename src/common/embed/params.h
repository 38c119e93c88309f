/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of embed, for host and device. */
#ifndef GM_EMBED_PARAMS_H
#define GM_EMBED_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

struct gm_embed_params {
    uint64_t ids, table, out, error_flag, row_count; /* addresses */
    int64_t table_pitch, out_pitch;                  /* bytes from one row to the next */
    int32_t tokens;
    uint32_t vocabulary;
    int32_t int64_ids, has_scale;
    float scale;
    int32_t slab_rows;            /* rows whose chunks are numbered with 31 bits, */
    struct gm_divisor row_chunks; /* and the chunks of a row of out */
};

/* CTAs on an SM: 64 KB and more of the table are under way on it, as their registers allow. */
#define GM_EMBED_CTAS(threads, vectors) (((vectors) > 1 ? 1024 : 2048) / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_embed_params) == 96, "host and device agree");
#endif

#endif
