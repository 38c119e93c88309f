/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of e4m3: q's fragments, and a tile's products. They are of fp16, whatever q is: e4m3 becomes fp16 exactly, and a row of
 * bf16 by a power of 2 that brings its largest element to 2^14. What is less than 2^-31 of that is rounded, by less than fp32
 * rounds the sum.
 *
 *   With c = lane % 4 and g = lane / 4, of 16 elements of k or columns of v,
 *   q . k   ldmatrix gives a lane elements 4c ... 4c + 3 of a key: they are k = 2c, 2c + 1, 2c + 8, 2c + 9 of a product, and q's
 *           fragments have the same order
 *   w v     transposed it gives columns 2g and 2g + 1 of keys 2c and 2c + 1: a product of the even columns and one of the odd
 *           ones, so that a lane's sums are of columns 4c ... 4c + 3 */
#ifndef GM_ATTENTION_DECODE_E4M3_CACHE_CUH
#define GM_ATTENTION_DECODE_E4M3_CACHE_CUH

#include "common/attention/scales.cuh"
#include "common/attention/softmax.cuh"
#include "common/fp8.cuh"
#include "sm80/attention_decode/sums.cuh"

enum { Q_FACTORS = 2 * ROWS * HEAD_DIM }; /* where they begin, behind q's rows in shared memory */

/* A warp has some of the rows, and a lane 8 elements of one at a time, half of what a product takes. */
enum { TURN_ROWS = 32 / CHUNKS, TURNS = ROWS / WARPS / TURN_ROWS };
static_assert(TURNS * TURN_ROWS * WARPS == ROWS, "all warps have as many");

struct fragments {
    uint32_t loaded[TURNS][4]; /* what a lane has of rows, on its way to shared memory */
    uint32_t q[Q_WORDS][4];
    float scores[2]; /* what scores of a lane's rows are multiplied by, */
    float values;    /* and sums of values */
};

/* ---- q --------------------------------------------------------------------------------------------- */

/* Eight neighbouring elements as pairs of 16 bits: of e4m3 as fp16. */
static __device__ __forceinline__ void load_q(uint64_t address, bool is_e4m3, bool by_element, uint32_t (&pairs)[4]) {
    if (is_e4m3) {
        uint32_t words[2] = {0, 0};
        if (by_element)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                words[i / 4] |= ld_global_b8(address + i) << i % 4 * 8;
        else
            ld_global_v2_b32(address, words);
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            pairs[i] = e4m3_as_f16x2<0, 1>(words[i / 2]);
            pairs[i + 1] = e4m3_as_f16x2<2, 3>(words[i / 2]);
        }
    } else if (by_element) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            pairs[i] = ld_global_b16(address + 4 * i) | ld_global_b16(address + 4 * i + 2) << 16;
    } else {
        ld_global_v4_b32(address, pairs);
    }
}

/* Of a row of bf16: the power of 2 that its elements are multiplied by, and what its products are. */
struct power {
    float elements, products;
};

/* `largest`: the row's largest element without its sign, as bits. Infinity and NaN, which stay what they are, count as the power
 * below. */
static __device__ __forceinline__ struct power power_of(uint32_t largest) {
    const uint32_t exponent = min(max(largest >> 7, 15), 254);
    return {__uint_as_float((268 - exponent) << 23), __uint_as_float((exponent - 14) << 23)};
}

static __device__ __forceinline__ uint32_t larger(uint32_t largest, uint32_t pair) {
    return max(largest, max(pair & 0x7fff, pair >> 16 & 0x7fff));
}

/* Part of a row of bf16, whose lanes follow each other, becomes fp16; returns what the row's products are multiplied by. */
static __device__ __forceinline__ float make_f16(uint32_t (&pairs)[4]) {
    uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        largest = larger(largest, pairs[i]);
#pragma unroll
    for (int bit = 1; bit < CHUNKS; bit *= 2)
        largest = max(largest, __shfl_xor_sync(0xffffffff, largest, bit));
    const struct power power = power_of(largest);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float low, high;
        cvt_f32_bf16x2(pairs[i], low, high);
        pairs[i] = cvt_rn_f16x2_f32(low * power.elements, high * power.elements);
    }
    return power.products;
}

static __device__ __forceinline__ int row_of_lane(int turn) {
    return warp_index() * (ROWS / WARPS) + lane_index() / CHUNKS + turn * TURN_ROWS;
}

/* Rows and scales are under way before the piece's first keys are. */
static __device__ __forceinline__ void start_q(const struct gm_attention_params &p, const struct piece &piece,
                                               struct fragments &f) {
    const bool is_e4m3 = p.flags & GM_ATTENTION_Q_IS_E4M3, by_element = p.flags & GM_ATTENTION_Q_BY_ELEMENT;
    const int chunk = lane_index() % CHUNKS;
    const float unit = GM_E4M3_AS_F16_UNIT * (is_e4m3 ? GM_E4M3_AS_F16_UNIT : 1);
#pragma unroll
    for (int i = 0; i < TURNS; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
            f.loaded[i][j] = 0;
        if (row_of_lane(i) < piece.rows && 8 * chunk < p.head_dim)
            load_q(address_of_q(p, piece, row_of_lane(i)) + (is_e4m3 ? 8 : 16) * chunk, is_e4m3, by_element,
                   f.loaded[i]);
    }
    f.scores[0] = factor_of_scores(p, piece.request.number, piece.head) * unit;
    f.values = factor_of_values(p, piece.request.number, piece.head) * GM_E4M3_AS_F16_UNIT;
}

