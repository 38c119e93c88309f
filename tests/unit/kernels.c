/* SPDX-License-Identifier: Apache-2.0 */
/* Short questions about kernels. */
#include "kernels.h"

char judged[232];

struct gm_gemm_problem normalized(struct gm_gemm_problem problem) {
    assert_ok(gm_gemm_normalize(&problem));
    return problem;
}

static struct gm_plan_options or_defaults(const struct gm_plan_options *options) {
    return options ? *options : (struct gm_plan_options){.size = sizeof *options};
}

struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_device *device, struct gm_gemm_problem problem,
                        const struct gm_plan_options *options) {
    const struct gm_gemm_planned planned = {.problem = normalized(problem)};
    const struct gm_plan_options used = or_defaults(options);
    const struct gm_question question = {device, &planned, &used, GM_DIVISION_BEST};
    const struct gm_sentence why = {judged, sizeof judged};
    judged[0] = 0;
    return gm_verdict_of(kernel, &question, &why);
}

struct gm_choice choose(const struct gm_kernel *kernels, size_t count, const struct gm_device *device,
                        struct gm_gemm_problem problem, const struct gm_plan_options *options) {
    const struct gm_gemm_planned planned = {.problem = normalized(problem)};
    const struct gm_plan_options used = or_defaults(options);
    const struct gm_question question = {device, &planned, &used, GM_DIVISION_BEST};
    return gm_choose(&gm_operation_gemm, kernels, count, &question);
}

double cost_us(const struct gm_kernel *kernel, const struct gm_gemm_problem *problem, const struct gm_device *device) {
    const struct gm_gemm_variant v = gm_gemm_variant(kernel);
    const struct gm_gemm_division none = {.whole = gm_tiles_m(&v, problem) * gm_tiles_n(&v, problem)};
    return gm_gemm_family_of(kernel)->cost_us(&v, problem, device, &none);
}
