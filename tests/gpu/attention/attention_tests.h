/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of attention share: cases and their data. */
#ifndef ATTENTION_TESTS_H
#define ATTENTION_TESTS_H

#include "operands.h"
#include "workspace.h"

/* NORMAL: N(0, 1). PLANTED: in v, token j has a 1 in column j % v_head_dim and 0 elsewhere, so that every column tells
 * the weight of a few tokens, and one token too many or too few shows at any length. RISING, FALLING: scores rise or fall
 * from token to token. LARGE: scores of some thousands. SPECIAL: NaN in q, in k and in v. POSITIVE: v from 1 to 2, so that a
 * sum that loses bits as it grows is too small. MOST: q, k and v are 448 of either sign, the largest e4m3. CODES: k and v are
 * all finite numbers of e4m3, and rows of q, of 16 bits, of other magnitudes. */
enum attention_inputs {
    ATTENTION_NORMAL,
    ATTENTION_PLANTED,
    ATTENTION_RISING,
    ATTENTION_FALLING,
    ATTENTION_LARGE,
    ATTENTION_SPECIAL,
    ATTENTION_POSITIVE,
    ATTENTION_MOST,
    ATTENTION_CODES
};

/* NHD: tokens of heads. HND: heads of tokens, in each page. TURNS: a token's k and its v lie beside each other. */
enum attention_layout { ATTENTION_NHD, ATTENTION_HND, ATTENTION_TURNS, ATTENTION_LAYOUTS };

enum { ATTENTION_LENGTHS = 8 };

struct attention_case {
    int64_t batch;
    int q_lens[ATTENTION_LENGTHS], kv_lens[ATTENTION_LENGTHS]; /* the last one is that of all further requests, too */
    int64_t q_heads, kv_heads, head_dim, v_head_dim;
    int64_t page_size;
    enum gm_type type;
    enum gm_attention_kv_type kv_type;
    enum gm_attention_out out;
    enum gm_attention_scales scales;
    bool fp16_weights; /* of q of e4m3, as attention_decode has them; else e4m3 */
    bool odd_scales;   /* by request: 0 of k, below 0 of k, 0 of v, NaN of q, NaN of v */
    enum gm_attention_kv_layout kv_layout;
    enum gm_attention_mask mask;
    int64_t left, right;
    float scale, softcap;
    bool sinks, lse, tree;
    bool v_is_k; /* v is the first elements of k; of TURNS nothing lies between tokens of k then */
    enum attention_layout layout;
    int pad;       /* elements behind each head */
    int start;     /* elements past a 256-byte boundary, of q, k, v and out; */
    int out_start; /* more, of out */
    /* Bounds of the problem beside what there is: more requests, rows and tokens; fewer tokens than kv_len says. */
    int spare_batch, spare_rows, spare_tokens, hidden_tokens;
    bool bad_pages;  /* numbers that name no page, among those that are used */
    bool bad_starts; /* of KV_RAGGED: the last request's tokens begin so late that some are behind all that there are */
    enum attention_inputs inputs;
    float v_scale; /* 0: 1 */
    uint64_t seed;
    int repeats, sm_budget;
    size_t workspace_limit;
    uint32_t flags, may_refuse;
};

enum {
    ATTENTION_AT_OUT,
    ATTENTION_AT_LSE,
    ATTENTION_AT_Q,
    ATTENTION_AT_K, /* of TURNS, k and v */
    ATTENTION_AT_V,
    ATTENTION_AT_Q_INDPTR,
    ATTENTION_AT_KV_LEN,
    ATTENTION_AT_KV_INDPTR,
    ATTENTION_AT_PAGE_TABLE,
    ATTENTION_AT_SINKS,
    ATTENTION_AT_TREE_MASK,
    ATTENTION_AT_Q_SCALE,
    ATTENTION_AT_K_SCALE,
    ATTENTION_AT_V_SCALE,
    ATTENTION_OPERANDS
};

struct placed_attention {
    struct placed_operands placed; /* first */
    const struct attention_case *ac;
    struct gm_attention_problem problem; /* with every stride */
    struct gm_attention_args args;
    /* Of every token of all requests its place, and of every head of it k and v: in the memory of the case. */
    const int64_t *slots;
    const double *k, *v;
};

struct attention_memory {
    struct operand_memory operands;
    struct guarded_workspace workspace;
    int64_t *slots;
    double *k, *v;
};

