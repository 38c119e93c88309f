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
    const int lane = thread_index() % 32;
    const uint32_t ring = ring_of_warp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = lane / 4 + 8 * half;
        const uint32_t place = ring + row * SUMS_PITCH + lane % 4 * 8;
        const float sum = sum_of_quad(s.sum[half]);
#pragma unroll
        for (int i = 0; i < HEAD_DIM / 8; ++i)
            st_shared_v2(place + 32 * i, s.values[i][2 * half], s.values[i][2 * half + 1]);
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

/* Adds what this part has to what parts first ... end - 1 have published: several at a time are under way. */
static __device__ __forceinline__ struct partial collect_row(const struct gm_attention_decode_params &p, int first,
                                                             int end, int row, int chunk, const struct partial &own) {
    enum { AT_ONCE = 4 };
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
    add_partial(all, own);
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

/* All threads call it: their warps' sums are in shared memory, and the rings are free again behind it. */
static __device__ __forceinline__ void merge_piece(const struct gm_attention_decode_params &p,
                                                   const struct shares &shares, const struct piece &piece, int part) {
    const bool collects = piece.ends && !piece.begins;
    const int first = collects ? part_of(shares, piece.start) : part;
    if (collects)
        wait_for_parts(p, first, part);
    __syncthreads();
#pragma unroll 1
    for (int i = thread_index(); i < piece.rows * CHUNKS; i += THREADS) {
        const int row = i / CHUNKS, chunk = i % CHUNKS;
        const struct partial own = partial_of_cta(row, chunk);
        if (piece.ends)
            finish_row(p.a, piece, row, chunk, collect_row(p, first, part, row, chunk, own));
        else
            publish_row(slot_of(p, part), row, chunk, own);
    }
    __syncthreads();
    if (!piece.ends && thread_index() == 0)
        st_release_gpu_b64(flag_of(p, part), p.ready);
}

#endif
