/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's share of a piece's keys: every so manyth tile. Its 16 rows of q, their scores and their sums stay in
 * registers. */
#ifndef GM_ATTENTION_DECODE_ATTEND_CUH
#define GM_ATTENTION_DECODE_ATTEND_CUH

#include "common/attention/softmax.cuh"
#include "sm80/attention_decode/ring.cuh"

/* Scores of a warp's rows and a tile's keys, then weights. */
typedef float scores_t[KEYS / 8][4];

/* What a warp has found: a lane holds two rows, lane / 4 and 8 below. */
struct sums {
    float most[2]; /* the largest score of the row */
    float sum[2];  /* of what this lane has added up of it */
    float values[HEAD_DIM / 8][4];
};

/* ---- q --------------------------------------------------------------------------------------------- */

/* Fragments of 16 rows of q. Those that do not exist are zeros. */
struct fragments {
    uint32_t q[Q_BYTES ? 1 : STEPS][4];
};

static __device__ __forceinline__ uint64_t address_of_q(const struct gm_attention_params &p, const struct piece &piece,
                                                        int row) {
    return address_of(p.q, packed_row(p, piece.request, piece.head, piece.first_row + row));
}

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

static __device__ __forceinline__ uint32_t shared_q(void) {
    return (uint32_t)__cvta_generic_to_shared(rings) + WARPS * RING_BYTES;
}

/* The copies are a group of their own. */
static __device__ __forceinline__ void copy_q(const struct gm_attention_params &p, const struct piece &piece) {
#pragma unroll 1
    for (int i = thread_index(); i < ROWS * CHUNKS; i += THREADS) {
        const int row = i / CHUNKS, chunk = i % CHUNKS;
        const uint64_t from = address_of_q(p, piece, row) + chunk * 16;
        const bool exists = row < piece.rows && chunk * 8 < p.head_dim;
        if (p.flags & GM_ATTENTION_Q_BY_ELEMENT)
            copy_elements(shared_q() + chunk_offset(row, chunk), from, exists);
        else
            copy_chunk(shared_q() + chunk_offset(row, chunk), from, exists);
    }
    pipeline_commit();
}

static __device__ __forceinline__ void fragment_of(const struct fragments &f, int step, uint32_t (&q)[4]) {
    if (Q_BYTES)
        ldmatrix_x4(q, chunk_move(shared_q() + lane_of_rows(lane_index()), 0, 2 * step));
#pragma unroll
    for (int i = 0; i < 4 && !Q_BYTES; ++i)
        q[i] = f.q[Q_BYTES ? 0 : step][i];
}

/* ---- a tile ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void score(const struct gm_attention_params &p, const struct fragments &f,
                                             uint32_t lane_addr, scores_t &scores) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        uint32_t q[4];
        fragment_of(f, step, q);
#pragma unroll
        for (int i = 0; i < KEYS / 16; ++i) {
            uint32_t k[4];
            ldmatrix_x4(k, chunk_move(lane_addr, 16 * i, 2 * step));
            multiply(scores[2 * i], q, k[0], k[1]);
            multiply(scores[2 * i + 1], q, k[2], k[3]);
        }
    }
    const bool has_cap = p.flags & GM_ATTENTION_HAS_CAP;
#pragma unroll
    for (int i = 0; i < KEYS / 2; ++i) {
        float &x = scores[i / 4][i % 4];
        x *= p.scale;
        if (has_cap)
            x = soft_cap(x, p.cap * GM_LOG2_E, p.cap_exponent);
    }
}

static __device__ __forceinline__ void hide_keys(const struct gm_attention_params &p, const struct piece &piece,
                                                 int key, scores_t &scores) {
    const uint32_t lane = lane_index();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = piece.first_row + min(lane / 4 + 8 * half, piece.rows - 1);
        const uint64_t visible = visible_bits(p, piece.request, token_of_row(p, row), key);
        hide((visible & low_bits(piece.keys.end - key)) >> lane % 4 * 2, 2 * half, scores);
    }
}

/* Scores become weights, relative to the largest so far; what was relative to another largest is made so. */
static __device__ __forceinline__ void weigh(struct sums &s, scores_t &scores) {
    float most[2], kept[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        most[half] = s.most[half];
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i)
            most[half] = fmaxf(most[half], fmaxf(scores[i][2 * half], scores[i][2 * half + 1]));
        most[half] = max_of_quad(most[half]);
        const float base = base_of(most[half]);
        kept[half] = ex2_approx_ftz(s.most[half] - base);
        float sum = 0;
#pragma unroll
        for (int i = 0; i < KEYS / 4; ++i) {
            float &x = scores[i / 2][2 * half + i % 2];
            x = ex2_approx_ftz(x - base);
            sum += x;
        }
        s.sum[half] = fmaf(s.sum[half], kept[half], sum);
    }
    if (__any_sync(0xffffffff, most[0] != s.most[0] || most[1] != s.most[1])) {
#pragma unroll
        for (int i = 0; i < HEAD_DIM / 8; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                s.values[i][j] *= kept[j / 2];
    }
    s.most[0] = most[0];
    s.most[1] = most[1];
}

