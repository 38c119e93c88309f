/* SPDX-License-Identifier: Apache-2.0 */
/* axpby: out = gamma + the sum of factor * operand, of 0 to 2 operands, element by element. One registry row per
 * compilation; axpby.cu of each architecture is the entry.
 *
 *   a chunk is 8 neighbouring elements, 4 where one of the types has 4 bytes: 16 bytes of the widest; or one element
 *   the chunks of all rows are numbered row by row
 *   a CTA takes THREADS * p.taken chunks at a time, thread t of it t, t + THREADS, ...
 *   all loads of a thread are under way before the first is waited for: by cp.async into slots of shared memory, which only
 *   that thread reads. So what is under way takes no registers, and one copy of the code serves all chunks and both operands
 *
 * Types are known when the kernel runs. A row is a whole number of chunks: other rows have chunks of one element, which go to
 * their slots through registers. The numbers have 31 bits, so the rows of large operands come in slabs. Packed operands are
 * one long row, cut into slabs of one row each; their last elements, fewer than a chunk, come one by one. */
#ifndef GM_SM80_AXPBY_CUH
#define GM_SM80_AXPBY_CUH

#include "common/any_type.cuh"
#include "common/axpby/params.h"
#include "common/index.cuh"
#include "common/shared.cuh"
#include "sm80/cp_async.cuh"

enum {
    THREADS = GM_THREADS,
    SLOTS = GM_SLOTS,
    HALF = SLOTS / 2,       /* where the slots of the second operand begin, if there are two */
    ELEMENTS = GM_ELEMENTS, /* of a chunk at most */
    CTAS = GM_AXPBY_CTAS(THREADS),
};

extern __shared__ uint4 slots[]; /* [SLOTS][THREADS] chunks */

/* Where a chunk is. Found anew for its store, which costs no register meanwhile. */
struct place {
    int64_t row, column;
};

template <int COUNT>
static __device__ __forceinline__ struct place place_of(const struct gm_axpby_params &p, int64_t first_row,
                                                        uint32_t number) {
    const uint32_t row = divide(number, p.row_chunks);
    return {first_row + row, (int64_t)(number - row * p.row_chunks.divisor) * COUNT};
}

static __device__ __forceinline__ uint64_t address_of(const struct gm_axpby_operand &o, const struct place &at) {
    return o.address + at.row * o.pitch + (at.column << o.log_bytes);
}

/* ---- slots ----------------------------------------------------------------------------------------- */

/* Where they begin, and a thread's number, found once. */
struct slots_of_thread {
    uint32_t base, thread;
};

static __device__ __forceinline__ struct slots_of_thread slots_of_thread(void) {
    return {(uint32_t)__cvta_generic_to_shared(slots), (uint32_t)thread_index()};
}

/* One of them; neighbouring threads' chunks are neighbours. */
template <int COUNT>
static __device__ __forceinline__ uint32_t slot_of(const struct slots_of_thread &own, int slot, int log_bytes) {
    enum { BYTES = COUNT > 1 ? 16 : 4, LOG_COUNT = COUNT == 8 ? 3 : 2 };
    return own.base + slot * (THREADS * BYTES) + (own.thread << (COUNT > 1 ? LOG_COUNT + log_bytes : 2));
}

template <int COUNT> static __device__ __forceinline__ void copy_chunk(uint32_t slot, uint64_t address, int log_bytes) {
    if (COUNT << log_bytes == 16)
        cp_async_cg_16(slot, address, 16);
    else if (COUNT << log_bytes == 8)
        cp_async_ca_8(slot, address, 8);
    else
        cp_async_ca_4(slot, address, 4);
}

template <int COUNT>
static __device__ __forceinline__ void read_slot(uint32_t (&words)[GM_ANY_WORDS(COUNT)], uint32_t slot, int log_bytes) {
    if constexpr (COUNT == 1) {
        words[0] = ld_shared_b32(slot);
    } else {
        if (COUNT << log_bytes == 16)
            ld_shared_v4_b32(slot, words);
        else if (COUNT << log_bytes == 8)
            ld_shared_v2_b32(slot, words);
        else
            words[0] = ld_shared_b32(slot);
    }
}

template <int COUNT>
static __device__ __forceinline__ void fill_slots(const struct gm_axpby_params &p, const struct slots_of_thread &own,
                                                  int64_t first_row, uint32_t first, uint32_t chunks) {
#pragma unroll 1
    for (int i = 0; i < p.taken && first + i * THREADS < chunks; ++i) {
        const struct place at = place_of<COUNT>(p, first_row, first + i * THREADS);
#pragma unroll 1
        for (int o = 0; o < p.operands; ++o) {
            const int log = p.operand[o].log_bytes;
            copy_chunk<COUNT>(slot_of<COUNT>(own, i + o * HALF, log), address_of(p.operand[o], at), log);
        }
    }
    cp_async_commit_group();
    cp_async_wait_group<0>();
}

/* HALF elements THREADS apart, of a size for all: where loads of either size could write a register, the others would wait for
 * it. Of what does not exist, zeros. */
template <int LOG_BYTES>
static __device__ __forceinline__ void load_elements(const uint64_t (&address)[HALF], const bool (&exists)[HALF],
                                                     uint32_t (&words)[HALF]) {
#pragma unroll
    for (int i = 0; i < HALF; ++i)
        if (exists[i])
            words[i] = LOG_BYTES == 0   ? ld_global_b8(address[i])
                       : LOG_BYTES == 1 ? ld_global_b16(address[i])
                                        : ld_global_b32(address[i]);
}

