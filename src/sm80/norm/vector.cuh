/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors that all rows share, one element for each column: weight and bias. Of the rows' type they are loaded by chunks,
 * ahead of their use; of fp32 beside a 16-bit type, where they are used. */
#ifndef GM_SM80_NORM_VECTOR_CUH
#define GM_SM80_NORM_VECTOR_CUH

#include "sm80/norm/shape.cuh"

enum {
    PRELOADS = VECTORS <= 2, /* the weight comes with x; else registers would not hold it */
};

/* The chunk at element `at`, where the vector is of the rows' type: `is_narrow`. */
static __device__ __forceinline__ void load_vector(uint64_t vector, bool is_narrow, int at, int columns,
                                                   uint32_t (&words)[WORDS]) {
    load<TYPE, CHUNK>(words, vector + (int64_t)at * ELEM_BYTES, is_narrow && at < columns);
}

/* The elements of a word, the first of which is number `at`: of `word`, or loaded here where they are wide. */
static __device__ __forceinline__ void vector_of(uint64_t vector, bool is_wide, uint32_t word, int at,
                                                 float *elements) {
    uint32_t wide[2];
    if (!is_wide) {
        unpack_word<TYPE, CHUNK>(word, elements);
    } else if (PER_WORD == 2) {
        ld_global_v2_b32(vector + (int64_t)at * 4, wide);
        elements[0] = __uint_as_float(wide[0]);
        elements[PER_WORD - 1] = __uint_as_float(wide[1]);
    } else {
        elements[0] = __uint_as_float(ld_global_b32(vector + (int64_t)at * 4));
    }
}

#endif
