/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of quantisers share: cases and their data. */
#ifndef QUANTIZE_TESTS_H
#define QUANTIZE_TESTS_H

#include "operands.h"

/* INTEGERS: small ones. NORMAL: N(0, 1). POSITIVE: of mean 2. WIDE: of every exponent from 2^-40 to 2^12. MIDDLES: products of
 * the static scale with middles between two numbers of out's type, or a unit in the last place beside. SPECIAL: NaN,
 * infinities, zeros, the largest and the smallest values among ordinary ones. TINY: far below every floor. ZEROS: of both
 * signs. INFINITE: an infinity among ordinary ones. */
enum quantize_inputs {
    QUANTIZE_INTEGERS,
    QUANTIZE_NORMAL,
    QUANTIZE_POSITIVE,
    QUANTIZE_WIDE,
    QUANTIZE_MIDDLES,
    QUANTIZE_SPECIAL,
    QUANTIZE_TINY,
    QUANTIZE_ZEROS,
    QUANTIZE_INFINITE,
    QUANTIZE_INPUTS
};

struct quantize_case {
    int64_t rows, columns, group;
    enum gm_type type, out_type;
    enum gm_scaling scaling;
    enum gm_scale_format format;
    enum gm_scale_order order;
    enum gm_division division;
    float floor, static_scale;          /* scales[0] before the call, of GM_SCALE_STATIC and GM_SCALE_AMAX_ONLY */
    int64_t x_pad, out_pad, scales_pad; /* elements between the row's end and the next row */
    int x_start, out_start, scales_start;
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    float times; /* of x; 0: 1 */
    enum quantize_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_quantize {
    struct placed_operands placed; /* first */
    struct gm_quantize_problem problem;
    struct gm_quantize_args args;
    float *scales; /* of every row, group or block, as out is divided by them; [down][across] */
    int64_t across;
};

enum { QUANTIZE_X, QUANTIZE_OUT, QUANTIZE_SCALES, QUANTIZE_COUNT, QUANTIZE_OPERANDS };

void describe_quantize(const struct quantize_case *qc, char *text, size_t bytes);
bool place_quantize(struct result *result, const struct quantize_case *qc, struct operand_memory *memory,
                    struct placed_quantize *placed);
void free_quantize(struct placed_quantize *placed);
/* Compares every bit, also signs of zeros. */
bool compare_quantize(struct result *result, const struct call *call, const uint8_t *region, const char *what);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_quantize(struct result *result, const struct quantize_case *qc, const char *kernel, uint32_t mask,
                  struct operand_memory *memory);

void add_quantize_rows_tests(void);
void add_quantize_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum quantize_bug {
    QUANTIZE_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    QUANTIZE_BUG_LOST_TAIL,                         /* the last column is not written */
    QUANTIZE_BUG_LOST_ROW,                          /* the last row is not written */
    QUANTIZE_BUG_LOST_SCALE,                        /* the last scale of a row is not written */
    QUANTIZE_BUG_OVERFLOWS,                         /* what is too large becomes NaN */
    QUANTIZE_BUG_DROPS_NAN,                         /* a NaN does not reach the scale */
    QUANTIZE_BUG_INFINITE_SCALE,                    /* an infinity reaches the scale */
    QUANTIZE_BUG_NO_FLOOR,                          /* zeros are divided by 0 */
    QUANTIZE_BUG_ROUNDS_DOWN,                       /* a power of 2 below the scale */
    QUANTIZE_BUG_RECIPROCAL,                        /* multiplies by the reciprocal, unasked */
    QUANTIZE_BUG_LOST_SIGN,                         /* -0 becomes +0 */
    QUANTIZE_BUG_ORDER,                             /* scales by row and by column change places */
    QUANTIZE_BUG_OVERWRITES,                        /* a smaller amax takes the place of a larger scale */
    QUANTIZE_BUG_COUNT,                             /* looks at no row count */
};
void compute_quantize(const struct gm_kernel *kernel, const void *params);

#endif
