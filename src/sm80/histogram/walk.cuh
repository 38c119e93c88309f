/* SPDX-License-Identifier: Apache-2.0 */
/* How the CTAs of a histogram go through its elements: a slab at a time, of which each CTA counts a part.
 *
 *   a slab     rows of some bytes, whose chunks are numbered with 31 bits and row by row; elements that follow each other are
 *              one row
 *   a chunk    16 bytes on a multiple of 16, one load; thread t of all parts' has chunks t, t + their number, ...
 *   an edge    the elements of a row before its first chunk, and those behind its last, one at a time */
#ifndef GM_SM80_HISTOGRAM_WALK_CUH
#define GM_SM80_HISTOGRAM_WALK_CUH

#include "common/divide.h"
#include "sm80/histogram/counts.cuh"

struct slab {
    uint64_t base;
    int64_t row_bytes;
    uint32_t rows,
        count; /* of chunk numbers: those of all rows, though a row that begins beside a chunk may lack its last */
};

/* This thread among all of the histogram that have the same slice of bins. */
struct place {
    uint32_t thread, threads;
};

static __device__ __forceinline__ uint64_t first_chunk(uint64_t row) {
    return (row + CHUNK_BYTES - 1) & ~(uint64_t)(CHUNK_BYTES - 1);
}

static __device__ __forceinline__ struct slab slab_of(const struct gm_histogram_params &p, uint64_t base,
                                                      int64_t row_bytes, uint32_t rows) {
    struct slab s = {base, row_bytes, rows};
    const int64_t head = (int64_t)(first_chunk(base) - base), chunks = max(row_bytes - head, (int64_t)0) / CHUNK_BYTES;
    s.count = rows == 1 ? (uint32_t)chunks : rows * (uint32_t)(row_bytes / CHUNK_BYTES);
    return s;
}

/* ---- chunks ------------------------------------------------------------------------------------------ */

/* Loads a chunk; 0: there is none of this number. */
static __device__ __forceinline__ bool load_chunk(const struct gm_histogram_params &p, const struct slab &s,
                                                  uint32_t number, uint32_t (&words)[WORDS]) {
    uint64_t address = first_chunk(s.base) + (uint64_t)number * CHUNK_BYTES;
    bool exists = number < s.count;
    if (s.rows > 1) {
        const uint32_t row = divide(number, p.row_chunks);
        const uint64_t base = s.base + row * p.pitch;
        address = first_chunk(base) + (uint64_t)(number - row * p.row_chunks.divisor) * CHUNK_BYTES;
        exists &= address + CHUNK_BYTES <= base + (uint64_t)s.row_bytes;
    }
    if (exists)
        ld_global_v4_b32(address, words);
    return exists;
}

/* A chunk is counted, and the one VECTORS later takes its registers: so many are always under way. The first round has none to
 * count. */
static __device__ __forceinline__ void count_chunks(const struct gm_histogram_params &p, const struct slab &slab,
                                                    const struct slice &s, const struct place &place) {
    uint32_t words[VECTORS][WORDS];
    bool exists[VECTORS] = {};
#pragma unroll 1
    for (uint32_t number = place.thread;; number += VECTORS * place.threads) {
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) {
            if (exists[i])
                count_words<CHUNK_BYTES>(p, s, words[i]);
            exists[i] = load_chunk(p, slab, number + i * place.threads, words[i]);
        }
        if (number >= slab.count)
            return;
    }
}

/* ---- edges ------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void count_element(const struct gm_histogram_params &p, const struct slice &s,
                                                     uint64_t address) {
    uint32_t words[2];
    if (ELEM_BYTES == 8)
        ld_global_v2_b32(address, words);
    else
        words[0] = ELEM_BYTES == 4   ? ld_global_b32(address)
                   : ELEM_BYTES == 2 ? ld_global_b16(address)
                                     : ld_global_b8(address);
    count_words<ELEM_BYTES>(p, s, words);
}

/* A row has numbers for as many elements as a chunk on either side; most of them do not exist. */
static __device__ __forceinline__ void count_edges(const struct gm_histogram_params &p, const struct slab &slab,
                                                   const struct slice &s, const struct place &place) {
    const uint64_t pitch = slab.rows > 1 ? p.pitch : 0;
    if (((slab.base | pitch | (uint64_t)slab.row_bytes) & (CHUNK_BYTES - 1)) == 0)
        return;
#pragma unroll 1
    for (uint32_t number = place.thread; number < slab.rows * 2 * CHUNK; number += place.threads) {
        const uint64_t row = slab.base + number / (2 * CHUNK) * pitch, end = row + (uint64_t)slab.row_bytes;
        const uint64_t head = min(first_chunk(row), end), tail = max(head, end & ~(uint64_t)(CHUNK_BYTES - 1));
        const uint32_t place_in_row = number % (2 * CHUNK), at = place_in_row % CHUNK * ELEM_BYTES;
        const uint64_t address = place_in_row < CHUNK ? row + at : tail + at;
        if (address < (place_in_row < CHUNK ? head : end))
            count_element(p, s, address);
    }
}

static __device__ __forceinline__ void count_slab(const struct gm_histogram_params &p, const struct slab &slab,
                                                  const struct slice &s, const struct place &place) {
    count_chunks(p, slab, s, place);
    count_edges(p, slab, s, place);
}

#endif
