/* SPDX-License-Identifier: Apache-2.0 */
/* Online softmax on the accumulators of S. A thread has two rows, r = 64 * consumer + 16 * warp + lane / 4 and r + 8, and of
 * every 8 columns the two at 2 * (lane % 4): element i is in row r + 8 * (i / 2 % 2), column 8 * (i / 4) + i % 2 from
 * there. Four lanes, a quad, share a row. Exponents are of base 2. */
#ifndef GM_SM90_ATTENTION_SOFTMAX_CUH
#define GM_SM90_ATTENTION_SOFTMAX_CUH

#include "common/attention/softmax.cuh"
#include "common/fp8.cuh"
#include "sm90/attention_sm90/walk.cuh"

/* What a thread knows of its two rows. */
struct rows {
    float top[2]; /* the largest score so far, unscaled */
    float sum[2]; /* of the exponentials, of this lane's columns */
};

/* Of the thread's elements of a row, how many are in columns below `column` of the block, as bits from the lowest. */
static __device__ __forceinline__ uint32_t elements_below(int column, int lane) {
    const int rest = min(max(column - 2 * (lane % 4), 0), (int)TILE_N);
    const uint32_t count = 2 * (rest >> 3) + min(rest & 7, 2);
    return count >= 32 ? 0xFFFFFFFF : (1u << count) - 1;
}

/* Scores of tokens that a row does not see become -infinity, whatever they are. */
static __device__ __forceinline__ void hide(const struct gm_attention_params &p, float (&s)[SCORES], int position,
                                            int kv_len, int block, int lane) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int low = low_of(p, position + 8 * r), high = high_of(p, position + 8 * r, kv_len);
        const uint32_t seen = elements_below(high - block * TILE_N, lane) & ~elements_below(low - block * TILE_N, lane);
#pragma unroll
        for (int i = 0; i < SCORES / 2; ++i) {
            float &score = s[i / 2 * 4 + 2 * r + i % 2];
            score = seen >> i & 1 ? score : -GM_INFINITY;
        }
    }
}

/* NOTE: the conditions always hold, since the exponent is negative. They part the code into pieces: as one, CUDA 12's ptxas
 * takes so many registers for it that others spill. */
static __device__ __forceinline__ void cap_scores(float (&s)[SCORES], float scale, float cap, float exponent) {
#pragma unroll
    for (int piece = 0; piece < SCORES; piece += 8)
        if (exponent < piece)
#pragma unroll
            for (int i = piece; i < piece + 8; ++i)
                s[i] = soft_cap(s[i] * scale, cap, exponent);
}

/* Scores times a factor that is not positive, or NaN: the largest of them is that of others. */
static __device__ __forceinline__ void scale_scores(float (&s)[SCORES], float factor) {
#pragma unroll
    for (int i = 0; i < SCORES; ++i)
        s[i] *= factor;
}

/* The largest of `top` and a quad's scores of row R, as an integer: bit by bit the same number, if that is not negative. An
 * instruction takes three integers, and two floats. */
template <int R> static __device__ __forceinline__ int largest_bits(const float (&s)[SCORES], float top) {
    int most[2] = {__float_as_int(top), __float_as_int(s[2 * R])};
#pragma unroll
    for (int i = 2 * R; i < SCORES; i += 4)
        most[i / 4 % 2] = max(max(most[i / 4 % 2], __float_as_int(s[i])), __float_as_int(s[i + 1]));
    most[0] = max(most[0], most[1]);
    most[0] = max(most[0], __shfl_xor_sync(0xffffffff, most[0], 1));
    return max(most[0], __shfl_xor_sync(0xffffffff, most[0], 2));
}

template <int R> static __device__ __forceinline__ float largest(const float (&s)[SCORES], float top) {
    float most[2] = {top, s[2 * R]};
#pragma unroll
    for (int i = 2 * R; i < SCORES; i += 4) {
        most[0] = fmaxf(most[0], s[i]);
        most[1] = fmaxf(most[1], s[i + 1]);
    }
    return max_of_quad(fmaxf(most[0], most[1]));
}

