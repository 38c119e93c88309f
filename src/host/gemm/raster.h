/* SPDX-License-Identifier: Apache-2.0 */
/* The order of tiles. */
#ifndef GM_GEMM_RASTER_H
#define GM_GEMM_RASTER_H

#include "common/gemm/params.h"
#include "host/gemm/variant.h"

/* The order of tiles that brings the fewest bytes. */
struct gm_raster gm_raster_choose(const struct gm_gemm_variant *variant, const struct gm_gemm_problem *problem,
                                  const struct gm_device *device);

#endif
