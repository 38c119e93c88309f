/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels a case is run with; and, without a GPU, what the planner would choose. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "program/commands.h"
#include "program/base/text_table.h"
#include "bench/planner.h"
#include "host/plan.h"

static bool is_wanted(const struct bench_options *options, const struct gm_candidate *explained, const char *name) {
    bool legal = explained->reason == GM_ACCEPTED || explained->reason == GM_REASON_NOT_PRODUCTION;
    if (options->kernel && asked_division(options->kernel) == GM_DIVISION_BEST) /* whole where cutting does not pay */
        legal |= explained->reason == GM_REASON_DIVISION;
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
                         const struct bench_case *problem, struct gm_candidate *explained, size_t *count) {
    const struct gm_operation *operation = problem->operation->operation;
    const struct gm_plan_options masked = planned(options);
    const int division = asked_division(options->kernel);
    struct planner planner;
    const enum gm_status status =
        gm_explain(operation, device, problem->problem.bytes, &masked, explained, *count, count);
    if (status != GM_OK)
        return gpu_fail_library(status, "the planner");
    if (planner_open(&planner, operation, device, problem->problem.bytes, &masked) != 0)
        return -1;
    for (size_t i = 0; division != GM_DIVISION_BEST && i < *count; i++) {
        const struct gm_kernel *kernel = &gm_kernels[explained[i].kernel];
        if (!is_asked(options->kernel, kernel->name))
            continue;
        const struct gm_verdict verdict = planner_verdict(&planner, kernel, division);
        explained[i].reason = verdict.reason;
        explained[i].predicted_us = verdict.predicted_us;
    }
    return 0;
}

static int add_plan(struct bench *bench, const struct bench_case *problem, const struct gm_plan_options *options,
                    struct candidate *candidate) {
    *candidate = (struct candidate){0};
    enum gm_status status = gm_plan_create(problem->operation->operation, bench->gpu.context, problem->problem.bytes,
                                           options, &candidate->plan);
    if (status != GM_OK)
        return gpu_fail_library(status, "a plan");
    candidate->kernel = gm_plan_kernel(candidate->plan);
    return 0;
}

/* A row that cannot be planned is a failure of that row, not of the run. */
static int plan_each(struct bench *bench, const struct bench_case *problem, const struct gm_candidate *explained,
                     size_t count, struct candidate *candidates, size_t capacity) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < capacity; i++) {
        const struct gm_kernel *kernel = &gm_kernels[explained[i].kernel];
        struct gm_plan_options forced = planned(bench->options);
        char name[DIVIDED_NAME_BYTES];
        gm_divided_name(kernel, asked_division(bench->options->kernel), name, sizeof name);
        forced.kernel = name;
        forced.arch_mask = 0;
        if (!is_wanted(bench->options, &explained[i], kernel->name))
            continue;
        if (add_plan(bench, problem, &forced, &candidates[used]) == 0)
            used++;
        else
            bench->failures++;
    }
    return (int)used;
}

int bench_plans(struct bench *bench, const struct bench_case *problem, struct candidate *candidates, size_t capacity) {
    const struct bench_options *options = bench->options;
    const struct gm_plan_options masked = planned(options);
    if (!options->all_kernels && !options->kernel) {
        if (add_plan(bench, problem, &masked, &candidates[0]) == 0)
            return 1;
        bench->failures++;
        return 0;
    }
    size_t count = gm_kernel_count();
    struct gm_candidate *explained = calloc(count + 1, sizeof *explained);
    if (!explained)
        return complain("out of host memory");
    int used = explain_asked(options, &bench->gpu.device, problem, explained, &count);
    if (used == 0)
        used = plan_each(bench, problem, explained, count, candidates, capacity);
    free(explained);
    return used;
}

static const struct gm_candidate *find_best(const struct bench_options *options, const struct gm_candidate *explained,
                                            size_t count) {
    const struct gm_candidate *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!options->kernel && explained[i].chosen)
            return &explained[i];
        if (options->kernel && is_wanted(options, &explained[i], gm_kernels[explained[i].kernel].name) &&
            (!best || explained[i].predicted_us < best->predicted_us))
            best = &explained[i];
    }
    return best;
}

static int predict_case(const struct bench_options *options, const struct bench_case *problem,
                        const struct gm_device *device, struct text_table *table, struct gm_candidate *explained) {
    size_t count = gm_kernel_count();
    const struct gm_candidate *best = NULL;
    const char *name = "no kernel for these types";
    char divided[DIVIDED_NAME_BYTES], cells[CASE_TEXT_BYTES], us[32] = "–", tflops[32] = "–", gbs[32] = "–";
    if (!problem->untaken[0]) {
        if (explain_asked(options, device, problem, explained, &count) != 0)
            return -1;
        best = find_best(options, explained, count);
        if (best)
            gm_divided_name(&gm_kernels[best->kernel], asked_division(options->kernel), divided, sizeof divided);
        name = best ? divided : "no kernel";
    }
    if (best) {
        const struct gm_work work = case_work(problem);
        snprintf(us, sizeof us, "%.2f", best->predicted_us);
        snprintf(tflops, sizeof tflops, "%.1f", work.flops / best->predicted_us * 1e-6);
        snprintf(gbs, sizeof gbs, "%.0f", work.least_bytes / best->predicted_us * 1e-3);
    }
    if (!text_table_add(table, "%s|%s|%s|%s|%s", case_cells(problem, cells), us, tflops, gbs, name))
        return complain("out of host memory");
    return 0;
}

/* The table of one operation's problems; nothing where there are none. */
static int predict_operation(const struct bench_options *options, const struct bench_suite *suite,
                             const struct gm_device *device, const struct bench_operation *operation,
                             struct gm_candidate *explained) {
    struct text_table table;
    char columns[CASE_TEXT_BYTES], titles[2 * CASE_TEXT_BYTES];
    size_t count = 0;
    snprintf(titles, sizeof titles, "%s|predicted us|predicted TFLOPS|GB/s|<kernel", case_columns(operation, columns));
    int status = text_table_start(&table, titles) ? 0 : complain("out of host memory");
    for (size_t i = 0; i < suite->count && status == 0; i++) {
        const struct bench_case *problem = &suite->cases[i];
        if (problem->operation != operation || !bench_is_chosen(options, problem))
            continue;
        status = predict_case(options, problem, device, &table, explained);
        count++;
    }
    if (status == 0 && count)
        text_table_print(&table, stdout);
    text_table_free(&table);
    return status;
}

int bench_predict(const struct bench_options *options, const struct bench_suite *suite,
                  const struct gm_device *device) {
    struct gm_candidate *explained = calloc(gm_kernel_count() + 1, sizeof *explained);
    int status = explained ? 0 : complain("out of host memory");
    for (size_t i = 0; i < gm_operation_count() && status == 0; i++)
        status = predict_operation(options, suite, device, bench_operations[i], explained);
    free(explained);
    return status;
}
