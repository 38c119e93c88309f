/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/embed.h: rows of a table by their ids, as of token embeddings. gristmill/core.h has what all operations
 * share. */
#ifndef GRISTMILL_EMBED_H
#define GRISTMILL_EMBED_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  out[token] = scale * table[ids[token]]      of every column
 *
 *  ids     ids[token], int32_t or int64_t in device memory, packed
 *  table   table[id * table_stride + column], ids from 0 to vocabulary - 1
 *  out     out[token * out_stride + column]
 *
 *  An id outside 0 to vocabulary - 1 reads nothing: its row of out becomes zeros, and `error_flag` 1.
 *  Without a scale, out has the table's bits. With one, the product is computed in fp32 and rounded once. Gemma's
 *  scale is sqrt(columns), which its implementations round to the table's type: round it before it is given.
 *
 *  Strides are in elements, the row's elements at least; 0 means packed. out overlaps no other operand. Every row
 *  depends on its own id only: plans are batch-invariant. tokens = 0 launches nothing. Up to 2^31 - 1 tokens and ids,
 *  2^29 columns; table and out may exceed 2^31 elements and 4 GiB. */
struct gm_embed_problem {
    size_t size;
    int64_t tokens, columns, vocabulary;
    enum gm_type type;                /* of table and out: GM_BF16, GM_FP16, GM_FP32 */
    int32_t int64_ids;                /* 1: ids are int64_t; 0: int32_t */
    float scale;                      /* more than 0; 0: there is none */
    int64_t table_stride, out_stride; /* elements; 0: packed */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. Rows that do not all
     * begin on multiples of 16 bytes, or whose columns are no multiple of that, take longer. */
    int32_t table_align, out_align;
};

struct gm_embed_args {
    size_t size;
    gm_device_ptr ids, table, out;
    /* 0, or an int32_t in device memory that becomes 1 where an id is out of range. Otherwise nothing is written there:
     * the caller clears it. */
    gm_device_ptr error_flag;
    /* 0, or an int32_t in device memory: only so many of the first tokens are looked up, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of tokens up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_embed_plan_create(gm_context *context, const struct gm_embed_problem *problem,
                                           const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_embed_execute(const gm_plan *plan, const struct gm_embed_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_embed(gm_context *context, const struct gm_embed_problem *problem,
                               const struct gm_embed_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_embed_explain(const struct gm_device *device, const struct gm_embed_problem *problem,
                                       const struct gm_plan_options *options, struct gm_candidate *candidates,
                                       size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
