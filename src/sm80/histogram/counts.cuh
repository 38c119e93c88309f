/* SPDX-License-Identifier: Apache-2.0 */
/* A CTA's counts in shared memory: which of them an element adds to, and what they come to.
 *
 * The copies of a bin lie side by side, lane l has copy l modulo their number. With 32 copies no two lanes of a warp meet in a
 * bank, whatever the elements are. With fewer, lanes of one bin share its word, for all add 1 (docs/course/banks.md): equal
 * elements are no slower than others either way. */
#ifndef GM_SM80_HISTOGRAM_COUNTS_CUH
#define GM_SM80_HISTOGRAM_COUNTS_CUH

#include "common/elements.cuh"
#include "common/histogram/params.h"
#include "common/index.cuh"
#include "common/shared.cuh"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS, /* at most */
    VECTORS = GM_VECTORS, /* chunks of a thread that are under way at once */
    CHUNK_BYTES = 16,
    CHUNK = CHUNK_BYTES / ELEM_BYTES, /* elements */
    WORDS = CHUNK_BYTES / 4,
    BYTES = GM_HISTOGRAM_BYTES,
    BYTE_COPIES = GM_HISTOGRAM_COPIES,
    IS_FLOAT = TYPE == GM_TYPE_bf16 || TYPE == GM_TYPE_fp16 || TYPE == GM_TYPE_fp32,
};

extern __shared__ __align__(16) uint32_t shared_counts[];

static __device__ __forceinline__ uint32_t shared_address(uint32_t word) {
    return (uint32_t)__cvta_generic_to_shared(shared_counts) + word * 4;
}

static __device__ __forceinline__ int thread_count(void) {
    return blockDim.x;
}

/* The bins of this CTA: `limit` counts from bin `first` on, at `own` those of this lane's copy. A last slice of floats
 * counts what lies on the upper end apart. */
struct slice {
    int first, bins;
    uint32_t waste;             /* the number of the count of what is in no bin of the slice */
    uint32_t limit, own, pitch; /* bytes from one bin to the next */
    uint32_t lane_bytes;        /* from the first copy to this lane's */
};

static __device__ __forceinline__ struct slice slice_of(const struct gm_histogram_params &p, int number) {
    const int first = number * p.slice_bins, bins = min(p.slice_bins, p.bins - first);
    const int copies = TYPE == GM_TYPE_uint8 ? BYTE_COPIES : p.copies, copy = thread_index() & (copies - 1);
    struct slice s = {first, bins, (uint32_t)p.slice_bins + 1};
    s.limit = (uint32_t)bins;
    s.own = shared_address(copy);
    s.pitch = (uint32_t)copies * 4;
    s.lane_bytes = (uint32_t)copy * 4;
    s.limit += IS_FLOAT && number == p.slices - 1;
    return s;
}

static __device__ __forceinline__ void clear_counts(const struct gm_histogram_params &p) {
    const int words = TYPE == GM_TYPE_uint8 ? BYTES * BYTE_COPIES : (p.slice_bins + GM_HISTOGRAM_APART) * p.copies;
#pragma unroll 1
    for (int word = thread_index() * 4; word < words; word += thread_count() * 4)
        st_shared_v4(shared_address(word), 0, 0, 0, 0);
    __syncthreads();
}

/* ---- elements --------------------------------------------------------------------------------------- */

/* What is in none of the slice's bins is counted apart, and forgotten: that costs less than a branch. */
static __device__ __forceinline__ void count_in_bin(const struct slice &s, uint32_t bin, bool is_in_range = true) {
    red_shared_increment(s.own + (is_in_range && bin < s.limit ? bin : s.waste) * s.pitch);
}

static __device__ __forceinline__ uint32_t divide_by_width(const struct gm_histogram_params &p, uint32_t number) {
    const uint32_t high = __umulhi(number, p.by_width.magic);
    return (high + ((number - high) >> p.by_width.first)) >> p.by_width.second;
}

/* A value's distance from the first one, modulo 2^32. What lies outside the bins is too far. */
static __device__ __forceinline__ void count_distance(const struct gm_histogram_params &p, const struct slice &s,
                                                      uint32_t distance, bool is_in_range = true) {
    count_in_bin(s, divide_by_width(p, distance) - s.first, is_in_range);
}

