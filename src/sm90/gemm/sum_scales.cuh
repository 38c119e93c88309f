/* SPDX-License-Identifier: Apache-2.0 */
/* The scales of promoted sums: load_sum_scales() of the producer's warpgroup brings them into shared memory, a stage at a
 * time beside TMA's operands; the consumers' add_scaled() multiplies by them.
 *
 * TMA takes no rows of 4 bytes, which is how the scales of a k-block often lie. So a warp copies them one by one, by
 * cp.async, which needs no registers while they are on their way: 5 instructions a lane of a k-block of 128 x 128. */
#ifndef GM_SM90_GEMM_SUM_SCALES_CUH
#define GM_SM90_GEMM_SUM_SCALES_CUH

#include "common/gemm_sm90/params.h"
#include "common/shared.cuh"
#include "sm80/cp_async.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"

/* Arrivals on a stage's full barrier: the producer's, and of every lane that copies scales. */
enum { STAGE_ARRIVALS = SCALES_SUMS ? 1 + 32 : 1 };

/* The scales of sum `part` of a stage: of the M side's rows, then of the N side. */
static __device__ __forceinline__ uint32_t sum_scales_addr(uint32_t base, uint32_t slot, int part) {
    return base + STAGES * STAGE_BYTES + STAGING_BYTES + (slot * SUMS_OF_STAGE + part) * 4 * SUM_SCALES;
}

/* ---- the warp that loads ----------------------------------------------------------------------------- */

/* Copies the scales of rows first .. first + ROWS - 1 in sum `sum`; zeros of rows and sums that do not exist, since a sum
 * beyond K is of zeros, and stays 0. */
template <int ROWS>
static __device__ __forceinline__ void copy_sum_scales(uint32_t dst, const struct gm_sum_scales &s, int first, int sum,
                                                       bool is_sum, uint32_t lane) {
#pragma unroll
    for (int i = 0; i < GM_CEIL_DIV(ROWS, 32); ++i) {
        const int at = i * 32 + lane, row = first + at;
        const bool is_there = is_sum && row < s.rows;
        const int64_t element = (int64_t)(row >> s.shift) * s.row_step + sum * s.sum_step;
        if (at < ROWS)
            cp_async_ca_4(dst + at * 4, is_there ? s.values + element * 4 : s.values, is_there ? 4 : 0);
    }
}

/* One warp copies the scales of every k-block of every piece of this CTA's walk. They may be the previous kernel's
 * results. */
static __device__ __forceinline__ void load_sum_scales(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                       uint32_t rank, uint32_t lane) {
    const struct gm_sum_scales &m_side = SWAPPED ? p.b_sum_scales : p.a_sum_scales;
    const struct gm_sum_scales &n_side = SWAPPED ? p.a_sum_scales : p.b_sum_scales;
    const struct pipeline ring = pipeline_at(base);
    struct pipeline_state at = {0, 0};
    int walk = walk_begin(p);
    griddep_wait();
    while (walk_more(p, walk)) {
        struct gm_piece piece;
        walk_next(p, rank, walk, piece);
        const struct tile_position tile = tile_at(p, piece.tile, rank);
        const int first_m = SWAPPED ? tile.n * TILE_N : tile.m * TILE_M;
        const int first_n = SWAPPED ? tile.m * TILE_M : tile.n * TILE_N;
#pragma unroll 1
        for (; piece.first < piece.end; ++piece.first) {
            mbarrier_wait(ring.empty_addr + 8 * at.slot, at.phase ^ 1);
#pragma unroll
            for (int part = 0; part < SUMS_OF_STAGE; ++part) {
                const int sum = piece.first * SUMS_OF_STAGE + part;
                const uint32_t addr = sum_scales_addr(base, at.slot, part);
                copy_sum_scales<WGMMA_M>(addr, m_side, first_m, sum, sum < p.sums, lane);
                copy_sum_scales<HAS_N_SCALES ? WGMMA_N : 1>(addr + 4 * WGMMA_M, n_side, first_n, sum, sum < p.sums,
                                                            lane);
            }
            cp_async_mbarrier_arrive_noinc(ring.full_addr + 8 * at.slot);
            pipeline_next<STAGES>(at);
        }
    }
}

/* ---- the consumers ------------------------------------------------------------------------------------ */

/* What an atom's sums are multiplied by: of the thread's rows r and r + 8, with the N side's where that has one for all. */
struct sum_factors {
    float of_m[2];
    uint32_t n_addr; /* of the N side's columns */
};

/* Loads them of atom rows row0 + ..., the scales of whose sum are at `addr`. */
static __device__ __forceinline__ struct sum_factors sum_factors_at(uint32_t addr, int row0, uint32_t thread) {
    const uint32_t row_addr = addr + 4 * (row0 + thread / 32 * 16 + thread % 32 / 4);
    struct sum_factors f = {{ld_shared_f32(row_addr), ld_shared_f32(row_addr + 32)}, addr + 4 * WGMMA_M};
    if (HAS_N_SCALES) {
        f.n_addr += thread % 4 * 8;
    } else {
        const float of_n = ld_shared_f32(f.n_addr);
        f.of_m[0] *= of_n;
        f.of_m[1] *= of_n;
    }
    return f;
}

/* Adds an atom's sums, which are complete, times their scales. */
static __device__ __forceinline__ void add_scaled(float (&acc)[ATOM_REGISTERS], const float (&sums)[ATOM_REGISTERS],
                                                  const struct sum_factors &f) {
#pragma unroll
    for (int j = 0; j < ATOM_REGISTERS / 4; ++j) {
        float of_n[2] = {1, 1};
        if (HAS_N_SCALES)
            ld_shared_v2(f.n_addr + j * 32, of_n[0], of_n[1]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            acc[4 * j + i] += sums[4 * j + i] * (HAS_N_SCALES ? f.of_m[i / 2] * of_n[i % 2] : f.of_m[i / 2]);
    }
}

#endif
