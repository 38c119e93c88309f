/* SPDX-License-Identifier: Apache-2.0 */
/* The swizzle that TMA and WGMMA share: the 16-byte chunk index inside a line is XORed with the line's number.
 *
 *   span 128, 8 rows x 128 bytes, entry = where chunk 0..7 of the row lies     span  XORed bits  with bits
 *     row 0   0 1 2 3 4 5 6 7        row 4   4 5 6 7 0 1 2 3                    128     4-6        7-9
 *     row 1   1 0 3 2 5 4 7 6        row 5   5 4 7 6 1 0 3 2                     64     4-5        7-8
 *     row 2   2 3 0 1 6 7 4 5        row 6   6 7 4 5 2 3 0 1                     32     4          7
 *     row 3   3 2 1 0 7 6 5 4        row 7   7 6 5 4 3 2 1 0
 *
 * so eight rows of one logical column fall on eight different 16-byte bank groups. The hardware applies it to the
 * absolute shared address; every buffer here starts on a multiple of 1024 bytes, so offsets serve as well. */
#ifndef GM_SM90_SWIZZLE_CUH
#define GM_SM90_SWIZZLE_CUH

#include <stdint.h>

template <int SPAN> static __device__ __forceinline__ uint32_t swizzle_offset(uint32_t offset) {
    static_assert(SPAN == 128 || SPAN == 64 || SPAN == 32, "a swizzle span is 32, 64 or 128 bytes");
    return offset ^ ((offset >> 3) & (SPAN - 16));
}

#endif
