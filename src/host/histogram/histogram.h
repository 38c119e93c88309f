/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation histogram tells its family. */
#ifndef GM_HOST_HISTOGRAM_H
#define GM_HOST_HISTOGRAM_H

#include "gristmill/histogram.h"
#include "host/matrix.h"

/* x of a normalised problem, and its counts. */
struct gm_matrix gm_histogram_x(const struct gm_histogram_problem *problem);
struct gm_matrix gm_histogram_counts(const struct gm_histogram_problem *problem);
/* How many histograms there are. */
int64_t gm_histogram_results(const struct gm_histogram_problem *problem);
int gm_histogram_is_of_floats(const struct gm_histogram_problem *problem);
/* What differences of floats are multiplied by. */
float gm_histogram_scale(const struct gm_histogram_problem *problem);

#endif
