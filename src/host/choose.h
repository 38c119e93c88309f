/* SPDX-License-Identifier: Apache-2.0 */
/* The planner: which row of a table runs a problem on a device. Pure functions of their arguments. */
#ifndef GM_CHOOSE_H
#define GM_CHOOSE_H

#include "gristmill/gristmill.h"
#include "ledger.h"
#include "split.h"
#include "table.h"

struct gm_judgement {
    enum gm_reason reason;
    double predicted_us; /* of legal rows; else 0 */
    struct gm_split split; /* of legal rows */
    /* By gm_choose() only: where the choice is from, and what the ledger said where it is from there. */
    enum gm_source source;
    struct gm_ledger_answer answer;
    double measured_us; /* the ledger's of the choice; 0: it has none for this problem */
};

/* Whether `row` may run `problem` (normalised) on `device` under `options` (may be NULL), and at what cost. Writes
 * the reason in words, with its numbers and the smallest fix, when `sentence` is not NULL. */
struct gm_judgement gm_judge(const struct gm_kernel *row, const struct gm_device *device,
                             const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
                             char *sentence, size_t sentence_bytes);

/* The same of a division of this kind (GM_KIND_x) only: gm_judge() asks for the kind that the kernel's name in the
 * options has, or else for the best. */
struct gm_judgement gm_judge_as(const struct gm_kernel *row, const struct gm_device *device,
                                const struct gm_gemm_problem *problem, const struct gm_plan_options *options, int kind,
                                char *sentence, size_t sentence_bytes);

/* What the choice by the model compares: the time predicted for an accepted row, and what is added to it where the
 * prediction is known to be the less sure one. */
double gm_counted_us(const struct gm_kernel *row, const struct gm_device *device, const struct gm_gemm_problem *problem,
                     const struct gm_plan_options *options, const struct gm_judgement *judgement);

/* What the ledger says, where there is one and the row it names is accepted; else the accepted row with the least
 * predicted time, the first of equals; -1 when none is accepted. `chosen` (may be NULL) receives its judgement. */
int gm_choose(const struct gm_kernel *rows, size_t count, const struct gm_device *device,
              const struct gm_gemm_problem *problem, const struct gm_plan_options *options,
              struct gm_judgement *chosen);

/* The normalised problem as the planner looks at it: gm_problem_straight(), of a column gm_problem_transposed() before;
 * but not for a batch-invariant plan, which answers for every M alike, nor for a kernel asked for by name that does not
 * take the layout that comes of it. */
struct gm_gemm_problem gm_problem_planned(const struct gm_gemm_problem *problem,
                                          const struct gm_plan_options *options);

/* Beyond enum gm_plan_flags: what the caller calls A is B of the problem that is planned, and the reverse. */
#define GM_PLAN_TRANSPOSED (UINT32_C(1) << 31)
static inline int gm_is_transposed(const struct gm_plan_options *options) {
    return options && options->flags & GM_PLAN_TRANSPOSED;
}

/* The options that go with the planned problem: those of the caller (NULL: the defaults), and whether it is transposed;
 * then B, which the caller may have called constant, is no longer the operand that is loaded early. */
struct gm_plan_options gm_options_planned(const struct gm_plan_options *options, const struct gm_gemm_problem *problem,
                                          const struct gm_gemm_problem *planned);

/* Index of the row with this name, whatever division the name says; -1 if there is none. */
int gm_find_kernel(const struct gm_kernel *rows, size_t count, const char *name);

/* The device as far as the options let a plan use it: no more SMs than sm_budget. */
struct gm_device gm_device_within(const struct gm_device *device, const struct gm_plan_options *options);

/* GM_OK when the planner can compute with these facts. */
enum gm_status gm_device_check(const struct gm_device *device);
/* GM_TAKE() of a caller's options, which may be NULL: then they stay so. GM_OK when the planner can take them; an
 * unknown kernel name is GM_ERROR_UNKNOWN_KERNEL. */
enum gm_status gm_options_take(const struct gm_plan_options **options, struct gm_plan_options *today);

#endif
