/* SPDX-License-Identifier: Apache-2.0 */
/* Logits made ready for sampling: cap, bias, penalties, temperature and mask of every element. One registry row per
 * compilation; process_logits.cu of each architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring logits, one load, beside one load of their counts and one of their mask's bits
 *   a tile is THREADS * VECTORS chunks of one row, a CTA's; thread t has t, t + THREADS, ...
 *   all loads of a thread but that of the bias are under way before the first is waited for
 *
 * The tiles of all rows are numbered row by row with 31 bits; the rows of large operands come in slabs. */
#ifndef GM_SM80_PROCESS_LOGITS_CUH
#define GM_SM80_PROCESS_LOGITS_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/process_logits/params.h"
#include "common/soft_cap.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),     /* 32-bit registers of a chunk, */
    COUNT_WORDS = (CHUNK + 1) / 2,     /* and of its counts */
    WIDE = CHUNK < 4 ? 1 : 4,          /* floats that are loaded or stored at once */
    STEP = THREADS * CHUNK,            /* elements between two chunks of a thread */
    TILE = VECTORS * STEP,             /* elements */
    CTAS = GM_PROCESS_LOGITS_CTAS(THREADS, VECTORS),
};

static_assert(VECTORS <= 4 && CHUNK <= 8, "a thread's bits of the mask are 32");

/* What a row is asked for, and where its state is; addresses of 0: it has none. */
struct request {
    uint64_t counts, bias, mask;
    int32_t last; /* the column that is counted first; -1: none */
    float inverse_temperature, repetition, inverse_repetition, frequency, presence;
};

struct chunk {
    uint32_t words[WORDS], counts[COUNT_WORDS];
};

static __device__ __forceinline__ float number_of(uint64_t numbers, int64_t row, float own) {
    return numbers ? __uint_as_float(ld_global_b32(numbers + row * 4)) : own;
}

/* Where a row's state is; 0: nowhere. */
static __device__ __forceinline__ uint64_t state_of(const struct gm_process_logits_params &p, uint64_t base,
                                                    int64_t pitch, uint64_t slots, int64_t row) {
    if (!base)
        return 0;
    const uint32_t slot = slots ? ld_global_b32(slots + row * 4) : (uint32_t)row;
    return slot < p.slot_count ? base + (int64_t)slot * pitch : 0;
}

/* 1 where it is not above 0. */
static __device__ __forceinline__ float above_0(float x) {
    return x > 0.0f ? x : 1.0f;
}

static __device__ __forceinline__ struct request request_of(const struct gm_process_logits_params &p, int64_t row) {
    struct request r;
    r.counts = state_of(p, p.counts, p.counts_pitch, p.slots, row);
    r.bias = state_of(p, p.bias, p.bias_pitch, p.bias_slots, row);
    r.mask = state_of(p, p.mask, p.mask_pitch, p.mask_slots, row);
    r.last = r.counts && p.last_ids ? (int)ld_global_b32(p.last_ids + row * 4) : -1;
    r.repetition = above_0(number_of(p.repetitions, row, p.repetition));
    r.inverse_repetition = __frcp_rn(r.repetition);
    r.inverse_temperature = __frcp_rn(above_0(number_of(p.temperatures, row, p.temperature)));
    r.inverse_temperature = fminf(r.inverse_temperature, 0x1.fffffep127f);
    r.frequency = number_of(p.frequencies, row, p.frequency);
    r.presence = number_of(p.presences, row, p.presence);
    return r;
}

static __device__ __forceinline__ void load_counts(uint32_t (&counts)[COUNT_WORDS], uint64_t address, bool exists) {
#pragma unroll
    for (int i = 0; i < COUNT_WORDS; ++i)
        counts[i] = 0;
    if (!exists)
        return;
    if (CHUNK == 8)
        ld_global_v4_b32(address, counts);
    else if (CHUNK == 4)
        ld_global_v2_b32(address, counts);
    else
        counts[0] = ld_global_b16(address);
}

static __device__ __forceinline__ uint32_t count_in(const uint32_t (&counts)[COUNT_WORDS], int i) {
    return i % 2 ? counts[i / 2] >> 16 : counts[i / 2] & 0xffffu;
}

/* Counts element `which` once more, here and in memory. */
static __device__ __forceinline__ void count_last(uint32_t (&counts)[COUNT_WORDS], uint64_t address, int which) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        const uint32_t old = count_in(counts, i);
        if (i == which && (old & GM_LOGITS_MOST) < GM_LOGITS_MOST) {
            counts[i / 2] += i % 2 ? 0x10000u : 1u;
            st_global_b16(address + i * 2, old + 1);
        }
    }
}