/* What the case has (values.c). */
int64_t attention_q_len(const struct attention_case *ac, int64_t request);
int64_t attention_kv_len(const struct attention_case *ac, int64_t request); /* as far as the problem's bound */
int64_t attention_first_row(const struct attention_case *ac, int64_t request);
int64_t attention_tokens_before(const struct attention_case *ac, int64_t request); /* of k and v */
int64_t attention_max_kv_len(const struct attention_case *ac);
/* Of KV_BATCHED and KV_PAGED tokens of a page, and pages; of KV_RAGGED the first token of a request. */
int64_t attention_page_tokens(const struct attention_case *ac);
int64_t attention_pages(const struct attention_case *ac);
int64_t attention_first_token(const struct attention_case *ac, int64_t request);
/* The same, as kv_indptr says it. */
int64_t attention_said_start(const struct attention_case *ac, int64_t request);
/* The place of a request's token among all of k and v, and an entry of its page table. */
int64_t attention_slot(const struct attention_case *ac, int64_t request, int64_t token);
int64_t attention_table_entry(const struct attention_case *ac, int64_t request, int64_t entry);
bool attention_sees(const struct attention_case *ac, int64_t request, int64_t row, int64_t token);
int32_t attention_tree_word(const struct attention_case *ac, int64_t row_of_q);
enum gm_type attention_kv_type(const struct attention_case *ac);
enum gm_type attention_out_type(const struct attention_case *ac);
/* As they are stored: without the scales of e4m3. */
double attention_q(const struct attention_case *ac, int64_t row, int64_t head, int64_t at);
double attention_k(const struct attention_case *ac, int64_t slot, int64_t head, int64_t at);
double attention_v(const struct attention_case *ac, int64_t slot, int64_t head, int64_t at);
double attention_sink(const struct attention_case *ac, int64_t head);
/* A scale of q, k or v: 1 where there are none, or none of q. */
enum attention_scale { ATTENTION_SCALE_OF_Q, ATTENTION_SCALE_OF_K, ATTENTION_SCALE_OF_V };
double attention_scale(const struct attention_case *ac, enum attention_scale of, int64_t request, int64_t kv_head);

/* In double, with how far it may be off, rounding to the type included (reference.c). */
struct attention_row {
    double *want, *tolerance; /* of v_head_dim columns */
    double lse, lse_tolerance;
};
void attention_reference(const struct placed_attention *placed, int64_t request, int64_t row, int64_t head,
                         struct attention_row *into);

void describe_attention(const struct attention_case *ac, char *text, size_t bytes);
bool place_attention(struct result *result, const struct attention_case *ac, struct attention_memory *memory,
                     struct placed_attention *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_attention(struct result *result, const struct attention_case *ac, const char *kernel, uint32_t mask,
                   struct attention_memory *memory);
void free_attention(struct placed_attention *placed, struct attention_memory *memory);

void add_attention_rows_tests(void);
void add_attention_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum attention_bug {
    ATTENTION_BUG_ELEMENT_AFTER = BUGS_OF_OPERATIONS, /* writes an element behind a head */
    ATTENTION_BUG_LOST_ROW,                           /* the last row is not written */
    ATTENTION_BUG_LOST_TOKEN,                         /* the last token is not read */
    ATTENTION_BUG_WINDOW,                             /* a token more at the left */
    ATTENTION_BUG_CAUSAL_START,                       /* aligned to the start */
    ATTENTION_BUG_PAGE,                               /* the page behind the one that is named */
    ATTENTION_BUG_GROUP,                              /* heads of q go by turns to those of k */
    ATTENTION_BUG_CAP,                                /* no soft cap */
    ATTENTION_BUG_SINK,                               /* the sink is left out of the sum */
    ATTENTION_BUG_SINK_LSE,                           /* and is in lse */
    ATTENTION_BUG_BASE,                               /* lse to the base of 2 */
    ATTENTION_BUG_EMPTY,                              /* a row that sees nothing is not written */
    ATTENTION_BUG_TREE,                               /* looks at no tree mask */
    ATTENTION_BUG_READS_BEHIND,                       /* 0 times what is behind the last token is added */
    ATTENTION_BUG_DROPS_NAN,                          /* NaN counts as hidden */
    ATTENTION_BUG_SCALE,                              /* a request has the scales of the first one */
    ATTENTION_BUG_V_SCALE,                            /* v has the scale of k */
    ATTENTION_BUG_SCALE_HEAD,                         /* a head has the scale of the next one */
    ATTENTION_BUG_SCALE_BEHIND_CAP,                   /* scores are scaled when they are capped */
    ATTENTION_BUG_NAN_IS_480,                         /* NaN of e4m3 is the number that its bits would be */
};
void compute_attention(const struct gm_kernel *kernel, const void *params);

#endif
