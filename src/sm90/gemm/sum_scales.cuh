/* SPDX-License-Identifier: Apache-2.0 */
/* The scales of promoted sums: load_sum_scales() of the producer's warpgroup brings them into shared memory, a stage at a
 * time beside TMA's operands; the consumers' add_scaled() multiplies by them.
 *
 * TMA takes no rows of 4 bytes, which is how the scales of a k-block often lie. So a warp copies them one by one, by
 * cp.async, which needs no registers while they are on their way, to where nobody else reads or writes, so that it can ask
 * for them before a stage is free. Then it makes factors of them in the stage; where a tile has few scales of columns,
 * products.
 * NOTE: A consumer must not multiply scales. Between loading two and their product it would wait, ptxas lays that between
 * the wgmma of a group, and the tensor cores wait, too. */
#ifndef GM_SM90_GEMM_SUM_SCALES_CUH
#define GM_SM90_GEMM_SUM_SCALES_CUH

#include "common/fp8.cuh"
#include "common/gemm_sm90/params.h"
#include "common/shared.cuh"
#include "sm80/cp_async.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"

/* Arrivals on a stage's full barrier: the producer's, and of the warp that loads scales. */
enum { STAGE_ARRIVALS = SCALES_SUMS ? 2 : 1 };

/* The factors of sum `part` of a stage: SCALE_SPANS times of the M side's rows, then of the N side's columns, if each has
 * one. Rows r and r + 8 of 16 lie side by side, which are of one thread. */
static __device__ __forceinline__ uint32_t sum_factors_addr(uint32_t base, uint32_t slot, int part) {
    return base + STAGES * STAGE_BYTES + STAGING_BYTES + (slot * SUMS_OF_STAGE + part) * 4 * SUM_FACTORS;
}

/* Where the scales of sum `part` land, in the `place`-th of SCALES_AHEAD places: of the M side's rows, then of the N side, then
 * whose they are. */
static __device__ __forceinline__ uint32_t landed_scales_addr(uint32_t base, uint32_t place, int part) {
    return sum_factors_addr(base, STAGES, 0) + (place * SUMS_OF_STAGE + part) * 4 * LANDED_SCALES;
}

/* ---- the warp that loads ----------------------------------------------------------------------------- */

/* The scales that a lane copies of one operand's side of a tile, which has COUNT rows first, first + STEP, ..., in the sum
 * that is next: four rows of every 128 at once where these lie side by side, else one of every 32; of ue8m0 the words that
 * they are in. The warp copies hundreds a k-block, so that an address takes one addition, and a choice is made once. */
template <int COUNT, int STEP> struct copied_scales {
    uint64_t next[GM_CEIL_DIV(COUNT, 32)];
    int rows; /* of the operand, from the lane's first on */
    bool by_fours;

    __device__ __forceinline__ copied_scales() {}
    __device__ __forceinline__ copied_scales(const struct gm_sum_scales &s, int first, int sum, uint32_t lane)
        : by_fours(STEP == 1 && COUNT >= 4 && s.row_step == 4 && s.shift == 0 && !s.is_e8m0 &&
                   (s.values | s.sum_step) % 16 == 0) {
        const int step = by_fours ? 4 : STEP;
        rows = s.rows - first - (int)lane * step;
#pragma unroll
        for (int i = 0; i < GM_CEIL_DIV(COUNT, 32); ++i) {
            const int row = first + (i * 32 + (int)lane) * step;
            next[i] = s.values + (int64_t)(row >> s.shift) * s.row_step + sum * s.sum_step;
        }
    }

    /* Zeros of rows and sums that do not exist, since a sum beyond K is of zeros, and stays 0. */
    template <bool PACKED>
    __device__ __forceinline__ void copy(uint32_t dst, const struct gm_sum_scales &s, bool is_sum, uint32_t lane) {
        const int there = is_sum ? rows : 0;
        if (by_fours) {
#pragma unroll
            for (int i = 0; i < GM_CEIL_DIV(COUNT, 128); ++i) {
                const int at = i * 128 + (int)lane * 4;
                if (COUNT % 128 == 0 || at < COUNT)
                    cp_async_cg_16_alone(dst + at * 4, next[i], min(max(there - i * 128, 0), 4) * 4);
                next[i] += s.sum_step;
            }
        } else {
#pragma unroll
            for (int i = 0; i < GM_CEIL_DIV(COUNT, 32); ++i) {
                const int at = i * 32 + (int)lane;
                if (COUNT % 32 == 0 || at < COUNT)
                    cp_async_ca_4(dst + at * 4, PACKED ? next[i] & ~(uint64_t)3 : next[i],
                                  i * 32 * STEP < there ? 4 : 0);
                next[i] += s.sum_step;
            }
        }
    }
};

