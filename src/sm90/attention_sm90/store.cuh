/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a tile: O and lse to global memory. */
#ifndef GM_SM90_ATTENTION_STORE_CUH
#define GM_SM90_ATTENTION_STORE_CUH

#include "sm90/attention/store_row.cuh"
#include "sm90/attention_sm90/softmax.cuh"

/* What the thread's two rows of O are to be multiplied by; stores their lse. `row`: the first one's place in the tile. */
static __device__ __forceinline__ void finish_rows(const struct gm_attention_params &p, const struct rows &rows,
                                                   float scale, const struct tile &t, int row, int lane,
                                                   float (&factor)[2]) {
    const float sink = sink_of(p, t.head);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const float sum = sum_of_quad(rows.sum[r]), most = rows.top[r] * scale;
        factor[r] = norm_of(most, sum, sink);
        if (p.lse.address && row + 8 * r < t.rows && lane % 4 == 0)
            st_global_b32(p.lse.address + (int64_t)(t.row + row + 8 * r) * p.lse.token + t.head * p.lse.head,
                          __float_as_uint(lse_of(most, sum)));
    }
}

static __device__ __forceinline__ void store_rows(const struct gm_attention_params &p, const float (&o)[OUTPUTS],
                                                  const float (&factor)[2], const struct tile &t, int row, int lane) {
    const uint64_t address = p.out.address + (int64_t)(t.row + row) * p.out.token + t.head * p.out.head;
    store_row<0>(p, address, o, factor[0], row < t.rows, p.v_head_dim, lane);
    store_row<1>(p, address + 8 * p.out.token, o, factor[1], row + 8 < t.rows, p.v_head_dim, lane);
}

#endif
