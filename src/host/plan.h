/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: everything of a launch that is known before the pointers are. Immutable once created: the replay behind its
 * pointer keeps its own state, of which callers see nothing but time. */
#ifndef GM_PLAN_H
#define GM_PLAN_H

#include "common/gemm_params.h"
#include "context.h"
#include "problem.h"
#include "split.h"

struct gm_replay;

struct gm_plan {
    /* Template of the kernel's parameters; the maps hold a dummy address. First: they are the most aligned. */
    union {
        struct gm_gemm_sm90_params sm90;
        struct gm_gemm_sm80_params sm80;
    } params;
    const gm_context *context;
    struct gm_device device; /* as much of the context's as the plan may use */
    int kernel; /* index in gm_kernels */
    int empty;  /* M = 0 or N = 0: there is nothing to launch */
    uint32_t flags; /* of enum gm_plan_flags */
    double predicted_us;
    size_t workspace_bytes;
    struct gm_gemm_problem problem; /* normalised */
    CUfunction function;
    CUlaunchConfig config;     /* without stream and attributes */
    CUlaunchAttribute attributes[2]; /* config.numAttrs of them */
    struct gm_replay *replay;  /* NULL: every launch is plain */
};

/* Divides the plan's tiles so; part of making it. The tests use both to divide as no cost model would. */
void gm_plan_divide(gm_plan *plan, const struct gm_split *split);
struct gm_stream_k *gm_plan_stream_k(gm_plan *plan);

/* How the plan's tiles are divided: GM_KIND_x. */
int gm_plan_kind(gm_plan *plan);

#endif