/* The accumulators of two neighbouring products are an A fragment of the next. */
static __device__ __forceinline__ void add_values(struct sums &s, const scores_t &weights, uint32_t lane_addr) {
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

/* ---- all tiles ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void attend_tile(const struct gm_attention_params &p, const struct piece &piece,
                                                   const struct keys &clear, const struct fragments &f, uint32_t stage,
                                                   int key, struct sums &s) {
    const uint32_t lane = lane_index();
    scores_t scores = {};
    score(p, f, stage + lane_of_columns(lane), scores);
    if (key < clear.first || key + KEYS > clear.end)
        hide_keys(p, piece, key, scores);
    weigh(s, scores);
    add_values(s, scores, stage + V_OFFSET + lane_of_rows(lane));
}

/* The warp's ring is full of tiles under way before q is waited for; and what finds a tile's rows is under way a tile before its
 * copies. */
static __device__ __forceinline__ void attend(const struct gm_attention_params &p, const struct piece &piece,
                                              struct sums &s) {
    const uint32_t ring = ring_of_warp();
    struct keys clear = keys_of_all(p, piece.request, first_token(p, piece), last_token(p, piece));
    clear.end = min(clear.end, piece.keys.end);
    uint32_t key = piece.keys.first + warp_index() * KEYS;
    uint32_t entries[STAGES + 1], stage = 0;
    struct fragments f;
#pragma unroll
    for (int i = 0; i <= STAGES; ++i)
        entries[i] = entry_of_lane(p, piece, key + i * BLOCK);
    if (Q_BYTES)
        copy_q(p, piece);
#pragma unroll
    for (int i = 0; i < STAGES; ++i)
        fill_stage(p, piece, ring + i * STAGE_BYTES, key + i * BLOCK, entries[i]);
    uint32_t entry = entries[STAGES];
    if (Q_BYTES)
        pipeline_wait<STAGES>();
    else if (p.flags & GM_ATTENTION_Q_BY_ELEMENT)
        load_fragments(p, piece, true, f);
    else
        load_fragments(p, piece, false, f);
#pragma unroll 1
    for (; key < (uint32_t)piece.keys.end; key += BLOCK) {
        cp_async_wait_group<STAGES - 1>();
        __syncwarp();
        attend_tile(p, piece, clear, f, ring + stage, key, s);
        __syncwarp();
        fill_stage(p, piece, ring + stage, key + STAGES * BLOCK, entry);
        entry = entry_of_lane(p, piece, key + (STAGES + 1) * BLOCK);
        stage = pipeline_next(stage, STAGE_BYTES, RING_BYTES);
    }
    cp_async_wait_group<0>();
}

#endif
