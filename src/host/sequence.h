/* SPDX-License-Identifier: Apache-2.0 */
/* Launches one after another that do what no one kernel does, or none as fast. Steps before the operation copy operands
 * into the workspace, into rows that more kernels take. A step behind it finishes what the operation leaves in the
 * workspace. */
#ifndef GM_SEQUENCE_H
#define GM_SEQUENCE_H

#include "host/choose.h"
#include "host/options.h"

#define GM_STEPS_MAX 2

/* A launch beside the operation's own. */
struct gm_step {
    const char *name;                         /* what it does: "a copy of a" */
    const struct gm_operation *operation;     /* by which */
    _Alignas(8) char problem[GM_PROBLEM_MAX]; /* of it, as a caller gives it */
    size_t offset;                            /* in the workspace, of what lies there between it and the operation */
};

/* The first steps, the operation, the other steps. */
struct gm_sequence {
    int count, before; /* steps, 0: there is no such sequence; of them, those before the operation */
    struct gm_step steps[GM_STEPS_MAX];
    size_t bytes;                             /* what lies between launches, which the workspace begins with */
    _Alignas(8) char problem[GM_PROBLEM_MAX]; /* the operation's, as a caller gives it */
};

/* What an operation that has sequences knows of them. */
struct gm_sequences {
    /* The sequence that a planned problem may be computed by. Pure. */
    void (*propose)(const void *planned, const struct gm_plan_options *options, struct gm_sequence *sequence);
    /* Of one call: the arguments of step `number`, or of the operation, where that is the number of steps. */
    void (*arguments)(const struct gm_sequence *sequence, int number, const void *args, void *into);
};

/* A sequence with its planning. */
struct gm_sequence_choice {
    struct gm_sequence sequence;
    struct gm_plan_options options;           /* of the operation */
    _Alignas(8) char planned[GM_PROBLEM_MAX]; /* its problem, normalised and simplified */
    struct gm_choice choice;                  /* of its kernel */
    double steps_us, predicted_us;            /* of the steps beside it, and of all */
    size_t workspace_bytes;
};

/* Whether the sequence is predicted to be faster than the kernel that was chosen for the problem as it lies. */
int gm_sequence_is_better(const struct gm_operation *operation, const struct gm_question *question,
                          const struct gm_choice *direct, struct gm_sequence_choice *found);

/* Which is launched as number i, from 0 to `count`: a step, or `count` for the operation. */
static inline int gm_sequence_at(const struct gm_sequence *sequence, int i) {
    return i < sequence->before ? i : i == sequence->before ? sequence->count : i - 1;
}

/* The options of the steps' plans, of those of the operation. */
struct gm_plan_options gm_sequence_step_options(const struct gm_plan_options *options);

/* The question about the operation in the sequence. */
struct gm_question gm_sequence_question(const struct gm_sequence_choice *found, const struct gm_device *device);

#endif
