/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's kernel as a graph of one node. The driver launches such a graph in less than half of the time that
 * cuLaunchKernelEx takes: 1.0 us, or 1.6 with new parameters, against 2.0 to 2.8 (one H200, driver 13.0;
 * bench/results/h200/time-alone.json). */
#ifndef GM_REPLAY_H
#define GM_REPLAY_H

#include "plan.h"

/* Of a plan that is otherwise complete; its context must be current. It keeps as many sets of parameters. NULL, with a word in the log, where the driver has
 * no such graphs or refuses this one: then every launch of the plan is plain. */
struct gm_replay *gm_replay_new(const gm_plan *plan, int sets);
/* NULL is allowed. Launches in flight are not disturbed. */
void gm_replay_free(const gm_plan *plan);

/* 1: the plan's kernel was launched with `params`, and *result is what came of it. 0: nothing was launched, a plain
 * launch shall be. */
int gm_replay_launch(const gm_plan *plan, void *params, CUstream stream, CUresult *result);

#endif
