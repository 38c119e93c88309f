/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of permutations share: cases and their data. */
#ifndef PERMUTE_TESTS_H
#define PERMUTE_TESTS_H

#include "operands.h"

enum { PERMUTE_RANK = GM_PERMUTE_RANK_MAX };

/* Of casts; elements that are moved have random bits. NORMAL: N(0, 1). WIDE: of every exponent from 2^-30 to 2^20, so that
 * fp16 is left on both sides. SPECIAL: NaN, infinities, zeros, ties, the largest and the smallest values. */
enum permute_inputs { PERMUTE_NORMAL, PERMUTE_WIDE, PERMUTE_SPECIAL };

struct permute_case {
    int rank, order[PERMUTE_RANK];
    int64_t extents[PERMUTE_RANK], x_strides[PERMUTE_RANK], out_strides[PERMUTE_RANK];
    int element_bytes; /* 0: a cast */
    enum gm_type type, out_type;
    int x_start, out_start; /* elements past a 256-byte boundary */
    bool in_place;
    enum permute_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_permute {
    struct placed_operands placed; /* first */
    struct permute_case pc;
    struct gm_permute_problem problem;
    struct gm_permute_args args;
    /* Of each element from out's first to its last: the one of x that it shall be, or -1. And whether one of x is read. */
    int64_t *source, x_span, out_span;
    bool *is_read;
};

enum { PERMUTE_X, PERMUTE_OUT, PERMUTE_OPERANDS };

void describe_permute(const struct permute_case *pc, char *text, size_t bytes);
bool place_permute(struct result *result, const struct permute_case *pc, struct operand_memory *memory,
                   struct placed_permute *placed);
void free_placed_permute(struct placed_permute *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_permute(struct result *result, const struct permute_case *pc, const char *kernel, uint32_t mask,
                 struct operand_memory *memory);

/* The strides of packed dimensions. */
void pack_permute(struct permute_case *pc);
/* The same with so many elements more behind each index of the dimension that is last but one. */
void pad_permute(struct permute_case *pc, int64_t x_pad, int64_t out_pad);

void add_permute_rows_tests(void);
void add_permute_copies_tests(void);
void add_permute_api_tests(void);

/* The kernels on the CPU, and the bugs that the self-test plants in them (on_cpu.c). */
enum permute_bug {
    PERMUTE_BUG_ELEMENT_AFTER = BUGS_OF_OPERATIONS, /* writes an element too many */
    PERMUTE_BUG_LOST_TAIL,                          /* the last element is not written */
    PERMUTE_BUG_LOST_MIDDLE,                        /* one in the middle is not written */
    PERMUTE_BUG_SWAPPED,                            /* two neighbours in out change places */
    PERMUTE_BUG_BYTES,                              /* the first byte of an element is another's */
    PERMUTE_BUG_X_PITCH,                            /* a row of x is taken for one element longer */
    PERMUTE_BUG_TRUNCATES,                          /* a cast does not round */
    PERMUTE_BUG_DROPS_NAN,                          /* a cast makes NaN a number */
    PERMUTE_BUG_FLUSHES,                            /* a cast makes denormals 0 */
    PERMUTE_BUG_SATURATES,                          /* a cast makes the largest number of what is too large */
    PERMUTE_BUG_GAP,                                /* writes between out's elements */
};
void compute_permute(const struct gm_kernel *kernel, const void *params);

#endif
