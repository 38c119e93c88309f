/* SPDX-License-Identifier: Apache-2.0 */
/* A tile's rows of out and lse, normalised. A warp stages its rows where q's and the ring were, so that whole rows are stored. */
#ifndef GM_ATTENTION_SM80_STORE_CUH
#define GM_ATTENTION_SM80_STORE_CUH

#include "sm80/attention_sm80/attend.cuh"

/* A staged row is fp32, and 32 bytes longer than its elements, so that lanes' rows are in different banks. */
enum { STAGED_PITCH = 4 * HEAD_DIM + 32 };
static_assert(TILE_ROWS * STAGED_PITCH <= (int)Q_BYTES + (int)RING_BYTES, "q's rows and the ring hold them");

static __device__ __forceinline__ void stage_row(float norm, const float (&values)[HEAD_DIM / 8][4], int half,
                                                 int row) {
    const uint32_t place = shared_q() + row * STAGED_PITCH + lane_index() % 4 * 8;
#pragma unroll
    for (int j = 0; j < HEAD_DIM / 8; ++j)
        st_shared_v2(place + 32 * j, normalised(values[j][2 * half], norm), normalised(values[j][2 * half + 1], norm));
}

/* The warp's rows, which its lanes have staged. */
static __device__ __forceinline__ void store_staged(const struct gm_attention_params &p, const struct tile &tile) {
    const int lane = lane_index(), first = warp_index() * WARP_ROWS;
    const int column_bytes = p.flags & GM_ATTENTION_OUT_IS_FP32 ? 4 : 2;
#pragma unroll 1
    for (int i = lane; i < WARP_ROWS * CHUNKS; i += 32) {
        const int row = first + i / CHUNKS, chunk = i % CHUNKS;
        if (row >= tile.rows || chunk * 8 >= p.v_head_dim)
            continue;
        const uint32_t place = shared_q() + row * STAGED_PITCH + chunk * 32;
        const struct packed_row at = packed_row(p, tile.request, tile.head, tile.first_row + row);
        float v[8];
        ld_shared_v4(place, v[0], v[1], v[2], v[3]);
        ld_shared_v4(place + 16, v[4], v[5], v[6], v[7]);
        store_out<TYPE>(p, address_of(p.out, at) + chunk * 8 * column_bytes, v);
    }
}

/* All threads call it: the ring is free. */
static __device__ __forceinline__ void store_tile(const struct gm_attention_params &p, const struct tile &tile,
                                                  const struct sums &s) {
    const float scale = scale_of(p);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2 * BLOCKS; ++i) {
        const int half = i % 2, row = row_of_lane(i / 2, half);
        const struct packed_row at = packed_row(p, tile.request, tile.head, tile.first_row + min(row, tile.rows - 1));
        const float sum = sum_of_quad(s.sum[i / 2][half]), most = s.most[i / 2][half] * scale;
        stage_row(norm_of(most, sum, sink_of(p, at.head)), s.values[i / 2], half, row);
        if (row < tile.rows && lane_index() % 4 == 0)
            store_lse(p, at, lse_of(most, sum));
    }
    __syncwarp();
    store_staged(p, tile);
}

#endif
