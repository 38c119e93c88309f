/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM on the cp.async + ldmatrix + mma.sync path: persistent CTAs, one registry row per compilation.
 *
 * Low tiles have too few warps to hide what a k-block costs one of them. There K is sliced within the CTA: every slice
 * of the warps multiplies its part of each stage into accumulators of the whole tile, and slice 0 adds them up.
 *
 * D = act(alpha * A B + beta * C + bias), 16-bit operands, fp32 accumulators, each operand K-major or MN-major.
 * Any size (K = 0 too), stride and element alignment: params.a_vector / b_vector say how many bytes base and
 * stride allow per copy. No byte outside the operands' logical rows is read, none outside D's is written. The
 * order of accumulation is the same for every element of D and on every run. */
#include "common/gemm/epilogue.cuh"
#include "common/gemm/raster.cuh"
#include "common/gemm/stream_k.cuh"
#include "common/index.cuh"
#include "common/named_barrier.cuh"
#include "sm80/gemm/constants.cuh"
#include "sm80/gemm/load.cuh"
#include "sm80/gemm/store.cuh"
#include "sm80/gemm/swizzle.cuh"
#include "sm80/ldmatrix.cuh"
#include "sm80/mma_m16n8.cuh"
#include "sm80/pipeline.cuh"

/* ---- slices -------------------------------------------------------------------------------------- */

enum { BAR_SLICE_0 = 1 }; /* named barrier; 0 is __syncthreads() */

static __device__ __forceinline__ bool in_slice_0() {
    return SLICES == 1 || thread_index() < TILE_THREADS;
}

/* A barrier of slice 0's threads. */
static __device__ __forceinline__ void sync_slice_0() {
    if (SLICES == 1) {
        __syncthreads();
    } else {
        bar_sync(BAR_SLICE_0, TILE_THREADS);
    }
}

/* Leaves the sum of all slices in slice 0's accumulators: (0 + 1) + 2 + ..., always in this order. The ring, which the
 * barrier that ended the piece has drained, carries the others' to it; the last barrier gives the ring back. A warp's
 * accesses are one contiguous stretch. */
static __device__ __forceinline__ void sum_slices(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4]) {
    const int thread = thread_index(), slice = thread / TILE_THREADS;
    float4 *exchange = (float4 *)smem + thread % TILE_THREADS;
    if (slice > 0) {
#pragma unroll
        for (int i = 0; i < FLOATS / 4; i++) {
            const float *v = acc[i / (2 * BLOCKS_N)][i % (2 * BLOCKS_N)];
            exchange[((slice - 1) * (FLOATS / 4) + i) * TILE_THREADS] = make_float4(v[0], v[1], v[2], v[3]);
        }
    }
    __syncthreads();
    if (slice == 0) {
#pragma unroll
        for (int i = 0; i < (SLICES - 1) * FLOATS / 4; i++) {
            const float4 v = exchange[i * TILE_THREADS];
            float *sum = acc[i % (FLOATS / 4) / (2 * BLOCKS_N)][i % (2 * BLOCKS_N)];
            sum[0] += v.x, sum[1] += v.y, sum[2] += v.z, sum[3] += v.w;
        }
    }
    __syncthreads();
}

/* ---- mma_stage ----------------------------------------------------------------------------------- */

struct fragments {
    uint32_t a[BLOCKS_M][4], b[BLOCKS_N][4];
};

/* A 16 x 16 block of an operand; `lane_addr` is the lane's place in block (0, 0) of the warp. */
static __device__ __forceinline__ void load_fragment(struct operand_shape shape, uint32_t (&fragment)[4],
                                                     uint32_t lane_addr, int mn, int k) {
    const uint32_t shared_addr = swizzle_block(MAP, shape.row_elems, shape.mn_major, lane_addr, mn, k);
    if (shape.mn_major) {
        ldmatrix_x4_trans(fragment, shared_addr);
    } else {
        ldmatrix_x4(fragment, shared_addr);
    }
}

/* The warp's fragments of k-step `step`. */
static __device__ __forceinline__ void load_fragments(struct fragments &f, uint32_t a_addr, uint32_t b_addr, int step) {
#pragma unroll
    for (int i = 0; i < BLOCKS_M || i < BLOCKS_N; i++) {
        if (i < BLOCKS_N) {
            load_fragment(shape_b(), f.b[i], b_addr, i * 16, step * 16);
        }
        if (i < BLOCKS_M) {
            load_fragment(shape_a(), f.a[i], a_addr, i * 16, step * 16);
        }
    }
}

