/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/rope.h: rotary embedding of q and k, with a norm of every head before it and the append of k and v to a
 * cache after it, if wanted. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_ROPE_H
#define GRISTMILL_ROPE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  Every head of q and k, of head_dim elements, goes through these steps:
 *
 *  1. with GM_ROPE_NORM, h = h * rsqrt(mean(h^2) + eps) * (weight_offset + weight), the mean over the head
 *  2. elements rotary_offset to rotary_offset + rotary_dim - 1 are rotated by the token's row of the table; others stay
 *  3. the head goes to q_out or k_out; with an append, heads of k also go to k_cache, and those of v, as they are, to
 *     v_cache
 *
 *  q       q[t * q_token_stride + h * q_head_stride + i] is element i of head h of token t; so are k, v and out
 *  table   table[position * rotary_dim + j], fp32: cosines of rotary_dim / 2 angles, then their sines; packed
 *
 *  Pair j of a head is (a, b), and becomes (a cos_j - b sin_j, b cos_j + a sin_j); with `inverse`, sin_j is negated.
 *  GM_ROPE_HALVES       a and b are elements j and j + rotary_dim / 2 of those that are rotated: Llama, Qwen, GPT-NeoX
 *  GM_ROPE_INTERLEAVED  a and b are elements 2j and 2j + 1: GPT-J, DeepSeek
 *
 *  Cache   token t goes to slot slots[t], which is token slot % page_size of page slot / page_size; element i of its
 *          head h is k_cache[page * k_cache_page_stride + token * k_cache_token_stride + h * k_cache_head_stride + i];
 *          so is v_cache. Every layout of pages, tokens and heads is one by its strides, and so is one of K and V in
 *          turns. A negative slot is skipped. What two tokens with one slot leave there is undefined.
 *          GM_ROPE_APPEND_E4M3 stores value / k_scale and value / v_scale, where value is what k_out gets, or v:
 *          rounded to nearest even, saturated to +-448, NaN stays NaN. Scales are from 2^-60 to 2^60; what others store
 *          is undefined.
 *
 *  Bad numbers are never used as addresses. Where a position is outside [0, max_position), the token's heads of q_out,
 *  k_out and k_cache become zeros. Where a slot is slot_count or more, nothing is stored. Both set a bit of error_flag.
 *
 *  Strides are in elements; 0 means packed, in the order tokens, heads or pages, tokens, heads. No two elements of an
 *  operand may share an address: of two dimensions, one's stride is at least the other's extent. NaN stays NaN. A
 *  token's results have the same bits whatever tokens are beside it: every plan is batch-invariant.
 *  q_out may be q, and k_out k (in place, with the same strides). No other overlap with what is written is allowed;
 *  operands with equal strides may lie between each other, as q, k and v in the rows of one matrix.
 *  tokens = 0 launches nothing. Up to 2^31 - 1 tokens; operands may exceed 2^31 elements and 4 GiB. */
enum gm_rope_pairing { GM_ROPE_HALVES = 0, GM_ROPE_INTERLEAVED = 1 };
enum gm_rope_norm { GM_ROPE_NO_NORM = 0, GM_ROPE_NORM = 1 };
enum gm_rope_append { GM_ROPE_NO_APPEND = 0, GM_ROPE_APPEND = 1 /* in `type` */, GM_ROPE_APPEND_E4M3 = 2 };
/* Bits of error_flag. */
enum gm_rope_error { GM_ROPE_ERROR_POSITION = 1, GM_ROPE_ERROR_SLOT = 2 };

struct gm_rope_problem {
    size_t size;
    int64_t tokens;
    int64_t q_heads, kv_heads; /* 0: there is no q, or no k; up to 65536 */
    int64_t head_dim;          /* even, up to 512 */
    int64_t rotary_dim;        /* even; 0: what is behind rotary_offset */
    int64_t rotary_offset;
    int64_t max_position;          /* rows of the table, up to 2^31 - 1; 0: as many as tokens */
    int64_t page_size, slot_count; /* of the cache, up to 2^31 - 1; 0: one page of all slots; as many slots as tokens */
    int64_t q_token_stride, q_head_stride, k_token_stride, k_head_stride, v_token_stride, v_head_stride;
    int64_t q_out_token_stride, q_out_head_stride, k_out_token_stride, k_out_head_stride;
    int64_t k_cache_page_stride, k_cache_token_stride, k_cache_head_stride;
    int64_t v_cache_page_stride, v_cache_token_stride, v_cache_head_stride;
    enum gm_type type; /* of q, k, v, q_out and k_out: GM_BF16, GM_FP16, GM_FP32 */
    enum gm_rope_pairing pairing;
    int32_t inverse; /* 1: rotates back */
    /* LATE: everything is of fp32 and rounded once, as in FlashInfer and in vLLM's kernels. EARLY: cosines, sines, both
     * products and, with a norm, its result are rounded to the type, as HF does. */
    enum gm_rounding rounding;
    enum gm_rope_norm norm;
    int32_t fp32_weight; /* 1: the weights of the norm are GM_FP32; 0: they have the same type */
    /* Of h * rsqrt(...), before the weight: HF's Qwen3 rounds it early, Gemma-3 does not. */
    enum gm_rounding normalized_rounding;
    float eps;           /* 0 or more, finite */
    float weight_offset; /* finite; 1: Gemma's 1 + weight */
    enum gm_rope_append append;
    int32_t int64_positions; /* 1: positions are int64_t; 0: int32_t */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2; of caches of e4m3
     * also 1. Heads that do not all begin on multiples of 16 bytes, and halves of rotary_dim that are no multiple of
     * that, take longer. */
    int32_t q_align, k_align, v_align, q_out_align, k_out_align, k_cache_align, v_cache_align;
    int32_t q_weight_align, k_weight_align, table_align; /* table_align: 16, 8 or 4 */
};

struct gm_rope_args {
    size_t size;
    gm_device_ptr q, k, v; /* q, k: 0 where there are no heads of it; v: 0 unless appended */
    gm_device_ptr positions, table;
    gm_device_ptr q_weight, k_weight; /* [head_dim]; 0 without a norm */
    gm_device_ptr q_out, k_out;       /* k_out: 0 where k goes to the cache only */
    gm_device_ptr k_cache, v_cache;   /* 0 unless appended, as are slots, an int64_t for each token */
    gm_device_ptr slots;
    gm_device_ptr k_scale, v_scale; /* a float each, of a cache of e4m3; else 0 */
    /* 0, or an int32_t in device memory: only so many of the first tokens are computed, none where it is negative. It
     * is read when the kernel runs, so that a captured graph serves any number of tokens up to the problem's. */
    gm_device_ptr row_count;
    /* 0, or an int32_t in device memory, in which bits of enum gm_rope_error are set, and none is cleared. */
    gm_device_ptr error_flag;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no
 * effect. */
GM_API enum gm_status gm_rope_plan_create(gm_context *context, const struct gm_rope_problem *problem,
                                          const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is
 * needed. */
GM_API enum gm_status gm_rope_execute(const gm_plan *plan, const struct gm_rope_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_rope(gm_context *context, const struct gm_rope_problem *problem,
                              const struct gm_rope_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_rope_explain(const struct gm_device *device, const struct gm_rope_problem *problem,
                                      const struct gm_plan_options *options, struct gm_candidate *candidates,
                                      size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
