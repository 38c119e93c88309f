/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation reduce tells its family. */
#ifndef GM_HOST_REDUCE_H
#define GM_HOST_REDUCE_H

#include "gristmill/reduce.h"
#include "host/matrix.h"

/* x of a normalised problem. */
struct gm_matrix gm_reduce_x(const struct gm_reduce_problem *problem);
/* How many results there are, and what they are stored as. */
int64_t gm_reduce_results(const struct gm_reduce_problem *problem);
enum gm_type gm_reduce_out_type(const struct gm_reduce_problem *problem);
/* Whether the results are indices. */
int gm_reduce_finds_place(const struct gm_reduce_problem *problem);

#endif