static __device__ __forceinline__ void count_float(const struct gm_histogram_params &p, const struct slice &s,
                                                   float x) {
    const int bin = __float2int_rd(__fmul_rn(__fsub_rn(x, p.lower), p.scale)) - s.first;
    count_in_bin(s, (uint32_t)bin, x >= p.lower && x <= p.upper);
}

/* Byte `number` of a word. Every value of a byte has its count: bins are made of them later. The bits of value and lane are
 * put beside each other by one instruction, and the base, one for all threads, is added by the increment itself. */
static __device__ __forceinline__ void count_byte(const struct slice &s, uint32_t word, int number) {
    constexpr int LOG_PITCH = 7;
    static_assert(1 << LOG_PITCH == BYTE_COPIES * 4, "the bytes from one value's counts to the next");
    const int shift = 8 * number - LOG_PITCH;
    const uint32_t bits = shift < 0 ? word << -shift : word >> shift;
    red_shared_increment(shared_address(0) + (bits & (BYTES - 1) << LOG_PITCH | s.lane_bytes));
}

/* The elements of so many bytes, in the low part of the words. */
template <int COUNT_BYTES>
static __device__ __forceinline__ void count_words(const struct gm_histogram_params &p, const struct slice &s,
                                                   const uint32_t *words) {
    constexpr int COUNT = COUNT_BYTES / ELEM_BYTES, PER_WORD = COUNT_BYTES < 4 ? COUNT : 4 / ELEM_BYTES;
#pragma unroll
    for (int i = 0; i < (COUNT_BYTES + 3) / 4; ++i) {
        if (TYPE == GM_TYPE_uint8) {
#pragma unroll
            for (int j = 0; j < PER_WORD; ++j)
                count_byte(s, words[i], j);
        } else if (TYPE == GM_TYPE_int32) {
            count_distance(p, s, words[i] - (uint32_t)p.first);
        } else if (TYPE == GM_TYPE_int64) {
            const uint64_t distance = ((uint64_t)words[i | 1] << 32 | words[i]) - (uint64_t)p.first;
            if (i % 2 == 0)
                count_distance(p, s, (uint32_t)distance, distance >> 32 == 0);
        } else {
            float x[2];
            unpack_word<TYPE, COUNT>(words[i], x);
#pragma unroll
            for (int j = 0; j < PER_WORD; ++j)
                count_float(p, s, x[j]);
        }
    }
}

/* ---- sums ------------------------------------------------------------------------------------------- */

/* Over a bin's copies; neighbouring threads begin with different ones, which lie in different banks. */
static __device__ __forceinline__ uint32_t sum_copies(int bin, int copies) {
    uint32_t sum = 0;
#pragma unroll 4
    for (int i = 0; i < copies; ++i)
        sum += ld_shared_b32(shared_address(bin * copies + ((i + thread_index()) & (copies - 1))));
    return sum;
}

/* Of bytes: the sums of all values, behind their copies. All threads meet before and behind. */
static __device__ __forceinline__ void sum_bytes(void) {
#pragma unroll 1
    for (int byte = thread_index(); byte < BYTES; byte += thread_count())
        st_shared_b32(shared_address(BYTES * BYTE_COPIES + byte), sum_copies(byte, BYTE_COPIES));
    __syncthreads();
}

/* The count of a bin of all bytes: of those values that are in it. */
static __device__ __forceinline__ uint32_t count_of_bytes(const struct gm_histogram_params &p, int bin) {
    const int64_t start = p.first + bin * p.width, first = max(start, (int64_t)0);
    const int64_t last = min(start + p.width, (int64_t)BYTES);
    uint32_t sum = 0;
#pragma unroll 1
    for (int64_t byte = first; byte < last; ++byte)
        sum += ld_shared_b32(shared_address(BYTES * BYTE_COPIES + (uint32_t)byte));
    return sum;
}

static __device__ __forceinline__ uint32_t count_of_bin(const struct gm_histogram_params &p, const struct slice &s,
                                                        int bin) {
    if (TYPE == GM_TYPE_uint8)
        return count_of_bytes(p, bin);
    uint32_t sum = sum_copies(bin, p.copies);
    if (IS_FLOAT && bin + 1 == s.bins && s.limit > (uint32_t)s.bins)
        sum += sum_copies(s.bins, p.copies);
    return sum;
}

#endif
