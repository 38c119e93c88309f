/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of softmax share: cases and their data. */
#ifndef SOFTMAX_TESTS_H
#define SOFTMAX_TESTS_H

#include "operands.h"

/* EQUAL: one value and -inf, whose softmax is exact. NORMAL: N(0, 1), times 4. POSITIVE: about 100, so that no power is one of
 * fp32 without the shift. WIDE: of every exponent from 2^-10 to 2^6. SPECIAL: rows by turns with NaN, infinities, zeros, the
 * largest and the smallest values. */
enum softmax_inputs { SOFTMAX_EQUAL, SOFTMAX_NORMAL, SOFTMAX_POSITIVE, SOFTMAX_WIDE, SOFTMAX_SPECIAL };

struct softmax_case {
    int64_t rows, columns;
    enum gm_type type;
    bool fp32_out, log;
    float cap, temperature;
    bool has_lse;
    bool row_temperatures;  /* those of temperature_of_row(), some of them greedy */
    int64_t x_pad, out_pad; /* elements between the row's end and the next row */
    int x_start, out_start;
    bool in_place;
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    float scale; /* of x; 0: 1 */
    enum softmax_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_softmax {
    struct placed_operands placed; /* first */
    struct gm_softmax_problem problem;
    struct gm_softmax_args args;
};

enum { SOFTMAX_X, SOFTMAX_OUT, SOFTMAX_LSE, SOFTMAX_TEMPERATURES, SOFTMAX_COUNT, SOFTMAX_OPERANDS };

void describe_softmax(const struct softmax_case *sc, char *text, size_t bytes);
bool place_softmax(struct result *result, const struct softmax_case *sc, struct operand_memory *memory,
                   struct placed_softmax *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_softmax(struct result *result, const struct softmax_case *sc, const char *kernel, uint32_t mask,
                 struct operand_memory *memory);

void add_softmax_rows_tests(void);
void add_softmax_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum softmax_bug {
    SOFTMAX_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    SOFTMAX_BUG_LOST_TAIL,                         /* the last column is not written */
    SOFTMAX_BUG_LOST_ROW,                          /* the last row is not written */
    SOFTMAX_BUG_LOST_TERM,                         /* the sum lacks the last column */
    SOFTMAX_BUG_NO_SHIFT,                          /* the exponentials are of y itself */
    SOFTMAX_BUG_NO_CAP,                            /* nothing is capped */
    SOFTMAX_BUG_CAP_BEHIND,                        /* the cap comes behind the temperature */
    SOFTMAX_BUG_ONE_TEMPERATURE,                   /* all rows have the first one's */
    SOFTMAX_BUG_LAST_OF_TIES,                      /* a greedy row takes its last largest element */
    SOFTMAX_BUG_DROPS_NAN,                         /* NaN is passed over */
    SOFTMAX_BUG_ZEROS,                             /* a row of -inf becomes zeros */
    SOFTMAX_BUG_LSE_LOG2,                          /* lse is a binary logarithm */
    SOFTMAX_BUG_COUNT,                             /* looks at no row count */
};
void compute_softmax(const struct gm_kernel *kernel, const void *params);

#endif
