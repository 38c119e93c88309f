/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation process_logits tells its family. */
#ifndef GM_HOST_PROCESS_LOGITS_H
#define GM_HOST_PROCESS_LOGITS_H

#include "gristmill/process_logits.h"
#include "host/matrix.h"

enum {
    GM_PROCESS_LOGITS_LOGITS,
    GM_PROCESS_LOGITS_OUT,
    GM_PROCESS_LOGITS_COUNTS,
    GM_PROCESS_LOGITS_BIAS,
    GM_PROCESS_LOGITS_MASK,
    GM_PROCESS_LOGITS_MATRICES
};
/* The matrices of a problem; their strides and alignments are the problem's. */
void gm_process_logits_matrices(const struct gm_process_logits_problem *problem,
                                struct gm_matrix matrices[GM_PROCESS_LOGITS_MATRICES]);

#endif
