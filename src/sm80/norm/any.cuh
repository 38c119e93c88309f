/* SPDX-License-Identifier: Apache-2.0 */
/* Norms whose out is of any type, 8 bits and their scales among them, and norms that a residual is added to: for both
 * operations, CENTERS says that the mean is subtracted.
 *
 *   a row is x, or x + residual; it is normalised; the residual may be added then; what that gives is out, or is the residual's
 *   new value and normalised once more
 *
 * Images for 9.0 hold a row in registers where it is of AT_ONCE chunks of a thread and nothing else wants as many. Any other
 * row is visited for every sum, for the largest size of it where that makes its scale, and to be stored. Only the first visit
 * waits for DRAM, with AT_ONCE chunks of a thread under way; the others find the row in L1, and make of it again what they
 * need. row_threads() and the sums of a thread are whatever gives sums the order that they have in variants of one out: the
 * same norm has the same bits. */
#ifndef GM_SM80_NORM_ANY_CUH
#define GM_SM80_NORM_ANY_CUH

#include "common/quantized_store.cuh"
#include "sm80/norm/row.cuh"
#include "sm80/norm/shape.cuh"
#include "sm80/norm/sums.cuh"

enum { AT_ONCE = VECTORS };

/* Copies of what is done with each of them, and whether rows are held: sm80 images, of several targets, have one copy. */
#if __CUDA_ARCH__ >= 900
enum { COPIES = AT_ONCE, HOLDS = CHUNK > 1 };
#else
enum { COPIES = 1, HOLDS = 0 };
#endif

/* ---- a norm of one chunk --------------------------------------------------------------------------- */

/* What the sums of a row have given. */
struct moments {
    float mean, scale;
};

static __device__ __forceinline__ bool is_first_of_two(const struct gm_norm_any_params &p, int norm) {
    return p.norm.flags & GM_NORM_RESIDUAL_BETWEEN && norm == 0;
}

static __device__ __forceinline__ int norms_of(const struct gm_norm_any_params &p) {
    return p.norm.flags & GM_NORM_RESIDUAL_BETWEEN ? 2 : 1;
}

static __device__ __forceinline__ bool has_residual(const struct gm_norm_any_params &p) {
    return p.norm.flags & (GM_NORM_HAS_RESIDUAL | GM_NORM_RESIDUAL_AFTER | GM_NORM_RESIDUAL_BETWEEN);
}

static __device__ __forceinline__ bool adds_after(const struct gm_norm_any_params &p, int norm) {
    return norm == 0 && p.norm.flags & (GM_NORM_RESIDUAL_AFTER | GM_NORM_RESIDUAL_BETWEEN);
}

/* A chunk of weight or bias, which is of fp32 or of the rows' type; zeros of what is not there. */
static __device__ __forceinline__ void load_vector(uint64_t vector, bool is_wide, int at, float (&v)[CHUNK]) {
    uint32_t words[WORDS];
    if (ELEM_BYTES == 2 && is_wide) {
#pragma unroll
        for (int i = 0; i < CHUNK; i += 4) {
            uint32_t wide[4] = {};
            if (CHUNK > 1)
                ld_global_v4_b32(vector + (int64_t)(at + i) * 4, wide);
            else
                wide[0] = ld_global_b32(vector + (int64_t)at * 4);
#pragma unroll
            for (int j = 0; j < 4 && j < CHUNK; ++j)
                v[i + j] = __uint_as_float(wide[j]);
        }
    } else {
        load<TYPE, CHUNK>(words, vector + (int64_t)at * ELEM_BYTES, vector != 0);
        unpack<TYPE, CHUNK>(words, v);
    }
}

/* To L2, where an address is one. */
static __device__ __forceinline__ void fetch_vector(uint64_t vector, bool is_wide, int at) {
    if (vector)
        prefetch_global_l2(vector + (int64_t)at * (is_wide ? 4 : ELEM_BYTES));
}

static __device__ __forceinline__ void fetch_vectors(const struct gm_norm_any_params &p, int at) {
    fetch_vector(p.norm.weight, p.norm.flags & GM_NORM_WIDE_WEIGHT, at);
    fetch_vector(p.norm.bias, p.norm.flags & GM_NORM_WIDE_BIAS, at);
    fetch_vector(p.x_weight, p.norm.flags & GM_NORM_WIDE_X_WEIGHT, at);
    fetch_vector(p.x_bias, p.norm.flags & GM_NORM_WIDE_X_BIAS, at);
}

