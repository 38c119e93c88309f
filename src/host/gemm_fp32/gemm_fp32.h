/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of gemm_fp32, the GEMM of fp32 operands. */
#ifndef GM_GEMM_FP32_HOST_H
#define GM_GEMM_FP32_HOST_H

#include "columns.h"
#include "host/gemm/variant.h"

/* cost.c: as struct gm_gemm_family has it. */
double gm_gemm_fp32_cost_us(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                            const struct gm_device *device, const struct gm_gemm_division *division);

#endif
