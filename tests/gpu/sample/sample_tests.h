/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of sampling share: cases and their data. */
#ifndef SAMPLE_TESTS_H
#define SAMPLE_TESTS_H

#include "operands.h"

/* NORMAL: 3 N(0, 1). FLAT: N(0, 1) / 8. TIES: integers from -4 to 4, many times each. EQUAL: all are the same. SPECIAL: NaN,
 * infinities, zeros, the largest and the smallest among ordinary ones. MASKED: one of eight is not -inf. NOTHING: NaN and
 * -inf only. EXTREME: the largest and the smallest values. SPIKE: one, and all others are equal to each other. */
enum sample_inputs {
    SAMPLE_NORMAL,
    SAMPLE_FLAT,
    SAMPLE_TIES,
    SAMPLE_EQUAL,
    SAMPLE_SPECIAL,
    SAMPLE_MASKED,
    SAMPLE_NOTHING,
    SAMPLE_EXTREME,
    SAMPLE_SPIKE,
    SAMPLE_INPUTS
};

struct sample_case {
    int64_t rows, columns;
    enum gm_type type;
    float temperature, top_p, min_p;
    int64_t top_k;
    bool by_row; /* parameters, seeds and steps are arrays, and there is a step for all */
    bool has_logprobs;
    int64_t pad; /* elements between the row's end and the next row */
    int start;
    bool counted; /* the number of rows is read on the device: `count` */
    int count;
    enum sample_inputs inputs;
    uint64_t seed;  /* of the data, and of rows that have their own */
    uint64_t noise; /* of all others */
    int64_t step;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_sample {
    struct placed_operands placed; /* first */
    struct gm_sample_problem problem;
    struct gm_sample_args args;
};

enum {
    SAMPLE_LOGITS,
    SAMPLE_TEMPERATURES,
    SAMPLE_TOP_KS,
    SAMPLE_TOP_PS,
    SAMPLE_MIN_PS,
    SAMPLE_SEEDS,
    SAMPLE_STEPS,
    SAMPLE_STEP,
    SAMPLE_COUNT,
    SAMPLE_IDS,
    SAMPLE_LOGPROBS,
    SAMPLE_OPERANDS
};

void describe_sample(const struct sample_case *sc, char *text, size_t bytes);
bool place_sample(struct result *result, const struct sample_case *sc, struct operand_memory *memory,
                  struct placed_sample *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_sample(struct result *result, const struct sample_case *sc, const char *kernel, uint32_t mask,
                struct operand_memory *memory);

void add_sample_rows_tests(void);
void add_sample_api_tests(void);

/* ---- the model (on_cpu.c) -------------------------------------------------------------------------------- */

/* What a row is asked for. */
struct sample_wish {
    float temperature, top_p, min_p;
    int32_t top_k;
    uint64_t seed;
    int64_t step;
};

/* The bugs that the self-test plants in the kernel on the CPU. */
enum sample_bug {
    SAMPLE_BUG_ROW_AFTER = BUGS_OF_OPERATIONS, /* writes an id too many */
    SAMPLE_BUG_LOST_ROW,                       /* the last row is not written */
    SAMPLE_BUG_LOST_TAIL,                      /* the last column is not looked at */
    SAMPLE_BUG_LAST_OF_EQUALS,                 /* ties go to the highest column */
    SAMPLE_BUG_ONE_TOO_MANY,                   /* top_k keeps one more */
    SAMPLE_BUG_DROPS_TIES,                     /* what equals the k-th largest is dropped behind the k-th */
    SAMPLE_BUG_P_OF_ALL,                       /* top_p is a share of all, not of what top_k leaves */
    SAMPLE_BUG_P_WITHOUT_LAST,                 /* the token that completes top_p is dropped */
    SAMPLE_BUG_MIN_P_OF_SUM,                   /* min_p is relative to the sum */
    SAMPLE_BUG_NAN_WINS,                       /* NaN is the largest */
    SAMPLE_BUG_PLACE,                          /* the noise depends on the row's place */
    SAMPLE_BUG_STEP,                           /* looks at no step of the row */
    SAMPLE_BUG_SHORT_SEED,                     /* looks at half of the seed */
    SAMPLE_BUG_LOGPROB,                        /* the logprob of what is kept */
    SAMPLE_BUG_COUNT,                          /* looks at no row count */
};
/* The token of a row, and its logprob. */
int32_t sample_model(const float *logits, int columns, const struct sample_wish *wish, int bug, float *logprob);
void compute_sample(const struct gm_kernel *kernel, const void *params);

#endif