/* Products and sums are rounded each, as in the variants of one out: no product is part of a sum unless it says so. Weight and
 * bias may be of fp32 where WIDE says so. */
template <bool CENTERS, bool WIDE>
static __device__ __forceinline__ void normalize(const struct gm_norm_any_params &p, int norm, int at,
                                                 const struct moments &moments, float (&v)[CHUNK]) {
    const bool is_first = is_first_of_two(p, norm);
    const float offset = is_first ? p.x_weight_offset : p.norm.weight_offset;
    float weight[CHUNK], bias[CHUNK];
    load_vector(is_first ? p.x_weight : p.norm.weight,
                WIDE && p.norm.flags & (is_first ? GM_NORM_WIDE_X_WEIGHT : GM_NORM_WIDE_WEIGHT), at, weight);
    if (CENTERS)
        load_vector(is_first ? p.x_bias : p.norm.bias,
                    WIDE && p.norm.flags & (is_first ? GM_NORM_WIDE_X_BIAS : GM_NORM_WIDE_BIAS), at, bias);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] = __fmul_rn(CENTERS ? __fsub_rn(v[i], moments.mean) : v[i], moments.scale);
    if (p.norm.flags & GM_NORM_ROUNDS_NORMALIZED)
        round_elements<TYPE, CHUNK>(v);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] = CENTERS ? fmaf(v[i], weight[i] + offset, bias[i]) : __fmul_rn(v[i], weight[i] + offset);
}

/* Adds the residual to a norm. */
static __device__ __forceinline__ void add_after(const struct gm_norm_any_params &p, const uint32_t (&residual)[WORDS],
                                                 float (&v)[CHUNK]) {
    float r[CHUNK];
    unpack<TYPE, CHUNK>(residual, r);
    if (p.norm.flags & GM_NORM_ROUNDS_NORM)
        round_elements<TYPE, CHUNK>(v);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] = __fadd_rn(r[i], v[i]);
    if (p.norm.flags & GM_NORM_ROUNDS_SUM)
        round_elements<TYPE, CHUNK>(v);
}

static __device__ __forceinline__ void store_residual(const struct gm_norm_any_params &p, int row, int at,
                                                      const float (&v)[CHUNK]) {
    uint32_t words[WORDS];
    pack<TYPE, CHUNK>(v, words);
    store<TYPE, CHUNK>(element_of(p.norm.residual, p.norm.residual_pitch, row, at), words);
}

/* What so many norms make of chunk `at` of a row, which exists, and of its residual. Where it is read for the last time, the
 * residual gets its new value. */
template <bool CENTERS>
static __device__ __forceinline__ void make_chunk(const struct gm_norm_any_params &p, int row, int at, int norms,
                                                  const struct moments (&moments)[2], bool is_last, float (&v)[CHUNK]) {
    uint32_t x[WORDS], residual[WORDS] = {};
    load<TYPE, CHUNK>(x, element_of(p.norm.x, p.norm.x_pitch, row, at), true);
    if (has_residual(p))
        load<TYPE, CHUNK>(residual, element_of(p.norm.residual, p.norm.residual_pitch, row, at), true);
    combine(p.norm, x, residual, v);
    if (p.norm.flags & GM_NORM_HAS_RESIDUAL && is_last)
        store_residual(p, row, at, v);
#pragma unroll 1
    for (int norm = 0; norm < norms; ++norm) {
        const struct moments of_norm = {norm ? moments[1].mean : moments[0].mean,
                                        norm ? moments[1].scale : moments[0].scale};
        normalize<CENTERS, true>(p, norm, at, of_norm, v);
        if (adds_after(p, norm))
            add_after(p, residual, v);
        if (is_first_of_two(p, norm) && is_last)
            store_residual(p, row, at, v);
    }
    if (norms == norms_of(p) && p.norm.flags & GM_NORM_ROUNDS_OUT)
        round_elements<TYPE, CHUNK>(v);
}

