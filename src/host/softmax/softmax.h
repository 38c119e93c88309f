/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation softmax tells its family. */
#ifndef GM_HOST_SOFTMAX_H
#define GM_HOST_SOFTMAX_H

#include "gristmill/softmax.h"
#include "host/matrix.h"

enum { GM_SOFTMAX_X, GM_SOFTMAX_OUT, GM_SOFTMAX_MATRICES };
void gm_softmax_matrices(const struct gm_softmax_problem *problem, struct gm_matrix matrices[GM_SOFTMAX_MATRICES]);

#endif
