/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps of heads. */
#include "host/attention/maps.h"
#include "host/types.h"

#define DUMMY_ADDRESS 4096 /* until a call has one */
#define BOX_BYTES     128  /* of a row of a box: the span of the swizzle */

/* Strides of what exists once are never used, but must be legal. */
struct gm_map_desc gm_attention_describe(const struct gm_attention_problem *p, int64_t columns,
                                         const struct gm_attention_extent *extents, unsigned count) {
    struct gm_map_desc desc = {
        .type = gm_type_tma(p->type),
        .rank = count + 1,
        .address = DUMMY_ADDRESS,
        .dims = {(uint64_t)columns},
        .box = {(uint32_t)(BOX_BYTES / gm_type_bytes(p->type))},
        .element_strides = {1, 1, 1, 1, 1},
        .interleave = CU_TENSOR_MAP_INTERLEAVE_NONE,
        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
        .l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        .oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    };
    for (unsigned i = 0; i < count; i++) {
        desc.dims[i + 1] = (uint64_t)extents[i].count;
        desc.strides[i] = extents[i].count > 1 ? (uint64_t)extents[i].stride : 16;
        desc.box[i + 1] = extents[i].box;
    }
    return desc;
}

struct gm_map_desc gm_attention_describe_cache(const struct gm_attention_problem *p, const struct gm_strided *cache,
                                               uint32_t box_tokens) {
    const struct gm_dimension *d = cache->dimension; /* page, token, head */
    const int bytes = cache->element_bytes;
    const struct gm_attention_extent extents[] = {{d[1].count, d[1].stride * bytes, box_tokens},
                                                  {d[2].count, d[2].stride * bytes, 1},
                                                  {d[0].count, d[0].stride * bytes, 1}};
    return gm_attention_describe(p, cache->columns, extents, 3);
}

int64_t gm_attention_head_spans(const struct gm_strided *cache) {
    const int64_t bytes = cache->element_bytes, heads = cache->dimension[2].count;
    const int64_t stride = heads > 1 ? cache->dimension[2].stride * bytes : BOX_BYTES;
    if (cache->columns * bytes % BOX_BYTES || stride % BOX_BYTES || stride / BOX_BYTES > INT32_MAX / (heads + 1))
        return 0;
    return stride / BOX_BYTES;
}

struct gm_map_desc gm_attention_describe_rows(const struct gm_attention_problem *p, const struct gm_strided *cache,
                                              uint32_t box_tokens) {
    const struct gm_dimension *d = cache->dimension; /* page, token, head */
    const int bytes = cache->element_bytes;
    const int64_t slabs = cache->columns * bytes / BOX_BYTES, token = d[1].stride * bytes;
    const struct gm_attention_extent extents[] = {
        {8, token, 8},
        {(d[2].count - 1) * gm_attention_head_spans(cache) + slabs, BOX_BYTES, (uint32_t)slabs},
        {d[1].count / 8, 8 * token, box_tokens / 8},
        {d[0].count, d[0].stride * bytes, 1}};
    return gm_attention_describe(p, BOX_BYTES / bytes, extents, 4);
}

int64_t gm_attention_box_tokens(const struct gm_attention_problem *p, int64_t block) {
    int64_t a = block, b = p->kv_layout == GM_ATTENTION_KV_PAGED ? p->page_size : block;
    while (b) {
        const int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}
