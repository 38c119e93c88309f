/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of reductions share: cases and their data. */
#ifndef REDUCE_TESTS_H
#define REDUCE_TESTS_H

#include "operands.h"
#include "workspace.h"

/* INTEGERS: small ones, whose sums are exact. NORMAL: N(0, 1). POSITIVE: of mean 1, whose sums grow. SPECIAL: infinities,
 * zeros, the largest and the smallest values among ordinary ones, and NaN in every fifth result or so. TIES: few values,
 * each many times. EQUAL: one value everywhere, -inf. */
enum reduce_inputs {
    REDUCE_INTEGERS,
    REDUCE_NORMAL,
    REDUCE_POSITIVE,
    REDUCE_SPECIAL,
    REDUCE_TIES,
    REDUCE_EQUAL,
    REDUCE_INPUTS
};

struct reduce_case {
    int64_t rows, columns;
    enum gm_type type;
    enum gm_reduce_along along;
    enum gm_reduction reduction;
    bool fp32_out;
    int64_t x_pad; /* elements between the row's end and the next row */
    int x_start, out_start;
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    float scale; /* of x; 0: 1 */
    enum reduce_inputs inputs;
    uint64_t seed;
    size_t workspace; /* that the plan may ask for */
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_reduce {
    struct placed_operands placed; /* first */
    struct gm_reduce_problem problem;
    struct gm_reduce_args args;
    double *want, *tolerance; /* of each result, found when first asked for */
};

enum { REDUCE_X, REDUCE_OUT, REDUCE_COUNT, REDUCE_OPERANDS };

/* Operands, and the workspace, between bytes that must stay. */
struct reduce_memory {
    struct operand_memory operands;
    struct guarded_workspace workspace;
};

void describe_reduce(const struct reduce_case *rc, char *text, size_t bytes);
/* Frees what was placed before. */
bool place_reduce(struct result *result, const struct reduce_case *rc, struct reduce_memory *memory,
                  struct placed_reduce *placed);
void free_placed_reduce(struct placed_reduce *placed);
void free_reduce_memory(struct reduce_memory *memory);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_reduce(struct result *result, const struct reduce_case *rc, const char *kernel, uint32_t mask,
                struct reduce_memory *memory);

/* One plan of the kernel, executed so many times with other inputs, on the simulated GPU by other schedules. */
void run_reduce_again(struct result *result, struct reduce_case *rc, const char *kernel, int launches,
                      struct reduce_memory *memory);

void add_reduce_rows_tests(void);
void add_reduce_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum reduce_bug {
    REDUCE_BUG_RESULT_AFTER = BUGS_OF_OPERATIONS, /* writes a result too many */
    REDUCE_BUG_LOST_RESULT,                       /* the last result is not written */
    REDUCE_BUG_LOST_ROW,                          /* the last row is not read */
    REDUCE_BUG_LOST_COLUMN,                       /* the last column is not read */
    REDUCE_BUG_MEAN,                              /* the mean is the sum */
    REDUCE_BUG_ROOT,                              /* the norm is its square */
    REDUCE_BUG_DROPS_NAN,                         /* NaN is no extreme */
    REDUCE_BUG_LAST_TIE,                          /* the last of equal ones */
    REDUCE_BUG_LAST_NAN,                          /* the last NaN */
    REDUCE_BUG_ZEROS_DIFFER,                      /* +0 is larger than -0, also where the place is asked for */
    REDUCE_BUG_ROUNDS_EARLY,                      /* sums are of x's type on the way */
    REDUCE_BUG_COUNT,                             /* looks at no row count */
};
void compute_reduce(const struct gm_kernel *kernel, const void *params);

#endif
