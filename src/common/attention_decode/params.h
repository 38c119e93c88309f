/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of attention_decode, its workspace and its shared memory, for host and device. */
#ifndef GM_ATTENTION_DECODE_PARAMS_H
#define GM_ATTENTION_DECODE_PARAMS_H

#include "common/arith.h"
#include "common/attention/params.h"
#include "common/attention_decode/tokens.h"

struct gm_attention_decode_params {
    struct gm_attention_params a; /* first */
    uint64_t slots, flags;        /* addresses: a slot for each part, then a flag for each */
    uint64_t ready;               /* what a flag holds when its slot is filled */
    struct gm_divisor lists;      /* of heads of k: as many in each, */
    int32_t heads;                /* so many, */
    int32_t shares;               /* and CTAs: part p has share p / lists of list p % lists */
    int32_t padding;
};

/* Packed rows of a unit: row r is head r % group of token r / group. */
#define GM_ATTENTION_DECODE_ROWS 16
/* Bytes of an element of k and v. */
#define GM_ATTENTION_DECODE_KV_BYTES(cache) ((cache) == GM_CACHE_e4m3 ? 1 : 2)
/* Keys of a warp's tile, one stage of its ring: so many rows of k and of v. Short rows come more at a time. */
#define GM_ATTENTION_DECODE_KEYS(head_dim, cache) ((head_dim) * GM_ATTENTION_DECODE_KV_BYTES(cache) > 128 ? 16 : 32)
/* Keys that a CTA takes at once: what the work of parts is counted in. */
#define GM_ATTENTION_DECODE_BLOCK(head_dim, warps, cache) ((warps) * GM_ATTENTION_DECODE_KEYS(head_dim, cache))

/* Bytes of a slot: the rows' sums, unnormalised, of `head_dim` fp32 each; then a largest score and a sum for each. */
#define GM_ATTENTION_DECODE_SLOT_BYTES(head_dim) (4 * GM_ATTENTION_DECODE_ROWS * ((head_dim) + 2))
#define GM_ATTENTION_DECODE_FLAG_BYTES           8

/* Shared memory: every warp's ring, which holds the warp's sums when its keys are done; then q's rows, where registers have no
 * room for them. Under q a cache of e4m3 has those that fp16 is made of, and a factor for each. */
#define GM_ATTENTION_DECODE_Q_BYTES(head_dim, cache)                                                                   \
    ((cache) == GM_CACHE_e4m3 ? GM_ATTENTION_DECODE_ROWS * (2 * (head_dim) + 4)                                        \
     : (head_dim) > 128       ? GM_ATTENTION_DECODE_ROWS * 2 * (head_dim)                                              \
                              : 0)
#define GM_ATTENTION_DECODE_STAGE_BYTES(head_dim, cache)                                                               \
    (2 * GM_ATTENTION_DECODE_KEYS(head_dim, cache) * (head_dim) * GM_ATTENTION_DECODE_KV_BYTES(cache))
#define GM_ATTENTION_DECODE_SMEM_BYTES(head_dim, warps, stages, cache)                                                 \
    ((warps) * (stages) * GM_ATTENTION_DECODE_STAGE_BYTES(head_dim, cache) +                                           \
     GM_ATTENTION_DECODE_Q_BYTES(head_dim, cache))

/* CTAs on an SM that Hopper's shared memory and registers leave room for. */
#define GM_ATTENTION_DECODE_REGISTERS(head_dim) ((head_dim) <= 64 ? 128 : (head_dim) <= 128 ? 168 : 255)
#define GM_ATTENTION_DECODE_CTAS(head_dim, warps, stages, cache)                                                       \
    GM_MIN(65536 / (32 * (warps) * GM_ATTENTION_DECODE_REGISTERS(head_dim)),                                           \
           227 * 1024 / (GM_ATTENTION_DECODE_SMEM_BYTES(head_dim, warps, stages, cache) + 1024))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_attention_decode_params) == 360, "host and device agree");
#endif

#endif
