/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K of a plan: which tiles are divided by k-blocks among the CTAs (of rows with clusters: among the clusters,
 * whose tiles together count as one), and the workspace that takes. */
#ifndef GM_SPLIT_H
#define GM_SPLIT_H

#include "common/gemm_params.h"
#include "common/stream_k.h"
#include "cost.h"
#include "gristmill/gristmill.h"
#include "table.h"

/* k-blocks: a smaller piece of a tile costs more to hand over than to compute where it is not divided. */
#define GM_SPLIT_LEAST 8

/* A division with the workspace and time that it takes; shares = 0: no tile is divided. */
struct gm_split {
    int64_t whole, shares, pieces; /* as in struct gm_division */
    size_t workspace_bytes;
    double predicted_us;
};

/* Of this division; shares 0 when the row cannot be divided so, or the kernel's integers or the device's CTAs do not
 * hold it. */
struct gm_split gm_split_of(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                            const struct gm_device *device, const struct gm_division *division);

/* What kind of division a split is; from 2 on, one that cuts each tile of the last wave into so many equal pieces. */
enum {
    GM_KIND_BEST = -1, /* of a question: whichever is predicted fastest */
    GM_KIND_WHOLE = 0, /* no tile is divided */
    GM_KIND_ANYWHERE = 1,
    GM_KINDS = GM_STREAM_K_MOST_PIECES + 1,
};
int gm_split_kind(const struct gm_split *split);

/* The fastest division of a kind whose workspace is within the limit; shares 0 when there is none, and, of
 * GM_KIND_BEST, when none is faster than no division. Like gm_cost_us(), for a row that is legal for the problem. */
struct gm_split gm_split_choose(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                const struct gm_device *device, size_t workspace_limit, int kind);

/* A kernel's name may say how its tiles are divided: "/k" behind it is GM_KIND_ANYWHERE, "/k3" three pieces each.
 * Returns the kind, GM_KIND_WHOLE where the name says nothing, and makes `*bytes` the length of the rest. */
int gm_take_kind(const char *name, size_t *bytes);
#define GM_KIND_SUFFIX_BYTES 16
/* The suffix of a kind, in `text`. */
const char *gm_kind_suffix(int kind, char text[GM_KIND_SUFFIX_BYTES]);

/* The kernel's parameters, but for the workspace's address. */
struct gm_stream_k gm_split_params(const struct gm_kernel *row, const struct gm_gemm_problem *problem,
                                   const struct gm_split *split);

#endif