/* To shared memory. */
static __device__ __forceinline__ void store_q(const struct gm_attention_params &p, struct fragments &f) {
    const int chunk = lane_index() % CHUNKS;
#pragma unroll
    for (int i = 0; i < TURNS; ++i) {
        const int row = row_of_lane(i);
        uint32_t(&pairs)[4] = f.loaded[i];
        const float factor = p.flags & GM_ATTENTION_Q_IS_BF16 ? make_f16(pairs) : 1;
        const uint32_t place = shared_q() + chunk_offset(row, chunk & ~1), half = chunk % 2 * 8;
        const uint32_t left[2] = {pairs[0], pairs[2]}, right[2] = {pairs[1], pairs[3]};
        st_shared_v2_b32(place + half, left);
        st_shared_v2_b32((place ^ 16) + half, right);
        if (chunk == 0)
            st_shared(shared_q() + Q_FACTORS + 4 * row, factor);
    }
}

/* All threads call it. */
static __device__ __forceinline__ void finish_q(const struct gm_attention_params &p, const struct piece &piece,
                                                struct fragments &f) {
    const float scores = f.scores[0];
    store_q(p, f);
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; ++half)
        f.scores[half] = scores * ld_shared_f32(shared_q() + Q_FACTORS + 4 * (lane_index() / 4 + 8 * half));
#pragma unroll
    for (int step = 0; step < STEPS && KEEPS_Q; ++step)
        load_fragment(f.q[KEEPS_Q ? step : 0], step);
}

/* ---- a tile ---------------------------------------------------------------------------------------- */

/* ldmatrix reads one or two chunks of all keys: register i is of keys 8 (i % EIGHTS) and chunk i / EIGHTS. */
enum { EIGHTS = KEYS / 8, AT_ONCE = 4 / EIGHTS };
static_assert(EIGHTS == 2 || EIGHTS == 4, "16 or 32 keys");

static __device__ __forceinline__ uint32_t lane_of_keys(void) {
    const uint32_t lane = lane_index();
    return chunk_offset<KV_ROW_BYTES>(lane % KEYS, lane / KEYS);
}

static __device__ __forceinline__ void score(const struct gm_attention_params &p, const struct fragments &f,
                                             uint32_t stage, scores_t &scores) {
    const uint32_t lane_addr = stage + lane_of_keys();
    uint32_t k[4];
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        uint32_t q[4];
        fragment_of(f.q, step, q);
        if (step % AT_ONCE == 0)
            ldmatrix_x4(k, chunk_move<KV_ROW_BYTES>(lane_addr, 0, step));
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
            const uint32_t word = k[step % AT_ONCE * EIGHTS + i];
            mma_m16n8k16_f16(scores[i], q, e4m3_as_f16x2<0, 1>(word), e4m3_as_f16x2<2, 3>(word));
        }
    }
    scale_scores(p, f.scores[0], f.scores[1], scores);
}

/* The accumulators of two neighbouring products are an A fragment of the next. */
static __device__ __forceinline__ void add_values(struct sums &s, const scores_t &weights, uint32_t stage) {
    const uint32_t lane_addr = stage + V_OFFSET + lane_of_keys();
    uint32_t a[KEYS / 16][4], v[4];
#pragma unroll
    for (int i = 0; i < KEYS / 4; ++i)
        a[i / 4][i % 4] = cvt_rn_f16x2_f32(weights[i / 2][i % 2 * 2], weights[i / 2][i % 2 * 2 + 1]);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        if (step % AT_ONCE == 0)
            ldmatrix_x4_trans(v, chunk_move<KV_ROW_BYTES>(lane_addr, 0, step));
#pragma unroll
        for (int i = 0; i < EIGHTS; i += 2) {
            const uint32_t left = v[step % AT_ONCE * EIGHTS + i], right = v[step % AT_ONCE * EIGHTS + i + 1];
            mma_m16n8k16_f16(s.values[2 * step], a[i / 2], e4m3_as_f16x2<0, 2>(left), e4m3_as_f16x2<0, 2>(right));
            mma_m16n8k16_f16(s.values[2 * step + 1], a[i / 2], e4m3_as_f16x2<1, 3>(left), e4m3_as_f16x2<1, 3>(right));
        }
    }
}

/* ---- the end --------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void scale_values(const struct fragments &f, struct sums &s) {
#pragma unroll
    for (int i = 0; i < HEAD_DIM / 2; ++i)
        s.values[i / 4][i % 4] *= f.values;
}

/* A lane's sums of a row, 0 or 1 of its two, to where the row begins. */
static __device__ __forceinline__ void store_values(const struct sums &s, int half, uint32_t row_addr) {
    const uint32_t place = row_addr + lane_index() % 4 * 16;
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        const float(&even)[4] = s.values[2 * step], (&odd)[4] = s.values[2 * step + 1];
        st_shared_v4(place + 64 * step, even[2 * half], odd[2 * half], even[2 * half + 1], odd[2 * half + 1]);
    }
}

#endif
