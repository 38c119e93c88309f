/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation stencil tells its family. */
#ifndef GM_HOST_STENCIL_H
#define GM_HOST_STENCIL_H

#include "gristmill/stencil.h"
#include "host/strided.h"

/* The operands of a problem. */
enum { GM_STENCIL_X, GM_STENCIL_OUT, GM_STENCIL_OPERANDS };
void gm_stencil_operands(const struct gm_stencil_problem *problem, struct gm_strided operands[GM_STENCIL_OPERANDS]);

/* Taps of the problem's shape. */
int gm_stencil_points(const struct gm_stencil_problem *problem);
/* Whether the shape has two dimensions. */
int gm_stencil_is_flat(const struct gm_stencil_problem *problem);

#endif
