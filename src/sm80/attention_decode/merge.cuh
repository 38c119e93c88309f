/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a piece: what the warps have found is added up through shared memory, and what other parts have found of the unit
 * through the workspace, in their order. A thread has 8 columns of a row at a time. */
#ifndef GM_ATTENTION_DECODE_MERGE_CUH
#define GM_ATTENTION_DECODE_MERGE_CUH

#include "sm80/attention_decode/attend.cuh"

/* A row's largest score, its sum, and sums of 8 columns of values, relative to the largest. */
struct partial {
    float most, sum, values[8];
};

/* Scores of b come behind those of a. */
static __device__ __forceinline__ void add_partial(struct partial &a, const struct partial &b) {
    const float most = fmaxf(a.most, b.most), base = base_of(most);
    const float of_a = ex2_approx_ftz(a.most - base), of_b = ex2_approx_ftz(b.most - base);
    a.most = most;
    a.sum = fmaf(a.sum, of_a, b.sum * of_b);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        a.values[i] = fmaf(a.values[i], of_a, b.values[i] * of_b);
}

/* ---- warps ----------------------------------------------------------------------------------------- */

/* A warp's sums, in its ring: rows of values, 32 bytes longer so that lanes' rows are in different banks; then every row's largest
 * score and sum. */
enum {
    SUMS_PITCH = 4 * HEAD_DIM + 32,
    SUMS_ROWS = ROWS * SUMS_PITCH, /* where those begin */
};
static_assert(SUMS_ROWS + ROWS * 8 <= RING_BYTES, "the ring holds them");

static __device__ __forceinline__ void store_sums(const struct sums &s) {
    const uint32_t lane = lane_index();
    const uint32_t ring = ring_of_warp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
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
    struct partial all = partial_of_warp(0, row, chunk);
#pragma unroll
    for (int warp = 1; warp < WARPS; ++warp)
        add_partial(all, partial_of_warp(warp, row, chunk));
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

static __device__ __forceinline__ struct partial load_published(uint64_t slot, int row, int chunk) {
    const uint64_t place = slot + 4 * (row * HEAD_DIM + 8 * chunk);
    uint32_t sums[2], words[8];
    ld_global_cg_v2_b32(slot + 4 * ROWS * HEAD_DIM + 8 * row, sums);
    ld_global_cg_v4_b32(place, words);
    ld_global_cg_v4_b32(place + 16, words + 4);
    struct partial part = {__uint_as_float(sums[0]), __uint_as_float(sums[1])};
#pragma unroll
    for (int i = 0; i < 8; ++i)
        part.values[i] = __uint_as_float(words[i]);
    return part;
}

/* What parts first ... end - 1 have published: several at a time are under way. */
static __device__ __forceinline__ struct partial collect_row(const struct gm_attention_decode_params &p, int first,
                                                             int end, int row, int chunk) {
    enum { AT_ONCE = 12 };
    struct partial all = {-GM_INFINITY, 0, {}};
#pragma unroll 1
    for (int part = first; part < end; part += AT_ONCE) {
        struct partial other[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            other[i] = load_published(slot_of(p, min(part + i, end - 1)), row, chunk);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (part + i < end)
                add_partial(all, other[i]);
    }
    return all;
}

/* Waits until parts first ... end - 1 have published, each thread for some; their flags are cleared for the next launch. */
static __device__ __forceinline__ void wait_for_parts(const struct gm_attention_decode_params &p, int first, int end) {
    for (int part = first + thread_index(); part < end; part += THREADS) {
        while (ld_acquire_gpu_b64(flag_of(p, part)) != p.ready) {
        }
        st_global_b64(flag_of(p, part), 0);
    }
}

/* ---- a piece's rows -------------------------------------------------------------------------------- */

static __device__ __forceinline__ void finish_row(const struct gm_attention_params &p, const struct piece &piece,
                                                  int row, int chunk, const struct partial &all) {
    const struct packed_row at = packed_row(p, piece.request, piece.head, piece.first_row + row);
    const float norm = norm_of(all.most, all.sum, sink_of(p, at.head));
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = normalised(all.values[i], norm);
    const int column_bytes = p.flags & GM_ATTENTION_OUT_IS_FP32 ? 32 : 16;
    if (chunk * 8 < p.v_head_dim)
        store_out<TYPE>(p, address_of(p.out, at) + chunk * column_bytes, v);
    if (chunk == 0)
        store_lse(p, at, lse_of(all.most, all.sum));
}

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
 * published pieces of the unit: each thread collects those of neighbouring parts. */
struct merge {
    int first;  /* the part that began the unit, if this one ends it; else this one */
    int chunks; /* of all rows */
    int shares; /* threads of a chunk */
};

static __device__ __forceinline__ struct merge merge_of(const struct shares &shares, const struct piece &piece,
                                                        int part) {
    const bool collects = piece.ends && !piece.begins;
    const int chunks = piece.rows * CHUNKS;
    return {collects ? part_of(shares, piece.start) : part, chunks, collects ? max(THREADS / chunks, 1) : 1};
}

static __device__ __forceinline__ void merge_chunk(const struct gm_attention_decode_params &p,
                                                   const struct piece &piece, const struct merge &merge, int part,
                                                   int number) {
    const int share = number / merge.chunks, row = number % merge.chunks / CHUNKS, chunk = number % CHUNKS;
    const int parts = part - merge.first, first = merge.first + parts * share / merge.shares;
    struct partial all = collect_row(p, first, merge.first + parts * (share + 1) / merge.shares, row, chunk);
    if (share == merge.shares - 1)
        add_partial(all, partial_of_cta(row, chunk));
    if (merge.shares > 1)
        leave_partial(number, all);
    else if (piece.ends)
        finish_row(p.a, piece, row, chunk, all);
    else
        publish_row(slot_of(p, part), row, chunk, all);
}

/* Adds up what the threads of each chunk have left, in their order. */
static __device__ __forceinline__ void merge_shares(const struct gm_attention_params &p, const struct piece &piece,
                                                    const struct merge &merge) {
    const int thread = thread_index();
    __syncthreads();
    if (thread >= merge.chunks)
        return;
    struct partial all = partial_left_by(thread);
#pragma unroll 1
    for (int share = 1; share < merge.shares; ++share)
        add_partial(all, partial_left_by(thread + share * merge.chunks));
    finish_row(p, piece, thread / CHUNKS, thread % CHUNKS, all);
}

/* All threads call it: their warps' sums are in shared memory, and the rings are free again behind it. */
static __device__ __forceinline__ void merge_piece(const struct gm_attention_decode_params &p,
                                                   const struct shares &shares, const struct piece &piece, int part) {
    const struct merge merge = merge_of(shares, piece, part);
    wait_for_parts(p, merge.first, part);
    __syncthreads();
#pragma unroll 1
    for (int i = thread_index(); i < merge.chunks * merge.shares; i += THREADS)
        merge_chunk(p, piece, merge, part, i);
    if (merge.shares > 1)
        merge_shares(p.a, piece, merge);
    __syncthreads();
    if (!piece.ends && thread_index() == 0)
        st_release_gpu_b64(flag_of(p, part), p.ready);
}

#endif