/* ---- out ------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ bool has_8_bits(const struct gm_norm_any_params &p) {
    return p.store.out_type > GM_TYPE_fp32;
}

static __device__ __forceinline__ uint64_t out_of(const struct gm_norm_any_params &p, int row) {
    return p.norm.out + row * p.norm.out_pitch;
}

/* Of the row at `out`. */
static __device__ __forceinline__ void store_out(const struct gm_norm_any_params &p, uint64_t out, int at,
                                                 const float (&v)[CHUNK], const struct quotient_by &by, bool in_range) {
    if (has_8_bits(p))
        store_quantized(out + at, p.store, v, by, in_range);
    else
        store_as(p.store.out_type, out + (int64_t)at * (p.store.out_type == GM_TYPE_fp32 ? 4 : 2), v);
}

/* The largest of all threads' numbers; all get it. Sums and maxima take turns. */
static __device__ __forceinline__ uint32_t most_of_row(const struct gm_norm_any_params &p, uint32_t most, int turn) {
    return most_of_cta(most, (uint32_t *)row_sums + turn * SUMS, (row_threads(p.norm) + 31) / 32);
}

/* The scale that is given; 1 where nothing has a scale. */
static __device__ __forceinline__ float given_scale(const struct gm_norm_any_params &p) {
    return p.store.scaling == SCALE_STATIC && p.store.scales ? __uint_as_float(ld_global_b32(p.store.scales)) : 1;
}

/* The scale of a row, of which most are the bits of a thread's largest size; all get it. */
static __device__ __forceinline__ float scale_row(const struct gm_norm_any_params &p, int row, uint32_t most,
                                                  int turn) {
    const float scale = scale_of(p.store, most_of_row(p, most, turn));
    if (thread_index() == 0)
        store_scale(p.store, row, 0, scale);
    return scale;
}

/* The scale of the group of chunk `at`, of which most are the bits of the largest size; all threads of the warp are here, or
 * of the CTA where chunks are elements and a group those of several warps. */
static __device__ __forceinline__ float scale_group(const struct gm_norm_any_params &p, int row, int at, uint32_t most,
                                                    int turn) {
    if (CHUNK > 1) {
        most = most_of_lanes(most, (1 << p.store.group_shift) / CHUNK);
    } else {
        uint32_t *const all = (uint32_t *)row_sums + turn * SUMS;
        const int warp = thread_index() / 32, warps = (1 << p.store.group_shift) / 32;
        most = __reduce_max_sync(0xffffffff, most);
        if (thread_index() % 32 == 0)
            all[warp] = most;
        __syncthreads();
        for (int i = 0; i < warps; ++i)
            most = max(most, all[(warp & -warps) + i]);
    }
    const float scale = scale_of(p.store, most);
    if (at < p.norm.columns && (at & ((1 << p.store.group_shift) - 1)) == 0)
        store_scale(p.store, row, at >> p.store.group_shift, scale);
    return scale;
}

/* ---- visits of a row ------------------------------------------------------------------------------- */

/* Threads without a chunk are behind every row's end. */
static __device__ __forceinline__ int first_of(const struct gm_norm_any_params &p) {
    return thread_index() < row_threads(p.norm) ? thread_index() * CHUNK : 1 << 30;
}

/* Which of a thread's sums its chunk number i is part of. */
static __device__ __forceinline__ int chain_of(const struct gm_norm_any_params &p, int i) {
    const bool is_one = p.norm.flags & GM_NORM_ONE_CHAIN || (p.norm.flags & GM_NORM_REST_ONE_CHAIN && i >= 4);
    return CHAINS == 1 || is_one ? 0 : i % CHAINS;
}

/* Adds the elements of chunk number i, or their squares, or, where it CENTERS, the squares of their distances to the mean. */
template <bool CENTERS>
static __device__ __forceinline__ void add_up(const struct gm_norm_any_params &p, float (&sums)[CHAINS], int number,
                                              const float (&v)[CHUNK], bool squares, float mean) {
    const bool is_last = chain_of(p, number);
    float sum = is_last ? sums[CHAINS - 1] : sums[0];
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        const float d = CENTERS ? __fsub_rn(v[i], mean) : v[i]; /* ptxas would subtract 0 */
        sum = squares ? fmaf(d, d, sum) : __fadd_rn(sum, v[i]);
    }
    sums[0] = is_last ? sums[0] : sum;
    if (CHAINS > 1)
        sums[CHAINS - 1] = is_last ? sum : sums[CHAINS - 1];
}

