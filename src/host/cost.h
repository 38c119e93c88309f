/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's arithmetic: how a row covers a problem, and how long that should take. */
#ifndef GM_COST_H
#define GM_COST_H

#include "common/gemm_params.h"
#include "gristmill/gristmill.h"
#include "table.h"

/* Blocks of this much shared memory that an SM holds: as many as fit, and no more than it holds of the smallest. */
int gm_blocks_per_sm(const struct gm_device *device, int64_t smem_bytes);

/* Tiles of one CTA along M and N, in cluster tiles. */
int64_t gm_tiles_m(const struct gm_kernel *row, const struct gm_gemm_problem *problem);
int64_t gm_tiles_n(const struct gm_kernel *row, const struct gm_gemm_problem *problem);

/* CTAs of the row that one SM of the device holds at once; at least 1. */
int gm_ctas_per_sm(const struct gm_kernel *row, const struct gm_device *device);
/* CTAs of one cluster; 1 where there are none. */
int gm_cluster_size(const struct gm_kernel *row);
/* Clusters the whole device holds at once; at least 1. */
int64_t gm_clusters_at_once(const struct gm_kernel *row, const struct gm_device *device);

/* The share of the device's dense tensor rate that the row's instructions can reach; 0: it uses no tensor cores. */
double gm_tensor_share(const struct gm_kernel *row, const struct gm_device *device);

/* The order of tiles that brings the fewest bytes; raster.c. */
struct gm_raster gm_raster_choose(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                  const struct gm_device *device);

/* Bytes of one cp.async copy of an operand, 16, 8, 4 or 2, from what base and stride are multiples of. */
int gm_copy_bytes(uint64_t base, int64_t stride_bytes, int64_t rows);

/* Microseconds of one launch; the row must be legal for the problem, which must be normalised and not empty. */
double gm_cost_us(const struct gm_kernel *row, const struct gm_gemm_problem *problem, const struct gm_device *device);
/* How a row's tiles are divided: `whole` of them not at all, the others' k-blocks into `shares`, at most as many as
 * there are clusters at once (0: there are no others). pieces: of each tile, where they are cut evenly; 0: anywhere.
 * common/stream_k.h */
struct gm_division {
    int64_t whole, shares, pieces;
};

/* The same of a row whose tiles are divided so. */
double gm_cost_divided_us(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                          const struct gm_device *device, const struct gm_division *division);

#endif
