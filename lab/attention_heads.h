/* SPDX-License-Identifier: Apache-2.0 */
/* The heads that the attention ladder attends to, on the device and on the host, and the check of what came out. */
#ifndef LAB_ATTENTION_HEADS_H
#define LAB_ATTENTION_HEADS_H

#include "lab/kernels/attention.h"
#include "lab/lab.h"

struct attention_heads {
    struct attention problem; /* with addresses of the device */
    int heads;
    uint16_t *q, *k, *v; /* on the host */
    int checked;         /* rows of each head that are compared, spread over it */
};

/* What a kernel is to leave: scores, weights or out. */
enum attention_result { ATTENTION_SCORES, ATTENTION_WEIGHTS, ATTENTION_OUT };

/* q, k and v of multiples of 1/16 from -2 to 2. 0, or -1 with a printed sentence. */
int attention_heads_make(struct lab *lab, struct attention_heads *made, int heads, int tokens, int checked);
void attention_heads_free(struct attention_heads *heads); /* the host's part */

/* Fills what the kernel is to leave with NaN, and a little more behind it. */
int attention_heads_poison(struct lab *lab, const struct attention_heads *heads, enum attention_result result);
/* Compares it with float64. `rounded`: weights were rounded to bf16 before they were multiplied. */
int attention_heads_check(struct lab *lab, struct lab_point *point, const struct attention_heads *heads,
                          enum attention_result result, bool rounded);

/* ---- on the host ---------------------------------------------------------------------------------- */

/* One row in float64, and by how much each element of what fp32 makes of it may be off. */
struct attention_row {
    double *scores, *weights; /* of each token */
    double out[ATTENTION_HEAD], bound[ATTENTION_HEAD];
    double score_bound; /* of any score; a weight may be off by twice that share of itself, and by 2^-16 of it */
};

int attention_row_make(struct attention_row *row, int tokens);
void attention_row_free(struct attention_row *row);
void attention_row_fill(struct attention_row *row, const struct attention_heads *heads, int head, int number,
                        bool rounded);
/* The number of the i-th row that is compared. */
int attention_row_number(const struct attention_heads *heads, int head, int i);

#endif
