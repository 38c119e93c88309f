/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation convolution tells its family. */
#ifndef GM_HOST_CONVOLUTION_H
#define GM_HOST_CONVOLUTION_H

#include "gristmill/convolution.h"
#include "host/strided.h"

/* The operands of a problem that are planes. */
enum { GM_CONVOLUTION_X, GM_CONVOLUTION_OUT, GM_CONVOLUTION_PLANES };
void gm_convolution_planes(const struct gm_convolution_problem *problem,
                           struct gm_strided planes[GM_CONVOLUTION_PLANES]);

#endif
