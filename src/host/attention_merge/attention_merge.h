/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation attention_merge tells its family. */
#ifndef GM_HOST_ATTENTION_MERGE_H
#define GM_HOST_ATTENTION_MERGE_H

#include "gristmill/attention_merge.h"
#include "host/strided.h"

/* The operands of a problem; the first three are of heads, the others have a float for each head. */
enum {
    GM_MERGE_A,
    GM_MERGE_B,
    GM_MERGE_OUT,
    GM_MERGE_LSE_A,
    GM_MERGE_LSE_B,
    GM_MERGE_LSE,
    GM_MERGE_OPERANDS,
    GM_MERGE_HEADS = GM_MERGE_LSE_A
};
void gm_attention_merge_operands(const struct gm_attention_merge_problem *problem,
                                 struct gm_strided operands[GM_MERGE_OPERANDS]);
/* Of out, also where the problem is not normalised. */
enum gm_type gm_attention_merge_out_type(const struct gm_attention_merge_problem *problem);

#endif
