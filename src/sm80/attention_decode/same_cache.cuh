/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of q's type, of 16 bits: q's fragments, and a tile's products. */
#ifndef GM_ATTENTION_DECODE_SAME_CACHE_CUH
#define GM_ATTENTION_DECODE_SAME_CACHE_CUH

#include "common/attention/softmax.cuh"
#include "sm80/attention_decode/sums.cuh"

/* ---- q --------------------------------------------------------------------------------------------- */

struct fragments {
    uint32_t q[Q_WORDS][4];
};

/* Two neighbouring elements. */
static __device__ __forceinline__ uint32_t load_pair(uint64_t address, bool by_element) {
    return by_element ? ld_global_b16(address) | ld_global_b16(address + 2) << 16 : ld_global_b32(address);
}

static __device__ __forceinline__ void load_fragments(const struct gm_attention_params &p, const struct piece &piece,
                                                      bool by_element, struct fragments &f) {
    const uint32_t lane = lane_index();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = lane / 4 + 8 * half, elements = row < piece.rows ? p.head_dim : 0;
        const uint64_t address = address_of_q(p, piece, row) + lane % 4 * 4;
#pragma unroll
        for (int i = 0; i < 2 * STEPS && Q_BYTES == 0; ++i)
            f.q[i / 2][half + i % 2 * 2] = 8 * i < elements ? load_pair(address + 16 * i, by_element) : 0;
    }
}

/* The copies are a group of their own. */
static __device__ __forceinline__ void copy_q(const struct gm_attention_params &p, const struct piece &piece) {
#pragma unroll 1
    for (int i = thread_index(); i < ROWS * CHUNKS; i += THREADS) {
        const int row = i / CHUNKS, chunk = i % CHUNKS;
        const uint64_t from = address_of_q(p, piece, row) + chunk * 16;
        const bool exists = row < piece.rows && chunk * 8 < p.head_dim;
        if (p.flags & GM_ATTENTION_Q_BY_ELEMENT)
            copy_elements(shared_q() + chunk_offset(row, chunk), from, exists ? 8 : 0);
        else
            copy_chunk(shared_q() + chunk_offset(row, chunk), from, exists);
    }
    pipeline_commit();
}

/* Begins, before copies of the piece's first keys, */
static __device__ __forceinline__ void start_q(const struct gm_attention_params &p, const struct piece &piece,
                                               struct fragments &) {
    if (Q_BYTES)
        copy_q(p, piece);
}

/* and ends behind those of STAGES tiles. */
static __device__ __forceinline__ void finish_q(const struct gm_attention_params &p, const struct piece &piece,
                                                struct fragments &f) {
    if (Q_BYTES)
        pipeline_wait<STAGES>();
    else if (p.flags & GM_ATTENTION_Q_BY_ELEMENT)
        load_fragments(p, piece, true, f);
    else
        load_fragments(p, piece, false, f);
}

/* ---- a tile ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void score(const struct gm_attention_params &p, const struct fragments &f,
                                             uint32_t stage, scores_t &scores) {
    const uint32_t lane_addr = stage + lane_of_columns(lane_index());
    scores_t odd = {}; /* of every second step: two chains of products, half as long */
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        uint32_t q[4];
        fragment_of(f.q, step, q);
#pragma unroll
        for (int i = 0; i < KEYS / 16; ++i) {
            uint32_t k[4];
            ldmatrix_x4(k, chunk_move(lane_addr, 16 * i, 2 * step));
            multiply((step % 2 ? odd : scores)[2 * i], q, k[0], k[1]);
            multiply((step % 2 ? odd : scores)[2 * i + 1], q, k[2], k[3]);
        }
    }
#pragma unroll
    for (int i = 0; i < KEYS / 2; ++i)
        scores[i / 4][i % 4] += odd[i / 4][i % 4];
    scale_scores(p, p.scale, p.scale, scores);
}

/* The accumulators of two neighbouring products are an A fragment of the next. */
static __device__ __forceinline__ void add_values(struct sums &s, const scores_t &weights, uint32_t stage) {
    const uint32_t lane_addr = stage + V_OFFSET + lane_of_rows(lane_index());
#pragma unroll
    for (int i = 0; i < KEYS / 16; ++i) {
        const float(&left)[4] = weights[2 * i], (&right)[4] = weights[2 * i + 1];
        const uint32_t a[4] = {pack_pair(left[0], left[1]), pack_pair(left[2], left[3]), pack_pair(right[0], right[1]),
                               pack_pair(right[2], right[3])};
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            uint32_t v[4];
            ldmatrix_x4_trans(v, chunk_move(lane_addr, 16 * i, 2 * step));
            multiply(s.values[2 * step], a, v[0], v[1]);
            multiply(s.values[2 * step + 1], a, v[2], v[3]);
        }
    }
}

/* ---- the end --------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void scale_values(const struct fragments &f, struct sums &s) {}

/* A lane's sums of a row, 0 or 1 of its two, to where the row begins. */
static __device__ __forceinline__ void store_values(const struct sums &s, int half, uint32_t row_addr) {
    const uint32_t place = row_addr + lane_index() % 4 * 8;
#pragma unroll
    for (int i = 0; i < HEAD_DIM / 8; ++i)
        st_shared_v2(place + 32 * i, s.values[i][2 * half], s.values[i][2 * half + 1]);
}

#endif
