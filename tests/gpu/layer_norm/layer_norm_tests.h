/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of LayerNorm's tests share: cases and their data. */
#ifndef LAYER_NORM_TESTS_H
#define LAYER_NORM_TESTS_H

#include "out.h"

/* INTEGERS: small ones. NORMAL: N(0, 1). POSITIVE: N(3, 1). FAR: N(1000, 1), in bf16 N(100, 1). SPECIAL: rows of NaN, infinity, zeros, the
 * largest and the smallest values, among ordinary ones. SIGNS: in every pair of columns one is as far above the mean as the
 * other is below, a power of two, with weights of integers: with eps = 0, out in a 16-bit type is the signs times the weight,
 * plus the bias, bit for bit; columns are even. */
enum ln_inputs { LN_INTEGERS, LN_NORMAL, LN_POSITIVE, LN_FAR, LN_SPECIAL, LN_SIGNS };

struct ln_case {
    int64_t rows, columns;
    enum gm_type type;
    int fp32_weight, residual; /* residual: of enum gm_residual */
    bool no_weight, no_bias;
    enum gm_rounding sum_rounding, norm_rounding, normalized_rounding;
    struct out_case out;
    float eps, weight_offset;
    int64_t x_pad, residual_pad, out_pad; /* elements between the row's end and the next row */
    int x_start, residual_start, out_start, weight_start, bias_start;
    bool in_place; /* out is x, or the residual that is added to the norm */
    bool counted;  /* the number of rows is read on the device: `count` */
    int count;
    float weight_scale; /* 0: 1 */
    enum ln_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_ln {
    struct placed_operands placed; /* first */
    struct gm_layer_norm_problem problem;
    struct gm_layer_norm_args args;
};

enum { LN_X, LN_RESIDUAL, LN_WEIGHT, LN_BIAS, LN_X_WEIGHT, LN_X_BIAS, LN_OUT, LN_SCALES, LN_COUNT, LN_OPERANDS };

/* Input values, which the type can hold. */
double ln_x(const struct ln_case *lc, int64_t row, int64_t column);
double ln_weight(const struct ln_case *lc, int64_t column);
double ln_bias(const struct ln_case *lc, int64_t column);

void describe_ln(const struct ln_case *lc, char *text, size_t bytes);
bool place_ln(struct result *result, const struct ln_case *lc, struct operand_memory *memory, struct placed_ln *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_ln(struct result *result, const struct ln_case *lc, const char *kernel, uint32_t mask,
            struct operand_memory *memory);

void add_ln_rows_tests(void);
void add_ln_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum ln_bug {
    LN_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    LN_BUG_LOST_TAIL,                         /* the last column does not count */
    LN_BUG_LOST_ROW,                          /* the last row is not written */
    LN_BUG_EPS_OUTSIDE,                       /* eps is added to the root */
    LN_BUG_OFFSET,                            /* the offset is left out */
    LN_BUG_NO_WEIGHT,                         /* a weight that is not there is 0 */
    LN_BUG_BIAS,                              /* the bias is left out */
    LN_BUG_BIAS_FIRST,                        /* the bias is added before the weight */
    LN_BUG_RESIDUAL,                          /* the sum is not written back */
    LN_BUG_OVER_READ,                         /* reads a column too many */
    LN_BUG_TRUNCATES,                         /* instead of rounding */
    LN_BUG_EARLY,                             /* rounds before the weight, unasked */
    LN_BUG_ONE_PASS,                          /* the variance is the mean of squares less the square of the mean */
    LN_BUG_UNBIASED,                          /* the variance is of one column less */
    LN_BUG_COUNT,                             /* looks at no row count */
    LN_BUG_LOST_SCALE,                        /* the last scale of a row is not written */
    LN_BUG_ONE_NORM,                          /* the sum is not normalised once more */
};
void compute_ln(const struct gm_kernel *kernel, const void *params);

#endif