/* The second chunk becomes the first one, and so on. */
static __device__ __forceinline__ void move_up(uint32_t (&chunks)[AT_ONCE][WORDS]) {
#pragma unroll
    for (int i = 0; i + 1 < AT_ONCE; ++i)
#pragma unroll
        for (int j = 0; j < WORDS; ++j)
            chunks[i][j] = chunks[i + 1][j];
}

/* The sum of the first visit, of x or of its sum with the residual: several chunks are on their way before the first is waited
 * for. A residual that is added later comes to L1 meanwhile. */
template <bool SQUARES>
static __device__ __forceinline__ void visit_first(const struct gm_norm_any_params &p, int row, float (&sums)[CHAINS]) {
#pragma unroll 1
    for (int at = first_of(p); at < p.norm.columns && p.norm.flags & GM_NORM_FETCHES_VECTORS; at += step_of(p.norm))
        fetch_vectors(p, at);
#pragma unroll 1
    for (int first = first_of(p), number = 0; first < p.norm.columns; first += AT_ONCE * step_of(p.norm)) {
        uint32_t x[AT_ONCE][WORDS], residual[AT_ONCE][WORDS];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int at = first + i * step_of(p.norm);
            load<TYPE, CHUNK>(x[i], element_of(p.norm.x, p.norm.x_pitch, row, at), at < p.norm.columns);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int at = first + i * step_of(p.norm);
            load<TYPE, CHUNK>(residual[i], element_of(p.norm.residual, p.norm.residual_pitch, row, at),
                              has_residual(p) && at < p.norm.columns);
        }
#pragma unroll COPIES
        for (int i = 0; i < AT_ONCE; ++i, ++number) {
            float v[CHUNK];
            combine(p.norm, x[0], residual[0], v);
            add_up<false>(p, sums, number, v, SQUARES, 0); /* behind the row's end are zeros, which change no sum */
            move_up(x);
            move_up(residual);
        }
    }
}

enum visit { SUM, SQUARES, LARGEST, STORE };

/* Any other visit. */
template <bool CENTERS>
static __device__ __forceinline__ void visit_again(const struct gm_norm_any_params &p, enum visit visit, int row,
                                                   int norms, const struct moments (&moments)[2], float mean,
                                                   float (&sums)[CHAINS], uint32_t &most, float scale, int &turn) {
#pragma unroll 1
    for (int base = 0, number = 0; base < p.norm.columns; base += step_of(p.norm), ++number) {
        const int at = base + first_of(p);
        const bool exists = at < p.norm.columns;
        float v[CHUNK] = {};
        if (exists)
            make_chunk<CENTERS>(p, row, at, norms, moments, visit == STORE, v);
        if (visit <= SQUARES && exists)
            add_up<CENTERS>(p, sums, number, v, visit == SQUARES, mean);
        else if (visit == LARGEST)
            most = max(most, largest_size(v));
        else if (visit == STORE) {
            if (p.store.scaling == SCALE_GROUP) {
                scale = scale_group(p, row, at, largest_size(v), turn);
                turn ^= CHUNK == 1;
            }
            const struct quotient_by by = by_scale(p.store, scale);
            if (exists)
                store_out(p, out_of(p, row), at, v, by, are_in_range(p.store, largest_size(v), by));
        }
    }
}

template <bool CENTERS>
static __device__ __forceinline__ void normalize_row(const struct gm_norm_any_params &p, int row, int &turn) {
    struct moments moments[2] = {};
    float mean = 0, scale = given_scale(p);
    enum visit visit = CENTERS ? SUM : SQUARES;
    int norm = 0;
#pragma unroll 1
    for (bool is_first = true;; is_first = false) {
        float sums[CHAINS] = {};
        uint32_t most = 0;
        if (is_first)
            visit_first<!CENTERS>(p, row, sums);
        else
            visit_again<CENTERS>(p, visit, row, norm, moments, mean, sums, most, scale, turn);
        if (visit == STORE)
            break;
        if (visit == LARGEST) {
            scale = scale_row(p, row, most, turn);
            visit = STORE;
        } else {
            const float sum = reduce_row(p.norm, sums, turn);
            if (visit == SUM) {
                mean = __fmul_rn(sum, p.norm.inverse_columns);
                visit = SQUARES;
            } else {
                const struct moments found = {mean, rsqrtf(fmaf(sum, p.norm.inverse_columns, p.norm.eps))};
                moments[0] = norm ? moments[0] : found;
                moments[1] = found;
                mean = 0;
                ++norm;
                visit = norm < norms_of(p) ? CENTERS ? SUM : SQUARES : p.store.scaling == SCALE_ROW ? LARGEST : STORE;
            }
        }
        turn ^= 1;
    }
}

