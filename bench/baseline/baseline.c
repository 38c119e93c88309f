/* SPDX-License-Identifier: Apache-2.0 */
/* The baselines of a run, and their ways of computing a problem. */
#include "bench/baseline/baseline.h"

#include <stdio.h>
#include <string.h>

/* ---- the baselines of a run -------------------------------------------------------------------------- */

static const struct baseline *find(const struct baselines *baselines, const struct baseline_kind *kind) {
    for (int i = 0; i < baselines->count; i++)
        if (baselines->of[i].kind == kind)
            return &baselines->of[i];
    return NULL;
}

static bool is_named(const struct bench_operation *operation, const struct baseline_kind *kind) {
    for (const struct baseline_kind *const *named = operation->baselines; *named; named++)
        if (*named == kind)
            return true;
    return false;
}

/* Those of an operation that are not open yet; -1: one of them is not there. */
static int open_of(struct baselines *baselines, const struct gpu *gpu, const struct bench_operation *operation,
                   const char *path) {
    int status = 0;
    for (const struct baseline_kind *const *kind = operation->baselines; *kind; kind++) {
        struct baseline *next = &baselines->of[baselines->count];
        if (find(baselines, *kind) || baselines->count == BASELINES_MAX)
            continue;
        *next = (struct baseline){.kind = *kind};
        if ((*kind)->open(next, gpu, path) == 0) {
            baselines->count++;
        } else {
            (*kind)->close(next, gpu);
            status = -1;
        }
    }
    return status;
}

int baselines_open(struct baselines *baselines, const struct gpu *gpu, const struct bench_suite *suite,
                   const char *path) {
    for (size_t i = 0; i < suite->count; i++) {
        const struct bench_operation *operation = suite->cases[i].operation;
        if (i > 0 && suite->cases[i - 1].operation == operation)
            continue;
        if (open_of(baselines, gpu, operation, i == 0 ? path : NULL) != 0 && path)
            return -1;
    }
    return 0;
}

void baselines_close(struct baselines *baselines, const struct gpu *gpu) {
    for (int i = 0; i < baselines->count; i++)
        baselines->of[i].kind->close(&baselines->of[i], gpu);
    baselines->count = 0;
}

void baselines_print(const struct baselines *baselines, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < baselines->count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s %s", i ? ", " : "", baselines->of[i].kind->name,
                                 baselines->of[i].version);
}

/* ---- one problem ------------------------------------------------------------------------------------- */

int rivals_prepare(struct rivals *rivals, const struct baselines *baselines, const struct bench_operation *operation,
                   const void *problem) {
    *rivals = (struct rivals){0};
    for (int i = 0; i < baselines->count; i++) {
        const struct baseline *baseline = &baselines->of[i];
        struct rival *rival = &rivals->of[rivals->count];
        if (!is_named(operation, baseline->kind))
            continue;
        rival->baseline = baseline;
        rival->prepared = baseline->kind->prepare(baseline, problem, &rival->ways);
        if (!rival->prepared)
            continue;
        if (rival->ways > RIVAL_WAYS_MAX - rivals->ways)
            rival->ways = RIVAL_WAYS_MAX - rivals->ways;
        rivals->ways += rival->ways;
        rivals->count++;
    }
    return rivals->ways;
}

void rivals_forget(struct rivals *rivals) {
    for (int i = 0; i < rivals->count; i++)
        rivals->of[i].baseline->kind->forget(rivals->of[i].baseline, rivals->of[i].prepared);
    *rivals = (struct rivals){0};
}

/* Whose way it is; its number among that one's. */
static const struct rival *rival_of(const struct rivals *rivals, int *way) {
    const struct rival *rival = rivals->of;
    for (; *way >= rival->ways; rival++)
        *way -= rival->ways;
    return rival;
}

int rivals_run(const struct rivals *rivals, int way, const void *args, CUstream stream) {
    const struct rival *rival = rival_of(rivals, &way);
    return rival->baseline->kind->run(rival->baseline, rival->prepared, way, args, stream);
}

void rivals_name(const struct rivals *rivals, int way, char *text, size_t bytes) {
    const struct rival *rival = rival_of(rivals, &way);
    const struct baseline_kind *kind = rival->baseline->kind;
    if (kind->way)
        snprintf(text, bytes, "%s %s %d", kind->name, kind->way, way);
    else
        snprintf(text, bytes, "%s", kind->name);
}
