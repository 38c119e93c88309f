/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation axpby tells its family. */
#ifndef GM_HOST_AXPBY_H
#define GM_HOST_AXPBY_H

#include "gristmill/axpby.h"
#include "host/matrix.h"

/* What is planned: `problem.type` is that of kernels, which stands for every type. */
struct gm_axpby_planned {
    struct gm_axpby_problem problem; /* first */
    enum gm_type x_type;
    int32_t is_planned; /* 0: before simplify() */
};

/* The operands of a normalised problem; one that is left out has no rows. */
enum { GM_AXPBY_OPERAND_X, GM_AXPBY_OPERAND_Y, GM_AXPBY_OPERAND_OUT, GM_AXPBY_MATRICES };
void gm_axpby_matrices(const struct gm_axpby_problem *problem, enum gm_type x_type,
                       struct gm_matrix matrices[GM_AXPBY_MATRICES]);

#endif
