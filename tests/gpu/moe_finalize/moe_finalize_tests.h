/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of moe_finalize share: cases and their data. */
#ifndef MOE_FINALIZE_TESTS_H
#define MOE_FINALIZE_TESTS_H

#include "operands.h"

/* INTEGERS: small ones, with weights of quarters, whose sums are exact. NORMAL: N(0, 1). POSITIVE: between 1 and 2, so that
 * errors of one side would add up. SPECIAL: NaN, infinities, zeros, the smallest values among ordinary ones. */
enum finalize_inputs { FINALIZE_INTEGERS, FINALIZE_NORMAL, FINALIZE_POSITIVE, FINALIZE_SPECIAL };
/* SOME: one slot of five has no row: -1, x_rows, the ends of int32_t; its weight is NaN. ALL: every slot has. NO: none. */
enum finalize_slots { FINALIZE_SOME, FINALIZE_ALL, FINALIZE_NO };

struct finalize_case {
    int64_t tokens, columns, k, x_rows;
    enum gm_type type;
    bool weighted, has_residual, in_place;
    int64_t x_pad, residual_pad, out_pad; /* elements between the row's end and the next row */
    int x_start, residual_start, out_start, slots_start;
    bool counted; /* the number of tokens is read on the device: `count` */
    int count;
    float factor; /* of x; 0: 1 */
    enum finalize_inputs inputs;
    enum finalize_slots slots;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_finalize {
    struct placed_operands placed; /* first */
    struct gm_moe_finalize_problem problem;
    struct gm_moe_finalize_args args;
};

enum {
    FINALIZE_X,
    FINALIZE_INVERSE,
    FINALIZE_WEIGHTS,
    FINALIZE_RESIDUAL,
    FINALIZE_OUT,
    FINALIZE_COUNT,
    FINALIZE_OPERANDS
};

void describe_finalize(const struct finalize_case *fc, char *text, size_t bytes);
bool place_finalize(struct result *result, const struct finalize_case *fc, struct operand_memory *memory,
                    struct placed_finalize *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_finalize(struct result *result, const struct finalize_case *fc, const char *kernel, uint32_t mask,
                  struct operand_memory *memory);

void add_finalize_rows_tests(void);
void add_finalize_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum finalize_bug {
    FINALIZE_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    FINALIZE_BUG_LOST_TAIL,                         /* the last column is not written */
    FINALIZE_BUG_LOST_ROW,                          /* the last token is not computed */
    FINALIZE_BUG_LOST_SLOT,                         /* the last slot is left out */
    FINALIZE_BUG_NO_RESIDUAL,                       /* the residual is left out */
    FINALIZE_BUG_NO_WEIGHT,                         /* weights are left out */
    FINALIZE_BUG_NO_INVERSE,                        /* slots are taken for rows */
    FINALIZE_BUG_BAD_IS_FIRST,                      /* what is no row is row 0 */
    FINALIZE_BUG_BAD_WEIGHS,                        /* the weight of what is no row counts, times 0 */
    FINALIZE_BUG_EARLY,                             /* every sum is rounded to the type */
    FINALIZE_BUG_COUNT,                             /* looks at no row count */
};
void compute_finalize(const struct gm_kernel *kernel, const void *params);

#endif
