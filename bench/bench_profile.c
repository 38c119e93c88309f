/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bench --profile: every kernel and every heuristic once, for a profiler that counts launches. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"

/* One case: what is launched, on which set next. */
struct session {
    struct bench *bench;
    const struct bench_case *problem;
    struct contest contest;
    int set;
};

static void contender_title(const struct contender *contender, bool is_default, char *title, size_t bytes) {
    struct gm_kernel_info kernel = {.size = sizeof kernel};
    if (!contender->plan)
        snprintf(title, bytes, "cuBLASLt heuristic %d%s", contender->heuristic, is_default ? " (default)" : "");
    else if (gm_kernel_get((size_t)contender->kernel, &kernel) == GM_OK)
        snprintf(title, bytes, "%s", kernel.name);
    else
        snprintf(title, bytes, "?");
}

/* Launches on the next set and prints the line, before the profiler says anything of the launch after it. */
static int launch_one(struct session *session, struct contender *contender, bool is_default) {
    char title[96], shape[80], number[16] = "refused";
    const struct bench_case *problem = session->problem;
    int status = contender_try_on(&session->contest, contender, session->set++);
    contender_title(contender, is_default && !contender->out, title, sizeof title);
    if (status != 0)
        return complain("that was in %s", title);
    if (!contender->out)
        snprintf(number, sizeof number, "%d", ++session->bench->launches);
    else if (contender->plan)
        session->bench->failures++;
    snprintf(shape, sizeof shape, "%" PRId64 " x %" PRId64 " x %" PRId64 " %s %s", problem->m, problem->n, problem->k,
             problem->a, problem->layout);
    printf("%7s  %-38s  %s\n", number, shape, title);
    fflush(stdout);
    return 0;
}

/* The first heuristic that runs is the default, as it is when times are taken. */
static int launch_baseline(struct session *session, struct lt_problem *baseline) {
    struct bench *bench = session->bench;
    bool found = false;
    if (!bench->has_baseline || lt_prepare(&bench->lt, baseline, &session->contest.operands->problem) != 0)
        return 0;
    session->contest.lt = &bench->lt;
    session->contest.baseline = baseline;
    for (int i = 0; i < baseline->count; i++) {
        struct contender contender = {.heuristic = i};
        if (launch_one(session, &contender, !found) != 0)
            return -1;
        found = found || !contender.out;
    }
    return 0;
}

static int launch_all(struct bench *bench, const struct bench_case *problem, const struct gm_gemm_problem *gemm,
                      struct contender *contenders, size_t count) {
    struct operands operands = {0};
    struct lt_problem baseline = {0};
    struct session session = {.bench = bench, .problem = problem, .contest = {.gpu = &bench->gpu}};
    int status = noise_make(&bench->gpu, &bench->noise, gemm->ab_type);
    if (status == 0)
        status = operands_make(&bench->gpu, &operands, gemm, &bench->noise, bench->results.meta.rotate_l2);
    session.contest.operands = &operands;
    for (size_t i = 0; i < count && status == 0; i++)
        status = launch_one(&session, &contenders[i], false);
    if (status == 0)
        status = launch_baseline(&session, &baseline);
    if (bench->has_baseline)
        lt_forget(&bench->lt, &baseline);
    operands_free(&bench->gpu, &operands);
    return status;
}

int bench_case_profile(struct bench *bench, const struct bench_case *problem) {
    struct gm_gemm_problem gemm;
    size_t capacity = gm_kernel_count() + 1;
    if (!suite_problem(problem, &gemm)) {
        note("skipped: no kernel takes %s %s %s -> %s %s", problem->op, problem->a, problem->b, problem->d,
             problem->layout);
        return 0;
    }
    struct contender *contenders = calloc(capacity, sizeof *contenders);
    if (!contenders)
        return complain("out of host memory");
    int count = bench_plans(bench, &gemm, contenders, capacity);
    int status = count > 0 ? launch_all(bench, problem, &gemm, contenders, (size_t)count) : count;
    for (int i = 0; i < count; i++)
        gm_plan_destroy(contenders[i].plan);
    free(contenders);
    return status;
}
