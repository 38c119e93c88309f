/* SPDX-License-Identifier: Apache-2.0 */
/* What the library is measured beside: other libraries, opened at run time. A baseline may compute a problem in several
 * ways, such as cuBLASLt's heuristics. */
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include <stdbool.h>

#include "bench/measure/gpu.h"
#include "bench/suite.h"

#define BASELINE_WORKSPACE_BYTES (UINT64_C(64) << 20) /* that a baseline may use, as our plans may by default */

struct baseline;

/* One library. */
struct baseline_kind {
    const char *name;      /* "cuBLASLt", in sentences and results */
    const char *way;       /* "heuristic"; NULL: it has one way for each problem */
    int most_ways;         /* of one problem */
    bool writes_elsewhere; /* its results are copied to where the call wants them, but in a captured launch */
    /* Looks for the library at `path` (may be NULL) and where it usually is. 0 with `state` and `version`; -1 with a
     * printed sentence. */
    int (*open)(struct baseline *baseline, const struct gpu *gpu, const char *path);
    void (*close)(struct baseline *baseline, const struct gpu *gpu);
    /* A problem of an operation that names this baseline, and how many ways it has; NULL with a printed sentence. */
    void *(*prepare)(const struct baseline *baseline, const void *problem, int *ways);
    void (*forget)(const struct baseline *baseline, void *prepared);
    /* Launches on the stream, with the operation's argument struct. 0, or the library's status: that way is refused. */
    int (*run)(const struct baseline *baseline, const void *prepared, int way, const void *args, CUstream stream);
};

struct baseline {
    const struct baseline_kind *kind;
    void *state; /* of the kind; NULL: not open */
    char version[32];
};

/* All kinds. */
extern const struct baseline_kind baseline_cublaslt;

/* ---- the baselines of a run -------------------------------------------------------------------------- */

#define BASELINES_MAX 4
struct baselines {
    struct baseline of[BASELINES_MAX];
    int count;
};

/* Opens those of every operation that the suite has problems of. `path` (may be NULL) is where the first operation's are.
 * One that is not found has a printed sentence, and -1 is returned where `path` is not NULL. */
int baselines_open(struct baselines *baselines, const struct gpu *gpu, const struct bench_suite *suite,
                   const char *path);
void baselines_close(struct baselines *baselines, const struct gpu *gpu);
/* "cuBLASLt 13.1.0", all that are open, for results. */
void baselines_print(const struct baselines *baselines, char *text, size_t bytes);

/* ---- one problem ------------------------------------------------------------------------------------- */

/* All ways of all baselines that are open and compute the operation, numbered from 0. */
struct rivals {
    struct rival {
        const struct baseline *baseline;
        void *prepared;
        int ways;
    } of[BASELINES_MAX];
    int count, ways;
};
#define RIVAL_WAYS_MAX 64

/* How many ways there are; 0: nobody computes the problem. */
int rivals_prepare(struct rivals *rivals, const struct baselines *baselines, const struct bench_operation *operation,
                   const void *problem);
void rivals_forget(struct rivals *rivals);
int rivals_run(const struct rivals *rivals, int way, const void *args, CUstream stream);
/* "cuBLASLt heuristic 3" */
void rivals_name(const struct rivals *rivals, int way, char *text, size_t bytes);

#endif
