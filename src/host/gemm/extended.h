/* SPDX-License-Identifier: Apache-2.0 */
/* Extended epilogues of GEMM: scales of 16-bit operands, C of its own type, a residual, the largest size, a D of 8 bits. */
#ifndef GM_GEMM_EXTENDED_H
#define GM_GEMM_EXTENDED_H

#include "common/gemm/params.h"
#include "host/gemm/problem.h"
#include "host/out.h"

/* Checks what a problem says of it, and fills in its defaults. */
enum gm_status gm_gemm_check_extended(struct gm_gemm_problem *problem);

/* D, of 8 bits, as an output with scales. */
struct gm_out gm_gemm_out(const struct gm_gemm_problem *problem);

/* What a launch is told: the plan's part, and this call's addresses. */
struct gm_extension_params gm_gemm_extension_template(const struct gm_gemm_problem *problem);
void gm_gemm_bind_extension(const struct gm_gemm_problem *problem, const struct gm_gemm_args *args,
                            struct gm_extension_params *extension);

#endif
