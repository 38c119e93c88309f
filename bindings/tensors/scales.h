/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of scales of 8-bit operands, and how they lie. */
#ifndef GM_TENSORS_SCALES_H
#define GM_TENSORS_SCALES_H

#include "call.h"

/* Elements along K that share a scale of a group, and rows of a block. */
enum { SCALES_SPAN = 128 };
int64_t scales_spans(int64_t elements);

/* Whether these are sizes of one scale for each row of x, [..., 1], or of `last` for each, [..., last]. */
bool scales_fit_rows(const struct tensor *scales, const struct tensor *x, int64_t last);
/* Fails unless all scales of rows are neighbours. */
bool scales_of_rows(struct call *call, const char *name, const struct tensor *scales);
/* Order and stride of scales of groups or blocks: fails unless those of a row are neighbours, or those of a column. */
bool scales_of_grid(struct call *call, const char *name, const struct tensor *scales, enum gm_scale_order *order,
                    int64_t *stride);

#endif
