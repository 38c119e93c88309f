/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the baselines' best way: all of them are timed briefly, interleaved. */
#include <math.h>

#include "bench/bench.h"
#include "program/base/stats.h"

#define SEARCH_ROUNDS   3
#define SEARCH_ROUND_MS 2.0
#define HOPELESS        3.0 /* times the default's time, by the first rough look */

int bench_default(const struct timing *timing, struct candidate *baseline_default) {
    *baseline_default = (struct candidate){.disqualified = true};
    for (int i = 0; i < timing->rivals->ways && baseline_default->disqualified; i++) {
        *baseline_default = (struct candidate){.way = i};
        if (candidate_try(timing, baseline_default) != 0)
            return -1;
    }
    return 0;
}

static int enter(const struct timing *timing, struct candidate *candidate, double limit_us) {
    if (candidate_try(timing, candidate) != 0)
        return -1;
    if (candidate->disqualified)
        return 0;
    bool captured = candidate_capture(timing, candidate, SEARCH_ROUND_MS) == 0;
    if (!captured && gpu_finish(timing->gpu) != 0)
        return -1;
    if (!captured || candidate->rough_us > limit_us) {
        candidate_drop(timing, candidate);
        candidate->disqualified = true;
    }
    return 0;
}

static int find_fastest(const struct candidate *candidates, int count) {
    int fastest = -1;
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        double us = stats_median(candidates[i].samples.us, candidates[i].samples.count);
        if (!candidates[i].disqualified && us < least) {
            least = us;
            fastest = i;
        }
    }
    return fastest;
}

int bench_search(const struct timing *timing, struct candidate *best, const struct candidate *baseline_default,
                 int *ran) {
    struct candidate all[RIVAL_WAYS_MAX];
    int count = timing->rivals->ways, status = 0;
    *ran = 0;
    for (int i = 0; i < count; i++)
        all[i] = (struct candidate){.way = i};
    for (int i = 0; i < count && status == 0; i++) {
        status = enter(timing, &all[i], HOPELESS * baseline_default->rough_us + 10);
        *ran += !all[i].disqualified;
    }
    if (status == 0)
        status = timing_rounds(timing, all, (size_t)count, SEARCH_ROUNDS);
    for (int i = 0; i < count; i++)
        candidate_drop(timing, &all[i]);
    int fastest = status == 0 ? find_fastest(all, count) : -1;
    *best = (struct candidate){.way = fastest, .disqualified = fastest < 0 || fastest == baseline_default->way};
    return status;
}
