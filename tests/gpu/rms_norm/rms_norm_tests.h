/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of RMSNorm's tests share: cases and their data. */
#ifndef RMS_NORM_TESTS_H
#define RMS_NORM_TESTS_H

#include "out.h"

/* INTEGERS: small ones, so that x + residual is exact. NORMAL: N(0, 1). POSITIVE: N(3, 1). SPECIAL: rows of NaN, infinity,
 * zeros, the largest and the smallest values, among ordinary ones. SIGNS: rows of one magnitude, a power of two, and a
 * weight of integers: with eps = 0, out in a 16-bit type is the signs times the weight, bit for bit. */
enum norm_inputs { INTEGERS, NORMAL_ROWS, POSITIVE, SPECIAL_ROWS, SIGNS };

struct norm_case {
    int64_t rows, columns;
    enum gm_type type;
    int fp32_weight, residual; /* residual: of enum gm_residual */
    enum gm_rounding sum_rounding, norm_rounding, normalized_rounding;
    struct out_case out;
    float eps, weight_offset;
    int64_t x_pad, residual_pad, out_pad;                 /* elements between the row's end and the next row */
    int x_start, residual_start, out_start, weight_start; /* elements past a 256-byte boundary */
    int64_t heads;                                        /* 0: 1 */
    int64_t x_head_pad, out_head_pad;                     /* elements between two heads */
    bool in_place;                                        /* out is x, or the residual that is added to the norm */
    bool counted;                                         /* the number of rows is read on the device: `count` */
    int count;
    float weight_scale; /* 0: 1 */
    enum norm_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_norm {
    struct placed_operands placed; /* first */
    struct gm_rms_norm_problem problem;
    struct gm_rms_norm_args args;
};

enum { NORM_X, NORM_RESIDUAL, NORM_WEIGHT, NORM_X_WEIGHT, NORM_OUT, NORM_SCALES, NORM_COUNT, NORM_OPERANDS };

/* Input values, which the type can hold. */
double norm_x(const struct norm_case *nc, int64_t row, int64_t column);
double norm_residual(const struct norm_case *nc, int64_t row, int64_t column);
double norm_weight(const struct norm_case *nc, int64_t column);
double norm_x_weight(const struct norm_case *nc, int64_t column);

void describe_norm(const struct norm_case *nc, char *text, size_t bytes);
bool place_norm(struct result *result, const struct norm_case *nc, struct operand_memory *memory,
                struct placed_norm *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_norm(struct result *result, const struct norm_case *nc, const char *kernel, uint32_t mask,
              struct operand_memory *memory);

/* Whether the kernel gives the bits of the one that the planner chooses. */
bool check_planned_bits(struct result *result, const struct gm_kernel *kernel, int64_t rows, int64_t columns);

void add_norm_rows_tests(void);
void add_norm_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum norm_bug {
    NORM_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    NORM_BUG_LOST_TAIL,                         /* the last column does not count */
    NORM_BUG_LOST_ROW,                          /* the last row is not written */
    NORM_BUG_EPS_OUTSIDE,                       /* eps is added to the root */
    NORM_BUG_OFFSET,                            /* the offset is left out */
    NORM_BUG_RESIDUAL,                          /* the sum is not written back */
    NORM_BUG_OVER_READ,                         /* reads a column too many */
    NORM_BUG_TRUNCATES,                         /* instead of rounding */
    NORM_BUG_EARLY,                             /* rounds before the weight, unasked */
    NORM_BUG_LOST_HEAD,                         /* the last head is not written */
    NORM_BUG_COUNT,                             /* looks at no row count */
    NORM_BUG_LOST_SCALE,                        /* the last scale of a row is not written */
    NORM_BUG_DROPS_NAN,                         /* NaN does not count in a scale */
    NORM_BUG_ONE_NORM,                          /* the sum is not normalised once more */
};
void compute_norm(const struct gm_kernel *kernel, const void *params);

#endif