/* The scales of a tile, from k-block `block` on. */
struct copied_tile {
    copied_scales<WGMMA_M, 1> m;
    copied_scales<HAS_N_SCALES ? WGMMA_N : SCALE_SPANS, HAS_N_SCALES ? 1 : SCALE_SPAN> n;
    int first_m, first_n, sum;

    __device__ __forceinline__ copied_tile() {}
    __device__ __forceinline__ copied_tile(const struct gm_gemm_sm90_params &p, int first_m, int first_n, int block,
                                           uint32_t lane)
        : m(SWAPPED ? p.b_sum_scales : p.a_sum_scales, first_m, block * SUMS_OF_STAGE, lane),
          n(SWAPPED ? p.a_sum_scales : p.b_sum_scales, first_n, block * SUMS_OF_STAGE, lane), first_m(first_m),
          first_n(first_n), sum(block * SUMS_OF_STAGE) {}

    /* Asks for those of the next k-block. */
    template <bool PACKED>
    __device__ __forceinline__ void ask(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t place,
                                        uint32_t lane) {
#pragma unroll
        for (int part = 0; part < SUMS_OF_STAGE; ++part, ++sum) {
            const uint32_t addr = landed_scales_addr(base, place, part);
            m.template copy<PACKED>(addr, SWAPPED ? p.b_sum_scales : p.a_sum_scales, sum < p.sums, lane);
            n.template copy<PACKED>(addr + 4 * WGMMA_M, SWAPPED ? p.a_sum_scales : p.b_sum_scales, sum < p.sums, lane);
            if (PACKED && lane == 0)
                st_shared_v4(addr + 4 * ROW_SCALES, __int_as_float(first_m), __int_as_float(first_n),
                             __int_as_float(sum), 0);
        }
    }
};

/* Scales of ue8m0 where words of four landed: number of the first row, and the sum. */
struct packed_scales {
    int shift, first, sum;
    bool by_column;

    __device__ __forceinline__ packed_scales(const struct gm_sum_scales &s, int first, int sum)
        : shift(s.shift), first(first), sum(sum), by_column(s.row_step == 1) {}

    /* That of row first + `row`, whose word is `word`, in its place. */
    __device__ __forceinline__ void unpack(float &word, int row) const {
        const int byte = (by_column ? (first + row) >> shift : sum) % 4;
        word = e8m0_to_float(__float_as_uint(word) >> 8 * byte & 0xff);
    }
};

/* The scales of a sum on their way from where they landed into a stage: a lane's rows r, r + 1, r + 8 and r + 9 of 16. */
struct moved_scales {
    enum { QUADS = WGMMA_M / 4, OF_LANE = GM_CEIL_DIV(QUADS, 32) };
    float of_n[SCALE_SPANS], of_m[OF_LANE][4], columns[4];

    static __device__ __forceinline__ bool has(int i, uint32_t lane) {
        return QUADS % 32 == 0 || i * 32 + (int)lane < QUADS;
    }

    static __device__ __forceinline__ bool has_columns(uint32_t lane) {
        return HAS_N_SCALES && (int)lane < WGMMA_N / 4;
    }