/* One 16-row band of the warp's tile; bands run right and left in turn, so that neighbours share a fragment. */
static __device__ __forceinline__ void mma_band(float (&acc)[2 * BLOCKS_N][4], const struct fragments &f, int i) {
#pragma unroll
    for (int n = 0; n < 2 * BLOCKS_N; n++) {
        const int j = i % 2 ? 2 * BLOCKS_N - 1 - n : n;
        if (TYPE == GM_TYPE_bf16) {
            mma_m16n8k16_bf16(acc[j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
        } else {
            mma_m16n8k16_f16(acc[j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
        }
    }
}

/* The k-steps of one stage, while the copies of the k-block STAGES - 1 further on are issued between them. Each
 * step loads the fragments of the next; the last one's come from the next stage, which the wait before it opens. */
static __device__ __forceinline__ void mma_stage(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4], struct fragments (&f)[2],
                                                 uint32_t a_lane, uint32_t b_lane, struct operand &a, struct operand &b,
                                                 bool whole, uint32_t &read, uint32_t write) {
#pragma unroll
    for (int step = 0; step < K_STEPS; step++) {
        if (step == K_STEPS - 1) {
            pipeline_commit();
            pipeline_wait<STAGES - 2>();
            read = pipeline_next(read, STAGE_BYTES, RING_BYTES);
        }
        load_fragments(f[(step + 1) % 2], a_lane + read, b_lane + read, (step + 1) % K_STEPS);
        if (step < K_STEPS - 1) {
            load_part(shape_a(), a, whole, write, step, K_STEPS - 1);
            load_part(shape_b(), b, whole, write, step, K_STEPS - 1);
        }
#pragma unroll
        for (int i = 0; i < BLOCKS_M; i++) {
            mma_band(acc[i], f[step % 2], i);
        }
    }
}

/* ---- entry --------------------------------------------------------------------------------------- */

/* This CTA's operands of a piece, and the loads of its first STAGES - 1 k-blocks. */
static __device__ __forceinline__ void begin_piece(const struct gm_gemm_sm80_params &p, struct operand &a,
                                                   struct operand &b, int first, int end, int m, int n) {
    a = operand_begin(shape_a(), p.a, p.lda, p.a_vector, m, p.epilogue.m, p.k, first);
    b = operand_begin(shape_b(), p.b, p.ldb, p.b_vector, n, p.epilogue.n, p.k, first);
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++) {
        struct loose_block loose;
        load_begin<DEFERS>(a, b, first + i, end, i * STAGE_BYTES, loose);
        load_part(shape_a(), a, false, i * STAGE_BYTES, 0, 1);
        load_part(shape_b(), b, false, i * STAGE_BYTES, 0, 1);
        load_end(a, b, i * STAGE_BYTES, loose);
        pipeline_commit();
    }
}

/* K-blocks [block, end) of the tile: the piece that begin_piece() began. */
static __device__ __forceinline__ void mma_piece(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4], struct operand &a,
                                                 struct operand &b, int block, int end) {
    const int thread = thread_index(), lane = thread % 32;
    const int slice = SLICES > 1 ? thread / TILE_THREADS : 0, k = slice * K_STEPS * 16;
    const int warp = thread / 32 - slice * (TILE_THREADS / 32);
    const uint32_t ring = (uint32_t)__cvta_generic_to_shared(smem);
    const uint32_t a_lane =
        ring + shape_a().start_bytes + swizzle_lane(MAP, A_ROW_ELEMS, A_MN, 0, warp / WARPS_N * WARP_M, k, lane);
    const uint32_t b_lane =
        ring + shape_b().start_bytes + swizzle_lane(MAP, B_ROW_ELEMS, B_MN, 1, warp % WARPS_N * WARP_N, k, lane);
    uint32_t read = 0, write = (STAGES - 1) * STAGE_BYTES;
    struct fragments f[2];
    pipeline_wait<STAGES - 2>();
    load_fragments(f[0], a_lane, b_lane, 0);
    /* The bulk of a tile that lies inside D, without a branch or a predicate: all it loads is lean and whole. */
    const bool whole = a.mn_left >= TILE_M && b.mn_left >= TILE_N;
    const int lean = whole ? min(min(a.lean_blocks, b.lean_blocks), end) - (STAGES - 1) : 0;
#pragma unroll 1
    for (; block < lean; block++) {
        mma_stage(acc, f, a_lane, b_lane, a, b, true, read, write);
        write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
    }
    struct loose_block loose;
    if (DEFERS && min(a.vector, b.vector) == GM_TYPE_BYTES(GM_TYPE)) {
#pragma unroll 1
        for (; block < end; block++) {
            load_begin<true>(a, b, block + STAGES - 1, end, write, loose);
            mma_stage(acc, f, a_lane, b_lane, a, b, false, read, write);
            load_end(a, b, write, loose);
            write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
        }
    }
#pragma unroll 1
    for (; block < end; block++) {
        load_begin<false>(a, b, block + STAGES - 1, end, write, loose);
        mma_stage(acc, f, a_lane, b_lane, a, b, false, read, write);
        write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
    }
    pipeline_wait<0>();
}

/* Zeroes what lies outside D: it was made of whatever shared memory held, which is nobody else's to see. */
static __device__ __forceinline__ void clear_outside(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                     const struct gm_epilogue_params &p, int m, int n) {
    const int thread = thread_index(), warp = thread / 32, lane = thread % 32;
    const int rows_left = p.m - (m + warp / WARPS_N * WARP_M + lane / 4);
    const int columns_left = p.n - (n + warp % WARPS_N * WARP_N + lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
#pragma unroll
        for (int j = 0; j < 2 * BLOCKS_N; j++) {
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const bool inside = i * 16 + r / 2 * 8 < rows_left && j * 8 + r % 2 < columns_left;
                acc[i][j][r] = inside ? acc[i][j][r] : 0.0f;
            }
        }
    }
}