/* ---- rows that are held ---------------------------------------------------------------------------- */

/* Whether the threads' registers take a row, which is then read once. */
template <bool CENTERS> static __device__ __forceinline__ bool holds(const struct gm_norm_any_params &p) {
    return HOLDS && GM_NORM_ANY_HOLDS(p.norm.columns, AT_ONCE * step_of(p.norm), p.norm.flags, CENTERS + 1, ELEM_BYTES);
}

/* Loads x, or its sum with the residual, which is stored. Threads without a chunk have zeros. */
static __device__ __forceinline__ void hold_row(const struct gm_norm_any_params &p, int row,
                                                float (&v)[AT_ONCE][CHUNK]) {
    load_held(p.norm, p.norm.x, row, thread_index() < row_threads(p.norm) ? p.norm.columns : 0, v);
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
        const int at = first_of(p) + i * step_of(p.norm);
        if (at < p.norm.columns)
            store_sum(p.norm, row, at, v[i]);
    }
}

/* The sum of the row's elements, or of their squares, or of those of their distances to the mean. */
template <bool CENTERS, bool SQUARES>
static __device__ __forceinline__ float sum_held(const struct gm_norm_any_params &p, const float (&v)[AT_ONCE][CHUNK],
                                                 float mean, int turn) {
    float sums[CHAINS] = {};
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i)
        if (first_of(p) + i * step_of(p.norm) < p.norm.columns)
            add_up<CENTERS && SQUARES>(p, sums, i, v[i], SQUARES, mean);
    return reduce_row(p.norm, sums, turn);
}

/* How what is normalised is multiplied by the weight, of the rows' type. */
enum products {
    IN_WORDS, /* it and its product are rounded to the type, of 16 bits: two elements at once */
    IN_FP32,  /* neither is */
    IN_TURNS, /* any other, and norms with a mean: chunk by chunk */
};

template <bool CENTERS>
static __device__ __forceinline__ enum products products_of(const struct gm_norm_any_params &p) {
    enum { EARLY = GM_NORM_ROUNDS_NORMALIZED | GM_NORM_ROUNDS_OUT };
    const int32_t choices = p.norm.flags & (EARLY | GM_NORM_WIDE_WEIGHT);
    if (CENTERS || CHUNK == 1)
        return IN_TURNS;
    if (choices == 0)
        return IN_FP32;
    return ELEM_BYTES == 2 && choices == EARLY && p.norm.weight_offset == 0 ? IN_WORDS : IN_TURNS;
}

/* No branch keeps the chunks apart, so that their weights are under way together. */
template <enum products PRODUCTS>
static __device__ __forceinline__ void normalize_at_once(const struct gm_norm_any_params &p, float scale,
                                                         float (&v)[AT_ONCE][CHUNK]) {
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
        const int at = first_of(p) + i * step_of(p.norm);
        const bool exists = at < p.norm.columns;
        const float factor = exists ? scale : 0; /* zeros stay zeros, of infinite scales too */
        uint32_t weight[WORDS];
        load<TYPE, CHUNK>(weight, p.norm.weight + (int64_t)at * ELEM_BYTES, exists);
#pragma unroll
        for (int j = 0; j < WORDS; ++j) {
            float *const pair = v[i] + j * PER_WORD, w[PER_WORD];
#pragma unroll
            for (int k = 0; k < PER_WORD; ++k)
                pair[k] = __fmul_rn(pair[k], factor);
            if (PRODUCTS == IN_WORDS) {
                unpack_word<TYPE, CHUNK>(mul_words<TYPE>(pack_word<TYPE, CHUNK>(pair), weight[j]), pair);
            } else {
                unpack_word<TYPE, CHUNK>(weight[j], w);
#pragma unroll
                for (int k = 0; k < PER_WORD; ++k)
                    pair[k] = __fmul_rn(pair[k], w[k] + p.norm.weight_offset);
            }
        }
    }
}

