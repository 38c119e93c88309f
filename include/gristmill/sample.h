/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/sample.h: the next token of every row of logits. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_SAMPLE_H
#define GRISTMILL_SAMPLE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  ids[row] = argmax over kept columns c of (logit[c] - largest logit) / temperature + gumbel(seed, step, c)
 *
 *  logits    logits[row * logits_stride + column]
 *  ids       int32_t [rows], packed
 *  logprobs  float [rows], packed, or 0: the chosen token's ln(probability) under the temperature, before the filters; of
 *            greedy rows that of temperature 1
 *
 *  A temperature that is not above 0 is greedy: the largest logit, the lowest column among equals, whatever the filters. A
 *  column is kept by all three filters:
 *
 *  top_k     those no smaller than the k-th largest, so ties are kept. k below 1, or from columns on: all
 *  top_p     of what top_k leaves, the fewest of the largest whose probabilities, renormalised, sum to top_p; all that equal
 *            the last are kept. From 1 on, or NaN: all; an element of top_ps of 0 or less: the largest only
 *  min_p     those of min_p times the largest probability and more. 0 or less, or NaN: all; from 1 on: the largest only
 *
 *  The noise is Philox4x32-10 with the row's seed as its key and (column / 4, 0, step low, step high) as its counter; column c
 *  has word c % 4 of the four. A word w makes v = min(w 2^-32 + 2^-33, 1 - 2^-24), rounded to fp32, and
 *  gumbel = -ln(-ln(1 - v)). All arithmetic is of integers and IEEE fp32 operations, so a row's token is the same whatever
 *  the rows beside it, the row's place, the GPU or the kernel; docs/SAMPLE.md has it in C.
 *
 *  NaN counts as -inf, which is never chosen; -0 equals +0. Without another logit the id is -1, and the logprob NaN. +inf is
 *  chosen, its lowest column, and its logprob is 0.
 *
 *  The stride is in elements, `columns` at least; 0 means packed. No overlap with ids and logprobs is allowed. rows = 0
 *  launches nothing. Up to 2^31 - 1 rows and 2^22 columns; logits may exceed 2^31 elements and 4 GiB. */
struct gm_sample_problem {
    size_t size;
    int64_t rows, columns;
    enum gm_type type;     /* of logits: GM_BF16, GM_FP16, GM_FP32 */
    float temperature;     /* finite, 0 or more; 0: greedy */
    float top_p;           /* finite, 0 or more; 0: 1, all */
    float min_p;           /* finite, 0 or more; 0: all */
    int64_t top_k;         /* 0: all */
    int64_t logits_stride; /* elements; 0: packed */
    /* Alignment in bytes that the caller promises of the pointer at execute: 16 (or 0), 8, 4, 2. Rows that do not all begin
     * on multiples of 16 bytes, or whose columns are no multiple of that, take longer. */
    int32_t logits_align;
};

/* Every array in device memory has an element for each row; 0: all rows have the problem's own number. They are read when
 * the kernel runs, so that a captured graph serves any request. */
struct gm_sample_args {
    size_t size;
    gm_device_ptr logits, ids, logprobs;
    gm_device_ptr temperatures; /* float */
    gm_device_ptr top_ks;       /* int32_t */
    gm_device_ptr top_ps;       /* float */
    gm_device_ptr min_ps;       /* float */
    gm_device_ptr seeds;        /* uint64_t; 0: `seed` */
    gm_device_ptr steps;        /* int64_t of each row, and */
    gm_device_ptr step; /* one int64_t for all: a row's step is the sum of both and first_step; 0: there is none */
    /* 0, or an int32_t in device memory: only so many of the first rows are computed, none where it is negative. */
    gm_device_ptr row_count;
    uint64_t seed;
    int64_t first_step;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_sample_plan_create(gm_context *context, const struct gm_sample_problem *problem,
                                            const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_sample_execute(const gm_plan *plan, const struct gm_sample_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_sample(gm_context *context, const struct gm_sample_problem *problem,
                                const struct gm_sample_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_sample_explain(const struct gm_device *device, const struct gm_sample_problem *problem,
                                        const struct gm_plan_options *options, struct gm_candidate *candidates,
                                        size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
