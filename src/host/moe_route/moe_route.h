/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation moe_route tells its family. */
#ifndef GM_HOST_MOE_ROUTE_H
#define GM_HOST_MOE_ROUTE_H

#include "gristmill/moe_route.h"
#include "host/matrix.h"

struct gm_matrix gm_moe_route_logits(const struct gm_moe_route_problem *problem);

#endif
