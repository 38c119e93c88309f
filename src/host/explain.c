/* SPDX-License-Identifier: Apache-2.0 */
/* gm_gemm_explain: the planner's judgement of every row. */
#include "choose.h"
#include "error.h"
#include "problem.h"

enum gm_status gm_gemm_explain(const struct gm_device *device, const struct gm_gemm_problem *problem,
                               const struct gm_plan_options *options, struct gm_candidate *candidates,
                               size_t capacity, size_t *count) {
    struct gm_gemm_problem p;
    enum gm_status status = gm_device_check(device);
    if (status == GM_OK)
        status = gm_problem_normalize(problem, &p);
    if (status == GM_OK)
        status = gm_options_check(options);
    if (status != GM_OK)
        return status;
    if (!count)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "count is NULL");
    if (!candidates && capacity)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "candidates is NULL with a capacity of %zu", capacity);
    const size_t rows = gm_kernel_count();
    const int chosen = gm_choose(gm_kernels, rows, device, &p, options, NULL);
    for (size_t i = 0; i < rows && i < capacity; i++) {
        struct gm_candidate *c = &candidates[i];
        struct gm_judgement judgement =
            gm_judge(&gm_kernels[i], device, &p, options, c->sentence, sizeof c->sentence);
        c->kernel = (int32_t)i;
        c->chosen = (int)i == chosen;
        c->reason = judgement.reason;
        c->predicted_us = judgement.predicted_us;
    }
    *count = rows;
    return GM_OK;
}
