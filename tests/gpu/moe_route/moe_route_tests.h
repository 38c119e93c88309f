/* SPDX-License-Identifier: Apache-2.0 */
/* What the test files of moe_route share: cases and their data. */
#ifndef MOE_ROUTE_TESTS_H
#define MOE_ROUTE_TESTS_H

#include "operands.h"

/* INTEGERS: nine small ones, so that many are equal. NORMAL: N(0, 2). WIDE: N(0, 40). SPECIAL: NaN, infinities, zeros of
 * either sign, the largest values among ordinary ones. EQUAL: all the same. ALL_NAN. */
enum route_inputs { ROUTE_INTEGERS, ROUTE_NORMAL, ROUTE_WIDE, ROUTE_SPECIAL, ROUTE_EQUAL, ROUTE_ALL_NAN, ROUTE_INPUTS };

struct route_case {
    int64_t tokens, experts, k, groups, top_groups;
    enum gm_type type;
    enum gm_route_method method;
    int renormalize;
    float scale;
    bool biased;
    int64_t logits_pad; /* elements between the row's end and the next row */
    int logits_start, bias_start, ids_start;
    bool counted; /* the number of tokens is read on the device: `count` */
    int count;
    float factor; /* of the logits; 0: 1 */
    enum route_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

struct placed_route {
    struct placed_operands placed; /* first */
    struct gm_moe_route_problem problem;
    struct gm_moe_route_args args;
};

enum { ROUTE_LOGITS, ROUTE_BIAS, ROUTE_IDS, ROUTE_WEIGHTS, ROUTE_COUNT, ROUTE_OPERANDS };
enum { EXPERTS_MOST = 1024, SLOTS_MOST = 32, GROUPS_MOST = 32 };

void describe_route(const struct route_case *rc, char *text, size_t bytes);
bool place_route(struct result *result, const struct route_case *rc, struct operand_memory *memory,
                 struct placed_route *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_route(struct result *result, const struct route_case *rc, const char *kernel, uint32_t mask,
               struct operand_memory *memory);

void add_route_rows_tests(void);
void add_route_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum route_bug {
    ROUTE_BUG_SLOT_AFTER = BUGS_OF_OPERATIONS, /* writes a slot too many */
    ROUTE_BUG_LOST_SLOT,                       /* the last slot is not written */
    ROUTE_BUG_LOST_TOKEN,                      /* the last token is not routed */
    ROUTE_BUG_HIGH_ID,                         /* of equals the highest expert comes first */
    ROUTE_BUG_NAN_FIRST,                       /* NaN comes first */
    ROUTE_BUG_NO_BIAS,                         /* the bias is left out */
    ROUTE_BUG_BIAS_WEIGHS,                     /* the bias is in the weights of a sigmoid */
    ROUTE_BUG_ONE_BEST,                        /* a group's score is its largest choice */
    ROUTE_BUG_ALL_GROUPS,                      /* all groups are chosen from */
    ROUTE_BUG_NO_SCALE,                        /* the scale is left out */
    ROUTE_BUG_PLAIN,                           /* nothing is renormalised */
    ROUTE_BUG_NO_SHIFT,                        /* exponentials of the logits themselves */
    ROUTE_BUG_COUNT,                           /* looks at no row count */
};
void compute_route(const struct gm_kernel *kernel, const void *params);

#endif