static __device__ __forceinline__ void add_bias(uint64_t address, float (&v)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; i += WIDE) {
        uint32_t bias[WIDE];
        load<GM_TYPE_fp32, WIDE>(bias, address + i * 4, true);
#pragma unroll
        for (int j = 0; j < WIDE; ++j)
            v[i + j] += __uint_as_float(bias[j]);
    }
}

static __device__ __forceinline__ float penalised(const struct request &r, float y, uint32_t count) {
    const uint32_t times = count & GM_LOGITS_MOST;
    y = count ? y * (y > 0.0f ? r.inverse_repetition : r.repetition) : y;
    return times ? fmaf(-r.frequency, (float)times, y) - r.presence : y;
}

static __device__ __forceinline__ void store_chunk(const struct gm_process_logits_params &p, int64_t row, int at,
                                                   const float (&v)[CHUNK]) {
    if (TYPE != GM_TYPE_fp32 && p.is_wide) {
#pragma unroll
        for (int i = 0; i < CHUNK; i += WIDE) {
            uint32_t bits[WIDE];
#pragma unroll
            for (int j = 0; j < WIDE; ++j)
                bits[j] = __float_as_uint(v[i + j]);
            store<GM_TYPE_fp32, WIDE>(p.out + row * p.out_pitch + ((int64_t)at + i) * 4, bits);
        }
        return;
    }
    uint32_t words[WORDS];
    pack<TYPE, CHUNK>(v, words);
    store<TYPE, CHUNK>(p.out + row * p.out_pitch + (int64_t)at * ELEM_BYTES, words);
}

static __device__ __forceinline__ void process_chunk(const struct gm_process_logits_params &p, int64_t row, int at,
                                                     const struct request &r, struct chunk &c, uint32_t allowed) {
    float v[CHUNK];
    uint32_t seen = 0;
    if ((uint32_t)(r.last - at) < CHUNK)
        count_last(c.counts, r.counts + (int64_t)at * 2, r.last - at);
    unpack<TYPE, CHUNK>(c.words, v);
    if (p.cap > 0.0f) {
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            v[i] = soft_cap(v[i], p.cap, p.cap_exponent);
    }
    if (r.bias)
        add_bias(r.bias + (int64_t)at * 4, v);
#pragma unroll
    for (int i = 0; i < COUNT_WORDS; ++i)
        seen |= c.counts[i];
    if (seen) { /* few tokens are */
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            v[i] = penalised(r, v[i], count_in(c.counts, i));
    }
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] = allowed >> i & 1 ? v[i] * r.inverse_temperature : -GM_INFINITY;
    store_chunk(p, row, at, v);
}

/* A tile of a row, from this thread's first element on. */
static __device__ __forceinline__ void process_tile(const struct gm_process_logits_params &p, int64_t row, int at) {
    const uint64_t logits = p.logits + row * p.logits_pitch + (int64_t)at * ELEM_BYTES;
    struct chunk c[VECTORS];
    uint32_t allowed = 0xffffffffu; /* a byte for each chunk, from the lowest on; a bit for each element */
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        load<TYPE, CHUNK>(c[i].words, logits + i * (STEP * ELEM_BYTES), at + i * STEP < p.columns);
    const struct request r = request_of(p, row);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int64_t first = at + i * STEP;
        const bool exists = first < p.columns;
        load_counts(c[i].counts, r.counts + first * 2, r.counts != 0 && exists);
        if (r.mask && exists)
            allowed &= ~((~ld_global_b8(r.mask + first / 8) >> first % 8 & 0xffu) << i * 8);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        if (at + i * STEP < p.columns)
            process_chunk(p, row, at + i * STEP, r, c[i], allowed >> i * 8);
}

static __device__ __forceinline__ void process_logits(const struct gm_process_logits_params &p) {
    const int rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
#pragma unroll 1
    for (int64_t slab = 0; slab < rows; slab += p.slab_rows) {
        const uint32_t tiles = (uint32_t)min((int64_t)p.slab_rows, rows - slab) * p.row_tiles.divisor;
#pragma unroll 1
        for (uint32_t number = (uint32_t)cta_index(); number < tiles; number += gridDim.x) {
            const uint32_t row = divide(number, p.row_tiles), tile = number - row * p.row_tiles.divisor;
            process_tile(p, slab + row, (int)(tile * TILE) + thread_index() * CHUNK);
        }
    }
}

#endif
