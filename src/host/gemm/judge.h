/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a kernel of any GEMM family may answer, and how fast. */
#ifndef GM_GEMM_JUDGE_H
#define GM_GEMM_JUDGE_H

#include "host/gemm/divide.h"
#include "host/gemm/problem.h"

/* A question about one kernel. */
struct gm_gemm_inquiry {
    const struct gm_gemm_variant *variant;
    const struct gm_question *question;
    const struct gm_gemm_problem *problem; /* of the question */
    int transposed;
    const struct gm_sentence *why;
};

/* struct gm_family's judge(). */
struct gm_verdict gm_gemm_judge(const struct gm_kernel *kernel, const struct gm_question *question,
                                const struct gm_sentence *why);

/* Whether TMA can load A and B. D is stored without it where it must. */
enum gm_reason gm_gemm_check_tma(const struct gm_gemm_inquiry *inquiry);
/* Whether gemm_sm90 may run the problem, if it has a kernel of its type and layout. */
int gm_gemm_tma_may_load(const struct gm_gemm_inquiry *inquiry);

static inline int gm_is_batch_invariant(const struct gm_question *question) {
    return (question->options->flags & GM_PLAN_BATCH_INVARIANT) != 0;
}

/* The division of a verdict. */
struct gm_gemm_division gm_gemm_division_of(const struct gm_verdict *verdict);

#endif
