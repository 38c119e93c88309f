/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a piece: what the warps have found is added up through shared memory, and what other parts have found of the unit
 * through the workspace, in their order. A thread has 8 columns of a row at a time. */
#ifndef GM_ATTENTION_DECODE_MERGE_CUH
#define GM_ATTENTION_DECODE_MERGE_CUH

#include "sm80/attention_decode/attend.cuh"

#include "common/attention/partial.cuh"

/* ---- warps ----------------------------------------------------------------------------------------- */

/* A warp's sums, in its ring: rows of values, 32 bytes longer so that lanes' rows are in different banks; then every row's largest
 * score and sum. */
enum {
    SUMS_PITCH = 4 * HEAD_DIM + 32,
    SUMS_ROWS = ROWS * SUMS_PITCH, /* where those begin */
};
static_assert(SUMS_ROWS + ROWS * 8 <= RING_BYTES, "the ring holds them");

static __device__ __forceinline__ void store_sums(const struct piece &piece, const struct sums &s) {
    const uint32_t lane = lane_index();
    const uint32_t ring = ring_of_warp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (8 * half >= piece.rows)
            break;
        const int row = lane / 4 + 8 * half;
        const float sum = sum_of_quad(s.sum[half]);
        store_values(s, half, ring + row * SUMS_PITCH);
        if (lane % 4 == 0)
            st_shared_v2(ring + SUMS_ROWS + row * 8, s.most[half], sum);
    }
}

static __device__ __forceinline__ struct partial partial_of_warp(int warp, int row, int chunk) {
    const uint32_t ring = (uint32_t)__cvta_generic_to_shared(rings) + warp * RING_BYTES;
    const uint32_t place = ring + row * SUMS_PITCH + chunk * 32;
    struct partial part;
    float *v = part.values;
    ld_shared_v2(ring + SUMS_ROWS + row * 8, part.most, part.sum);
    ld_shared_v4(place, v[0], v[1], v[2], v[3]);
    ld_shared_v4(place + 16, v[4], v[5], v[6], v[7]);
    return part;
}

static __device__ __forceinline__ struct partial partial_of_cta(int row, int chunk) {
    struct partial all = partial_of_warp(0, row, chunk), others[WARPS - 1];
#pragma unroll
    for (int warp = 1; warp < WARPS; ++warp)
        others[warp - 1] = partial_of_warp(warp, row, chunk);
    add_partials(all, others);
    return all;
}

/* ---- parts ----------------------------------------------------------------------------------------- */

/* Rows of values, then every row's largest score and sum. */
static __device__ __forceinline__ uint64_t slot_of(const struct gm_attention_decode_params &p, int part) {
    return p.slots + (int64_t)part * GM_ATTENTION_DECODE_SLOT_BYTES(HEAD_DIM);
}

static __device__ __forceinline__ uint64_t flag_of(const struct gm_attention_decode_params &p, int part) {
    return p.flags + (int64_t)part * GM_ATTENTION_DECODE_FLAG_BYTES;
}

static __device__ __forceinline__ void publish_row(uint64_t slot, int row, int chunk, const struct partial &part) {
    const uint64_t place = slot + 4 * (row * HEAD_DIM + 8 * chunk);
    const float *v = part.values;
    st_global_v4_f32(place, v[0], v[1], v[2], v[3]);
    st_global_v4_f32(place + 16, v[4], v[5], v[6], v[7]);
    const uint32_t words[2] = {__float_as_uint(part.most), __float_as_uint(part.sum)};
    if (chunk == 0)
        st_global_v2_b32(slot + 4 * ROWS * HEAD_DIM + 8 * row, words);
}

