/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels of attention_merge, for host and device. */
#ifndef GM_ATTENTION_MERGE_PARAMS_H
#define GM_ATTENTION_MERGE_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

struct gm_attention_merge_operand {
    uint64_t address;
    int64_t token, head; /* bytes from one to the next */
};

struct gm_attention_merge_params {
    struct gm_attention_merge_operand a, b, out, lse_a, lse_b, lse; /* lse's address 0: it is not written */
    uint64_t row_count;                                             /* address */
    int32_t tokens, slab_tokens; /* a slab: tokens whose turns are numbered together */
    struct gm_divisor heads;
    int32_t head_chunks;
    int32_t lanes_log2; /* lanes of a head; each takes `parts` chunks, so many lanes apart */
    int32_t parts;
    int32_t out_type;
};

/* Turns of groups in a slab at most: twice as many, and a CTA's, have a number of 32 bits. */
#define GM_ATTENTION_MERGE_SLAB (1 << 30)

/* CTAs on an SM: with 2 tokens at once, 64 KB of a and b are under way on it. */
#define GM_ATTENTION_MERGE_CTAS(threads) (1024 / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_attention_merge_params) == 192, "host and device agree");
#endif

#endif
