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

/* Where a slab has 16 elements of a token: pieces of 16 bytes are swizzled by the row, as TMA and wgmma have them. */
static __device__ __forceinline__ uint32_t piece_at(uint32_t loaded, int chunk, int token) {
    return loaded + chunk / 8 * TILE_N * SPAN + token * SPAN + ((chunk % 8 ^ token % 8) << 4);
}

/* The chunk's elements of tokens behind the last become zeros, whatever was there. */
static __device__ __forceinline__ void clear_chunk(uint32_t loaded, int chunk, int tokens, int lane) {
#pragma unroll 1
    for (int token = tokens + lane; token < TILE_N; token += 32)
        st_shared_v4(piece_at(loaded, chunk, token), 0, 0, 0, 0);
    __syncwarp();
}

/* 16 elements of all tokens: number `chunk` of such. V as it was loaded has a row of SPAN bytes for each token, the transposed
 * one for each element. GROUPS of 32 tokens are read before any is written, so that a trip to shared memory is waited for
 * once; more of them take more registers than the producer's warps have. */
static __device__ __forceinline__ void transpose_chunk(uint32_t loaded, uint32_t turned, int chunk, int lane) {
    enum { GROUPS = TILE_N % 64 ? 3 : 2 };
    static_assert(!IS_8BIT || TILE_N % (32 * GROUPS) == 0, "all tokens are in groups");
    const int in_matrix = lane % 8, matrix = lane / 8;
    const uint32_t from = piece_at(loaded, chunk, lane);
    const uint32_t to = turned + (16 * chunk + matrix % 2 * 8 + in_matrix) * SPAN;
#pragma unroll
    for (int first = 0; first < TILE_N / 32; first += GROUPS) {
        uint32_t pairs[GROUPS][4];
#pragma unroll
        for (int i = 0; i < GROUPS; ++i)
            ldmatrix_x4_trans(pairs[i], from + 32 * (first + i) * SPAN);
#pragma unroll
        for (int i = 0; i < GROUPS; ++i) {
            const uint32_t(&p)[4] = pairs[i];
            stmatrix_x4(to + (((2 * (first + i) + matrix / 2) ^ in_matrix) << 4), __byte_perm(p[0], p[1], 0x6420),
                        __byte_perm(p[0], p[1], 0x7531), __byte_perm(p[2], p[3], 0x6420),
                        __byte_perm(p[2], p[3], 0x7531));
        }
    }
}

/* One of the TRANSPOSERS: its chunks of every block of V, until it is told of one with less than no tokens. */
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
#pragma unroll 1
        for (int chunk = number; chunk < V_DIM / 16; chunk += TRANSPOSERS) {
            if (tokens < TILE_N)
                clear_chunk(loaded_addr(base, at.slot), chunk, tokens, lane);
            transpose_chunk(loaded_addr(base, at.slot), v_addr(base, at.slot), chunk, lane);
        }
        fence_proxy_async();
        __syncwarp();
        if (lane == 0) {
            mbarrier_arrive(turned.full_addr + 8 * at.slot);
            mbarrier_arrive(loaded.empty_addr + 8 * at.slot);
        }
    }
}

#endif
