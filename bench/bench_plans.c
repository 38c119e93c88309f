/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels a case is run with; and, without a GPU, what the planner would choose. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "program/commands.h"
#include "program/base/grid.h"
#include "bench/planner.h"

static bool is_wanted(const struct bench_options *options, const struct gm_candidate *candidate, const char *name) {
    bool legal = candidate->reason == GM_ACCEPTED || candidate->reason == GM_REASON_NOT_PRODUCTION;
    if (options->kernel && asked_division(options->kernel) == GM_DIVISION_BEST) /* whole where cutting does not pay */
        legal |= candidate->reason == GM_REASON_DIVISION;
    return legal && is_asked(options->kernel, name);
}

static struct gm_plan_options planned(const struct bench_options *options) {
    return (struct gm_plan_options){.size = sizeof(struct gm_plan_options),
                                    .arch_mask = options->arch_mask,
                                    .sm_budget = options->sm_budget,
                                    .flags = options->flags,
                                    .workspace_limit = (size_t)options->workspace_mib << 20};
}

/* The planner's judgement of every row; of those that --kernel asks for, divided as it says. */
static int explain_asked(const struct bench_options *options, const struct gm_device *device,
                         const struct gm_gemm_problem *problem, struct gm_candidate *candidates, size_t *count) {
    const struct gm_plan_options masked = planned(options);
    const int division = asked_division(options->kernel);
    struct planner planner;
    const enum gm_status status = gm_gemm_explain(device, problem, &masked, candidates, *count, count);
    if (status != GM_OK)
        return gpu_fail_library(status, "gm_gemm_explain");
    if (planner_open(&planner, &gm_operation_gemm, device, problem, &masked) != 0)
        return -1;
    for (size_t i = 0; division != GM_DIVISION_BEST && i < *count; i++) {
        const struct gm_kernel *kernel = &gm_kernels[candidates[i].kernel];
        if (!is_asked(options->kernel, kernel->name))
            continue;
        const struct gm_verdict verdict = planner_verdict(&planner, kernel, division);
        candidates[i].reason = verdict.reason;
        candidates[i].predicted_us = verdict.predicted_us;
    }
    return 0;
}

static int add_plan(struct bench *bench, const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
                    struct contender *contender) {
    *contender = (struct contender){0};
    enum gm_status status = gm_gemm_plan_create(bench->gpu.context, problem, options, &contender->plan);
    if (status != GM_OK)
        return gpu_fail_library(status, "gm_gemm_plan_create");
    contender->kernel = gm_plan_kernel(contender->plan);
    return 0;
}

/* A row that cannot be planned is a failure of that row, not of the run. */
static int plan_each(struct bench *bench, const struct gm_gemm_problem *problem, const struct gm_candidate *candidates,
                     size_t count, struct contender *contenders, size_t capacity) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < capacity; i++) {
        const struct gm_kernel *kernel = &gm_kernels[candidates[i].kernel];
        struct gm_plan_options forced = planned(bench->options);
        char name[DIVIDED_NAME_BYTES];
        gm_divided_name(kernel, asked_division(bench->options->kernel), name, sizeof name);
        forced.kernel = name;
        forced.arch_mask = 0;
        if (!is_wanted(bench->options, &candidates[i], kernel->name))
            continue;
        if (add_plan(bench, problem, &forced, &contenders[used]) == 0)
            used++;
        else
            bench->failures++;
    }
    return (int)used;
}

int bench_plans(struct bench *bench, const struct gm_gemm_problem *problem, struct contender *contenders,
                size_t capacity) {
    const struct bench_options *options = bench->options;
    const struct gm_plan_options masked = planned(options);
    if (!options->all_kernels && !options->kernel) {
        if (add_plan(bench, problem, &masked, &contenders[0]) == 0)
            return 1;
        bench->failures++;
        return 0;
    }
    size_t count = gm_kernel_count();
    struct gm_candidate *candidates = calloc(count + 1, sizeof *candidates);
    if (!candidates)
        return complain("out of host memory");
    int used = explain_asked(options, &bench->gpu.device, problem, candidates, &count);
    if (used == 0)
        used = plan_each(bench, problem, candidates, count, contenders, capacity);
    free(candidates);
    return used;
}

static const struct gm_candidate *find_best(const struct bench_options *options, const struct gm_candidate *candidates,
                                            size_t count) {
    const struct gm_candidate *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!options->kernel && candidates[i].chosen)
            return &candidates[i];
        if (options->kernel && is_wanted(options, &candidates[i], gm_kernels[candidates[i].kernel].name) &&
            (!best || candidates[i].predicted_us < best->predicted_us))
            best = &candidates[i];
    }
    return best;
}

static int predict_case(const struct bench_options *options, const struct bench_case *from,
                        const struct gm_device *device, struct grid *grid, struct gm_candidate *candidates) {
    struct gm_gemm_problem problem;
    size_t count = gm_kernel_count();
    const struct gm_candidate *best = NULL;
    const char *name = "no kernel for these types";
    char divided[DIVIDED_NAME_BYTES];
    if (suite_problem(from, &problem)) {
        if (explain_asked(options, device, &problem, candidates, &count) != 0)
            return -1;
        best = find_best(options, candidates, count);
        if (best)
            gm_divided_name(&gm_kernels[best->kernel], asked_division(options->kernel), divided, sizeof divided);
        name = best ? divided : "no kernel";
    }
    char us[32] = "–", tflops[32] = "–";
    if (best) {
        snprintf(us, sizeof us, "%.2f", best->predicted_us);
        snprintf(tflops, sizeof tflops, "%.1f", results_flops(from) / best->predicted_us * 1e-6);
    }
    if (!grid_add(grid, "%" PRId64 "|%" PRId64 "|%" PRId64 "|%s|%s|%s|%s|%s", from->m, from->n, from->k, from->a,
                  from->layout, us, tflops, name))
        return complain("out of host memory");
    return 0;
}

int bench_predict(const struct bench_options *options, const struct bench_suite *suite,
                  const struct gm_device *device) {
    struct grid grid;
    struct gm_candidate *candidates = calloc(gm_kernel_count() + 1, sizeof *candidates);
    int status = candidates && grid_start(&grid, "M|N|K|<type|<layout|predicted us|predicted TFLOPS|<kernel")
                     ? 0
                     : complain("out of host memory");
    for (size_t i = 0; i < suite->count && status == 0; i++) {
        if (bench_is_chosen(options, &suite->cases[i]))
            status = predict_case(options, &suite->cases[i], device, &grid, candidates);
    }
    if (status == 0)
        grid_print(&grid, stdout);
    if (candidates)
        grid_free(&grid);
    free(candidates);
    return status;
}
