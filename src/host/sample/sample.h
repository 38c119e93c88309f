/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation sample tells its family. */
#ifndef GM_HOST_SAMPLE_H
#define GM_HOST_SAMPLE_H

#include "gristmill/sample.h"
#include "host/matrix.h"

/* The logits of a normalised problem. */
struct gm_matrix gm_sample_logits(const struct gm_sample_problem *problem);

#endif
