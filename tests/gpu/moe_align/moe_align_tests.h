/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of moe_align share: cases and their data. */
#ifndef MOE_ALIGN_TESTS_H
#define MOE_ALIGN_TESTS_H

#include "operands.h"

/* UNIFORM: any expert. SKEWED: most slots go to few. ONE: all to the last expert. BAD: some are none's: -1, the number of
 * experts, the ends of int32_t. NONE: all are. SORTED: in order already. */
enum align_ids { ALIGN_UNIFORM, ALIGN_SKEWED, ALIGN_ONE, ALIGN_BAD, ALIGN_NONE, ALIGN_SORTED, ALIGN_IDS };

struct align_case {
    int64_t tokens, k, experts, alignment;
    enum align_ids ids;
    bool inverted; /* asks for the inverse */
    bool counted;  /* the number of tokens is read on the device: `count` */
    int count;
    int start; /* of all operands, past a boundary */
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_align {
    struct placed_operands placed; /* first */
    struct gm_moe_align_problem problem;
    struct gm_moe_align_args args;
};

enum { ALIGN_ID_LIST, ALIGN_OFFSETS, ALIGN_ROWS, ALIGN_INVERSE, ALIGN_COUNT, ALIGN_OPERANDS };

void describe_align(const struct align_case *ac, char *text, size_t bytes);
bool place_align(struct result *result, const struct align_case *ac, struct operand_memory *memory,
                 struct placed_align *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_align(struct result *result, const struct align_case *ac, const char *kernel, uint32_t mask,
               struct operand_memory *memory);

void add_align_rows_tests(void);
void add_align_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum align_bug {
    ALIGN_BUG_ROW_AFTER = BUGS_OF_OPERATIONS, /* writes a row behind the last one */
    ALIGN_BUG_UNSTABLE,                       /* slots of an expert come in reverse */
    ALIGN_BUG_NO_PADDING,                     /* rows without a slot are not written */
    ALIGN_BUG_ALIGNED_START,                  /* lengths are not rounded up */
    ALIGN_BUG_EMPTY_ROUNDED,                  /* an expert without slots has rows */
    ALIGN_BUG_BAD_IS_LAST,                    /* what is none's is the last expert's */
    ALIGN_BUG_LAST_OFFSET,                    /* the last offset is not written */
    ALIGN_BUG_NO_INVERSE,                     /* the inverse of what is none's is not written */
    ALIGN_BUG_LOST_SLOT,                      /* the last slot is not sorted */
    ALIGN_BUG_COUNT,                          /* looks at no row count */
};
void compute_align(const struct gm_kernel *kernel, const void *params);

#endif