/* Stream-K: a piece that ends before its tile does is given away; the one that a share computes last takes the others
 * of its tile. */
static __device__ __forceinline__ void give_or_take(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                    const struct gm_gemm_sm80_params &p, int m, int n, bool finished,
                                                    bool last, int blocks) {
    enum { BAND = 32 };
    const struct stream_k_gang gang = {1, 0, thread_index()};
    if (!finished) {
        if (m + TILE_M > p.epilogue.m || n + TILE_N > p.epilogue.n) {
            clear_outside(acc, p.epilogue, m, n);
        }
        stream_k_give<TILE_THREADS, FLOATS>(p.stream_k, gang, cta_index(), &acc[0][0][0], sync_slice_0);
    } else if (last) {
        stream_k_take<TILE_THREADS, FLOATS, BAND>(p.stream_k, gang, cta_index(), blocks, &acc[0][0][0], sync_slice_0);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm80_params p) {
    const int blocks = p.k / TILE_K + (p.k % TILE_K != 0);
    int walk = gm_stream_k_begin(&p.stream_k, blocks, blockIdx.x), tile_m, tile_n;
    struct gm_piece piece;
    struct operand a, b;
    bool more = gm_stream_k_next(&p.stream_k, blocks, blockIdx.x, gridDim.x, &walk, &piece);
    if (more) {
        raster_tile(p.raster, piece.tile, &tile_m, &tile_n);
        begin_piece(p, a, b, piece.first, piece.end, tile_m * TILE_M, tile_n * TILE_N);
    }
#pragma unroll 1
    while (more) {
        float acc[BLOCKS_M][2 * BLOCKS_N][4] = {};
        mma_piece(acc, a, b, piece.first, piece.end);
        if (SLICES > 1) {
            sum_slices(acc);
        }
        const int m = tile_m * TILE_M, n = tile_n * TILE_N;
        const bool finished = piece.end == blocks;
        if (in_slice_0()) { /* a share's last piece is of the first tile that it has part in */
            give_or_take(acc, p, m, n, finished, walk == cta_index(), blocks);
        }
        more = gm_stream_k_next(&p.stream_k, blocks, cta_index(), gridDim.x, &walk, &piece);
        if (more) { /* the next piece's first loads pass under this tile's store */
            raster_tile(p.raster, piece.tile, &tile_m, &tile_n);
            begin_piece(p, a, b, piece.first, piece.end, tile_m * TILE_M, tile_n * TILE_N);
        }
        if (finished && in_slice_0()) {
            store_tile(acc, p.epilogue, m, n);
        }
    }
}
