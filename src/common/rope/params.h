/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the rotary embedding's kernels, for host and device. */
#ifndef GM_ROPE_PARAMS_H
#define GM_ROPE_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

/* What a call asks for, in gm_rope_params.flags. */
enum gm_rope_flag {
    GM_ROPE_IS_INTERLEAVED = 1,
    GM_ROPE_IS_INVERSE = 2,
    GM_ROPE_ROUNDS = 4,             /* cosines, sines and products to the type */
    GM_ROPE_HAS_NORM = 8,           /* of q and k */
    GM_ROPE_ROUNDS_NORMALIZED = 16, /* h / rms is rounded to the type before it is multiplied with the weight */
    GM_ROPE_WIDE_WEIGHT = 32,       /* the weights are fp32 beside a 16-bit type */
    GM_ROPE_WIDE_POSITIONS = 64,    /* of 64 bits */
    GM_ROPE_CACHES_E4M3 = 128,
};

/* Bits of the error flag: values of enum gm_rope_error. */
enum { ROPE_ERROR_POSITION = 1, ROPE_ERROR_SLOT = 2 };

/* The heads of q, k or v: where they are and where they go. */
struct gm_rope_heads {
    uint64_t in, out, cache, weight, scale; /* addresses; 0: there is none */
    /* Bytes from one to the next. */
    int64_t in_token, in_head, out_token, out_head, cache_page, cache_token, cache_head;
    int32_t count;
    int32_t first_block; /* of a token's blocks of heads */
};

enum { ROPE_Q, ROPE_K, ROPE_V, ROPE_KINDS };

struct gm_rope_params {
    struct gm_rope_heads heads[ROPE_KINDS];
    uint64_t positions, table, slots, row_count, error_flag; /* addresses */
    struct gm_divisor blocks;                                /* of a token: groups of lanes that it takes */
    struct gm_divisor page;                                  /* tokens of it */
    int32_t tokens, slab_tokens;                             /* tokens whose blocks are numbered with 31 bits */
    int32_t max_position, slot_count;
    int32_t head_dim, rotary_dim, rotary_offset; /* elements */
    int32_t pair_step, pair_distance;            /* elements between an item and the next, and between its two chunks */
    int32_t rotary_items, items;                 /* of a head: two chunks each, the rotated ones first */
    int32_t lanes_log2, parts;                   /* lanes that share a head, and items of each */
    int32_t flags;                               /* of enum gm_rope_flag */
    float eps, weight_offset, inverse_head_dim;  /* 1 / head_dim */
    int32_t tokens_ahead;                        /* that many behind, a token's heads come to L2; 0: none do */
    int32_t padding;
};

/* CTAs on an SM: 64 KB of q, k and v are under way on it with four heads a thread, else as its registers allow. */
#define GM_ROPE_CTAS(threads, heads) (((heads) > 2 ? 512 : 640) / (threads))

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_rope_heads) == 104, "host and device agree");
_Static_assert(sizeof(struct gm_rope_params) == 456, "host and device agree");
#endif

#endif
