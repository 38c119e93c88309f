/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a gated unit, act(min(gate, limit)) * (clamp(up, -limit, limit) + up_offset), of GLU and of GEMM. */
#ifndef GM_GATED_H
#define GM_GATED_H

#include "gristmill/core.h"

/* Says in a sentence which is wrong. A sigmoid_factor of 0, or of another activation than SiLU, becomes 1. */
enum gm_status gm_check_gated(enum gm_activation activation, float limit, float *sigmoid_factor, float up_offset);

/* What kernels multiply |x| by: act_gate() of common/activation.cuh takes -|factor x| / (2 ln 2). */
float gm_silu_exponent(float sigmoid_factor);

#endif
