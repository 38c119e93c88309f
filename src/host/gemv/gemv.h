/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of gemv, the GEMM for a few rows of A. */
#ifndef GM_GEMV_HOST_H
#define GM_GEMV_HOST_H

#include "columns.h"
#include "host/gemm/variant.h"

/* cost.c: as struct gm_gemm_family has it. */
double gm_gemv_cost_us(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                       const struct gm_device *device, const struct gm_gemm_division *division);

#endif
