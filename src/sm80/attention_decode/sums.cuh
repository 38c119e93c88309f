/* SPDX-License-Identifier: Apache-2.0 */
/* What a warp holds of its 16 rows: q, a tile's scores, and sums. */
#ifndef GM_ATTENTION_DECODE_SUMS_CUH
#define GM_ATTENTION_DECODE_SUMS_CUH

#include "common/attention/softmax.cuh"
#include "sm80/attention_decode/ring.cuh"

/* Scores of a warp's rows and a tile's keys, then weights. */
typedef float scores_t[KEYS / 8][4];

/* Scores of both rows of a lane are multiplied, and capped where there is a cap: the others skip that at once. */
static __device__ __forceinline__ void scale_scores(const struct gm_attention_params &p, float upper, float lower,
                                                    scores_t &scores) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; ++i)
        scores[i / 4][i % 4] *= i % 4 < 2 ? upper : lower;
    if (p.flags & GM_ATTENTION_HAS_CAP)
#pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
            scores[i / 4][i % 4] = soft_cap(scores[i / 4][i % 4], p.cap * GM_LOG2_E, p.cap_exponent);
}

/* What a warp has found: a lane holds two rows, lane / 4 and 8 below. */
struct sums {
    float most[2]; /* the largest score of the row */
    float sum[2];  /* of what this lane has added up of it */
    float values[HEAD_DIM / 8][4];
};

/* Fragments of 16 rows of q stay in registers, where those have room, or in shared memory. Rows that do not exist are zeros. */
enum { KEEPS_Q = HEAD_DIM <= 128, Q_WORDS = KEEPS_Q ? STEPS : 1 };

static __device__ __forceinline__ uint64_t address_of_q(const struct gm_attention_params &p, const struct piece &piece,
                                                        int row) {
    return address_of(p.q, packed_row(p, piece.request, piece.head, piece.first_row + row));
}

static __device__ __forceinline__ uint32_t shared_q(void) {
    return (uint32_t)__cvta_generic_to_shared(rings) + WARPS * RING_BYTES;
}

static __device__ __forceinline__ void load_fragment(uint32_t (&q)[4], int step) {
    ldmatrix_x4(q, chunk_move(shared_q() + lane_of_rows(lane_index()), 0, 2 * step));
}

static __device__ __forceinline__ void fragment_of(const uint32_t (&registers)[Q_WORDS][4], int step,
                                                   uint32_t (&q)[4]) {
    if (!KEEPS_Q)
        load_fragment(q, step);
#pragma unroll
    for (int i = 0; i < 4 && KEEPS_Q; ++i)
        q[i] = registers[KEEPS_Q ? step : 0][i];
}

#endif
