/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller gives the planner: checked, with its defaults. */
#ifndef GM_OPTIONS_H
#define GM_OPTIONS_H

#include "host/operation.h"

/* A caller's device, with every field within its bounds and facts that the planner can compute with. */
enum gm_status gm_device_read(const struct gm_device *given, struct gm_device *device);

/* Checks a caller's options (may be NULL) and writes them with their defaults. An unknown kernel name is
 * GM_ERROR_UNKNOWN_KERNEL; a name of another operation's kernel too. */
enum gm_status gm_options_read(const struct gm_operation *operation, const struct gm_plan_options *given,
                               struct gm_plan_options *options);

/* A caller's problem, normalised and as the planner looks at it. */
enum gm_status gm_problem_read(const struct gm_operation *operation, const void *given,
                               const struct gm_plan_options *options, void *problem);
#define GM_PROBLEM_MAX 512 /* bytes of any operation's problem */

/* The device as far as the options let a plan use it: no more SMs than sm_budget. */
struct gm_device gm_device_under_budget(const struct gm_device *device, const struct gm_plan_options *options);

#endif
