/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests of the rotary embedding share: cases and their data. */
#ifndef ROPE_TESTS_H
#define ROPE_TESTS_H

#include "operands.h"

/* INTEGERS: small ones, also in the table, so that everything is exact. NORMAL: N(0, 1), and angles. POSITIVE: N(3, 1),
 * and angles. SIGNS: heads of one magnitude, a power of two, and integers in the table and the weights: with eps = 0, a
 * norm is exact up to the error of a root. SPECIAL: NaN, infinities, zeros, the largest and the smallest values among
 * ordinary ones. */
enum rope_inputs { ROPE_INTEGERS, ROPE_NORMAL, ROPE_POSITIVE, ROPE_SIGNS, ROPE_SPECIAL };

/* PADDED: with elements between heads, and between tokens. QKV_ROWS: q, k and v of a token are one row. HEADS_OUTSIDE:
 * all tokens of a head lie together. */
enum rope_layout { ROPE_PACKED, ROPE_PADDED, ROPE_QKV_ROWS, ROPE_HEADS_OUTSIDE, ROPE_LAYOUTS };

/* NHD: pages of tokens of heads. HND: pages of heads of tokens. The others have K and V in turns: pages, tokens,
 * heads. */
enum rope_cache { ROPE_NHD, ROPE_HND, ROPE_KV_PAGES, ROPE_KV_TOKENS, ROPE_KV_HEADS, ROPE_CACHES };

struct rope_case {
    int64_t tokens, q_heads, kv_heads, head_dim, rotary_dim, rotary_offset;
    int64_t page_size, spare_slots; /* slots beside those of the tokens */
    enum gm_type type;
    enum gm_rope_pairing pairing;
    enum gm_rounding rounding, normalized_rounding;
    enum gm_rope_norm norm;
    enum gm_rope_append append;
    int inverse, fp32_weight, int64_positions;
    float eps, weight_offset;
    float k_scale, v_scale; /* of a cache of e4m3 */
    enum rope_layout layout;
    enum rope_cache cache;
    int pad;                /* elements, of PADDED and QKV_ROWS */
    int start;              /* elements past a 256-byte boundary, of all operands of the type */
    bool in_place, drops_k; /* k_out is 0 */
    bool bad;               /* some positions and slots are out of range */
    bool huge;              /* the first token's slot, and an int64 position, are above 2^32 */
    bool flagged;           /* there is an error flag */
    bool counted;           /* the number of tokens is read on the device: `count` */
    int count;
    float scale; /* of the table; 0: 1 */
    enum rope_inputs inputs;
    uint64_t seed;
    int repeats, sm_budget;
    uint32_t may_refuse;
};

enum {
    ROPE_AT_Q_OUT, /* first, as others lie within it */
    ROPE_AT_K_OUT,
    ROPE_AT_K_CACHE,
    ROPE_AT_V_CACHE,
    ROPE_AT_Q,
    ROPE_AT_K,
    ROPE_AT_V,
    ROPE_AT_POSITIONS,
    ROPE_AT_TABLE,
    ROPE_AT_Q_WEIGHT,
    ROPE_AT_K_WEIGHT,
    ROPE_AT_SLOTS,
    ROPE_AT_K_SCALE,
    ROPE_AT_V_SCALE,
    ROPE_AT_COUNT,
    ROPE_AT_FLAG,
    ROPE_OPERANDS
};

struct placed_rope {
    struct placed_operands placed; /* first */
    const struct rope_case *rc;
    struct gm_rope_problem problem; /* with every stride */
    struct gm_rope_args args;
};

/* Values that the case has (values.c). */
double rope_x(const struct rope_case *rc, int stream, int64_t token, int64_t head, int64_t at); /* 0, 1, 2: q, k, v */
double rope_weight(const struct rope_case *rc, int stream, int64_t at);
double rope_table(const struct rope_case *rc, int64_t position, int64_t at);
int64_t rope_max_position(const struct rope_case *rc);
int64_t rope_slot_count(const struct rope_case *rc);
int64_t rope_position(const struct rope_case *rc, int64_t token);
int64_t rope_slot(const struct rope_case *rc, int64_t token);
bool rope_is_bad_position(const struct rope_case *rc, int64_t token);
bool rope_is_bad_slot(const struct rope_case *rc, int64_t token);

/* What a head of q (stream 0) or k (1) becomes, as fp32 or rounded early, and how far it may be off before it is
 * rounded to the type (reference.c). */
void rope_reference(const struct rope_case *rc, int stream, int64_t token, int64_t head, double *want, double *error);

void describe_rope(const struct rope_case *rc, char *text, size_t bytes);
bool place_rope(struct result *result, const struct rope_case *rc, struct operand_memory *memory,
                struct placed_rope *placed);
/* Places, plans the kernel (NULL: the planner's choice), executes and compares. */
bool run_rope(struct result *result, const struct rope_case *rc, const char *kernel, uint32_t mask,
              struct operand_memory *memory);

void add_rope_rows_tests(void);
void add_rope_api_tests(void);

/* The kernel on the CPU, and the bugs that the self-test plants in it (on_cpu.c). */
enum rope_bug {
    ROPE_BUG_ELEMENT_AFTER = BUGS_OF_OPERATIONS, /* writes an element behind a head */
    ROPE_BUG_LOST_HEAD,                          /* the last head is not written */
    ROPE_BUG_LOST_TOKEN,                         /* the last token is not written */
    ROPE_BUG_PAIRING,                            /* the other pairs */
    ROPE_BUG_SIGN,                               /* rotates the other way */
    ROPE_BUG_REST,                               /* what is not rotated becomes 0 */
    ROPE_BUG_EARLY,                              /* rounds products, unasked */
    ROPE_BUG_NORM_OF_ROTARY,                     /* the norm's sum is of the rotated elements only */
    ROPE_BUG_OFFSET,                             /* the weight's offset is left out */
    ROPE_BUG_SKIPS_NOTHING,                      /* a negative slot is slot 0 */
    ROPE_BUG_PAGE,                               /* the tokens of a page are counted from its end */
    ROPE_BUG_UNSATURATED,                        /* what is too large for e4m3 becomes NaN */
    ROPE_BUG_MULTIPLIES,                         /* by the scale, instead of a division */
    ROPE_BUG_FLAG,                               /* the error flag is not set */
    ROPE_BUG_COUNT,                              /* looks at no row count */
};
void compute_rope(const struct gm_kernel *kernel, const void *params);

#endif
