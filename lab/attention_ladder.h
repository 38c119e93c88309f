/* SPDX-License-Identifier: Apache-2.0 */
/* The attention ladder's points, for what is concluded from them. */
#ifndef LAB_ATTENTION_LADDER_H
#define LAB_ATTENTION_LADDER_H

#include "lab/attention_model.h"
#include "lab/lab.h"

/* Names of quantities. */
#define ATTENTION_LOADS   "load wavefronts"
#define ATTENTION_STORES  "store wavefronts"
#define ATTENTION_READ    "bytes read from memory"
#define ATTENTION_WRITTEN "bytes written to memory"

/* The one to be counted has enough blocks of tokens that every stage is filled twice. `checked`: rows of a head that
 * are compared. */
enum { ATTENTION_COUNTED, ATTENTION_TIMED, ATTENTION_SIZES };
struct attention_size {
    int heads, tokens, checked;
};
extern const struct attention_size attention_sizes[ATTENTION_SIZES];

/* NULL: this GPU has no such kernel. */
const struct lab_point *attention_point(struct lab *lab, enum attention_kernel which, int size);
/* Operations of one product of the timed size: 2 for each pair of row and token and each element of the head. */
double attention_product_flops(void);

int attention_conclude(struct lab *lab);

#endif
