/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of gated linear units share: cases and their data. */
#ifndef GLU_TESTS_H
#define GLU_TESTS_H

#include "out.h"

/* INTEGERS: small ones, whose products are exact. NORMAL: N(0, 1). WIDE: of every exponent from 2^-30 to 2^6, so that
 * tails and limits are reached. SPECIAL: NaN, infinities, zeros, the largest and the smallest values among ordinary ones. */
enum glu_inputs { GLU_INTEGERS, GLU_NORMAL, GLU_WIDE, GLU_SPECIAL };

struct glu_case {
    int64_t rows, columns;
    enum gm_type type;
    enum gm_glu_layout layout;
    enum gm_activation activation;
    enum gm_rounding rounding;
    float limit, sigmoid_factor, up_offset;
    struct out_case out;
    int64_t gate_pad, up_pad, out_pad; /* elements between the row's end and the next row */
    int gate_start, up_start, out_start;
    int in_place; /* 1: out is gate, 2: out is up */
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    float scale; /* of up; 0: 1 */
    enum glu_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_glu {
    struct placed_operands placed; /* first */
    struct gm_glu_problem problem;
    struct gm_glu_args args;
};

enum { GLU_GATE, GLU_UP, GLU_OUT, GLU_SCALES, GLU_COUNT, GLU_OPERANDS };

void describe_glu(const struct glu_case *gc, char *text, size_t bytes);
bool place_glu(struct result *result, const struct glu_case *gc, struct operand_memory *memory,
               struct placed_glu *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_glu(struct result *result, const struct glu_case *gc, const char *kernel, uint32_t mask,
             struct operand_memory *memory);

void add_glu_rows_tests(void);
void add_glu_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum glu_bug {
    GLU_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    GLU_BUG_LOST_TAIL,                         /* the last column is not written */
    GLU_BUG_LOST_ROW,                          /* the last row is not written */
    GLU_BUG_SWAPPED,                           /* gate and up change places */
    GLU_BUG_NO_LIMIT,                          /* nothing is clamped */
    GLU_BUG_LIMITS_GATE_BELOW,                 /* the gate is clamped from below as well */
    GLU_BUG_OFFSET,                            /* the offset is left out */
    GLU_BUG_GELU_FORMS,                        /* the tanh form where erf is asked, and the reverse */
    GLU_BUG_DROPS_NAN,                         /* a clamped NaN becomes a number */
    GLU_BUG_EARLY,                             /* rounds before the product, unasked */
    GLU_BUG_COUNT,                             /* looks at no row count */
    GLU_BUG_LOST_SCALE,                        /* the last scale of a row is not written */
    GLU_BUG_NAN_HAS_NO_SIZE,                   /* NaN does not count in a scale */
    GLU_BUG_OUT_EARLY,                         /* rounds what is quantised, unasked */
};
void compute_glu(const struct gm_kernel *kernel, const void *params);

#endif
