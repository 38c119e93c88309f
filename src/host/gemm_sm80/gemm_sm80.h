/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of gemm_sm80, the tensor-core GEMM of Ampere and of every operand that TMA cannot take. */
#ifndef GM_GEMM_SM80_HOST_H
#define GM_GEMM_SM80_HOST_H

#include "columns.h"
#include "common/gemm_sm80/params.h"
#include "common/gemm_sm80/tile.h"
#include "host/gemm/variant.h"
#include "host/plan.h"

/* GM_SM80_WARPS() of the columns. */
static inline int gm_sm80_warps(const struct gm_gemm_variant *v) {
    const int32_t *c = v->kernel->columns;
    return GM_SM80_WARPS(c[GM_GEMM_SM80_WARPS_M], c[GM_GEMM_SM80_WARPS_N], c[GM_GEMM_SM80_WARP_K]);
}

/* cost.c: as struct gm_gemm_family has it. */
double gm_gemm_sm80_cost_us(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                            const struct gm_device *device, const struct gm_gemm_division *division);

/* As struct gm_family has it. */
double gm_gemm_sm80_tensor_share(const struct gm_kernel *kernel, const struct gm_device *device);

/* gemm_sm80.c: prepare() and bind() of kernels that take struct gm_gemm_sm80_params, but for the raster. */
enum gm_status gm_gemm_sm80_prepare(struct gm_plan *plan, const struct gm_verdict *verdict);
CUresult gm_gemm_sm80_bind(const struct gm_plan *plan, const void *args, void *params);

#endif
