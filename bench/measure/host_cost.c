/* SPDX-License-Identifier: Apache-2.0 */
/* The host cost of one execute, ours by graph, with arguments that recur, and by a plain launch, and the baseline's:
 * bursts of calls on a tiny problem, by turns, so that a slow moment is everybody's; the median burst. */
#include <string.h>

#include "bench/measure/ceilings.h"
#include "bench/suite.h"
#include "host/plan.h"
#include "program/base/stats.h"

#define BURSTS     400
#define CALLS      50 /* of one burst: far under the driver's queue depth */
#define MOST_CALLS 4

static int time_burst(const struct gpu *gpu, const struct host_call *timed, double *ns) {
    if (gpu_finish(gpu) != 0)
        return -1;
    int refused = 0;
    const double begin = gpu_seconds();
    for (int i = 0; i < CALLS && !refused; i++)
        refused = timed->call(timed->what);
    *ns = (gpu_seconds() - begin) * 1e9 / CALLS;
    return refused ? complain("a call of the host-cost measurement was refused (status %d)", refused) : 0;
}

int time_host_calls(const struct gpu *gpu, const struct host_call *calls, int count) {
    double times[MOST_CALLS][BURSTS];
    for (int burst = 0; burst < BURSTS; burst++)
        for (int i = 0; i < count; i++)
            if (time_burst(gpu, &calls[i], &times[i][burst]) != 0)
                return -1;
    for (int i = 0; i < count; i++)
        *calls[i].ns = stats_median(times[i], BURSTS);
    return gpu_finish(gpu);
}

/* A plan, or the baselines' first way where there is none, and two sets of arguments by turns. A plan that keeps one set
 * is told each time, as where every call has arguments of its own; a plan that keeps both is told no more. */
struct alternating {
    const struct timing *timing;
    gm_plan *plan;
    struct bench_args args[2];
};

static int call(const void *what) {
    static unsigned calls;
    const struct alternating *a = what;
    const void *args = a->args[calls++ % 2].bytes;
    const CUstream stream = a->timing->gpu->stream;
    if (!a->plan)
        return rivals_run(a->timing->rivals, 0, args, stream);
    return (int)gm_plan_execute(a->plan, a->timing->operands->operation->operation, args, stream);
}

static void make(struct alternating *a, const struct timing *timing) {
    *a = (struct alternating){.timing = timing};
    for (int set = 0; set < 2; set++)
        operands_args(timing->operands, set, 0, 0, &a->args[set]);
}

static int make_plan(struct alternating *a, const struct timing *timing, const void *problem, uint32_t flags,
                     int argument_sets) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = flags, .argument_sets = argument_sets};
    const enum gm_status made =
        gm_plan_create(timing->operands->operation->operation, timing->gpu->context, problem, &options, &a->plan);
    return made == GM_OK ? 0 : gpu_fail_library(made, "a plan of the host-cost measurement");
}

static int measure(const struct timing *timing, const void *problem, bool has_baseline, struct bench_meta *meta) {
    struct alternating by_graph, recurring, plain, theirs;
    const struct host_call calls[MOST_CALLS] = {{call, &by_graph, &meta->execute_ns},
                                                {call, &recurring, &meta->execute_recurring_ns},
                                                {call, &plain, &meta->execute_plain_ns},
                                                {call, &theirs, &meta->baseline_execute_ns}};
    make(&by_graph, timing);
    make(&recurring, timing);
    make(&plain, timing);
    make(&theirs, timing);
    int status = make_plan(&by_graph, timing, problem, 0, 1);
    if (status == 0)
        status = make_plan(&recurring, timing, problem, 0, 2);
    if (status == 0)
        status = make_plan(&plain, timing, problem, GM_PLAN_PLAIN_LAUNCH, 1);
    if (status == 0)
        status = time_host_calls(timing->gpu, calls, has_baseline ? MOST_CALLS : MOST_CALLS - 1);
    gm_plan_destroy(by_graph.plan);
    gm_plan_destroy(recurring.plan);
    gm_plan_destroy(plain.plan);
    return status;
}

/* The operation's usual problem, with sizes of 64, or as many fewer as it takes. */
static void make_tiny(struct bench_case *tiny, const struct bench_operation *operation) {
    union {
        int64_t align;
        unsigned char bytes[GM_PROBLEM_MAX];
    } checked;
    for (int64_t size = 64; size > 0; size /= 4) {
        case_start(tiny, operation);
        for (int i = 0; i < operation->operation->field_count; i++) {
            const struct gm_field *field = &operation->operation->fields[i];
            if (field->kind == GM_FIELD_SIZE && field->uses & GM_IN_SUITES)
                gm_field_set(field, tiny->problem.bytes, size);
        }
        memcpy(checked.bytes, tiny->problem.bytes, sizeof checked.bytes);
        if (operation->operation->normalize(checked.bytes) == GM_OK)
            return;
    }
}

int host_cost(const struct gpu *gpu, const struct baselines *baselines, const struct bench_operation *operation,
              struct noise *noise, struct bench_meta *meta) {
    struct bench_case tiny;
    struct operands operands;
    struct rivals rivals = {0};
    const struct timing timing = {.gpu = gpu, .operands = &operands, .rivals = &rivals};
    make_tiny(&tiny, operation);
    int status = operands_make(gpu, &operands, operation, tiny.problem.bytes, noise, 0, 2);
    if (status == 0) {
        const bool has_baseline = rivals_prepare(&rivals, baselines, operation, tiny.problem.bytes) > 0 &&
                                  !rivals.of[0].baseline->kind->writes_elsewhere;
        status = measure(&timing, tiny.problem.bytes, has_baseline, meta);
    }
    rivals_forget(&rivals);
    operands_free(gpu, &operands);
    return status;
}
