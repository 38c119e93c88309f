/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/embed.h. */
#include "gristmill/embed.h"
#include "layout.h"

MEMBER(gm_embed_problem, size, 0)
MEMBER(gm_embed_problem, tokens, 8)
MEMBER(gm_embed_problem, columns, 16)
MEMBER(gm_embed_problem, vocabulary, 24)
MEMBER(gm_embed_problem, type, 32)
MEMBER(gm_embed_problem, int64_ids, 36)
MEMBER(gm_embed_problem, scale, 40)
MEMBER(gm_embed_problem, table_stride, 48)
MEMBER(gm_embed_problem, out_stride, 56)
MEMBER(gm_embed_problem, table_align, 64)
MEMBER(gm_embed_problem, out_align, 68)
END(gm_embed_problem, out_align, 72)

MEMBER(gm_embed_args, size, 0)
MEMBER(gm_embed_args, ids, 8)
MEMBER(gm_embed_args, table, 16)
MEMBER(gm_embed_args, out, 24)
MEMBER(gm_embed_args, error_flag, 32)
MEMBER(gm_embed_args, row_count, 40)
END(gm_embed_args, row_count, 48)
