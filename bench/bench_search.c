/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the baselines' best way: all of them are timed briefly, interleaved. */
#include <math.h>

#include "bench/bench.h"
#include "program/base/stats.h"

#define SEARCH_ROUNDS   3
#define SEARCH_ROUND_MS 2.0
#define HOPELESS        3.0 /* times the default's time, by the first rough look */

int bench_default(const struct contest *contest, struct contender *fallback) {
    *fallback = (struct contender){.out = true};
    for (int i = 0; i < contest->rivals->ways && fallback->out; i++) {
        *fallback = (struct contender){.way = i};
        if (contender_try(contest, fallback) != 0)
            return -1;
    }
    return 0;
}

static int enter(const struct contest *contest, struct contender *contender, double limit_us) {
    if (contender_try(contest, contender) != 0)
        return -1;
    if (contender->out)
        return 0;
    bool captured = contender_capture(contest, contender, SEARCH_ROUND_MS) == 0;
    if (!captured && gpu_finish(contest->gpu) != 0)
        return -1;
    if (!captured || contender->rough_us > limit_us) {
        contender_drop(contest, contender);
        contender->out = true;
    }
    return 0;
}

static int find_fastest(const struct contender *contenders, int count) {
    int fastest = -1;
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        double us = stats_median(contenders[i].samples.us, contenders[i].samples.count);
        if (!contenders[i].out && us < least) {
            least = us;
            fastest = i;
        }
    }
    return fastest;
}

int bench_search(const struct contest *contest, struct contender *best, const struct contender *fallback, int *ran) {
    struct contender all[RIVAL_WAYS_MAX];
    int count = contest->rivals->ways, status = 0;
    *ran = 0;
    for (int i = 0; i < count; i++)
        all[i] = (struct contender){.way = i};
    for (int i = 0; i < count && status == 0; i++) {
        status = enter(contest, &all[i], HOPELESS * fallback->rough_us + 10);
        *ran += !all[i].out;
    }
    if (status == 0)
        status = contest_rounds(contest, all, (size_t)count, SEARCH_ROUNDS);
    for (int i = 0; i < count; i++)
        contender_drop(contest, &all[i]);
    int fastest = status == 0 ? find_fastest(all, count) : -1;
    *best = (struct contender){.way = fastest, .out = fastest < 0 || fastest == fallback->way};
    return status;
}
