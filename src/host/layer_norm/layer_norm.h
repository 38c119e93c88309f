/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation layer_norm tells its family. */
#ifndef GM_HOST_LAYER_NORM_H
#define GM_HOST_LAYER_NORM_H

#include "gristmill/layer_norm.h"
#include "host/matrix.h"

/* The operands of a problem, in the order in which they are judged, and the scales; `residual` has no rows where there is none. Weight and
 * bias are there, as far as a problem knows. */
enum {
    GM_LAYER_NORM_X,
    GM_LAYER_NORM_OUT,
    GM_LAYER_NORM_RESIDUAL,
    GM_LAYER_NORM_WEIGHT,
    GM_LAYER_NORM_BIAS,
    GM_LAYER_NORM_X_WEIGHT,
    GM_LAYER_NORM_X_BIAS,
    GM_LAYER_NORM_JUDGED,
    GM_LAYER_NORM_SCALES = GM_LAYER_NORM_JUDGED,
    GM_LAYER_NORM_MATRICES
};
void gm_layer_norm_matrices(const struct gm_layer_norm_problem *problem,
                            struct gm_matrix matrices[GM_LAYER_NORM_MATRICES]);

#endif
