/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation glu tells its family. */
#ifndef GM_HOST_GLU_H
#define GM_HOST_GLU_H

#include "gristmill/glu.h"
#include "host/matrix.h"
#include "host/out.h"

/* The operands of a normalised problem; `up` has no rows where there is none, and scales have none. The first GM_GLU_ROWS have a
 * row for each row. */
enum { GM_GLU_GATE, GM_GLU_UP, GM_GLU_OUT, GM_GLU_SCALES, GM_GLU_MATRICES, GM_GLU_ROWS = GM_GLU_SCALES };
void gm_glu_matrices(const struct gm_glu_problem *problem, struct gm_matrix matrices[GM_GLU_MATRICES]);

#endif
