/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/attention.h: attention of q to the keys and values of every request: prefill and decode, dense and paged.
 * gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_ATTENTION_H
#define GRISTMILL_ATTENTION_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  Request b has q_len = q_indptr[b + 1] - q_indptr[b] rows of q, the last of its kv_len[b] tokens: row t of them is token
 *  kv_len - q_len + t, its own, which may be negative. Head h of q goes with head h / (q_heads / kv_heads) of k and v.
 *
 *    score(j) = scale * (q . k_j), or softcap * tanh(that / softcap)         j = 0 ... kv_len - 1, those that the mask shows
 *    out = sum of exp(score(j) - m) * v_j / (sum of exp(score(j) - m) + exp(sink - m))        m: the largest, the sink too
 *    lse = log(sum of exp(score(j)))                                         natural; without the sink
 *
 *  A row that sees no token gets out = 0 and lse = -infinity, and is written. Rows of q that no request has are not
 *  written. q_len = 0 and kv_len = 0 are legal, and so is a batch of such requests.
 *
 *  q, out  q[t * q_token_stride + h * q_head_stride + i] is element i of head h of row t; so is out
 *  lse     lse[t * lse_token_stride + h * lse_head_stride], fp32
 *  k, v    k[page * k_page_stride + token * k_token_stride + h * k_head_stride + i]; so is v. Token j of request b is
 *          GM_ATTENTION_KV_BATCHED  token j of page b: one page of page_size tokens for each request
 *          GM_ATTENTION_KV_RAGGED   token kv_indptr[b] + j of one page: requests behind each other
 *          GM_ATTENTION_KV_PAGED    token j % page_size of page page_table[b * table_stride + j / page_size]
 *          Every layout of pages, tokens and heads is one by its strides (NHD, HND), and so is one of K and V in turns.
 *
 *          With v_is_k v is the first v_head_dim elements of k's heads, as in multi-head latent attention: v's strides are
 *          k's, or 0, and so are v_align and args.v.
 *
 *  mask    GM_ATTENTION_FULL    all of the request's tokens
 *          GM_ATTENTION_CAUSAL  those up to the row's own: aligned to the end (bottom right)
 *          GM_ATTENTION_WINDOW  from `left` before its own to `right` behind it; -1: all
 *          With tree_mask, which of the request's last q_len tokens a row sees is told by bits: bit j of the row's word of
 *          64 bits is the j-th of them. What the mask hides stays hidden. max_q_len is 64 at most then.
 *
 *  q_indptr, kv_len, kv_indptr, page_table, tree_mask, sinks and scales are read when the kernel runs: a captured graph serves
 *  every step, and no plan is made between steps. Lengths beyond the problem's bounds count as the bounds, and negative ones
 *  as 0. Table entries behind a request's last token are never used; one that is used and names no page counts as page 0.
 *  What lies behind a request's last token may be anything, NaN too. NaN among its tokens propagates, and NaN or infinity
 *  of v may reach rows of the request that do not see the token.
 *
 *  8 bits: k and v are of e4m3 with GM_ATTENTION_KV_E4M3, and q too with type GM_E4M3, of which out has another type.
 *  The stored elements times a scale are what is meant: q = q_scale * stored q, and so are k and v, within score() and so
 *  within the soft cap. A float is read from them for request b and head h of k and v:
 *          GM_ATTENTION_SCALES_NONE          1: the arrays are not read
 *          GM_ATTENTION_SCALES_TENSOR        scales[0]
 *          GM_ATTENTION_SCALES_HEAD          scales[h]
 *          GM_ATTENTION_SCALES_REQUEST_HEAD  scales[b * kv_heads + h]
 *  NaN of e4m3 (0x7f, 0xff) is NaN, and NaN and infinity of a scale propagate; a v_scale of 0 makes zeros.
 *
 *  Strides are in elements; 0 means packed, in the order pages, tokens, heads. Results are the same from run to run. No
 *  overlap with what is written is allowed, but operands with equal strides may lie between each other.
 *  With GM_PLAN_BATCH_INVARIANT a row's results have the same bits whatever requests are beside its own, in one plan and
 *  between plans whose max_batch, max_q_tokens and max_kv_len differ.
 *  Up to 2^31 - 1 rows and tokens; operands may exceed 2^31 elements and 4 GiB. max_batch = 0, max_q_len = 0 or batch = 0
 *  launches nothing. */
