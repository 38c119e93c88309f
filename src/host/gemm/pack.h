/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of A and B that every kernel takes as they lie: a plan's in the workspace, or a caller's, made once. */
#ifndef GM_GEMM_PACK_H
#define GM_GEMM_PACK_H

#include "gristmill/permute.h"
#include "host/gemm/problem.h"

/* Whether TMA cannot load the rows of an operand of a normalised problem, or wgmma does not take them as they lie. */
int gm_gemm_needs_copy(const struct gm_gemm_problem *problem, enum gm_gemm_operand which);

/* The copy of an operand, of all matrices of a batch that differ, one behind the other: K-major where wgmma takes nothing
 * else, its rows a multiple of 128 bytes apart. */
struct gm_permute_problem gm_gemm_copy_of(const struct gm_gemm_problem *problem, enum gm_gemm_operand which);
/* 2^62 where there are more. */
int64_t gm_gemm_copy_bytes(const struct gm_permute_problem *copy);
/* Lets a problem have the copy in the operand's place. */
void gm_gemm_take_copy(struct gm_gemm_problem *problem, enum gm_gemm_operand which,
                       const struct gm_permute_problem *copy);

/* Elements from one row of so many to the next. */
int64_t gm_gemm_pitch(int64_t columns, int element_bytes);

#endif
