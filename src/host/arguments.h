/* SPDX-License-Identifier: Apache-2.0 */
/* What execute demands of its pointers. */
#ifndef GM_ARGUMENTS_H
#define GM_ARGUMENTS_H

#include "plan.h"

/* Checks pointers, alignment, overlap and workspace against the plan. Reads nothing but its arguments. */
enum gm_status gm_arguments_check(const gm_plan *plan, const struct gm_gemm_args *args, float beta);

#endif