enum gm_attention_kv_layout { GM_ATTENTION_KV_BATCHED = 0, GM_ATTENTION_KV_RAGGED = 1, GM_ATTENTION_KV_PAGED = 2 };
enum gm_attention_mask { GM_ATTENTION_FULL = 0, GM_ATTENTION_CAUSAL = 1, GM_ATTENTION_WINDOW = 2 };
/* Type of k and v: q's, or e4m3 under q of 16 bits. */
enum gm_attention_kv_type { GM_ATTENTION_KV_SAME = 0, GM_ATTENTION_KV_E4M3 = 1 };
/* Type of out: q's, or fp32; under q of e4m3 one of the others. */
enum gm_attention_out {
    GM_ATTENTION_OUT_SAME = 0,
    GM_ATTENTION_OUT_FP32 = 1,
    GM_ATTENTION_OUT_BF16 = 2,
    GM_ATTENTION_OUT_FP16 = 3
};
/* Who shares a scale of e4m3. */
enum gm_attention_scales {
    GM_ATTENTION_SCALES_NONE = 0,
    GM_ATTENTION_SCALES_TENSOR = 1,
    GM_ATTENTION_SCALES_HEAD = 2,
    GM_ATTENTION_SCALES_REQUEST_HEAD = 3
};

struct gm_attention_problem {
    size_t size;
    int64_t max_batch;    /* requests */
    int64_t max_q_tokens; /* rows of q, all requests' together; 0: max_batch * max_q_len */
    int64_t max_q_len;    /* rows of one request */
    int64_t max_kv_len;   /* tokens of one request; 1 at least */
    int64_t q_heads, kv_heads;
    int64_t head_dim;     /* of q and k, up to 256, with v_is_k up to 576; a multiple of 8 */
    int64_t v_head_dim;   /* of v and out, likewise, with v_is_k up to 512; 0: head_dim */
    int64_t page_size;    /* tokens; 0: max_kv_len; of KV_RAGGED ignored */
    int64_t page_count;   /* of KV_PAGED; 0: as many as max_batch requests of max_kv_len tokens have; else ignored */
    int64_t kv_tokens;    /* of KV_RAGGED, all requests' together; 0: max_batch * max_kv_len; else ignored */
    int64_t table_stride; /* entries from a request's to the next; 0: packed, max_kv_len / page_size rounded up */
    int64_t q_token_stride, q_head_stride, out_token_stride, out_head_stride;
    int64_t k_page_stride, k_token_stride, k_head_stride, v_page_stride, v_token_stride, v_head_stride;
    int64_t lse_token_stride, lse_head_stride;
    int64_t left, right; /* of GM_ATTENTION_WINDOW; else ignored */
    enum gm_type type;   /* of q: GM_BF16, GM_FP16, GM_E4M3 */
    enum gm_attention_kv_type kv_type;
    enum gm_attention_out out;
    enum gm_attention_scales scales; /* where something is of e4m3 */
    enum gm_attention_kv_layout kv_layout;
    enum gm_attention_mask mask;
    float scale;                               /* 0: 1 / sqrt(head_dim) */
    float softcap;                             /* 0: none */
    int32_t has_sinks, has_lse, has_tree_mask; /* 1: args have them */
    int32_t v_is_k;                            /* 1: v is the first v_head_dim elements of k */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2, and of e4m3 1. */
    int32_t q_align, out_align, k_align, v_align;
};

struct gm_attention_args {
    size_t size;
    int64_t batch;                  /* requests, up to max_batch */
    gm_device_ptr q, k, v, out;     /* with v_is_k v is k, or 0 */
    gm_device_ptr lse;              /* 0 unless has_lse */
    gm_device_ptr q_indptr;         /* int32_t[batch + 1], not falling */
    gm_device_ptr kv_len;           /* int32_t[batch] */
    gm_device_ptr kv_indptr;        /* int32_t[batch]: of KV_RAGGED; else 0 */
    gm_device_ptr page_table;       /* int32_t: of KV_PAGED; else 0 */
    gm_device_ptr sinks;            /* float[q_heads]; 0 unless has_sinks */
    gm_device_ptr tree_mask;        /* uint64_t[max_q_tokens]; 0 unless has_tree_mask */
    gm_device_ptr q_scale;          /* float[]: of GM_ATTENTION_SCALES_x, with type GM_E4M3; else 0 */
    gm_device_ptr k_scale, v_scale; /* float[]: of GM_ATTENTION_SCALES_x; else 0 */
    gm_device_ptr workspace;        /* 16-byte aligned; may hold anything; of one call at a time */
    size_t workspace_bytes;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no
 * effect. */
GM_API enum gm_status gm_attention_plan_create(gm_context *context, const struct gm_attention_problem *problem,
                                               const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is
 * needed. */
GM_API enum gm_status gm_attention_execute(const gm_plan *plan, const struct gm_attention_args *args, void *stream);
/* Plan, execute, destroy, in one call, without a workspace; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_attention(gm_context *context, const struct gm_attention_problem *problem,
                                   const struct gm_attention_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_attention_explain(const struct gm_device *device, const struct gm_attention_problem *problem,
                                           const struct gm_plan_options *options, struct gm_candidate *candidates,
                                           size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
