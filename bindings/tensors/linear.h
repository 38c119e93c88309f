/* SPDX-License-Identifier: Apache-2.0 */
/* act(x weight^T + bias + residual) as a problem of GEMM: what the linear operations have in common. Their first two
 * arguments are x and weight. */
#ifndef GM_TENSORS_LINEAR_H
#define GM_TENSORS_LINEAR_H

#include "call.h"

/* Which arguments are the others. */
struct linear_arguments {
    int bias, residual, activation, constant_weight, batch_invariant;
};

/* Checks x and weight, and makes out[0] of this type. */
bool linear_shape(struct call *call, enum gm_type out_type);
/* All of the problem but ab_type, and all of its arguments, with the flags of its plan. */
bool linear_problem(struct call *call, const struct linear_arguments *at, struct gm_gemm_problem *problem,
                    struct gm_gemm_args *args, uint32_t *flags);
bool linear_run(struct call *call, const struct gm_gemm_problem *problem, uint32_t flags, struct gm_gemm_args *args);

#endif
