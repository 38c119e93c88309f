/* SPDX-License-Identifier: Apache-2.0 */
/* Launches one after another that do what no one kernel does as fast: operands are copied into the workspace, into rows
 * that more kernels take, and the operation runs on the copies. */
#ifndef GM_SEQUENCE_H
#define GM_SEQUENCE_H

#include "host/choose.h"
#include "host/options.h"

#define GM_COPIES_MAX 2

/* One operand, copied. */
struct gm_copy {
    const char *name;                         /* as the argument struct calls it */
    const struct gm_operation *operation;     /* which copies */
    _Alignas(8) char problem[GM_PROBLEM_MAX]; /* of it, as a caller gives it */
    size_t offset;                            /* of the copy in the workspace */
};

/* The copies, then the operation on them. */
struct gm_sequence {
    int count; /* of copies; 0: there is no such sequence */
    struct gm_copy copies[GM_COPIES_MAX];
    size_t copied_bytes;                      /* the copies' part of the workspace, which it begins with */
    _Alignas(8) char problem[GM_PROBLEM_MAX]; /* the operation's on the copies, as a caller gives it */
};

/* What an operation that has sequences knows of them. */
struct gm_sequences {
    /* The sequence that a planned problem may be computed by. Pure. */
    void (*propose)(const void *planned, const struct gm_plan_options *options, struct gm_sequence *sequence);
    /* Of one call: the arguments of copy `number`, or of the operation, where that is the number of copies. */
    void (*arguments)(const struct gm_sequence *sequence, int number, const void *args, void *into);
};

/* A sequence with its planning. */
struct gm_sequence_choice {
    struct gm_sequence sequence;
    struct gm_plan_options options;           /* of the operation on the copies */
    _Alignas(8) char planned[GM_PROBLEM_MAX]; /* its problem, normalised and simplified */
    struct gm_choice choice;                  /* of its kernel */
    double copies_us, predicted_us;           /* of the copies, and of all */
    size_t workspace_bytes;
};

/* Whether the sequence is predicted to be faster than the kernel that was chosen for the problem as it lies. */
int gm_sequence_is_better(const struct gm_operation *operation, const struct gm_question *question,
                          const struct gm_choice *direct, struct gm_sequence_choice *found);

/* The options of the copies' plans, of those of the operation. */
struct gm_plan_options gm_sequence_copy_options(const struct gm_plan_options *options);

/* The question about the operation on the copies. */
struct gm_question gm_sequence_question(const struct gm_sequence_choice *found, const struct gm_device *device);

#endif
