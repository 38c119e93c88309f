/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation moe_finalize tells its family. */
#ifndef GM_HOST_MOE_FINALIZE_H
#define GM_HOST_MOE_FINALIZE_H

#include "gristmill/moe_finalize.h"
#include "host/matrix.h"

/* The operands of a normalised problem that are rows, the residual whether a call has one or not. */
enum { GM_FINALIZE_X, GM_FINALIZE_RESIDUAL, GM_FINALIZE_OUT, GM_FINALIZE_MATRICES };
void gm_moe_finalize_matrices(const struct gm_moe_finalize_problem *problem,
                              struct gm_matrix matrices[GM_FINALIZE_MATRICES]);

#endif
