/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps of heads, for the families that load by TMA: boxes of 128 bytes a row, swizzled, with zeros outside. */
#ifndef GM_HOST_ATTENTION_MAPS_H
#define GM_HOST_ATTENTION_MAPS_H

#include "host/attention/attention.h"
#include "host/tensor_map.h"

/* A dimension beside the elements of a head. */
struct gm_attention_extent {
    int64_t count, stride; /* bytes */
    uint32_t box;
};

/* A map of so many dimensions and `columns` elements. Until a call has an address it has another. */
struct gm_map_desc gm_attention_describe(const struct gm_attention_problem *problem, int64_t columns,
                                         const struct gm_attention_extent *extents, unsigned count);
/* Of k or v: (element, token, head, page) in boxes of so many tokens. */
struct gm_map_desc gm_attention_describe_cache(const struct gm_attention_problem *problem,
                                               const struct gm_strided *cache, uint32_t box_tokens);
/* Rows of 128 bytes from a head to the next, where heads consist of them and a map can count them; else 0. */
int64_t gm_attention_head_spans(const struct gm_strided *cache);
/* Of pages of such heads: (element, token of 8, 128 bytes of a head, 8 tokens of a page, page) in boxes of whole heads. */
struct gm_map_desc gm_attention_describe_rows(const struct gm_attention_problem *problem,
                                              const struct gm_strided *cache, uint32_t box_tokens);
/* Tokens of a box: all of a block, or as many as divide both it and a page. */
int64_t gm_attention_box_tokens(const struct gm_attention_problem *problem, int64_t block);

#endif
