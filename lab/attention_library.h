/* SPDX-License-Identifier: Apache-2.0 */
/* The library's operation `attention` on the heads of the ladder. */
#ifndef LAB_ATTENTION_LIBRARY_H
#define LAB_ATTENTION_LIBRARY_H

#include "gristmill/attention.h"
#include "lab/attention_heads.h"

struct attention_library {
    gm_plan *plan; /* NULL: this build has no kernel for it, which is said */
    struct gm_attention_args args;
};

int attention_library_open(struct lab *lab, struct attention_library *library, const struct attention_heads *heads);
void attention_library_close(struct attention_library *library);
/* One call, on the lab's stream. */
int attention_library_run(struct lab *lab, const struct attention_library *library);

#endif
