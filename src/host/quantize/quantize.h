/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation quantize tells its family. */
#ifndef GM_HOST_QUANTIZE_H
#define GM_HOST_QUANTIZE_H

#include "gristmill/quantize.h"
#include "host/out.h"

/* The operands of a normalised problem; `out` has no rows where there is none. The scales of rows are one row. */
enum { GM_QUANTIZE_X, GM_QUANTIZE_OUT, GM_QUANTIZE_SCALES, GM_QUANTIZE_MATRICES };
void gm_quantize_matrices(const struct gm_quantize_problem *problem, struct gm_matrix matrices[GM_QUANTIZE_MATRICES]);
/* What it says of out. */
struct gm_out gm_quantize_out(const struct gm_quantize_problem *problem);

#endif
