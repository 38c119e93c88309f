/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of process_logits share: cases and their data. */
#ifndef PROCESS_LOGITS_TESTS_H
#define PROCESS_LOGITS_TESTS_H

#include "operands.h"

/* NORMAL: 3 N(0, 1). SPECIAL: NaN, infinities, zeros, the largest and the smallest among ordinary ones. */
enum logits_inputs { LOGITS_NORMAL, LOGITS_SPECIAL };

struct logits_case {
    int64_t rows, columns,
        slots; /* slots of 0: as many as rows, in their order; else rows have them in reverse, row 1 none */
    enum gm_type type;
    bool wide, in_place;
    float cap, temperature, repetition, frequency, presence;
    bool has_counts, has_bias, has_mask;
    bool has_last; /* with counts */
    bool by_row;   /* parameters are arrays */
    int64_t pad;   /* elements between the row's end and the next row */
    int start, out_start, counts_start;
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    float factor; /* of logits; 0: 1 */
    enum logits_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_logits {
    struct placed_operands placed; /* first */
    struct gm_process_logits_problem problem;
    struct gm_process_logits_args args;
};

enum {
    LOGITS_LOGITS,
    LOGITS_OUT,
    LOGITS_COUNTS, /* in bytes */
    LOGITS_BIAS,
    LOGITS_MASK,
    LOGITS_SLOTS,
    LOGITS_BIAS_SLOTS,
    LOGITS_MASK_SLOTS,
    LOGITS_LAST_IDS,
    LOGITS_TEMPERATURES,
    LOGITS_REPETITIONS,
    LOGITS_FREQUENCIES,
    LOGITS_PRESENCES,
    LOGITS_COUNT,
    LOGITS_OPERANDS
};

void describe_logits(const struct logits_case *lc, char *text, size_t bytes);
bool place_logits(struct result *result, const struct logits_case *lc, struct operand_memory *memory,
                  struct placed_logits *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_logits(struct result *result, const struct logits_case *lc, const char *kernel, uint32_t mask,
                struct operand_memory *memory);

void add_logits_rows_tests(void);
void add_logits_api_tests(void);

/* ---- the model (on_cpu.c) -------------------------------------------------------------------------------- */

/* What an element is asked for. */
struct logits_wish {
    float cap, bias, temperature, repetition, frequency, presence;
    uint32_t count;
    bool allowed;
};

/* The bugs that the self-test plants in the kernel on the CPU. */
enum logits_bug {
    LOGITS_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    LOGITS_BUG_LOST_TAIL,                         /* the last column is not written */
    LOGITS_BUG_LOST_ROW,                          /* the last row is not written */
    LOGITS_BUG_ONE_SIDE,                          /* repetition divides negative logits too */
    LOGITS_BUG_PROMPT_COUNTS,                     /* presence is of the prompt's tokens too */
    LOGITS_BUG_BIAS_LAST,                         /* the bias is added behind the penalties */
    LOGITS_BUG_TWO_ROUNDINGS,                     /* frequency * count is rounded */
    LOGITS_BUG_MASK_ADDS,                         /* the mask adds -inf, so that NaN stays */
    LOGITS_BUG_LAST_LATER,                        /* the last token is counted behind the penalties */
    LOGITS_BUG_WRAPS,                             /* a full count wraps into the prompt's bit */
    LOGITS_BUG_NO_SLOT,                           /* rows without a slot have the first one */
    LOGITS_BUG_ROW_IS_SLOT,                       /* looks at no slots */
    LOGITS_BUG_COUNT,                             /* looks at no row count */
};
float logits_model(float x, const struct logits_wish *wish, int bug);
/* A token's count after it was seen once more. */
uint32_t counted_once_more(uint32_t count, int bug);
void compute_logits(const struct gm_kernel *kernel, const void *params);

#endif
