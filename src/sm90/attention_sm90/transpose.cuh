/* SPDX-License-Identifier: Apache-2.0 */
/* V of 8 bits, transposed in shared memory: wgmma takes such operands along what is summed over, the tokens, and a cache has
 * them along the head. Warps of the producer's warpgroup go from each stage of V as it was loaded to one that is multiplied.
 *
 * ldmatrix.trans moves pairs of bytes: a lane gets the elements 2g and 2g + 1 of 16, g = lane / 4, of the tokens 2q and 2q + 1
 * of 8, q = lane % 4. Bytes of two such words make four tokens of one element, and stmatrix puts them down where they are.
 * So nothing is moved further than it has to, and both orders are others than in memory. Here is the only place that makes
 * them; pack_p() and store_row() follow:
 *
 *   tokens     place 4q + i of 16 is token 2q + i, i < 2, or 8 + 2q + i - 2: the columns of S that a thread has of two blocks
 *              of 8, as a fragment of A wants them
 *   elements   row 8e + g of 16 is element 2g + e: a thread has of O's two blocks of 8 columns the elements 4q ... 4q + 3 */
#ifndef GM_SM90_ATTENTION_TRANSPOSE_CUH
#define GM_SM90_ATTENTION_TRANSPOSE_CUH

#include "common/shared.cuh"
#include "sm80/ldmatrix.cuh"
#include "sm90/attention_sm90/constants.cuh"
#include "sm90/attention_sm90/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/tma.cuh"

/* 32 tokens x 16 elements. `pairs`: of the tokens 8m + 2q and the next one. Those from `tokens` on become zeros. */
static __device__ __forceinline__ void drop_tail(uint32_t (&pairs)[4], int tokens, int lane) {
#pragma unroll
    for (int m = 0; m < 4; ++m) {
        const int kept = tokens - 8 * m - lane % 4 * 2;
        pairs[m] = kept <= 0 ? 0 : kept == 1 ? pairs[m] & 0xFFFF : pairs[m];
    }
}

/* The slab of a piece's elements is one of SPAN bytes a token; chunks of 16 bytes are swizzled by the row, as TMA and wgmma
 * have them. */
static __device__ __forceinline__ void transpose_piece(uint32_t loaded, uint32_t turned, int group, int elements,
                                                       int tokens, int lane) {
    const int in_matrix = lane % 8, matrix = lane / 8;
    uint32_t pairs[4];
    ldmatrix_x4_trans(pairs, loaded + elements / 8 * TILE_N * SPAN + (32 * group + lane) * SPAN +
                                 ((elements % 8 ^ in_matrix) << 4));
    if (tokens < TILE_N)
        drop_tail(pairs, tokens - 32 * group, lane);
    const int row = 16 * elements + matrix % 2 * 8 + in_matrix, chunk = 2 * group + matrix / 2;
    stmatrix_x4(turned + row * SPAN + ((chunk ^ in_matrix) << 4), __byte_perm(pairs[0], pairs[1], 0x6420),
                __byte_perm(pairs[0], pairs[1], 0x7531), __byte_perm(pairs[2], pairs[3], 0x6420),
                __byte_perm(pairs[2], pairs[3], 0x7531));
}

/* One of the TRANSPOSERS: its pieces of every block of V, until it is told of one with less than no tokens. */
static __device__ __forceinline__ void transpose_values(uint32_t base, int number) {
    const struct pipeline loaded = loaded_ring(base), turned = v_ring(base);
#pragma unroll 1
    for (uint32_t count = 0;; ++count) {
        const struct pipeline_state at = state_at<STAGES>(count);
        const int lane = lane_index();
        pipeline_wait(loaded, at);
        const int tokens = __shfl_sync(0xFFFFFFFF, (int)ld_shared_b32(tokens_addr(base, at.slot)), 0);
        if (tokens < 0)
            return;
        mbarrier_wait(turned.empty_addr + 8 * at.slot, at.phase ^ 1);
#pragma unroll 4
        for (int piece = number; piece < TILE_N / 32 * (V_DIM / 16); piece += TRANSPOSERS)
            transpose_piece(loaded_addr(base, at.slot), v_addr(base, at.slot), piece % (TILE_N / 32),
                            piece / (TILE_N / 32), tokens, lane);
        fence_proxy_async();
        __syncwarp();
        if (lane == 0) {
            mbarrier_arrive(turned.full_addr + 8 * at.slot);
            mbarrier_arrive(loaded.empty_addr + 8 * at.slot);
        }
    }
}

#endif
