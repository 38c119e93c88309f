/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of axpby share: cases and their data. */
#ifndef AXPBY_TESTS_H
#define AXPBY_TESTS_H

#include "operands.h"

/* ORDINARY: N(0, 1), or integers of a few digits. WIDE: of many exponents, or the whole range of integers. SPECIAL: NaN,
 * infinities, zeros of both signs, the largest and the smallest values among ordinary ones. MIDDLES: of x in fp32, middles
 * between two numbers of out's type, and their neighbours; else as WIDE. */
enum axpby_inputs { AXPBY_ORDINARY, AXPBY_WIDE, AXPBY_SPECIAL, AXPBY_MIDDLES, AXPBY_INPUTS };

struct axpby_case {
    int64_t rows, columns;
    enum gm_type type, y_type, out_type;
    enum gm_axpby_terms terms;
    float alpha, beta, gamma;
    int64_t x_pad, y_pad, out_pad; /* elements between the row's end and the next row */
    int x_start, y_start, out_start;
    int in_place; /* 1: out is x, 2: out is y */
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    float scale; /* of x; 0: 1 */
    enum axpby_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_axpby {
    struct placed_operands placed; /* first */
    struct gm_axpby_problem problem;
    struct gm_axpby_args args;
};

enum { AXPBY_X, AXPBY_Y, AXPBY_OUT, AXPBY_COUNT, AXPBY_OPERANDS };
enum { AXPBY_TYPES = GM_INT32 + 1 };

void describe_axpby(const struct axpby_case *ac, char *text, size_t bytes);
bool place_axpby(struct result *result, const struct axpby_case *ac, struct operand_memory *memory,
                 struct placed_axpby *placed);
/* Compares every bit but those of NaN of 16 and 32 bits, also signs of zeros. */
bool compare_axpby(struct result *result, const struct call *call, const uint8_t *region, const char *what);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_axpby(struct result *result, const struct axpby_case *ac, const char *kernel, uint32_t mask,
               struct operand_memory *memory);

void add_axpby_rows_tests(void);
void add_axpby_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum axpby_bug {
    AXPBY_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    AXPBY_BUG_LOST_TAIL,                         /* the last column is not written */
    AXPBY_BUG_LOST_ROW,                          /* the last row is not written */
    AXPBY_BUG_FACTORS,                           /* alpha and beta change places */
    AXPBY_BUG_NO_GAMMA,                          /* gamma is left out */
    AXPBY_BUG_ADDS_ZERO,                         /* a gamma of 0 is added */
    AXPBY_BUG_TWO_ROUNDINGS,                     /* the product with x is rounded before it is added */
    AXPBY_BUG_DOUBLE,                            /* an int32 is not rounded to fp32 */
    AXPBY_BUG_CUTS,                              /* integers are cut off */
    AXPBY_BUG_WRAPS,                             /* integers are not saturated */
    AXPBY_BUG_OVERFLOWS,                         /* what is too large becomes NaN in 8-bit floats */
    AXPBY_BUG_COUNT,                             /* looks at no row count */
};
void compute_axpby(const struct gm_kernel *kernel, const void *params);

#endif
