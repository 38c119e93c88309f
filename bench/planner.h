/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's verdicts on one problem, beyond what the public interface tells of them. */
#ifndef BENCH_PLANNER_H
#define BENCH_PLANNER_H

#include "host/choose.h"
#include "host/options.h"

struct planner {
    struct gm_device device; /* as far as the options let a plan use it */
    struct gm_plan_options options;
    _Alignas(8) char problem[GM_PROBLEM_MAX];
};

/* Reads a problem and the options as the planner does; -1 with a printed sentence where it refuses them. */
int planner_open(struct planner *planner, const struct gm_operation *operation, const struct gm_device *device,
                 const void *problem, const struct gm_plan_options *options);
/* Of a kernel whose work is divided so. */
struct gm_verdict planner_verdict(const struct planner *planner, const struct gm_kernel *kernel, int division);

#endif
