/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's kernel as a graph of one node. The driver launches such a graph in less than half of the time that
 * cuLaunchKernelEx takes: 1.0 us, or 1.6 with new parameters, against 2.0 to 2.8 (one H200, driver 13.0;
 * bench/results/h200/time-alone.json). */
#ifndef GM_LAUNCH_GRAPH_H
#define GM_LAUNCH_GRAPH_H

#include "host/plan.h"

/* Builds one-kernel graphs, one for each of `sets` sets of parameters, for a finished plan whose context is current.
 * Returns NULL, and logs why, if the driver cannot do it; every launch of the plan is then plain. */
struct gm_launch_graphs *gm_launch_graphs_new(const gm_plan *plan, int sets);
/* Of a plan with or without graphs. Launches in flight are not disturbed. */
void gm_launch_graphs_free(const gm_plan *plan);

/* 1: the plan's kernel was launched with `params`, and *result is what came of it. 0: nothing was launched, and a plain
 * launch is to follow. */
int gm_launch_by_graph(const gm_plan *plan, void *params, CUstream stream, CUresult *result);

#endif
