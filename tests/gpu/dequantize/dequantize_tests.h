/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of dequantize share: cases and their data. */
#ifndef DEQUANTIZE_TESTS_H
#define DEQUANTIZE_TESTS_H

#include "operands.h"

/* ORDINARY: finite numbers of x, scales around 1. ANY: every code of x, and scales of every size. SPECIAL: every code, and among
 * the scales NaN, infinities, zeros, denormals, and negative ones. ONE_SCALE: finite numbers, and the float 0x3f3f3f3f as every
 * scale. */
enum dequantize_inputs {
    DEQUANTIZE_ORDINARY,
    DEQUANTIZE_ANY,
    DEQUANTIZE_SPECIAL,
    DEQUANTIZE_INPUTS,
    DEQUANTIZE_ONE_SCALE = DEQUANTIZE_INPUTS
};

struct dequantize_case {
    int64_t rows, columns, group;
    enum gm_type type, out_type; /* of x: 0 is GM_E4M3 */
    enum gm_scaling scaling;
    enum gm_scale_format format;
    enum gm_scale_order order;
    int64_t x_pad, out_pad, scales_pad; /* elements between the row's end and the next row */
    int x_start, out_start, scales_start;
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    float times; /* of scales; 0: 1 */
    enum dequantize_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_dequantize {
    struct placed_operands placed; /* first */
    struct gm_dequantize_problem problem;
    struct gm_dequantize_args args;
};

enum { DEQUANTIZE_X, DEQUANTIZE_OUT, DEQUANTIZE_SCALES, DEQUANTIZE_COUNT, DEQUANTIZE_OPERANDS };

void describe_dequantize(const struct dequantize_case *dc, char *text, size_t bytes);
bool place_dequantize(struct result *result, const struct dequantize_case *dc, struct operand_memory *memory,
                      struct placed_dequantize *placed);
/* Compares every bit but those of NaN, also signs of zeros. */
bool compare_dequantize(struct result *result, const struct call *call, const uint8_t *region, const char *what);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_dequantize(struct result *result, const struct dequantize_case *dc, const char *kernel, uint32_t mask,
                    struct operand_memory *memory);

void add_dequantize_rows_tests(void);
void add_dequantize_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum dequantize_bug {
    DEQUANTIZE_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    DEQUANTIZE_BUG_LOST_TAIL,                         /* the last column is not written */
    DEQUANTIZE_BUG_LOST_ROW,                          /* the last row is not written */
    DEQUANTIZE_BUG_NEXT_SCALE,                        /* the last column of a group has the next one's scale */
    DEQUANTIZE_BUG_ORDER,                             /* scales by row and by column change places */
    DEQUANTIZE_BUG_NAN_BYTE,                          /* the byte 0xff is 2^128 */
    DEQUANTIZE_BUG_ZERO_BYTE,                         /* the byte 0 is 0 */
    DEQUANTIZE_BUG_LOST_SIGN,                         /* -0 becomes +0 */
    DEQUANTIZE_BUG_ROUNDS_DOWN,                       /* cuts off what does not fit */
    DEQUANTIZE_BUG_COUNT,                             /* looks at no row count */
};
void compute_dequantize(const struct gm_kernel *kernel, const void *params);

#endif