    __device__ __forceinline__ void load(uint32_t from, uint32_t lane) {
        const uint32_t first = from + lane / 4 * 64 + lane % 4 * 8;
#pragma unroll
        for (int span = 0; span < SCALE_SPANS; ++span)
            of_n[span] = HAS_N_SCALES ? 1 : ld_shared_f32(from + 4 * (WGMMA_M + span));
#pragma unroll
        for (int i = 0; i < OF_LANE; ++i)
            if (has(i, lane)) {
                ld_shared_v2(first + i * 512, of_m[i][0], of_m[i][2]);
                ld_shared_v2(first + i * 512 + 32, of_m[i][1], of_m[i][3]);
            }
        if (has_columns(lane))
            ld_shared_v4(from + 4 * WGMMA_M + lane * 16, columns[0], columns[1], columns[2], columns[3]);
    }

    /* Makes floats of those that are ue8m0, if any are. */
    __device__ __forceinline__ void unpack(const struct gm_gemm_sm90_params &p, uint32_t from, uint32_t lane) {
        const struct gm_sum_scales &m = SWAPPED ? p.b_sum_scales : p.a_sum_scales;
        const struct gm_sum_scales &n = SWAPPED ? p.a_sum_scales : p.b_sum_scales;
        if (!m.is_e8m0 && !n.is_e8m0)
            return;
        float first_m, first_n, sum, unused;
        ld_shared_v4(from + 4 * ROW_SCALES, first_m, first_n, sum, unused);
        const struct packed_scales rows(m, __float_as_int(first_m), __float_as_int(sum));
        const struct packed_scales lines(n, __float_as_int(first_n), __float_as_int(sum));
        if (m.is_e8m0)
#pragma unroll
            for (int i = 0; i < OF_LANE; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    rows.unpack(of_m[i][j], (i * 8 + lane / 4) * 16 + lane % 4 * 2 + j / 2 + j % 2 * 8);
        if (n.is_e8m0 && HAS_N_SCALES)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                lines.unpack(columns[j], lane * 4 + j);
        if (n.is_e8m0 && !HAS_N_SCALES)
#pragma unroll
            for (int span = 0; span < SCALE_SPANS; ++span)
                lines.unpack(of_n[span], span * SCALE_SPAN);
    }

    /* Stores the factors that they make. */
    __device__ __forceinline__ void store(uint32_t to, uint32_t lane) const {
#pragma unroll
        for (int i = 0; i < OF_LANE; ++i)
#pragma unroll
            for (int span = 0; span < SCALE_SPANS; ++span)
                if (has(i, lane))
                    st_shared_v4(to + 4 * span * WGMMA_M + (i * 32 + lane) * 16, of_m[i][0] * of_n[span],
                                 of_m[i][1] * of_n[span], of_m[i][2] * of_n[span], of_m[i][3] * of_n[span]);
        if (has_columns(lane))
            st_shared_v4(to + 4 * WGMMA_M + lane * 16, columns[0], columns[1], columns[2], columns[3]);
    }
};

/* Hands consumers the factors of the next stage, as soon as it is free. Its scales have landed, as far as this lane asked
 * for them. */
template <bool PACKED>
static __device__ __forceinline__ void hand_over_factors(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                         struct pipeline_state &at, struct pipeline_state &landed,
                                                         uint32_t lane) {
    const struct pipeline ring = pipeline_at(base);
    moved_scales moved[SUMS_OF_STAGE];
    __syncwarp();
#pragma unroll
    for (int part = 0; part < SUMS_OF_STAGE; ++part) {
        moved[part].load(landed_scales_addr(base, landed.slot, part), lane);
        if (PACKED)
            moved[part].unpack(p, landed_scales_addr(base, landed.slot, part), lane);
    }
    pipeline_next<SCALES_AHEAD>(landed);
    mbarrier_wait(ring.empty_addr + 8 * at.slot, at.phase ^ 1);
#pragma unroll
    for (int part = 0; part < SUMS_OF_STAGE; ++part)
        moved[part].store(sum_factors_addr(base, at.slot, part), lane);
    __syncwarp();
    if (lane == 0)
        mbarrier_arrive(ring.full_addr + 8 * at.slot);
    pipeline_next<STAGES>(at);
}

/* Where the warp is that loads scales: the next stage, places, k-blocks asked for and not handed over, the walk. */
struct scales_state {
    struct pipeline_state at, asked, landed;
    int ahead, walk;
};

/* Asks for the scales of a piece, and hands over those of k-blocks SCALES_AHEAD - 1 before. Of no piece, which PACKED alone may
 * have: asks for nothing, so many times that everything is handed over. */
template <bool PACKED>
static __device__ __forceinline__ void load_piece_scales(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                         uint32_t rank, uint32_t lane, struct scales_state &s,
                                                         bool is_piece) {
    struct gm_piece piece = {0, 0, SCALES_AHEAD - 1};
    struct copied_tile scales;
    if (!PACKED || is_piece) {
        walk_next(p, rank, s.walk, piece);
        const struct tile_position tile = tile_at(p, piece.tile, rank);
        const int first_m = SWAPPED ? tile.n * TILE_N : tile.m * TILE_M;
        const int first_n = SWAPPED ? tile.m * TILE_M : tile.n * TILE_N;
        scales = copied_tile(p, first_m, first_n, piece.first, lane);
    }
#pragma unroll 1
    for (; piece.first < piece.end; ++piece.first) {
        if (!PACKED || is_piece)
            scales.ask<PACKED>(p, base, s.asked.slot, lane);
        cp_async_commit_group();
        pipeline_next<SCALES_AHEAD>(s.asked);
        if (++s.ahead == SCALES_AHEAD) {
            cp_async_wait_group<SCALES_AHEAD - 1>();
            hand_over_factors<PACKED>(p, base, s.at, s.landed, lane);
            --s.ahead;
        }
    }
}

/* One warp loads the scales of every k-block of every piece of this CTA's walk. They may be the previous kernel's results.
 * NOTE: the loop over k-blocks is there twice: floats alone ask nothing in the first, since with few tokens everybody would
 * wait for the answers. What is left behind it, and all of ue8m0, is the second's. */
static __device__ __forceinline__ void load_sum_scales(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                       uint32_t rank, uint32_t lane) {
    struct scales_state s = {{0, 0}, {0, 0}, {0, 0}, 0, walk_begin(p)};
    const bool packed = p.a_sum_scales.is_e8m0 || p.b_sum_scales.is_e8m0;
    griddep_wait();
    while (!packed && walk_more(p, s.walk))
        load_piece_scales<false>(p, base, rank, lane, s, true);
    for (bool more = true; more;) {
        more = walk_more(p, s.walk);
        load_piece_scales<true>(p, base, rank, lane, s, more);
    }
}

/* ---- the consumers ------------------------------------------------------------------------------------ */

/* What an atom's sums are multiplied by: of the thread's rows r and r + 8, in each span of columns. */
struct sum_factors {
    float of_rows[SCALE_SPANS][2];
    uint32_t n_addr; /* the scales of the N side's columns, where each has its own */
};

/* Loads them of atom rows row0 + ..., the factors of whose sum are at `addr`. */
static __device__ __forceinline__ struct sum_factors sum_factors_at(uint32_t addr, int row0, uint32_t thread) {
    const uint32_t row_addr = addr + 4 * (row0 + thread / 32 * 16) + thread % 32 / 4 * 8;
    struct sum_factors f;
#pragma unroll
    for (int span = 0; span < SCALE_SPANS; ++span)
        ld_shared_v2(row_addr + 4 * span * WGMMA_M, f.of_rows[span][0], f.of_rows[span][1]);
    f.n_addr = addr + 4 * WGMMA_M + thread % 4 * 8;
    return f;
}

/* Adds an atom's sums, which are complete, times their scales. */
static __device__ __forceinline__ void add_scaled(float (&acc)[ATOM_REGISTERS], const float (&sums)[ATOM_REGISTERS],
                                                  const struct sum_factors &f) {
#pragma unroll
    for (int j = 0; j < ATOM_REGISTERS / 4; ++j) {
        const float(&of_rows)[2] = f.of_rows[j * 8 / SCALE_SPAN];
        float of_n[2];
        if (HAS_N_SCALES)
            ld_shared_v2(f.n_addr + j * 32, of_n[0], of_n[1]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            acc[4 * j + i] += sums[4 * j + i] * (HAS_N_SCALES ? of_rows[i / 2] * of_n[i % 2] : of_rows[i / 2]);
    }
}

#endif
