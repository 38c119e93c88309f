/* SPDX-License-Identifier: Apache-2.0 */
/* Four neighbouring elements of a row: what a lane has of it where a warp has 128. */
#ifndef GM_QUAD_CUH
#define GM_QUAD_CUH

#include "common/elements.cuh"
#include "common/shared.cuh"

enum { QUAD = 4 };

/* From shared memory, at a multiple of their bytes. */
template <int TYPE> static __device__ __forceinline__ void load_quad(uint32_t address, float *elements) {
    if (GM_TYPE_BYTES(TYPE) == 4) {
        ld_shared_v4(address, elements[0], elements[1], elements[2], elements[3]);
    } else {
        uint32_t words[2];
        ld_shared_v2_b32(address, words);
        unpack_word<TYPE, 2>(words[0], elements);
        unpack_word<TYPE, 2>(words[1], elements + 2);
    }
}

/* Rounded, to global memory; of a row that ends behind `columns` of them, those. `vectors`: four are one store. */
template <int TYPE>
static __device__ __forceinline__ void store_quad(uint64_t address, int columns, bool vectors,
                                                  const float (&elements)[QUAD]) {
    uint32_t words[GM_WORDS(TYPE, QUAD)];
    pack<TYPE, QUAD>(elements, words);
    if (vectors && columns >= QUAD) {
        if (GM_TYPE_BYTES(TYPE) == 4)
            st_global_v4_b32(address, words);
        else
            st_global_v2_b32(address, words);
        return;
    }
#pragma unroll
    for (int c = 0; c < QUAD; ++c) {
        const int word = c * GM_TYPE_BYTES(TYPE) / 4;
        const uint32_t one[1] = {GM_TYPE_BYTES(TYPE) == 4 ? words[word] : words[word] >> (c % 2 * 16)};
        if (c < columns)
            store<TYPE, 1>(address + c * GM_TYPE_BYTES(TYPE), one);
    }
}

#endif
