/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by cp.async, ldmatrix and mma.sync: a CTA has a tile of rows of q and goes through all keys that they see.
 *
 * Rows are packed: row r of a request and a head of k is head r % group of token r / group. Scores, weights and sums stay in
 * registers. Masks are looked at only where some row of the tile does not see some key of a step. The order of sums is the same
 * on every run, and does not depend on other requests.
 *
 *   constants.cuh                what follows from the variant's columns; shared memory
 *   work.cuh      tile_of        which rows a CTA takes
 *   load.cuh      load_k         q, k, v -> shared memory
 *   attend.cuh    attend         both products of all keys
 *   store.cuh     store_tile     sums -> out */
#include "sm80/attention_sm80/store.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_sm80_params p) {
    const struct list &list = shared_list();
    begin_list(p);
#pragma unroll 1
    for (uint32_t work = cta_index(); work < list.tiles * p.a.kv_heads; work += gridDim.x) {
        struct sums s = {};
#pragma unroll
        for (int i = 0; i < 2 * BLOCKS; ++i)
            s.most[i / 2][i % 2] = -GM_INFINITY;
        begin_tile(p, work);
        attend(p.a, list.tile, s);
        store_tile(p.a, list.tile, s);
        __syncthreads(); /* the next tile comes where this one was, and q where rows of out were staged */
    }
}