/* Half of the slots: an operand's, or the elements from `skipped` on of the only one. */
static __device__ __forceinline__ void load_half(const struct gm_axpby_params &p,
                                                 const struct gm_axpby_operand &operand, int64_t first_row,
                                                 uint32_t first, uint32_t chunks, int skipped,
                                                 uint32_t (&words)[HALF]) {
    const int log = operand.log_bytes;
    uint64_t address[HALF];
    bool exists[HALF];
#pragma unroll
    for (int i = 0; i < HALF; ++i) {
        const uint32_t number = first + (skipped + i) * THREADS;
        exists[i] = skipped + i < p.taken && number < chunks;
        address[i] = address_of(operand, place_of<1>(p, first_row, number));
        words[i] = 0;
    }
    if (log == 0)
        load_elements<0>(address, exists, words);
    else if (log == 1)
        load_elements<1>(address, exists, words);
    else
        load_elements<2>(address, exists, words);
}

static __device__ __forceinline__ void fill_slots_by_elements(const struct gm_axpby_params &p,
                                                              const struct slots_of_thread &own, int64_t first_row,
                                                              uint32_t first, uint32_t chunks) {
    const int both = p.operands == 2;
    uint32_t words[2][HALF];
    load_half(p, p.operand[0], first_row, first, chunks, 0, words[0]);
    load_half(p, p.operand[both], first_row, first, chunks, both ? 0 : HALF, words[1]);
#pragma unroll
    for (int s = 0; s < SLOTS; ++s)
        st_shared_b32(slot_of<1>(own, s, 0), words[s / HALF][s % HALF]);
}

/* ---- sums ------------------------------------------------------------------------------------------ */

template <int COUNT>
static __device__ __forceinline__ void add_operand(const struct gm_axpby_operand &operand,
                                                   const uint32_t (&words)[GM_ANY_WORDS(COUNT)], float (&sum)[COUNT]) {
    float v[COUNT];
    unpack_any<COUNT>(operand.type, words, v);
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        sum[i] = fmaf(operand.factor, v[i], sum[i]);
}

template <int COUNT>
static __device__ __forceinline__ void store_chunk(const struct gm_axpby_params &p, const struct place &at,
                                                   const float (&sum)[COUNT]) {
    const int log = p.out_log_bytes;
    uint32_t words[GM_ANY_WORDS(COUNT)];
    pack_any<COUNT>(p.out_type, sum, words);
    store_any<COUNT>(log, p.out + at.row * p.out_pitch + (at.column << log), words);
}

/* A CTA's share of so many chunks, from a row's first on. */
template <int COUNT>
static __device__ __forceinline__ void axpby_slab(const struct gm_axpby_params &p, int64_t first_row, uint32_t chunks) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * p.taken) < chunks; tile += gridDim.x) {
        const struct slots_of_thread own = slots_of_thread();
        const uint32_t first = tile * (THREADS * p.taken) + own.thread;
        if (COUNT > 1)
            fill_slots<COUNT>(p, own, first_row, first, chunks);
        else if (p.operands > 0)
            fill_slots_by_elements(p, own, first_row, first, chunks);
#pragma unroll 1
        for (int i = 0; i < p.taken && first + i * THREADS < chunks; ++i) {
            float sum[COUNT];
#pragma unroll
            for (int k = 0; k < COUNT; ++k)
                sum[k] = p.gamma;
#pragma unroll 1
            for (int o = 0; o < p.operands; ++o) {
                const int log = p.operand[o].log_bytes;
                uint32_t words[GM_ANY_WORDS(COUNT)] = {};
                read_slot<COUNT>(words, slot_of<COUNT>(own, i + o * HALF, log), log);
                add_operand<COUNT>(p.operand[o], words, sum);
            }
            store_chunk<COUNT>(p, place_of<COUNT>(p, first_row, first + i * THREADS), sum);
        }
    }
}

/* The elements behind the last whole chunk, by the first threads. */
static __device__ __forceinline__ void axpby_rest(const struct gm_axpby_params &p, int64_t elements) {
    const struct place at = {0, (elements & -(int64_t)p.chunk) + thread_index()};
    if (cta_index() > 0 || at.column >= elements)
        return;
    float sum[1] = {p.gamma};
#pragma unroll 1
    for (int o = 0; o < p.operands; ++o) {
        uint32_t words[1];
        load_any<1>(p.operand[o].log_bytes, address_of(p.operand[o], at), words);
        add_operand<1>(p.operand[o], words, sum);
    }
    store_chunk<1>(p, at, sum);
}

template <int COUNT>
static __device__ __forceinline__ void axpby_as(const struct gm_axpby_params &p, int64_t rows, int64_t elements) {
    const int64_t slab_chunks = (int64_t)p.slab_rows * p.row_chunks.divisor;
    int64_t chunks = p.is_packed ? elements / COUNT : rows * p.row_chunks.divisor;
#pragma unroll 1
    for (int64_t first = 0; chunks > 0; first += p.slab_rows, chunks -= slab_chunks)
        axpby_slab<COUNT>(p, first, (uint32_t)min(chunks, slab_chunks));
}

static __device__ __forceinline__ void axpby(const struct gm_axpby_params &p) {
    const int64_t rows = p.row_count ? max(0, min(p.rows, (int)ld_global_b32(p.row_count))) : p.rows;
    const int64_t elements = rows * p.columns;
    if (ELEMENTS == 1)
        axpby_as<1>(p, rows, elements);
    else if (p.chunk == 8)
        axpby_as<8>(p, rows, elements);
    else
        axpby_as<4>(p, rows, elements);
    if (ELEMENTS > 1 && p.is_packed)
        axpby_rest(p, elements);
}

#endif
