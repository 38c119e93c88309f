/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of histograms share: cases and their data. */
#ifndef HISTOGRAM_TESTS_H
#define HISTOGRAM_TESTS_H

#include "operands.h"
#include "workspace.h"

/* UNIFORM: in the range of the bins and a little beyond it. SKEWED: most are in the first bins. EQUAL: one value everywhere.
 * EDGES: at bins' edges, just beside them, and beyond them all: the largest and the least values, infinities and NaN. */
enum histogram_inputs { HISTOGRAM_UNIFORM, HISTOGRAM_SKEWED, HISTOGRAM_EQUAL, HISTOGRAM_EDGES, HISTOGRAM_INPUTS };

struct histogram_case {
    int64_t rows, columns, bins;
    enum gm_type type;
    enum gm_histogram_of of;
    bool wide, accumulate;
    int64_t first, width; /* of integers; a width of 0 is 1 */
    float lower, upper;   /* of floats; both 0: -2 and 3 */
    int64_t x_pad, counts_pad;
    int x_start, counts_start;
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    enum histogram_inputs inputs;
    uint64_t seed;
    size_t workspace; /* that the plan may ask for */
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_histogram {
    struct placed_operands placed; /* first */
    struct histogram_case of;      /* with its defaults */
    struct gm_histogram_problem problem;
    struct gm_histogram_args args;
    int64_t *want; /* counts of all rows, found when first asked for */
};

enum { HISTOGRAM_X, HISTOGRAM_COUNTS, HISTOGRAM_ROWS_READ, HISTOGRAM_OPERANDS };

/* Operands, and the workspace, between bytes that must stay. */
struct histogram_memory {
    struct operand_memory operands;
    struct guarded_workspace workspace;
};

void describe_histogram(const struct histogram_case *hc, char *text, size_t bytes);
/* Frees what was placed before. */
bool place_histogram(struct result *result, const struct histogram_case *hc, struct histogram_memory *memory,
                     struct placed_histogram *placed);
void free_placed_histogram(struct placed_histogram *placed);
void free_histogram_memory(struct histogram_memory *memory);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_histogram(struct result *result, const struct histogram_case *hc, const char *kernel, uint32_t mask,
                   struct histogram_memory *memory);
/* One plan of the kernel, executed so many times with other inputs, on the simulated GPU by other schedules. */
void run_histogram_again(struct result *result, struct histogram_case *hc, const char *kernel, int launches,
                         struct histogram_memory *memory);

bool is_of_floats(enum gm_type type);
void add_histogram_rows_tests(void);
void add_histogram_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum histogram_bug {
    HISTOGRAM_BUG_COUNT_AFTER = BUGS_OF_OPERATIONS, /* writes a count too many */
    HISTOGRAM_BUG_LOST_COUNT,                       /* the last count is not written */
    HISTOGRAM_BUG_LOST_ROW,                         /* the last row is not read */
    HISTOGRAM_BUG_LOST_COLUMN,                      /* the last column is not read */
    HISTOGRAM_BUG_UPPER,                            /* what lies on the upper end is not counted */
    HISTOGRAM_BUG_CLAMPS,                           /* what lies beyond the bins is in the last one */
    HISTOGRAM_BUG_NEAREST,                          /* bins are rounded to nearest */
    HISTOGRAM_BUG_WIDTH,                            /* looks at no width */
    HISTOGRAM_BUG_FIRST,                            /* looks at no first value, and no lower end */
    HISTOGRAM_BUG_OVERWRITES,                       /* writes where it is to add */
    HISTOGRAM_BUG_ADDS,                             /* adds where it is to write */
    HISTOGRAM_BUG_CARRY,                            /* counts of 64 bits are added by halves */
    HISTOGRAM_BUG_ROW_COUNT,                        /* looks at no row count */
};
void compute_histogram(const struct gm_kernel *kernel, const void *params);

#endif
