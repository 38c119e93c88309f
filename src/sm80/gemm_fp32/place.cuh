/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operand's 16-byte chunks lie in a stage: the one address rule of cp.async writes and ld.shared reads; and
 * which rows and columns of the tile a lane has. */
#ifndef GM_SM80_GEMM_FP32_PLACE_CUH
#define GM_SM80_GEMM_FP32_PLACE_CUH

#include "common/index.cuh"
#include "sm80/gemm_fp32/constants.cuh"

/* One operand's place in a stage, always a compile-time constant. A stage holds A, then B. */
struct operand_shape {
    int mn_major, rows, chunks, lanes, start_bytes; /* rows of `chunks` 16-byte chunks; lanes of a warp along mn */
};

static __device__ __forceinline__ constexpr struct operand_shape shape_a(void) {
    return {A_MN, A_MN ? TILE_K : TILE_M, (A_MN ? TILE_M : TILE_K) / 4, LANES_M, 0};
}

static __device__ __forceinline__ constexpr struct operand_shape shape_b(void) {
    return {B_MN, B_MN ? TILE_K : TILE_N, (B_MN ? TILE_N : TILE_K) / 4, LANES_N, TILE_M * TILE_K * 4};
}

/* The row in a stage -> the row of the operand's tile. A lane has 4 neighbouring rows of a K-major operand. What the
 * lanes of a warp read at the same time must lie in neighbouring rows of the stage, for the keys below:
 *
 *   row of the tile    0 1 2 3 | 4 5 6 7 | ...      lane 0 has rows 0 - 3, lane 1 has 4 - 7, ...
 *   row in the stage   0 L 2L 3L| 1 L+1 .. | ...     L lanes */
static __device__ __forceinline__ constexpr int logical_row(struct operand_shape shape, int row) {
    const int group = 4 * shape.lanes;
    return shape.mn_major ? row : row / group * group + row % shape.lanes * 4 + row / shape.lanes % 4;
}

/* Chunk c of a K-major row goes to place c ^ key: so do 8 neighbouring rows lie in 8 different 16-byte columns of the
 * 128-byte bank line. Lanes that read an MN-major row read neighbouring chunks, and need no key.
 *
 *   64-byte rows, key = r / 2 % 4          128-byte rows, key = r % 8 */
static __device__ __forceinline__ constexpr int key_of(struct operand_shape shape, int row) {
    return shape.mn_major ? 0 : shape.chunks == 4 ? row / 2 % 4 : row % 8;
}

/* Byte offset of (row, chunk) in a stage. */
static __device__ __forceinline__ constexpr uint32_t place_of(struct operand_shape shape, int row, int chunk) {
    return shape.start_bytes + row * shape.chunks * 16 + ((chunk ^ key_of(shape, row)) << 4);
}

/* The address `rows` and `chunks` further on, for constants that share no bit with the row and chunk of `addr`: then
 * the key of the sum is the XOR of the keys, and one XOR with a constant replaces a new address. */
static __device__ __forceinline__ uint32_t place_move(struct operand_shape shape, uint32_t addr, int rows, int chunks) {
    const int step = rows * shape.chunks * 16;
    return shape.mn_major ? addr + step + chunks * 16 : (addr ^ ((key_of(shape, rows) ^ chunks) << 4)) + step;
}

/* Lanes are numbered so that loads of 16 bytes by a half-warp, 4 different ones of each operand, are one wavefront:
 * bit 0 changes nothing of A's addresses, bit 1 nothing of B's.
 *
 *   bit of the lane   0  1  2  3  4
 *   bit of            n0 m0 m1 n1 m2 (or n2) */
static __device__ __forceinline__ int lane_m(int lane) {
    return (lane >> 1 & 3) | (LANES_M == 8 ? lane >> 4 << 2 : 0);
}

static __device__ __forceinline__ int lane_n(int lane) {
    return (lane & 1) | (lane >> 2 & 2) | (LANES_N == 8 ? lane >> 4 << 2 : 0);
}

/* Of the `i`th row or column of a thread, which lies so far behind its first. */
static __device__ __forceinline__ constexpr int group_offset(int lanes, int i) {
    return i / 4 * 4 * lanes + i % 4;
}

/* The first row and column of the tile that this thread has. */
static __device__ __forceinline__ int first_row(void) {
    const int thread = thread_index();
    return thread / 32 / WARPS_N * WARP_M + lane_m(thread % 32) * 4;
}

static __device__ __forceinline__ int first_column(void) {
    const int thread = thread_index();
    return thread / 32 % WARPS_N * WARP_N + lane_n(thread % 32) * 4;
}

#endif
