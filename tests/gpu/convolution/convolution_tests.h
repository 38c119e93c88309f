/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of convolution share: cases and their data. */
#ifndef CONVOLUTION_TESTS_H
#define CONVOLUTION_TESTS_H

#include "operands.h"

/* UNIFORM: between -1 and 1. SPECIAL: NaN, infinities, zeros, the smallest values among ordinary ones. */
enum convolution_inputs { CONVOLUTION_UNIFORM, CONVOLUTION_SPECIAL };

struct convolution_case {
    int64_t width, height, planes, filter_width, filter_height, shift_x, shift_y;
    enum gm_type type;
    int edge; /* of enum gm_convolution_edge */
    bool separable;
    int64_t x_pad, out_pad, x_plane_pad, out_plane_pad; /* elements behind a row, and behind a plane's rows */
    int x_start, out_start, filter_start;
    enum convolution_inputs inputs;
    float factor; /* of x; 0: 1 */
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_convolution {
    struct placed_operands placed; /* first */
    struct gm_convolution_problem problem;
    struct gm_convolution_args args;
};

enum { CONVOLUTION_X, CONVOLUTION_FILTER, CONVOLUTION_FILTER_Y, CONVOLUTION_OUT, CONVOLUTION_OPERANDS };

bool place_convolution(struct result *result, const struct convolution_case *cc, struct operand_memory *memory,
                       struct placed_convolution *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares: every bit is the model's. */
bool run_convolution(struct result *result, const struct convolution_case *cc, const char *kernel, uint32_t mask,
                     struct operand_memory *memory);

void add_convolution_rows_tests(void);
void add_convolution_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum convolution_bug {
    CONVOLUTION_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    CONVOLUTION_BUG_LOST_TAIL,                         /* the last column is not written */
    CONVOLUTION_BUG_LOST_ROW,                          /* the last row is not computed */
    CONVOLUTION_BUG_LOST_TAP,                          /* the last tap is left out */
    CONVOLUTION_BUG_TURNED,                            /* the filter is turned around */
    CONVOLUTION_BUG_ANCHOR,                            /* the anchor of an even number is left of the middle */
    CONVOLUTION_BUG_CLAMP,                             /* clamps whatever the edge */
    CONVOLUTION_BUG_ONE_PERIOD,                        /* wraps no more than once */
    CONVOLUTION_BUG_ORDER,                             /* sums begin with the last row of the filter */
    CONVOLUTION_BUG_PRODUCT,                           /* products are rounded */
    CONVOLUTION_BUG_EARLY,                             /* sums along x are rounded to the type */
    CONVOLUTION_BUG_PLANE,                             /* all planes are made of the first */
};
void compute_convolution(const struct gm_kernel *kernel, const void *params);

#endif
