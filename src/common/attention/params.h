/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the attention kernels that all families have, one definition for the host (C11) and the kernels. */
#ifndef GM_ATTENTION_PARAMS_H
#define GM_ATTENTION_PARAMS_H

#include "common/divide.h"
#include "common/fixed_width.h"

/* What a call asks for, in gm_attention_params.flags. */
enum gm_attention_flag {
    GM_ATTENTION_IS_RAGGED = 1,
    GM_ATTENTION_IS_PAGED = 2, /* neither: page b is request b's */
    GM_ATTENTION_OUT_IS_FP32 = 4,
    GM_ATTENTION_HAS_CAP = 8,
    /* Not all rows are aligned to 16 bytes: by single elements. */
    GM_ATTENTION_Q_BY_ELEMENT = 16,
    GM_ATTENTION_KV_BY_ELEMENT = 32,
    GM_ATTENTION_OUT_BY_ELEMENT = 64,
    /* With k and v of e4m3, types that are known when the kernel runs. */
    GM_ATTENTION_OUT_IS_FP16 = 128, /* neither, nor FP32: bf16 */
    GM_ATTENTION_Q_IS_BF16 = 256,
    GM_ATTENTION_Q_IS_E4M3 = 512, /* neither: fp16 */
    /* Of attention_sm90: boxes of K and V have all slabs of a row. */
    GM_ATTENTION_WHOLE_ROWS = 1024,
};

/* Rows of q, out or lse: bytes from a row to the next, and from a head to the next. */
struct gm_attention_rows {
    uint64_t address;
    int64_t token, head;
};

/* k or v: bytes from a page, a token and a head to the next. */
struct gm_attention_cache {
    uint64_t address;
    int64_t page, token, head;
};

struct gm_attention_params {
    struct gm_attention_rows q, out, lse; /* lse.address 0: not wanted */
    struct gm_attention_cache k, v;
    uint64_t q_indptr, kv_len, kv_indptr, page_table, sinks, tree_mask; /* addresses; 0: there is none */
    int64_t table_stride;                                               /* entries of 4 bytes */
    struct gm_divisor page;                                             /* tokens of it */
    struct gm_divisor group;                                            /* heads of q that share one of k */
    int32_t batch, kv_heads;
    int32_t head_dim, v_head_dim; /* elements */
    int32_t left, right;          /* tokens that a row sees before and behind its own; INT32_MAX: all */
    /* Bounds of what is read: lengths beyond them count as these, and a page that is none of page_count as page 0. */
    int32_t max_q_tokens, max_q_len, max_kv_len, page_count;
    float scale;                       /* of q . k: times log2(e) without a cap */
    float cap, cap_exponent;           /* soft_cap.cuh; times log2(e) is the kernel's */
    int32_t flags;                     /* of enum gm_attention_flag */
    int32_t kv_tokens;                 /* of KV_RAGGED, a bound as well */
    int32_t scale_request, scale_head; /* floats from a request's or a head's scale to the next; 0: they share it */
    int32_t padding;
    uint64_t q_scale, k_scale, v_scale; /* addresses; 0: 1 */
};

#ifndef __CUDACC__
_Static_assert(sizeof(struct gm_attention_params) == 312, "host and device agree");
#endif

#endif
