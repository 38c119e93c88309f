/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of elements in shared memory, 16-byte chunks exchanged by XOR, and the products of 16-bit ones by mma.sync.
 *
 *   chunk c of row r goes to place c ^ r % 8: the chunks of 8 neighbouring rows that ldmatrix reads at a time lie in 8 different
 *   16-byte columns of the 128 bytes that the banks have; two rows of 64 bytes have those together, and so c ^ r / 2 % 4 */
#ifndef GM_SM80_ATTENTION_TILE_CUH
#define GM_SM80_ATTENTION_TILE_CUH

#include "common/global.cuh"
#include "common/index.cuh"
#include "common/shared.cuh"
#include "common/types.h"
#include "sm80/cp_async.cuh"
#include "sm80/ldmatrix.cuh"
#include "sm80/mma_m16n8.cuh"

enum {
    TYPE = GM_TYPE,
    HEAD_DIM = GM_HEAD_DIM,   /* elements of a row */
    ROW_BYTES = 2 * HEAD_DIM, /* of 16-bit elements, */
    CHUNKS = HEAD_DIM / 8,    /* and its chunks */
    STEPS = HEAD_DIM / 16,    /* of a product along a row */
};
static_assert(HEAD_DIM % 64 == 0, "a row is whole lines of 128 bytes");

/* Unsigned, so that their quotients are shifts. */
static __device__ __forceinline__ uint32_t lane_index(void) {
    return (uint32_t)thread_index() % 32;
}

static __device__ __forceinline__ uint32_t warp_index(void) {
    return (uint32_t)thread_index() / 32;
}

/* What a row's chunks are exchanged by. */
template <int PITCH> static __device__ __forceinline__ uint32_t exchange_of(uint32_t row) {
    static_assert(PITCH == 64 || PITCH % 128 == 0, "half a line, or whole ones");
    return PITCH == 64 ? row / 2 & 3 : row & 7;
}

template <int PITCH = ROW_BYTES> static __device__ __forceinline__ uint32_t chunk_offset(uint32_t row, uint32_t chunk) {
    return row * PITCH + ((chunk ^ exchange_of<PITCH>(row)) << 4);
}

/* The offset `rows` and `chunks` further on, for constants that share no bit with the row's and the chunk's low 3 ones. */
template <int PITCH = ROW_BYTES>
static __device__ __forceinline__ uint32_t chunk_move(uint32_t offset, int rows, int chunks) {
    return (offset ^ ((exchange_of<PITCH>(rows) ^ (chunks & 7)) << 4)) + rows * PITCH + (chunks & ~7) * 16;
}

/* ---- copies ---------------------------------------------------------------------------------------- */

/* Starts the copy of a chunk, or fills it with zeros. L2 gets whole rows where they have 256 bytes. */
template <int PITCH = ROW_BYTES>
static __device__ __forceinline__ void copy_chunk(uint32_t shared_addr, uint64_t source, bool exists) {
    if (PITCH >= 256)
        cp_async_cg_16(shared_addr, source, exists ? 16 : 0);
    else
        cp_async_cg_16_alone(shared_addr, source, exists ? 16 : 0);
}

/* The same through registers, for rows of any alignment, of which so many elements exist: of 16 bits all of a chunk, or none. */
template <int BYTES = 2>
static __device__ __forceinline__ void copy_elements(uint32_t shared_addr, uint64_t source, int count) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 16 / BYTES; ++i)
        if (BYTES == 2 ? count > 0 : i < count)
            words[i * BYTES / 4] |= (BYTES == 1 ? ld_global_b8(source + i) : ld_global_b16(source + 2 * i))
                                    << i * BYTES % 4 * 8;
    st_shared_v2_b32(shared_addr, words);
    st_shared_v2_b32(shared_addr + 8, words + 2);
}

/* ---- fragments ------------------------------------------------------------------------------------- */

/* Where a lane's row of a 16 x 16 block is. Its four matrices are rows 0, columns 0; rows 8, columns 0; rows 0, columns 8; rows 8,
 * columns 8: an A fragment; and, transposed, two B fragments of rows along k, as those of v. */
static __device__ __forceinline__ uint32_t lane_of_rows(uint32_t lane) {
    return chunk_offset(lane % 16, lane / 16);
}

/* Columns before rows: two B fragments of columns along k, as those of k. */
static __device__ __forceinline__ uint32_t lane_of_columns(uint32_t lane) {
    return chunk_offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
}

static __device__ __forceinline__ void multiply(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if (TYPE == GM_TYPE_bf16)
        mma_m16n8k16_bf16(sums, a, b0, b1);
    else
        mma_m16n8k16_f16(sums, a, b0, b1);
}

#endif
