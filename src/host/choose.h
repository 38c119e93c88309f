/* SPDX-License-Identifier: Apache-2.0 */
/* The planner: which kernel of a table answers a question. Pure functions of their arguments. */
#ifndef GM_CHOOSE_H
#define GM_CHOOSE_H

#include "host/family.h"
#include "host/ledger.h"

/* Whether the kernel computes with a problem of this type. */
int gm_takes_type(const struct gm_kernel *kernel, enum gm_type type);

/* Whether the kernel may answer the question, and at what cost; in words, with the numbers and the smallest fix, where
 * the sentence is wanted. A question for the best division takes the one that the options name, if they name one. */
struct gm_verdict gm_verdict_of(const struct gm_kernel *kernel, const struct gm_question *question,
                                const struct gm_sentence *why);

struct gm_choice {
    const struct gm_kernel *kernel; /* NULL: none accepts */
    struct gm_verdict verdict;
    enum gm_source source;
    struct gm_ledger_answer answer; /* what the ledger said, where the choice is from there */
    double measured_us;             /* the ledger's of the choice; 0: it has none for this problem */
};

/* What the ledger says, where there is one and it names a kernel that accepts; else the accepting kernel that ranks
 * fastest, the first of equals. */
struct gm_choice gm_choose(const struct gm_operation *operation, const struct gm_kernel *kernels, size_t count,
                           const struct gm_question *question);

#endif
