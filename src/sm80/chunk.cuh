/* SPDX-License-Identifier: Apache-2.0 */
/* One 16-byte chunk of an operand, of any alignment and partly behind the operand's edge. */
#ifndef GM_SM80_CHUNK_CUH
#define GM_SM80_CHUNK_CUH

#include "common/global.cuh"
#include "common/tile.h"
#include "sm80/cp_async.cuh"

/* Copies one chunk whose first `elems` elements exist; the rest become zeros. */
static __device__ __forceinline__ void copy_chunk(uint32_t shared_addr, uint64_t source, int elems, int vector) {
    const int bytes = elems * GM_ELEM_BYTES;
    if (vector == 16) {
        cp_async_cg_16(shared_addr, source, bytes);
    } else if (vector == 8) {
        cp_async_ca_8(shared_addr, source, min(bytes, 8));
        cp_async_ca_8(shared_addr + 8, bytes > 8 ? source + 8 : source, max(bytes - 8, 0));
    } else {
#pragma unroll
        for (int i = 0; i < 16; i += 4) {
            cp_async_ca_4(shared_addr + i, bytes > i ? source + i : source, min(max(bytes - i, 0), 4));
        }
    }
}

/* The same through registers, for operands that are only element-aligned. */
static __device__ __forceinline__ uint4 load_chunk(uint64_t source, int elems) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        words[i / 2] |= i < elems ? ld_global_b16(source + i * 2) << (i % 2 * 16) : 0;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

#endif
