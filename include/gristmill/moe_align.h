/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/moe_align.h: the rows of every expert, for grouped GEMMs. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_MOE_ALIGN_H
#define GRISTMILL_MOE_ALIGN_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  A slot is a token's place for one of its experts: slot number token * k + j, 0 to tokens * k - 1. Slots are sorted by
 *  their expert, stably: those of one expert keep their order.
 *
 *  ids      ids[slot], int32_t: the expert. One below 0 or not below `experts` is none's, as where another device has it
 *  offsets  offsets[expert], int32_t, experts + 1 of them: rows offsets[e] to offsets[e + 1] - 1 are expert e's. offsets[0]
 *           is 0, and each is a multiple of `alignment`
 *  rows     rows[row], int32_t: the row's slot; -1 behind an expert's last one, where its length was rounded up. From
 *           offsets[experts] on nothing is written. A GEMM gathers the row of token rows[row] / k
 *  inverse  inverse[slot], int32_t: the slot's row; -1 where the slot is none's
 *
 *  rows has room for tokens * k + min(tokens * k, experts) * (alignment - 1) of them, the most there can be.
 *  The result does not depend on the kernel or the device. No operand may overlap another. tokens = 0 writes offsets. */
struct gm_moe_align_problem {
    size_t size;
    int64_t tokens;    /* 0 to 2^30 / k */
    int64_t k;         /* experts of a token, 1 or more */
    int64_t experts;   /* 1 to 1024 */
    int64_t alignment; /* rows: an expert's length is rounded up to a multiple of it, 1 (or 0) to 65536 */
};

struct gm_moe_align_args {
    size_t size;
    gm_device_ptr ids, offsets, rows;
    gm_device_ptr inverse; /* 0: not wanted */
    /* 0, or an int32_t in device memory: only so many of the first tokens have slots, none where it is negative; of the
     * others `inverse` is not written. It is read when the kernel runs, so that a captured graph serves any number of
     * tokens up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_moe_align_plan_create(gm_context *context, const struct gm_moe_align_problem *problem,
                                               const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_moe_align_execute(const gm_plan *plan, const struct gm_moe_align_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_moe_align(gm_context *context, const struct gm_moe_align_problem *problem,
                                   const struct gm_moe_align_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_moe_align_explain(const struct gm_device *device, const struct gm_moe_align_problem *problem,
                                           const struct gm_plan_options *options, struct gm_candidate *candidates,
                                           size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