template <bool CENTERS>
static __device__ __forceinline__ void normalize_in_turns(const struct gm_norm_any_params &p,
                                                          const struct moments &moments, float (&v)[AT_ONCE][CHUNK]) {
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
        const int at = first_of(p) + i * step_of(p.norm);
        if (at >= p.norm.columns)
            continue; /* zeros */
        normalize<CENTERS, !CENTERS>(p, 0, at, moments, v[i]);
        if (p.norm.flags & GM_NORM_ROUNDS_OUT)
            round_elements<TYPE, CHUNK>(v[i]);
    }
}

/* The row normalised, and what that takes. */
template <bool CENTERS>
static __device__ __forceinline__ void normalize_held(const struct gm_norm_any_params &p, int &turn,
                                                      float (&v)[AT_ONCE][CHUNK]) {
    struct moments moments = {};
    if (CENTERS) {
        moments.mean = __fmul_rn(sum_held<CENTERS, false>(p, v, 0, turn), p.norm.inverse_columns);
        turn ^= 1;
    }
    const float sum = sum_held<CENTERS, true>(p, v, moments.mean, turn);
    turn ^= 1;
    moments.scale = rsqrtf(fmaf(sum, p.norm.inverse_columns, p.norm.eps));
    const enum products products = products_of<CENTERS>(p);
    if (products == IN_FP32)
        normalize_at_once<IN_FP32>(p, moments.scale, v);
    else if (ELEM_BYTES == 2 && products == IN_WORDS)
        normalize_at_once<IN_WORDS>(p, moments.scale, v);
    else
        normalize_in_turns<CENTERS>(p, moments, v);
}

/* The scale of the group of a thread's chunk turned(lane), which is stored. */
static __device__ __forceinline__ float scale_groups(const struct gm_norm_any_params &p, int row,
                                                     const float (&v)[AT_ONCE][CHUNK]) {
    const int lane = thread_index() % 32, columns = 1 << p.store.group_shift, lanes = columns / CHUNK;
    const int at = first_of(p) + turned<AT_ONCE>(lane) * step_of(p.norm);
    const float scale = scale_of(p.store, most_of_group(v, lanes));
    if ((lane & (lanes - 1)) < AT_ONCE && (at & -columns) < p.norm.columns)
        store_scale(p.store, row, at >> p.store.group_shift, scale);
    return scale;
}

template <bool CENTERS>
static __device__ __forceinline__ void normalize_row_held(const struct gm_norm_any_params &p, int row, int &turn) {
    const bool is_group = p.store.scaling == SCALE_GROUP;
    float v[AT_ONCE][CHUNK];
    hold_row(p, row, v);
    float scale = given_scale(p);
    normalize_held<CENTERS>(p, turn, v);
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i)
        most = max(most, largest_size(v[i]));
    if (p.store.scaling == SCALE_ROW) {
        scale = scale_row(p, row, most, turn);
        turn ^= 1;
    } else if (is_group) {
        scale = scale_groups(p, row, v);
    }
    const struct quotient_by by = by_scale(p.store, scale);
    const bool in_range = are_in_range(p.store, most, by);
    const uint64_t out = out_of(p, row);
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
        const int at = first_of(p) + i * step_of(p.norm);
        const struct quotient_by own = is_group ? of_chunk<AT_ONCE>(by, i) : by;
        if (at < p.norm.columns)
            store_out(p, out, at, v[i], own, in_range);
    }
}

template <bool CENTERS> static __device__ __forceinline__ void normalize_rows(const struct gm_norm_any_params &p) {
    int rows_turn = 0, turn = 0;
    if (holds<CENTERS>(p))
        for_each_row(p.norm, rows_turn, [&](int row, int, int) { normalize_row_held<CENTERS>(p, row, turn); });
    else
        for_each_row(p.norm, rows_turn, [&](int row, int, int) { normalize_row<CENTERS>(p, row, turn); });
}

#endif
