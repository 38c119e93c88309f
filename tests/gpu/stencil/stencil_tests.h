/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of stencil share: cases and their data. */
#ifndef STENCIL_TESTS_H
#define STENCIL_TESTS_H

#include "operands.h"

/* UNIFORM: between -1 and 1. SPECIAL: NaN, infinities, zeros, the smallest values among ordinary ones. */
enum stencil_inputs { STENCIL_UNIFORM, STENCIL_SPECIAL };

struct stencil_case {
    int64_t width, height, depth, grids;
    enum gm_type type;
    int shape; /* of enum gm_stencil_shape */
    int edge;  /* of enum gm_convolution_edge */
    /* Elements behind a row, a plane's rows, a grid's planes. */
    int64_t x_pad, out_pad, x_plane_pad, out_plane_pad, x_grid_pad, out_grid_pad;
    int x_start, out_start;
    enum stencil_inputs inputs;
    float factor; /* of x; 0: 1 */
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_stencil {
    struct placed_operands placed; /* first */
    struct gm_stencil_problem problem;
    struct gm_stencil_args args;
};

enum { STENCIL_X, STENCIL_OUT, STENCIL_OPERANDS };

bool place_stencil(struct result *result, const struct stencil_case *sc, struct operand_memory *memory,
                   struct placed_stencil *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares: every bit is the model's. */
bool run_stencil(struct result *result, const struct stencil_case *sc, const char *kernel, uint32_t mask,
                 struct operand_memory *memory);

void add_stencil_rows_tests(void);
void add_stencil_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum stencil_bug {
    STENCIL_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    STENCIL_BUG_LOST_TAIL,                         /* the last column is not written */
    STENCIL_BUG_LOST_PLANE,                        /* the last plane is not computed */
    STENCIL_BUG_LOST_TAP,                          /* the last tap is left out */
    STENCIL_BUG_CORNERS,                           /* taps of a star are taken for those of a box */
    STENCIL_BUG_TURNED,                            /* rows and columns of taps change places */
    STENCIL_BUG_CLAMP,                             /* clamps whatever the edge */
    STENCIL_BUG_DEPTH,                             /* there are zeros ahead of the first plane, whatever the edge */
    STENCIL_BUG_ORDER,                             /* sums begin with the last tap */
    STENCIL_BUG_PRODUCT,                           /* products are rounded */
    STENCIL_BUG_ROUNDED,                           /* a sum is rounded between planes */
    STENCIL_BUG_GRID,                              /* all grids are made of the first */
};
void compute_stencil(const struct gm_kernel *kernel, const void *params);

#endif
