/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's verdicts on one problem. */
#include "bench/planner.h"

#include "bench/measure/gpu.h"

int planner_open(struct planner *planner, const struct gm_operation *operation, const struct gm_device *device,
                 const void *problem, const struct gm_plan_options *options) {
    enum gm_status status = gm_options_read(operation, options, &planner->options);
    if (status == GM_OK)
        status = gm_problem_read(operation, problem, &planner->options, planner->problem);
    planner->device = gm_device_under_budget(device, &planner->options);
    return status == GM_OK ? 0 : gpu_fail_library(status, "the planner");
}

struct gm_verdict planner_verdict(const struct planner *planner, const struct gm_kernel *kernel, int division) {
    const struct gm_question question = {&planner->device, planner->problem, &planner->options, division};
    return gm_verdict_of(kernel, &question, NULL);
}
