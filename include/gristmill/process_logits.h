/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/process_logits.h: logits made ready for sampling: a soft cap, bias, penalties of tokens that are there already, a
 * mask of allowed tokens, a temperature, in one pass. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_PROCESS_LOGITS_H
#define GRISTMILL_PROCESS_LOGITS_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  Of every element, in fp32 and in this order; a step that a call does not ask for changes no bit:
 *
 *  cap            y = cap * tanh(x / cap)
 *  bias           y = y + bias
 *  repetition     y = y > 0 ? y * fp32(1 / repetition) : y * repetition      of tokens in the prompt or the output
 *  frequency      y = y - frequency * count, rounded once                    count: times in the output; where it is above 0
 *  presence       y = y - presence                                           of tokens in the output
 *  temperature    y = y * fp32(1 / temperature)
 *  mask           y = -inf where the token is not allowed, whatever it was
 *
 *  fp32(1 / temperature) is the largest float at most. Each step rounds to fp32 as IEEE 754 has it, and `out` is y rounded once more to its type; so bits depend on the element
 *  and these numbers alone. The cap's tanh is that of gristmill/softmax.h: within 2^-19 * cap.
 *
 *  logits         logits[row * logits_stride + column]; NaN and infinities follow the arithmetic
 *  out            out[row * out_stride + column]: the same type or fp32. It may be logits, of one type and stride.
 *  counts         uint16_t counts[slot * counts_stride + column]: 0x8000 if the token is in the prompt, + how often it is in
 *                 the output, at most 32767. 0 as address: no token was seen
 *  last_ids       int32_t [rows]: the token that the row got last. It is counted in `counts` first, by this launch, and
 *                 is penalised with the others; what is no column is not counted. Rows with a last id need slots of their own.
 *  bias           float bias[slot * bias_stride + column]
 *  mask           int32_t mask[slot * mask_stride + column / 32]: bit column % 32 is 1 where the token is allowed
 *
 *  A row's slot in counts, bias and mask is the row; or slots[row], bias_slots[row], mask_slots[row]; where that is not from
 *  0 to slots - 1, such as -1, the row has none of it.
 *
 *  A temperature or repetition penalty that is not above 0 counts as 1, in arrays too. Frequency and presence penalties may be
 *  negative.
 *
 *  Strides are in elements of their arrays; 0 means packed. No overlap of what is written with anything else is allowed.
 *  rows = 0 launches nothing. Up to 2^31 - 1 rows and 2^30 columns; operands may exceed 2^31 elements and 4 GiB. */
struct gm_process_logits_problem {
    size_t size;
    int64_t rows, columns;
    int64_t slots;             /* rows of counts, bias and mask; 0: `rows` */
    enum gm_type type;         /* of logits: GM_BF16, GM_FP16, GM_FP32 */
    int32_t fp32_out;          /* 1: out is GM_FP32; 0: it has the logits' type */
    float cap;                 /* more than 0; 0: there is none */
    float temperature;         /* finite, 0 or more; 0: 1 */
    float repetition;          /* finite, 0 or more; 0: 1 */
    float frequency, presence; /* finite */
    int32_t logits_align;      /* bytes promised of the pointer at execute: 16 (or 0), 8, 4, 2 */
    int64_t logits_stride, out_stride, counts_stride, bias_stride, mask_stride;
    /* Rows that do not all begin on multiples of 16 bytes, or whose columns are no multiple of that, take longer; of counts
     * beside fp32 logits 8 bytes are enough. */
    int32_t out_align, counts_align, bias_align;
};

/* Arrays in device memory that a call may do without are 0. They are read when the kernel runs, so that a captured graph serves
 * any request. */
struct gm_process_logits_args {
    size_t size;
    gm_device_ptr logits, out;
    gm_device_ptr counts, bias, mask;
    gm_device_ptr slots, bias_slots, mask_slots; /* int32_t [rows]; 0: slot r is row r's */
    gm_device_ptr last_ids;                      /* int32_t [rows]; only with counts */
    /* float [rows]; 0: all rows have the problem's own number. */
    gm_device_ptr temperatures, repetitions, frequencies, presences;
    /* 0, or an int32_t in device memory: only so many of the first rows are computed, none where it is negative. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_process_logits_plan_create(gm_context *context,
                                                    const struct gm_process_logits_problem *problem,
                                                    const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_process_logits_execute(const gm_plan *plan, const struct gm_process_logits_args *args,
                                                void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_process_logits(gm_context *context, const struct gm_process_logits_problem *problem,
                                        const struct gm_process_logits_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_process_logits_explain(const struct gm_device *device,
                                                const struct gm_process_logits_problem *problem,
                                                const struct gm_plan_options *options, struct gm_candidate *candidates,
                                                size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