/* What shares first ... end - 1 of the list have published: several at a time are under way. */
static __device__ __forceinline__ struct partial collect_row(const struct gm_attention_decode_params &p,
                                                             const struct deal &deal, int first, int end, int row,
                                                             int chunk) {
    enum { AT_ONCE = 16 };
    struct partial all = partial_of_nothing();
#pragma unroll 1
    for (int share = first; share < end; share += AT_ONCE) {
        struct partial other[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            other[i] = share + i < end ? load_partial(slot_of(p, part_of(deal, share + i)), ROWS, HEAD_DIM, row, chunk)
                                       : partial_of_nothing();
        add_partials(all, other);
    }
    return all;
}

/* Waits until shares first ... end - 1 of the list are published, each thread for some; their flags are cleared for the next
 * launch. */
static __device__ __forceinline__ void wait_for_shares(const struct gm_attention_decode_params &p,
                                                       const struct deal &deal, int first, int end) {
    for (int share = first + thread_index(); share < end; share += THREADS) {
        const uint64_t flag = flag_of(p, part_of(deal, share));
        while (ld_acquire_gpu_b64(flag) != p.ready) {
        }
        st_global_b64(flag, 0);
    }
}

/* ---- a piece's rows -------------------------------------------------------------------------------- */

/* Where a thread leaves what it has collected, behind its warp's sums. */
enum {
    LEFT_PITCH = 40,
    LEFT = (SUMS_ROWS + ROWS * 8 + 127) / 128 * 128,
};
static_assert(LEFT + 32 * LEFT_PITCH <= (int)RING_BYTES, "the ring has room");

static __device__ __forceinline__ uint32_t left_by(int thread) {
    return (uint32_t)__cvta_generic_to_shared(rings) + thread / 32 * RING_BYTES + LEFT + thread % 32 * LEFT_PITCH;
}

static __device__ __forceinline__ void leave_partial(int thread, const struct partial &part) {
    st_shared_v2(left_by(thread), part.most, part.sum);
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        st_shared_v2(left_by(thread) + 8 + 4 * i, part.values[i], part.values[i + 1]);
}

static __device__ __forceinline__ struct partial partial_left_by(int thread) {
    struct partial part;
    ld_shared_v2(left_by(thread), part.most, part.sum);
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        ld_shared_v2(left_by(thread) + 8 + 4 * i, part.values[i], part.values[i + 1]);
    return part;
}

/* What a thread does of a piece's rows. A chunk of a row has several threads where that takes only some of all and other parts have
 * published pieces of the unit: each thread collects those of neighbouring ones. */
struct merge {
    int first;   /* the share that began the unit, if this one ends it; else this one */
    int chunks;  /* of all rows */
    int threads; /* of a chunk */
};

static __device__ __forceinline__ struct merge merge_of(const struct shares &shares, const struct piece &piece) {
    const bool collects = piece.ends && !piece.begins;
    const int chunks = piece.rows * CHUNKS;
    return {collects ? share_of(shares, piece.start) : shares.deal.share, chunks,
            collects ? max(THREADS / chunks, 1) : 1};
}

static __device__ __forceinline__ void merge_chunk(const struct gm_attention_decode_params &p, const struct deal &deal,
                                                   const struct piece &piece, const struct merge &merge, int number) {
    const int thread = number / merge.chunks, row = number % merge.chunks / CHUNKS, chunk = number % CHUNKS;
    const int others = deal.share - merge.first, first = merge.first + others * thread / merge.threads;
    struct partial all = collect_row(p, deal, first, merge.first + others * (thread + 1) / merge.threads, row, chunk);
    if (thread == merge.threads - 1)
        add_partial(all, partial_of_cta(row, chunk));
    if (merge.threads > 1)
        leave_partial(number, all);
    else if (piece.ends)
        finish_row(p.a, piece, row, chunk, all);
    else
        publish_row(slot_of(p, part_of(deal, deal.share)), row, chunk, all);
}

/* Adds up what the threads of each chunk have left, in their order. */
static __device__ __forceinline__ void merge_threads(const struct gm_attention_params &p, const struct piece &piece,
                                                     const struct merge &merge) {
    const int thread = thread_index();
    __syncthreads();
    if (thread >= merge.chunks)
        return;
    struct partial all = partial_left_by(thread);
#pragma unroll 1
    for (int i = 1; i < merge.threads; ++i)
        add_partial(all, partial_left_by(thread + i * merge.chunks));
    finish_row(p, piece, thread / CHUNKS, thread % CHUNKS, all);
}

/* All threads call it: their warps' sums are in shared memory, and the rings are free again behind it. */
static __device__ __forceinline__ void merge_piece(const struct gm_attention_decode_params &p,
                                                   const struct shares &shares, const struct piece &piece) {
    const struct deal &deal = shares.deal;
    const struct merge merge = merge_of(shares, piece);
    wait_for_shares(p, deal, merge.first, deal.share);
    __syncthreads();
#pragma unroll 1
    for (int i = thread_index(); i < merge.chunks * merge.threads; i += THREADS)
        merge_chunk(p, deal, piece, merge, i);
    if (merge.threads > 1)
        merge_threads(p.a, piece, merge);
    __syncthreads();
    if (!piece.ends && thread_index() == 0)
        st_release_gpu_b64(flag_of(p, part_of(deal, deal.share)), p.ready);
}

#endif
