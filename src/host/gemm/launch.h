/* SPDX-License-Identifier: Apache-2.0 */
/* What the plans and calls of all GEMM families have in common. */
#ifndef GM_GEMM_LAUNCH_H
#define GM_GEMM_LAUNCH_H

#include "common/gemm/params.h"
#include "host/gemm/divide.h"
#include "host/gemm/problem.h"
#include "host/plan.h"

/* The problem of a GEMM's plan. */
static inline const struct gm_gemm_planned *gm_gemm_planned_of(const struct gm_plan *plan) {
    return plan->problem;
}

/* Where the plan's parameters say how its tiles are divided. */
struct gm_stream_k *gm_gemm_stream_k_of(const struct gm_plan *plan);
/* The grid, and what each of its CTAs computes. The tests use it to divide as no cost model would. */
void gm_gemm_plan_divide(struct gm_plan *plan, const struct gm_gemm_division *division);

/* B may be loaded before the kernel before has ended: the caller's promise, which is of the caller's B. */
int gm_gemm_b_is_early(const struct gm_plan *plan);

struct gm_epilogue_params gm_gemm_epilogue_template(const struct gm_gemm_problem *problem);

/* What sums of 8-bit operands are scaled by, of kernels of them: the steps, and this call's addresses. */
struct gm_scaling_params gm_gemm_scaling_template(const struct gm_gemm_problem *problem);
void gm_gemm_bind_scaling(const struct gm_gemm_planned *planned, const struct gm_gemm_args *args,
                          struct gm_scaling_params *scaling);

/* Batches, in the parameters of variants that take them. */
struct gm_batch_params gm_gemm_batch_template(const struct gm_gemm_variant *variant,
                                              const struct gm_gemm_problem *problem);

/* The arguments of a call as the planned problem has them: of a transposed one, A is the caller's B. */
struct gm_gemm_call {
    gm_device_ptr a, b, workspace;
};
/* This call's addresses and scalars into an epilogue's template. */
struct gm_gemm_call gm_gemm_bind(const struct gm_gemm_planned *planned, const struct gm_gemm_args *args,
                                 struct gm_epilogue_params *epilogue);

#endif
