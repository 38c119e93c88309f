/* SPDX-License-Identifier: Apache-2.0 */
/* The host cost of one execute, ours by graph, with arguments that recur, and by a plain launch, and the baseline's:
 * bursts of calls on a tiny problem, the median burst. */
#include "ceilings.h"
#include "stats.h"

#define BURSTS 400
#define CALLS  50 /* of one burst: far under the driver's queue depth */

int time_host_calls(const struct gpu *gpu, int (*call)(const void *), const void *what, double *ns) {
    double times[BURSTS];
    for (int burst = 0; burst < BURSTS; burst++) {
        if (gpu_finish(gpu) != 0)
            return -1;
        int refused = 0;
        const double begin = gpu_seconds();
        for (int i = 0; i < CALLS && !refused; i++)
            refused = call(what);
        times[burst] = (gpu_seconds() - begin) * 1e9 / CALLS;
        if (refused)
            return complain("a call of the host-cost measurement was refused (status %d)", refused);
    }
    *ns = stats_median(times, BURSTS);
    return gpu_finish(gpu);
}

struct our_call {
    const struct contest *contest;
    const gm_plan *plan;
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

static int time_ours(const struct contest *contest, uint32_t flags, int argument_sets, double *ns) {
    const struct gm_plan_options options = {.size = sizeof options, .flags = flags, .argument_sets = argument_sets};
    gm_plan *plan = NULL;
    enum gm_status made = gm_gemm_plan_create(contest->gpu->context, &contest->operands->problem, &options, &plan);
    if (made != GM_OK)
        return gpu_fail_library(made, "gm_gemm_plan_create");
    const struct our_call call = {contest, plan};
    int status = time_host_calls(contest->gpu, call_ours, &call, ns);
    gm_plan_destroy(plan);
    return status;
}

int host_cost(const struct gpu *gpu, const struct lt *lt, const struct noise *noise, struct bench_meta *meta) {
    const struct gm_gemm_problem tiny = {
        .size = sizeof tiny, .m = 64, .n = 64, .k = 64, .ab_type = noise->type, .d_type = noise->type};
    struct operands operands;
    struct lt_problem baseline = {0};
    struct contest contest = {.gpu = gpu, .operands = &operands, .lt = lt, .baseline = &baseline};
    int status = operands_make(gpu, &operands, &tiny, noise, 0);
    if (status == 0)
        status = time_ours(&contest, 0, 1, &meta->execute_ns);
    if (status == 0)
        status = time_ours(&contest, 0, 2, &meta->execute_recurring_ns);
    if (status == 0)
        status = time_ours(&contest, GM_PLAN_PLAIN_LAUNCH, 1, &meta->execute_plain_ns);
    if (status == 0 && lt && lt_prepare(lt, &baseline, &tiny) == 0)
        status = time_host_calls(gpu, call_baseline, &contest, &meta->baseline_execute_ns);
    if (lt)
        lt_forget(lt, &baseline);
    operands_free(gpu, &operands);
    return status;
}
