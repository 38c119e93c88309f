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

/* Elements of tokens behind the last become zeros, whatever was there: of each of the warp's chunks. */
static __device__ __forceinline__ void clear_tail_8bit(uint32_t loaded, int number, int tokens, int lane) {
#pragma unroll 1
    for (int chunk = number; chunk < V_DIM / 16; chunk += TRANSPOSERS)
#pragma unroll 1
        for (int token = tokens + lane; token < TILE_N; token += 32)
            st_shared_v4(piece_at(loaded, chunk, token), 0, 0, 0, 0);
    __syncwarp();
}

/* A lane's addresses. They differ from chunk to chunk by constants, and in one XOR. */
struct lane_places {
    uint32_t from;            /* of the stage: its token of a group, of the warp's first chunk */
    uint32_t to[TILE_N / 32]; /* of the stage: its row of the first chunk, a group's tokens */
};

static __device__ __forceinline__ struct lane_places places_of(int number, int lane) {
    const int in_matrix = lane % 8, matrix = lane / 8;
    struct lane_places at = {piece_at(0, number, lane), {}};
#pragma unroll
    for (int group = 0; group < TILE_N / 32; ++group)
        at.to[group] = (16 * number + matrix % 2 * 8 + in_matrix) * SPAN + ((2 * group + matrix / 2 ^ in_matrix) << 4);
    return at;
}

/* 16 elements of all tokens: the warp's chunk number `step`. V as it was loaded has a row of SPAN bytes for each token, the
 * transposed one for each element. GROUPS of 32 tokens are read before any is written, so that a trip to shared memory is
 * waited for once; more of them take more registers than the producer's warps have. */
static __device__ __forceinline__ void transpose_chunk(uint32_t loaded, uint32_t turned, const struct lane_places &at,
                                                       uint32_t step) {
    enum { GROUPS = TILE_N % 64 ? 3 : 2 };
    static_assert(!IS_8BIT || TILE_N % (32 * GROUPS) == 0, "all tokens are in groups");
    const uint32_t chunk = step * TRANSPOSERS; /* ahead of the warp's number, which changes no other bit */
    const uint32_t from = loaded + chunk / 8 * TILE_N * SPAN + (at.from ^ chunk % 8 << 4);
#pragma unroll
    for (int first = 0; first < TILE_N / 32; first += GROUPS) {
        uint32_t pairs[GROUPS][4];
#pragma unroll
        for (int i = 0; i < GROUPS; ++i)
            ldmatrix_x4_trans(pairs[i], from + 32 * (first + i) * SPAN);
#pragma unroll
        for (int i = 0; i < GROUPS; ++i) {
            const uint32_t(&p)[4] = pairs[i];
            stmatrix_x4(turned + at.to[first + i] + 16 * chunk * SPAN, __byte_perm(p[0], p[1], 0x6420),
                        __byte_perm(p[0], p[1], 0x7531), __byte_perm(p[2], p[3], 0x6420),
                        __byte_perm(p[2], p[3], 0x7531));
        }
    }
}

/* One of the TRANSPOSERS: its chunks of every block of V, until it is told of one with less than no tokens. */
static __device__ __forceinline__ void transpose_values(uint32_t base, int number) {
    const struct pipeline loaded = loaded_ring(base), turned = v_ring(base);
    const int lane = lane_index();
    const struct lane_places places = places_of(number, lane);
#pragma unroll 1
    for (uint32_t count = 0;; ++count) {
        const struct pipeline_state at = state_at<STAGES>(count);
        pipeline_wait(loaded, at);
        const int tokens = __shfl_sync(0xFFFFFFFF, (int)ld_shared_b32(tokens_addr(base, at.slot)), 0);
        if (tokens < 0)
            return;
        mbarrier_wait(turned.empty_addr + 8 * at.slot, at.phase ^ 1);
        if (tokens < TILE_N)
            clear_tail_8bit(loaded_addr(base, at.slot), number, tokens, lane);
#pragma unroll TILE_N % 64 ? 1 : V_DIM / 16 / TRANSPOSERS
        for (uint32_t step = 0; step < V_DIM / 16 / TRANSPOSERS; ++step)
            transpose_chunk(loaded_addr(base, at.slot), v_addr(base, at.slot), places, step);
        fence_proxy_async();
        __syncwarp();
        if (lane == 0) {
            mbarrier_arrive(turned.full_addr + 8 * at.slot);
            mbarrier_arrive(loaded.empty_addr + 8 * at.slot);
        }
    }
}

#endif
