/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows of k and v are: in pages, in a page of each request, or behind each other. */
#ifndef GM_ATTENTION_CACHE_CUH
#define GM_ATTENTION_CACHE_CUH

#include "common/attention/requests.cuh"

/* What has to be read to find a key: its entry of the page table, or the request's first token; else nothing. It must be one of
 * the request's keys. */
static __device__ __forceinline__ uint32_t entry_of_key(const struct gm_attention_params &p, int request, int key) {
    if (p.flags & GM_ATTENTION_IS_PAGED)
        return ld_global_b32(p.page_table + 4 * (request * p.table_stride + divide(key, p.page)));
    return p.flags & GM_ATTENTION_IS_RAGGED ? ld_global_b32(p.kv_indptr + 4 * (int64_t)request) : 0;
}

struct place {
    uint32_t page, token;
};

/* Entries that name no page or token count as others: nothing outside k and v is read. */
static __device__ __forceinline__ struct place place_of_key(const struct gm_attention_params &p, int request, int key,
                                                            uint32_t entry) {
    if (p.flags & GM_ATTENTION_IS_PAGED)
        return {entry < (uint32_t)p.page_count ? entry : 0, key - divide(key, p.page) * p.page.divisor};
    if (p.flags & GM_ATTENTION_IS_RAGGED)
        return {0, min(entry + key, (uint32_t)p.kv_tokens - 1)};
    return {(uint32_t)request, (uint32_t)key};
}

static __device__ __forceinline__ uint64_t address_of(const struct gm_attention_cache &cache, int head,
                                                      const struct place &at) {
    return cache.address + head * cache.head + (int64_t)at.page * cache.page + (int64_t)at.token * cache.token;
}

#endif
