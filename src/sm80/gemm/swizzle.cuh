/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operand's 16-byte chunks lie in a stage: the one address rule of cp.async writes and ldmatrix reads. */
#ifndef GM_SM80_SWIZZLE_CUH
#define GM_SM80_SWIZZLE_CUH

#include "common/gemm_sm80/tile.h"
#include <stdint.h>

/* A chunk is 16 bytes of a row: 8 elements of 16 bits, 4 of tf32, 16 of int8. ldmatrix reads one chunk of 8 consecutive
 * rows at a time: they must lie in 8 different 16-byte columns of the 128-byte bank line.
 *
 *   pad: each row is 16 bytes longer                xor: chunk c of row r goes to place c ^ key(r)
 *
 *   128-byte rows, pitch 144: place of chunk 0      128-byte rows, key = r % 8      64-byte rows, key = r / 2 % 4
 *   r=0  X . . . . . . . | .                        r=0  0 1 2 3 4 5 6 7            r=0,1  0 1 2 3 | 0 1 2 3
 *   r=1    X . . . . . . . | .                      r=1  1 0 3 2 5 4 7 6            r=2,3  1 0 3 2 | 1 0 3 2
 *   r=2      X . . . . . . . | .                    r=2  2 3 0 1 6 7 4 5            r=4,5  2 3 0 1 | 2 3 0 1
 *   r=3        X . . . . . . . | .                  r=3  3 2 1 0 7 6 5 4            r=6,7  3 2 1 0 | 3 2 1 0
 *   (each row starts one column further)            r=4  4 5 6 7 0 1 2 3            (two rows share a bank line)
 *
 * Longer rows XOR the low three bits of c, so a chunk stays in its 128-byte part of the row.
 *
 * ldmatrix transposes elements of 16 bits only. So of MN-major tf32 every lane loads its elements one by one: a warp 8
 * neighbouring ones, two chunks, of four rows of k, which must lie in different halves of a bank line: key 2 (r % 4), of
 * 64-byte rows 2 (r / 2 % 2). */
static __device__ __forceinline__ uint32_t swizzle_key(int map, int row_elems, int mn_major, int row) {
    const int chunks = row_elems * GM_TYPE_BYTES(GM_TYPE) / 16;
    if (map != GM_SMEM_MAP_xor)
        return 0;
    if (mn_major && GM_TYPE_BYTES(GM_TYPE) == 4)
        return chunks >= 8 ? (row & 3) << 1 : row & 2;
    return chunks >= 8 ? row & 7 : chunks == 4 ? (row >> 1) & 3 : (row >> 2) & 1;
}

/* Byte offset of (row, chunk) from the operand's start. */
static __device__ __forceinline__ uint32_t swizzle_offset(int map, int row_elems, int mn_major, int row, int chunk) {
    return row * GM_SM80_ROW_BYTES(row_elems, map, GM_TYPE) +
           ((chunk ^ swizzle_key(map, row_elems, mn_major, row)) << 4);
}

/* The offset `rows` and `chunks` further on, for constants that share no bit with the row and chunk of `offset`:
 * then the key of the sum is the XOR of the keys, and one XOR with a constant replaces a new address. Also right
 * for an absolute address whose operand starts on a 128-byte boundary. */
static __device__ __forceinline__ uint32_t swizzle_move(int map, int row_elems, int mn_major, uint32_t offset, int rows,
                                                        int chunks) {
    const int step = rows * GM_SM80_ROW_BYTES(row_elems, map, GM_TYPE);
    const int low = row_elems * GM_TYPE_BYTES(GM_TYPE) >= 128 ? 7 : row_elems * GM_TYPE_BYTES(GM_TYPE) / 16 - 1;
    if (map != GM_SMEM_MAP_xor)
        return offset + step + chunks * 16;
    return (offset ^ ((swizzle_key(map, row_elems, mn_major, rows) ^ (chunks & low)) << 4)) + step +
           (chunks & ~low) * 16;
}

/* Offset of the row that lane `lane` names in an ldmatrix.x4 of the block of 16 rows and 32 bytes that starts at `mn`,
 * `k`. The four matrices are (mn, k) = (0, 0), (8, 0), (0, 8), (8, 8) in 16-bit elements, the order of an A fragment, or
 * with `k_first` (0, 0), (0, 8), (8, 0), (8, 8), two B fragments in a row. An MN-major operand has k along the rows and is
 * read with .trans; of tf32 it is the offset of the lane's first element. */
static __device__ __forceinline__ uint32_t swizzle_lane(int map, int row_elems, int mn_major, int k_first, int mn,
                                                        int k, int lane) {
    constexpr int elems = 16 / GM_TYPE_BYTES(GM_TYPE);
    const int second = (lane >> 3) & 1, third = lane >> 4;
    const int mn_half = k_first ? third : second, k_half = k_first ? second : third;
    if (mn_major && elems == 4)
        return swizzle_offset(map, row_elems, 1, k + lane % 4, mn / 4 + lane / 16) + lane / 4 % 4 * 4;
    return mn_major ? swizzle_offset(map, row_elems, 1, k + (lane & 7) + 8 * k_half, mn / 8 + mn_half)
                    : swizzle_offset(map, row_elems, 0, mn + (lane & 7) + 8 * mn_half, k / elems + k_half);
}

/* The lane's offset for the block `mn` elements and `k` elements further: multiples of 8, and k also of a chunk. */
static __device__ __forceinline__ uint32_t swizzle_block(int map, int row_elems, int mn_major, uint32_t lane_offset,
                                                         int mn, int k) {
    constexpr int elems = 16 / GM_TYPE_BYTES(GM_TYPE);
    return mn_major ? swizzle_move(map, row_elems, 1, lane_offset, k, mn / elems)
                    : swizzle_move(map, row_elems, 0, lane_offset, mn, k / elems);
}

#endif
