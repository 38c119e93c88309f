/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation rms_norm tells its family. */
#ifndef GM_HOST_RMS_NORM_H
#define GM_HOST_RMS_NORM_H

#include "gristmill/rms_norm.h"
#include "host/matrix.h"

/* The operands of a problem, in the order in which they are judged, and the scales; `residual` has no rows where there is none. A row of
 * several heads reaches to the end of the last one; the heads of a row are a matrix of their own. */
enum {
    GM_RMS_NORM_X_HEAD,
    GM_RMS_NORM_OUT_HEAD,
    GM_RMS_NORM_X,
    GM_RMS_NORM_OUT,
    GM_RMS_NORM_RESIDUAL,
    GM_RMS_NORM_WEIGHT,
    GM_RMS_NORM_X_WEIGHT,
    GM_RMS_NORM_JUDGED,
    GM_RMS_NORM_SCALES = GM_RMS_NORM_JUDGED,
    GM_RMS_NORM_MATRICES
};
void gm_rms_norm_matrices(const struct gm_rms_norm_problem *problem, struct gm_matrix matrices[GM_RMS_NORM_MATRICES]);

#endif
