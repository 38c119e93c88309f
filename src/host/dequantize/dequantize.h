/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation dequantize tells its family. */
#ifndef GM_HOST_DEQUANTIZE_H
#define GM_HOST_DEQUANTIZE_H

#include "gristmill/dequantize.h"
#include "host/out.h"

/* What is planned: `problem.type` is that of kernels, which stands for every type of x. */
struct gm_dequantize_planned {
    struct gm_dequantize_problem problem; /* first */
    enum gm_type x_type;
};

/* The operands of a normalised problem. The scales of rows are one row. */
enum { GM_DEQUANTIZE_X, GM_DEQUANTIZE_OUT, GM_DEQUANTIZE_SCALES, GM_DEQUANTIZE_MATRICES };
void gm_dequantize_matrices(const struct gm_dequantize_problem *problem,
                            struct gm_matrix matrices[GM_DEQUANTIZE_MATRICES]);
/* What it says of x, as quantize would of its out. */
struct gm_out gm_dequantize_scales(const struct gm_dequantize_problem *problem);

#endif
