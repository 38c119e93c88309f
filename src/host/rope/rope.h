/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation rope tells its family. */
#ifndef GM_HOST_ROPE_H
#define GM_HOST_ROPE_H

#include "gristmill/rope.h"
#include "host/strided.h"

/* The operands of heads; what a problem does not have is empty. */
enum {
    GM_ROPE_Q,
    GM_ROPE_K,
    GM_ROPE_V,
    GM_ROPE_Q_OUT,
    GM_ROPE_K_OUT,
    GM_ROPE_K_CACHE,
    GM_ROPE_V_CACHE,
    GM_ROPE_HEAD_OPERANDS
};
void gm_rope_heads_of(const struct gm_rope_problem *problem, struct gm_strided heads[GM_ROPE_HEAD_OPERANDS]);

/* The operands that are read by a token, or by all. */
enum { GM_ROPE_Q_WEIGHT, GM_ROPE_K_WEIGHT, GM_ROPE_TABLE, GM_ROPE_POSITIONS, GM_ROPE_SLOTS, GM_ROPE_ROWS };
void gm_rope_rows_of(const struct gm_rope_problem *problem, struct gm_matrix rows[GM_ROPE_ROWS]);

#endif