/* The largest score of row R so far is `top`. `shrink`: what the row's sum so far, and O, are to be multiplied by. Returns what
 * is subtracted in the exponent: of a row that has seen no token yet a number, so that its exponentials are 0, not NaN. */
template <int R>
static __device__ __forceinline__ float raise_top(float top, struct rows &rows, float (&shrink)[2], float scale) {
    const float base = top == -GM_INFINITY ? 0 : top * scale;
    shrink[R] = ex2_approx_ftz(rows.top[R] * scale - base);
    rows.top[R] = top;
    return base - P_SHIFT;
}

/* Scores of row R -> exponentials times 2^P_SHIFT, in place; their sum is added. */
template <int R>
static __device__ __forceinline__ void exponentiate(float (&s)[SCORES], struct rows &rows, const float (&shrink)[2],
                                                    float shifted, float scale) {
    float sum[2];
#pragma unroll
    for (int i = 2 * R; i < SCORES; i += 4)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            s[i + j] = ex2_approx_ftz(s[i + j] * scale - shifted);
            sum[j] = i == 2 * R ? s[i + j] : sum[j] + s[i + j];
        }
    rows.sum[R] = rows.sum[R] * shrink[R] + (sum[0] + sum[1]);
}

static __device__ __forceinline__ void exponentials_by_rows(float (&s)[SCORES], struct rows &rows, float (&shrink)[2],
                                                            float scale) {
    const float first = raise_top<0>(largest<0>(s, rows.top[0]), rows, shrink, scale);
    exponentiate<0>(s, rows, shrink, first, scale);
    const float second = raise_top<1>(largest<1>(s, rows.top[1]), rows, shrink, scale);
    exponentiate<1>(s, rows, shrink, second, scale);
}

/* Scores -> exponentials. Where O leaves few registers, or few blocks follow each other, integers cost more than they save. */
static __device__ __forceinline__ void exponentials(float (&s)[SCORES], struct rows &rows, float (&shrink)[2],
                                                    float scale) {
    if constexpr (IS_ALONE || OVERLAPS) {
        exponentials_by_rows(s, rows, shrink, scale);
        return;
    }
    const int bits[2] = {largest_bits<0>(s, rows.top[0]), largest_bits<1>(s, rows.top[1])};
    float top[2] = {__int_as_float(bits[0]), __int_as_float(bits[1])};
    if (__any_sync(0xffffffff, (bits[0] | bits[1]) < 0)) {
        top[0] = largest<0>(s, rows.top[0]);
        top[1] = largest<1>(s, rows.top[1]);
    }
    const float first = raise_top<0>(top[0], rows, shrink, scale), second = raise_top<1>(top[1], rows, shrink, scale);
    exponentiate<0>(s, rows, shrink, first, scale);
    exponentiate<1>(s, rows, shrink, second, scale);
}

static __device__ __forceinline__ void shrink_outputs(float (&o)[OUTPUTS], const float (&shrink)[2]) {
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i)
        o[i] *= shrink[i / 2 % 2];
}

/* Four exponentials of a row, two of each of two neighbouring blocks of 8 columns, as e4m3. */
static __device__ __forceinline__ uint32_t pack_quad(const float *s) {
    return cvt_rn_satfinite_e4m3x2_f32(s[0], s[1]) | cvt_rn_satfinite_e4m3x2_f32(s[4], s[5]) << 16;
}

/* The accumulators of two neighbouring blocks of 8 columns are a fragment of wgmma's A, once they are packed: of 16 bits as
 * they are, of 8 bits a half of one, with the tokens in transpose.cuh's order. */
static __device__ __forceinline__ void pack_p(const float (&s)[SCORES], uint32_t (&p)[P_WORDS]) {
#pragma unroll
    for (int i = 0; i < P_WORDS; ++i)
        p[i] = IS_8BIT ? pack_quad(s + i / 2 * 8 + i % 2 * 2) : pack_pair(s[2 * i], s[2 * i + 1]);
}

#endif
