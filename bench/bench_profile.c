/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bench --profile: every kernel and every way of the baselines once, for a profiler that counts launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "host/table.h"

/* One case: what is launched, on which set next. */
struct session {
    struct bench *bench;
    const struct bench_case *problem;
    struct timing timing;
    int set;
};

static void candidate_title(const struct session *session, const struct candidate *candidate, bool is_default,
                            char *title, size_t bytes) {
    if (candidate->plan) {
        snprintf(title, bytes, "%s", gm_kernels[candidate->kernel].name);
        return;
    }
    rivals_name(session->timing.rivals, candidate->way, title, bytes);
    const size_t used = strlen(title);
    snprintf(title + used, bytes - used, "%s", is_default ? " (default)" : "");
}

/* Launches on the next set and prints the line, before the profiler says anything of the launch after it. */
static int launch_one(struct session *session, struct candidate *candidate, bool is_default) {
    char title[96], label[CASE_TEXT_BYTES], number[16] = "refused";
    int status = candidate_try_on(&session->timing, candidate, session->set++);
    candidate_title(session, candidate, is_default && !candidate->disqualified, title, sizeof title);
    if (status != 0)
        return complain("that was in %s", title);
    if (!candidate->disqualified)
        snprintf(number, sizeof number, "%d", ++session->bench->launches);
    else if (candidate->plan)
        session->bench->failures++;
    printf("%7s  %-38s  %s\n", number, case_label(session->problem, label), title);
    fflush(stdout);
    return 0;
}

/* The first way that runs is the default, as it is when times are taken. */
static int launch_baselines(struct session *session, struct rivals *rivals) {
    const struct bench_case *problem = session->problem;
    const int ways = rivals_prepare(rivals, &session->bench->baselines, problem->operation, problem->problem.bytes);
    bool found = false;
    session->timing.rivals = rivals;
    for (int way = 0; way < ways; way++) {
        struct candidate candidate = {.way = way};
        if (launch_one(session, &candidate, !found) != 0)
            return -1;
        found = found || !candidate.disqualified;
    }
    return 0;
}

static int launch_all(struct bench *bench, const struct bench_case *problem, struct candidate *candidates,
                      size_t count) {
    struct operands operands = {0};
    struct rivals rivals = {0};
    struct session session = {
        .bench = bench,
        .problem = problem,
        .timing = {.gpu = &bench->gpu, .workspace_bytes = (size_t)bench->options->workspace_mib << 20}};
    int status = operands_make(&bench->gpu, &operands, problem->operation, problem->problem.bytes, &bench->noise,
                               bench->results.meta.rotate_l2, 1);
    session.timing.operands = &operands;
    if (status == 0)
        status = timing_open(&session.timing);
    for (size_t i = 0; i < count && status == 0; i++)
        status = launch_one(&session, &candidates[i], false);
    if (status == 0)
        status = launch_baselines(&session, &rivals);
    rivals_forget(&rivals);
    timing_close(&session.timing);
    operands_free(&bench->gpu, &operands);
    return status;
}

int bench_case_profile(struct bench *bench, const struct bench_case *problem) {
    size_t capacity = gm_kernel_count() + 1;
    if (bench_is_untaken(problem))
        return 0;
    struct candidate *candidates = calloc(capacity, sizeof *candidates);
    if (!candidates)
        return complain("out of host memory");
    int count = bench_plans(bench, problem, candidates, capacity);
    int status = count > 0 ? launch_all(bench, problem, candidates, (size_t)count) : count;
    for (int i = 0; i < count; i++)
        gm_plan_destroy(candidates[i].plan);
    free(candidates);
    return status;
}
