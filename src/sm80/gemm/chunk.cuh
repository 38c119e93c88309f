/* SPDX-License-Identifier: Apache-2.0 */
/* One 16-byte chunk of an operand, of any alignment and partly outside the operand. */
#ifndef GM_SM80_CHUNK_CUH
#define GM_SM80_CHUNK_CUH

#include "common/gemm_sm80/tile.h"
#include "common/global.cuh"
#include "sm80/cp_async.cuh"

/* Copies one chunk whose first `elems` elements exist; the rest become zeros. `vector` is the bytes of one copy that
 * the alignment allows. */
static __device__ __forceinline__ void copy_chunk(uint32_t shared_addr, uint64_t source, int elems, int vector) {
    const int bytes = elems * GM_TYPE_BYTES(GM_TYPE);
    if (vector == 16) {
        cp_async_cg_16(shared_addr, source, bytes);
    } else if (vector == 8) {
        cp_async_ca_8(shared_addr, source, min(bytes, 8));
        cp_async_ca_8(shared_addr + 8, bytes > 8 ? source + 8 : source, max(bytes - 8, 0));
    } else {
#pragma unroll
        for (int i = 0; i < 16; i += 4)
            cp_async_ca_4(shared_addr + i, bytes > i ? source + i : source, min(max(bytes - i, 0), 4));
    }
}

/* Unaligned chunks go through registers: load_words() or load_elements() starts the loads, chunk_of() waits for them
 * and extracts the chunk. An odd chunk begins between two words, and its words hold both elements beside it, too.
 *
 *   words   |. 0|1 2|3 4|5 6|7 .|   of an odd chunk      |0 1|2 3|4 5|6 7|   of an even one
 */
static __device__ __forceinline__ bool chunk_is_odd(uint64_t source) {
    return source & 2;
}

/* Loads the words of a chunk. All eight elements must exist, and so must the elements beside an odd chunk. */
static __device__ __forceinline__ void load_words(uint32_t (&words)[GM_SM80_UNALIGNED_WORDS], uint64_t source) {
    const uint64_t first = source & ~(uint64_t)3;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        words[i] = ld_global_b32(first + i * 4);
    words[4] = chunk_is_odd(source) ? ld_global_b32(first + 16) : 0;
}

/* Loads the first `elems` elements, and nothing else, as words of an even chunk. */
static __device__ __forceinline__ void load_elements(uint32_t (&words)[GM_SM80_UNALIGNED_WORDS], uint64_t source,
                                                     int elems) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const uint32_t element = i < elems ? ld_global_b16(source + i * 2) : 0;
        words[i / 2] = i % 2 ? words[i / 2] | element << 16 : element;
    }
    words[4] = 0;
}

static __device__ __forceinline__ uint4 chunk_of(const uint32_t (&w)[GM_SM80_UNALIGNED_WORDS], bool odd) {
    const int shift = odd ? 16 : 0;
    return make_uint4(__funnelshift_r(w[0], w[1], shift), __funnelshift_r(w[1], w[2], shift),
                      __funnelshift_r(w[2], w[3], shift), __funnelshift_r(w[3], w[4], shift));
}

#endif
