/* SPDX-License-Identifier: Apache-2.0 */
/* The host cost of one execute, ours by graph, with arguments that recur, and by a plain launch, and the baseline's:
 * bursts of calls on a tiny problem, by turns, so that a slow moment is everybody's; the median burst. */
#include "bench/measure/ceilings.h"
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

struct our_call {
    const struct contest *contest;
    gm_plan *plan;
};

/* Two sets of arguments by turns. A plan that keeps one is told each time, as where every call has its own; one that
 * keeps both is told no more. */
static int call_ours(const void *what) {
    static const float alphas[] = {1, 2};
    static unsigned calls;
    const struct our_call *call = what;
    const struct operands *operands = call->contest->operands;
    const struct gm_gemm_args args = {
        .size = sizeof args, .a = operands->a, .b = operands->b, .d = operands->d, .alpha = &alphas[calls++ % 2]};
    return (int)gm_gemm_execute(call->plan, &args, call->contest->gpu->stream);
}

static int call_baseline(const void *what) {
    const struct contest *contest = what;
    const struct operands *operands = contest->operands;
    return lt_execute(contest->lt, contest->baseline, 0, operands->a, operands->b, operands->d, contest->gpu->stream);
}

static int plan_ours(struct our_call *ours, const struct contest *contest, uint32_t flags, int argument_sets) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = flags, .argument_sets = argument_sets};
    gm_plan *plan = NULL;
    const enum gm_status made =
        gm_gemm_plan_create(contest->gpu->context, &contest->operands->problem, &options, &plan);
    *ours = (struct our_call){contest, plan};
    return made == GM_OK ? 0 : gpu_fail_library(made, "gm_gemm_plan_create");
}

int host_cost(const struct gpu *gpu, const struct lt *lt, const struct noise *noise, struct bench_meta *meta) {
    const struct gm_gemm_problem tiny = {
        .size = sizeof tiny, .m = 64, .n = 64, .k = 64, .ab_type = noise->type, .d_type = noise->type};
    struct operands operands;
    struct lt_problem baseline = {0};
    const struct contest contest = {.gpu = gpu, .operands = &operands, .lt = lt, .baseline = &baseline};
    struct our_call by_graph = {0}, recurring = {0}, plain = {0};
    const struct host_call calls[MOST_CALLS] = {{call_ours, &by_graph, &meta->execute_ns},
                                                {call_ours, &recurring, &meta->execute_recurring_ns},
                                                {call_ours, &plain, &meta->execute_plain_ns},
                                                {call_baseline, &contest, &meta->baseline_execute_ns}};
    int status = operands_make(gpu, &operands, &tiny, noise, 0);
    if (status == 0 && (plan_ours(&by_graph, &contest, 0, 1) != 0 || plan_ours(&recurring, &contest, 0, 2) != 0 ||
                        plan_ours(&plain, &contest, GM_PLAN_PLAIN_LAUNCH, 1) != 0))
        status = -1;
    if (status == 0) {
        const bool has_baseline = lt && lt_prepare(lt, &baseline, &tiny) == 0;
        status = time_host_calls(gpu, calls, has_baseline ? MOST_CALLS : MOST_CALLS - 1);
    }
    gm_plan_destroy(by_graph.plan);
    gm_plan_destroy(recurring.plan);
    gm_plan_destroy(plain.plan);
    if (lt)
        lt_forget(lt, &baseline);
    operands_free(gpu, &operands);
    return status;
}
