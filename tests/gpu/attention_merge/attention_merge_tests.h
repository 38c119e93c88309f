/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of attention_merge share: cases and their data. */
#ifndef ATTENTION_MERGE_TESTS_H
#define ATTENTION_MERGE_TESTS_H

#include "operands.h"

/* EQUAL: even integers, and equal lse, so that their mean is exact. NORMAL: N(0, 1), and lse some units apart. ALONE: one side
 * or both have no weight, and hold NaN and infinities; what is left is exact. SPECIAL: NaN, infinities, zeros, the smallest
 * values among ordinary ones, and lse of every kind. */
enum merge_inputs { MERGE_EQUAL, MERGE_NORMAL, MERGE_ALONE, MERGE_SPECIAL, MERGE_INPUTS };
/* Strides of tokens and heads: heads with gaps between them; those of a token first; all tokens of a head first. */
enum merge_layout { MERGE_PADDED, MERGE_PACKED, MERGE_HEADS_OUTSIDE, MERGE_LAYOUTS };
enum merge_place { MERGE_APART, MERGE_IN_A, MERGE_IN_B };

struct merge_case {
    int64_t tokens, heads, head_dim;
    enum gm_type type;
    int out;                  /* 0: the type's; or 1 + a type */
    enum merge_layout layout; /* of a; b, out, lse_a, lse_b and lse have the next ones */
    int64_t pad;              /* elements between heads that are padded; and between tokens */
    int a_start, b_start, out_start, lse_start;
    enum merge_place place, lse_place; /* of out and of lse */
    bool has_no_lse;
    bool counted; /* the number of tokens is read on the device: `count` */
    int count;
    float factor; /* of a and b; 0: 1 */
    enum merge_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_merge {
    struct placed_operands placed; /* first */
    const struct merge_case *mc;
    struct gm_attention_merge_problem problem;
    struct gm_attention_merge_args args;
};

enum { MERGE_A, MERGE_B, MERGE_OUT, MERGE_LSE_A, MERGE_LSE_B, MERGE_LSE, MERGE_COUNT, MERGE_OPERANDS };

void describe_merge(const struct merge_case *mc, char *text, size_t bytes);
bool place_merge(struct result *result, const struct merge_case *mc, struct operand_memory *memory,
                 struct placed_merge *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_merge(struct result *result, const struct merge_case *mc, const char *kernel, uint32_t mask,
               struct operand_memory *memory);
/* compare_placed(), and the sign of zeros where what is left of one side has its bits. */
bool compare_merge(struct result *result, const struct call *call, const uint8_t *region, const char *what);

void add_merge_rows_tests(void);
void add_merge_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum merge_bug {
    MERGE_BUG_ELEMENT_AFTER = BUGS_OF_OPERATIONS, /* writes an element too many */
    MERGE_BUG_LOST_TAIL,                          /* the last element is not written */
    MERGE_BUG_LOST_HEAD,                          /* the last head is not computed */
    MERGE_BUG_SWAPPED,                            /* a has b's weight */
    MERGE_BUG_NO_MAXIMUM,                         /* exp(lse), without a difference */
    MERGE_BUG_ZERO_COUNTS,                        /* what has no weight is multiplied by 0 */
    MERGE_BUG_LOST_SIGN,                          /* what has no weight adds +0 */
    MERGE_BUG_NONE_IS_NAN,                        /* -inf has a difference from -inf */
    MERGE_BUG_ALL_IS_NAN,                         /* +inf has a difference from +inf */
    MERGE_BUG_BASE_2,                             /* powers of 2 */
    MERGE_BUG_NO_SUM,                             /* nothing is divided by the sum */
    MERGE_BUG_LSE_IS_LARGEST,                     /* lse without the logarithm of the sum */
    MERGE_BUG_STRIDES,                            /* b has a's strides */
    MERGE_BUG_COUNT,                              /* looks at no row count */
};
void compute_merge(const struct gm_kernel *kernel, const void *params);

#endif
