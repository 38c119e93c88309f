/* SPDX-License-Identifier: Apache-2.0 */
/* An operand's k-blocks, global memory -> ring, by cp.async: begin_piece(), then load_block() of each. */
#ifndef GM_SM80_GEMM_FP32_LOAD_CUH
#define GM_SM80_GEMM_FP32_LOAD_CUH

#include "common/gemm_sm80/params.h"
#include "common/index.cuh"
#include "sm80/cp_async.cuh"
#include "sm80/gemm/chunk.cuh"
#include "sm80/gemm_fp32/constants.cuh"
#include "sm80/gemm_fp32/place.cuh"
#include "sm80/pipeline.cuh"

/* Thread t copies chunk t % chunks of rows t / chunks + i * row_step of the stage. */
static __device__ __forceinline__ constexpr int row_step(struct operand_shape shape) {
    return THREADS / shape.chunks;
}

static_assert(THREADS % shape_a().chunks == 0 && shape_a().rows % row_step(shape_a()) == 0 &&
                  THREADS % shape_b().chunks == 0 && shape_b().rows % row_step(shape_b()) == 0,
              "every thread copies the same number of chunks, all from one column of chunks");

/* One operand of this tile, as this thread copies it. */
struct operand {
    uint64_t source;      /* its first chunk of the next k-block to be loaded whole */
    uint32_t destination; /* offset of its first chunk in a stage */
    int mn;               /* the tile's first row or column */
};

static __device__ __forceinline__ struct operand operand_begin(struct operand_shape shape, uint64_t base, int64_t ld,
                                                               int mn, int first) {
    const int row = thread_index() / shape.chunks, chunk = thread_index() % shape.chunks;
    const int64_t k = (int64_t)first * TILE_K, logical = logical_row(shape, row);
    const int64_t outer = (shape.mn_major ? k : mn) + logical, inner = (shape.mn_major ? mn : k) + chunk * 4;
    return {base + (outer * ld + inner) * 4, place_of(shape, row, chunk), mn};
}

/* Copies a k-block all of which exists, in 16-byte chunks. */
static __device__ __forceinline__ void load_full(struct operand_shape shape, struct operand &o, int64_t ld,
                                                 uint32_t stage_addr) {
#pragma unroll
    for (int row = 0; row < shape.rows; row += row_step(shape))
        cp_async_cg_16_if(stage_addr + place_move(shape, o.destination, row, 0),
                          o.source + logical_row(shape, row) * ld * 4, true);
    o.source += shape.mn_major ? TILE_K * ld * 4 : TILE_K * 4;
}

/* Copies a k-block parts of which may lie outside the operand, or in units of 8 or 4 bytes. What does not exist becomes
 * zeros, and is not read. */
static __device__ __forceinline__ void load_boundary(struct operand_shape shape, const struct operand &o, uint64_t base,
                                                     int64_t ld, int vector, int limit, int k_size, int block,
                                                     uint32_t stage_addr) {
    const int row = thread_index() / shape.chunks, chunk = thread_index() % shape.chunks;
    const int k = block * TILE_K, k_left = k_size - k, mn_left = limit - o.mn;
    const int elems = min(max((shape.mn_major ? mn_left : k_left) - chunk * 4, 0), 4);
    const int64_t inner = (shape.mn_major ? o.mn : k) + (int64_t)chunk * 4;
#pragma unroll 1
    for (int i = 0; i < shape.rows; i += row_step(shape)) {
        const int logical = logical_row(shape, row + i);
        const bool exists = elems > 0 && logical < (shape.mn_major ? k_left : mn_left);
        const int64_t outer = (int64_t)(shape.mn_major ? k : o.mn) + logical;
        copy_chunk(stage_addr + place_move(shape, o.destination, i, 0), exists ? base + (outer * ld + inner) * 4 : base,
                   exists ? elems : 0, vector);
    }
}

/* Starts the copies of a k-block into a stage; beyond the last one (`block` >= `end`) of none. `full_end`: the k-blocks
 * before it exist as a whole, and chunks of both operands are aligned. */
static __device__ __forceinline__ void load_block(const struct gm_gemm_sm80_params &p, struct operand &a,
                                                  struct operand &b, int block, int full_end, int end, uint32_t stage) {
    const uint32_t stage_addr = (uint32_t)__cvta_generic_to_shared(smem) + stage;
    if (block < full_end) {
        load_full(shape_a(), a, p.lda, stage_addr);
        load_full(shape_b(), b, p.ldb, stage_addr);
    } else if (block < end) {
        load_boundary(shape_a(), a, p.a, p.lda, p.a_vector, p.epilogue.m, p.k, block, stage_addr);
        load_boundary(shape_b(), b, p.b, p.ldb, p.b_vector, p.epilogue.n, p.k, block, stage_addr);
    }
    pipeline_commit();
}

/* The end of the k-blocks of a piece that load_full() copies. */
static __device__ __forceinline__ int full_end_of(const struct gm_gemm_sm80_params &p, int end, int m, int n) {
    const bool inside = m + TILE_M <= p.epilogue.m && n + TILE_N <= p.epilogue.n;
    return inside && p.a_vector == 16 && p.b_vector == 16 ? min(end, p.k / TILE_K) : 0;
}

/* Finds this CTA's operands of a piece, and starts the loads of its first STAGES - 1 k-blocks. */
static __device__ __forceinline__ void begin_piece(const struct gm_gemm_sm80_params &p, struct operand &a,
                                                   struct operand &b, int first, int end, int m, int n) {
    const int full_end = full_end_of(p, end, m, n);
    a = operand_begin(shape_a(), p.a, p.lda, m, first);
    b = operand_begin(shape_b(), p.b, p.ldb, n, first);
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; ++i)
        load_block(p, a, b, first + i, full_end, end, i * STAGE_BYTES);
}

#endif
