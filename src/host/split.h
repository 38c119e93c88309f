/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K of a plan: which tiles are divided by k-blocks among the CTAs (of rows with clusters: among the clusters,
 * whose tiles together count as one), and the workspace that takes. */
#ifndef GM_SPLIT_H
#define GM_SPLIT_H

#include "common/gemm_params.h"
#include "gristmill/gristmill.h"
#include "table.h"

/* k-blocks: a smaller piece of a tile costs more to hand over than to compute where it is not divided. */
#define GM_SPLIT_LEAST 8

/* The tiles behind the first `whole` are divided into `shares`; shares = 0: no tile is. common/stream_k.h. */
struct gm_split {
    int64_t whole, shares;
    size_t workspace_bytes;
    double predicted_us;
};

/* `whole` and `shares` with the workspace and time they take; shares 0 when the kernel's integers or the device's CTAs
 * do not hold them. */
struct gm_split gm_split_of(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                            const struct gm_device *device, int64_t whole, int64_t shares);

/* The fastest division whose workspace is within the limit; shares 0 when none is faster than no division. Like
 * gm_cost_us(), for a row that is legal for the problem. */
struct gm_split gm_split_choose(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                const struct gm_device *device, size_t workspace_limit);

/* The kernel's parameters, but for the workspace's address. */
struct gm_stream_k gm_split_params(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                   const struct gm_split *split);

#endif
