/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation permute tells its families: the simplest problem that moves the same bytes. */
#ifndef GM_HOST_PERMUTE_H
#define GM_HOST_PERMUTE_H

#include "common/permute/walk.h"
#include "gristmill/permute.h"
#include "host/family.h"

enum { GM_PERMUTE_RANK = GM_PERMUTE_RANK_MAX };

/* What is planned. simplify() has made of `problem` one with as few dimensions as possible and elements as large as
 * possible: its dimensions have extents above 1 (but that there is one at least), those of x in the order of x's strides
 * and those of out in the order of out's, the largest first. Elements that stay neighbours are one element of up to 16
 * bytes. The types are those of kernels: one for each number of bytes. */
struct gm_permute_planned {
    struct gm_permute_problem problem; /* first */
    enum gm_type from, to;             /* what a cast converts; the same: it is none */
    int32_t caller_bytes;              /* of an element of x before they were joined; 0: before simplify() */
};

/* Bytes of an element. */
int gm_permute_x_bytes(const struct gm_permute_problem *problem);
int gm_permute_out_bytes(const struct gm_permute_problem *problem);
/* The stride in x of out's dimension k. */
int64_t gm_permute_x_stride(const struct gm_permute_problem *problem, int k);
/* The extent of out's dimension k. */
int64_t gm_permute_extent(const struct gm_permute_problem *problem, int k);

/* simplify(): the problem that the operation plans. */
void gm_permute_simplify(void *planned, const struct gm_plan_options *options);

/* The last of out's dimensions along which x has a stride of 1; -1: x has none. */
int gm_permute_x_innermost(const struct gm_permute_problem *problem);

/* Whether all of x, or out, is reached by accesses of so many neighbouring elements, which are 16 bytes or more: along
 * out's dimension `along`, or its last one. Single elements reach everything. */
enum gm_reason gm_permute_check_x(const struct gm_permute_problem *problem, int along, int elements,
                                  const struct gm_sentence *why);
enum gm_reason gm_permute_check_out(const struct gm_permute_problem *problem, int elements,
                                    const struct gm_sentence *why);
/* Whether a variant is made for elements of this size on both sides. */
enum gm_reason gm_permute_check_bytes(const struct gm_permute_problem *problem, int x_bytes, int out_bytes,
                                      const struct gm_sentence *why);

/* A walk over some of out's dimensions, the fastest first. */
struct gm_permute_walk gm_permute_walk_of(const struct gm_permute_problem *problem, const int *dimensions, int count);

#endif
