/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation embed tells its family. */
#ifndef GM_HOST_EMBED_H
#define GM_HOST_EMBED_H

#include "gristmill/embed.h"
#include "host/matrix.h"

/* The operands of a normalised problem that are rows. */
enum { GM_EMBED_TABLE, GM_EMBED_OUT, GM_EMBED_MATRICES };
void gm_embed_matrices(const struct gm_embed_problem *problem, struct gm_matrix matrices[GM_EMBED_MATRICES]);

#endif
