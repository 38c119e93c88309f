/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of embed share: cases and their data. */
#ifndef EMBED_TESTS_H
#define EMBED_TESTS_H

#include "operands.h"

/* INTEGERS: small ones. NORMAL: N(0, 1). SPECIAL: NaN, infinities, zeros, the largest and the smallest values. */
enum embed_inputs { EMBED_INTEGERS, EMBED_NORMAL, EMBED_SPECIAL };
/* ANY: all in range. BAD: every third is not: -1, the vocabulary, the ends of int32_t, and of int64_t such whose low half
 * alone would be in range. EDGES: the first and the last row. */
enum embed_ids { EMBED_ANY, EMBED_BAD, EMBED_EDGES };

struct embed_case {
    int64_t tokens, columns, vocabulary;
    enum gm_type type;
    int int64_ids;
    float scale;
    int64_t table_pad, out_pad; /* elements between the row's end and the next row */
    int ids_start, table_start, out_start;
    bool flagged; /* asks for the error flag */
    bool counted; /* the number of tokens is read on the device: `count` */
    int count;
    float factor; /* of the table; 0: 1 */
    enum embed_inputs inputs;
    enum embed_ids ids;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_embed {
    struct placed_operands placed; /* first */
    struct gm_embed_problem problem;
    struct gm_embed_args args;
};

enum { EMBED_IDS, EMBED_TABLE, EMBED_OUT, EMBED_FLAG, EMBED_COUNT, EMBED_OPERANDS };

void describe_embed(const struct embed_case *ec, char *text, size_t bytes);
bool place_embed(struct result *result, const struct embed_case *ec, struct operand_memory *memory,
                 struct placed_embed *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_embed(struct result *result, const struct embed_case *ec, const char *kernel, uint32_t mask,
               struct operand_memory *memory);

void add_embed_rows_tests(void);
void add_embed_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum embed_bug {
    EMBED_BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes a column too many */
    EMBED_BUG_LOST_TAIL,                         /* the last column is not written */
    EMBED_BUG_LOST_ROW,                          /* the last token is not looked up */
    EMBED_BUG_NO_SCALE,                          /* the scale is left out */
    EMBED_BUG_ROW_AFTER,                         /* takes the row behind */
    EMBED_BUG_BAD_IS_FIRST,                      /* an id out of range is taken for 0 */
    EMBED_BUG_BAD_IS_LEFT,                       /* the row of an id out of range is not written */
    EMBED_BUG_LOW_HALF,                          /* of 64-bit ids the low half is taken */
    EMBED_BUG_NO_FLAG,                           /* the error flag is never set */
    EMBED_BUG_ALWAYS_FLAG,                       /* the error flag is always set */
    EMBED_BUG_COUNT,                             /* looks at no row count */
};
void compute_embed(const struct gm_kernel *kernel, const void *params);

#endif
