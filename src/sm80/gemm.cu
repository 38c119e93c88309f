/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM on the cp.async + ldmatrix + mma.sync path: persistent CTAs, one registry row per compilation.
 *
 * D = act(alpha * A B + beta * C + bias), 16-bit operands, fp32 accumulators, each operand K-major or MN-major.
 * Any size (K = 0 too), stride and element alignment: params.a_vector / b_vector say how many bytes base and
 * stride allow per copy. No byte outside the operands' logical rows is read, none outside D's is written. The
 * order of accumulation is the same for every element of D and on every run. */
#include "common/epilogue.cuh"
#include "common/gemm_params.h"
#include "common/raster.cuh"
#include "common/tile.h"
#include "sm80/chunk.cuh"
#include "sm80/ldmatrix.cuh"
#include "sm80/mma_m16n8.cuh"
#include "sm80/pipeline.cuh"
#include "sm80/swizzle.cuh"

/* ---- parameters ---------------------------------------------------------------------------------- */

enum {
    TYPE = GM_TYPE,
    LAYOUT = GM_LAYOUT,
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    WARPS_M = GM_WARPS_M(GM_WARPS),
    WARPS_N = GM_WARPS_N(GM_WARPS),
    MAP = GM_SMEM_MAP,
};

/* ---- derived constants --------------------------------------------------------------------------- */

enum {
    THREADS = GM_SM80_THREADS(WARPS_M, WARPS_N),
    WARP_M = TILE_M / WARPS_M,
    WARP_N = TILE_N / WARPS_N,
    BLOCKS_M = WARP_M / 16, /* 16 x 16 blocks of A and B in one k-step of a warp: one ldmatrix.x4 each */
    BLOCKS_N = WARP_N / 16,
    K_STEPS = TILE_K / 16,
    A_MN = GM_LAYOUT_A_MN(LAYOUT),
    B_MN = GM_LAYOUT_B_MN(LAYOUT),
    A_ROW_ELEMS = A_MN ? TILE_M : TILE_K,
    B_ROW_ELEMS = B_MN ? TILE_N : TILE_K,
    STAGE_BYTES = GM_SM80_STAGE_BYTES(TILE_M, TILE_N, TILE_K, LAYOUT, MAP),
    RING_BYTES = STAGES * STAGE_BYTES,
    SMEM_BYTES = GM_SM80_SMEM_BYTES(TILE_M, TILE_N, TILE_K, STAGES, WARPS_M, WARPS_N, LAYOUT, MAP),
    /* Accumulators, two sets of fragments, and what addresses and the loop take; then as many CTAs per SM as
     * registers and an A100's shared memory allow. */
    REGISTERS = WARP_M * WARP_N / 32 + WARP_M / 2 + WARP_N / 2 + 56,
    CTAS_REGISTERS = 65536 / (THREADS * REGISTERS),
    CTAS_SMEM = 164 * 1024 / (SMEM_BYTES + 1024),
    CTAS_FIT = CTAS_REGISTERS < CTAS_SMEM ? CTAS_REGISTERS : CTAS_SMEM,
    CTAS = CTAS_FIT > 1 ? CTAS_FIT : 1,
};

static_assert(TILE_M % (WARPS_M * 16) == 0 && TILE_N % (WARPS_N * 16) == 0, "a warp computes 16 x 16 blocks");
static_assert(K_STEPS % 2 == 0, "fragments alternate between two sets, and a k-block starts with the first");
static_assert(STAGES >= 2 && SMEM_BYTES <= 227 * 1024, "the ring has two stages or more and fits Hopper");
static_assert(MAP == GM_MAP_pad || MAP == GM_MAP_xor, "the maps of swizzle.cuh");
static_assert(!A_MN || WARP_M % 64 == 0 || WARP_M == 32 || WARP_M == 16, "swizzle_move's constants");
static_assert(!B_MN || WARP_N % 64 == 0 || WARP_N == 32 || WARP_N == 16, "swizzle_move's constants");

/* One operand's place in a stage; only ever a compile-time constant. A stage holds A, then B. */
struct operand_shape {
    int mn_major, rows, row_elems, start_bytes;
};

static __device__ __forceinline__ constexpr struct operand_shape shape_a() {
    return {A_MN, A_MN ? TILE_K : TILE_M, A_MN ? TILE_M : TILE_K, 0};
}

static __device__ __forceinline__ constexpr struct operand_shape shape_b() {
    return {B_MN, B_MN ? TILE_K : TILE_N, B_MN ? TILE_N : TILE_K, GM_SM80_OPERAND_BYTES(TILE_M, TILE_K, A_MN, MAP)};
}

/* Thread t copies chunk t % (chunks of a row) of rows t / (chunks of a row) + i * row_step. */
static __device__ __forceinline__ constexpr int row_step(struct operand_shape shape) {
    return THREADS * 8 / shape.row_elems;
}

static_assert(THREADS * 8 % shape_a().row_elems == 0 && shape_a().rows % row_step(shape_a()) == 0 &&
                  THREADS * 8 % shape_b().row_elems == 0 && shape_b().rows % row_step(shape_b()) == 0,
              "every thread copies the same number of chunks, all from one column of chunks");

/* ---- shared memory ------------------------------------------------------------------------------- */

/* The ring of stages, then the warps' staging slices. */
extern __shared__ __align__(128) unsigned char smem[];

/* ---- load_stage ---------------------------------------------------------------------------------- */

/* One operand of this tile: the problem's side, then this thread's lean copies (whole 16-byte chunks). */
struct operand {
    uint64_t base;
    int64_t row_bytes;
    int vector;
    int mn, mn_left, k;   /* the tile's first row or column, how many there are from it on, and K */
    int lean_blocks;      /* leading k-blocks that whole chunks cover exactly; the others take load_edge */
    int rows_left;        /* rows its lean copies may take, counted from its first row */
    int lean_rows;        /* the same in the k-block being loaded: 0 where load_edge did the work */
    uint64_t source;      /* this thread's next chunk */
    int64_t block_bytes;  /* from behind its last chunk of a k-block to its first of the next */
    uint32_t destination; /* its first chunk's offset in a stage */
};

static __device__ __forceinline__ struct operand operand_begin(struct operand_shape shape, uint64_t base, int64_t ld,
                                                               int vector, int mn, int limit, int k) {
    const int row = threadIdx.x / (shape.row_elems / 8), chunk = threadIdx.x % (shape.row_elems / 8);
    const int mn_left = limit - mn;
    const bool lean = vector == 16 && (!shape.mn_major || mn_left >= shape.row_elems || mn_left % 8 == 0);
    struct operand o = {base, ld * GM_ELEM_BYTES, vector, mn, mn_left, k};
    o.lean_blocks = lean ? k / TILE_K : 0;
    o.rows_left = !shape.mn_major ? mn_left - row : chunk * 8 < mn_left ? shape.rows : 0;
    const int64_t first_row = shape.mn_major ? row : (int64_t)mn + row;
    const int64_t first_elem = (shape.mn_major ? (int64_t)mn : 0) + chunk * 8;
    o.source = base + first_row * o.row_bytes + first_elem * GM_ELEM_BYTES;
    o.block_bytes = (shape.mn_major ? TILE_K * o.row_bytes : TILE_K * GM_ELEM_BYTES) - shape.rows * o.row_bytes;
    o.destination = shape.start_bytes + swizzle_offset(MAP, shape.row_elems, row, chunk);
    return o;
}

/* This thread's chunks of one k-block, for any alignment and any edge, two at a time to overlap load_chunk's
 * latency. */
static __device__ __forceinline__ void load_edge(struct operand_shape shape, const struct operand &o, int block,
                                                 uint32_t stage) {
    const int batch = shape.rows / row_step(shape) % 2 ? 1 : 2;
    const int chunk = threadIdx.x % (shape.row_elems / 8);
    const int64_t k = (int64_t)block * TILE_K;
    const int k_left = o.k - (int)k;
    const int rows_left = shape.mn_major ? k_left : o.mn_left;
    const int elems_left = min(max((shape.mn_major ? o.mn_left : k_left) - chunk * 8, 0), 8);
    const int64_t first_row = shape.mn_major ? k : o.mn, first_elem = (shape.mn_major ? o.mn : k) + chunk * 8;
#pragma unroll 1
    for (int row = threadIdx.x / (shape.row_elems / 8); row < shape.rows; row += batch * row_step(shape)) {
        uint64_t source[2];
        uint32_t offset[2];
        int elems[2];
#pragma unroll
        for (int i = 0; i < batch; i++) {
            const int r = row + i * row_step(shape);
            elems[i] = r < rows_left ? elems_left : 0;
            source[i] = o.base + (elems[i] ? (first_row + r) * o.row_bytes + first_elem * GM_ELEM_BYTES : 0);
            offset[i] = stage + shape.start_bytes + swizzle_offset(MAP, shape.row_elems, r, chunk);
        }
        if (o.vector == 2) {
            uint4 values[2];
#pragma unroll
            for (int i = 0; i < batch; i++) {
                values[i] = load_chunk(source[i], elems[i]);
            }
#pragma unroll
            for (int i = 0; i < batch; i++) {
                *(uint4 *)(smem + offset[i]) = values[i];
            }
        } else {
#pragma unroll
            for (int i = 0; i < batch; i++) {
                copy_chunk((uint32_t)__cvta_generic_to_shared(smem) + offset[i], source[i], elems[i], o.vector);
            }
        }
    }
}

/* Begins the load of a k-block (of none, behind the last): an operand that is not lean there is copied at once,
 * a lean one by load_part. */
static __device__ __forceinline__ void load_begin(struct operand &a, struct operand &b, int block, int blocks,
                                                  uint32_t stage) {
    a.lean_rows = block < a.lean_blocks ? a.rows_left : 0;
    b.lean_rows = block < b.lean_blocks ? b.rows_left : 0;
    if (block >= min(a.lean_blocks, b.lean_blocks) && block < blocks) {
        if (block >= a.lean_blocks) {
            load_edge(shape_a(), a, block, stage);
        }
        if (block >= b.lean_blocks) {
            load_edge(shape_b(), b, block, stage);
        }
    }
}

/* Part `part` of `parts` of an operand's lean copies; `whole`: all of the tile's rows exist, in every thread. */
static __device__ __forceinline__ void load_part(struct operand_shape shape, struct operand &o, bool whole,
                                                 uint32_t stage, int part, int parts) {
    const int copies = shape.rows / row_step(shape);
    const uint32_t shared_addr = (uint32_t)__cvta_generic_to_shared(smem) + stage + o.destination;
#pragma unroll
    for (int i = 0; i < copies; i++) {
        if (i * parts / copies == part) {
            const int row = i * row_step(shape);
            cp_async_cg_16_if(swizzle_move(MAP, shape.row_elems, shared_addr, row, 0), o.source,
                              whole || row < o.lean_rows);
            o.source += row_step(shape) * o.row_bytes;
        }
    }
    if (part == parts - 1) {
        o.source += o.block_bytes;
    }
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

/* ---- store_tile ---------------------------------------------------------------------------------- */

/* One warp's part of the tile on its way out: accumulators -> its slice of shared memory, as fragments -> rows, 8
 * neighbouring columns a lane -> D. */
struct store_lane {
    unsigned char *slice;
    int row, column; /* of D: the first that the lane stores */
};

enum {
    STORE_LANES = WARP_N / 8, /* of one row */
    STORE_ROWS = 32 / STORE_LANES,
};
static_assert(STORE_ROWS <= 8, "a warp stores at most the 8 rows of a fp32 slice at once");

static __device__ __forceinline__ struct store_lane store_begin(int m, int n) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return {smem + RING_BYTES + warp * GM_SM80_SLICE_BYTES(WARP_N), m + warp / WARPS_N * WARP_M + lane / STORE_LANES,
            n + warp % WARPS_N * WARP_N + lane % STORE_LANES * 8};
}

/* D = alpha * acc in 16 bits, every chunk of 8 columns whole and aligned: 16 rows at a time. */
static __device__ __forceinline__ void store_plain(const float (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                   const struct gm_epilogue_params &p, struct store_lane at) {
    enum { PITCH_BYTES = GM_SM80_SLICE_PITCH(WARP_N, 2) };
    const int lane = threadIdx.x % 32;
    unsigned char *write = at.slice + lane / 4 * PITCH_BYTES + lane % 4 * 4;
    const unsigned char *read = at.slice + lane / STORE_LANES * PITCH_BYTES + lane % STORE_LANES * 16;
    const int rows_left = at.column < p.n ? p.m - at.row : 0;
    const uint64_t d = p.d + (at.row * p.ldd + at.column) * GM_ELEM_BYTES;
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
#pragma unroll
        for (int j = 0; j < 4 * BLOCKS_N; j++) { /* 8 columns of the band's upper rows, then of its lower rows */
            const float low = p.alpha * acc[i][j / 2][j % 2 * 2], high = p.alpha * acc[i][j / 2][j % 2 * 2 + 1];
            *(uint32_t *)(write + j % 2 * 8 * PITCH_BYTES + j / 2 * 16) =
                p.d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(low, high) : cvt_rn_f16x2_f32(low, high);
        }
        __syncwarp();
#pragma unroll
        for (int row = 0; row < 16; row += STORE_ROWS) {
            const uint4 chunk = *(const uint4 *)(read + row * PITCH_BYTES);
            if (i * 16 + row < rows_left) {
                st_global_v4_b32(d + (i * 16 + row) * p.ldd * GM_ELEM_BYTES, &chunk.x);
            }
        }
        __syncwarp();
    }
}

/* Everything else, as fp32, 8 rows at a time. The outer loop stays rolled, for code size: only the writes need
 * compile-time register numbers. */
static __device__ __forceinline__ void store_general(const float (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                     const struct gm_epilogue_params &p, struct store_lane at) {
    enum { PITCH_BYTES = GM_SM80_SLICE_PITCH(WARP_N, 4) };
    const int lane = threadIdx.x % 32;
    unsigned char *write = at.slice + lane / 4 * PITCH_BYTES + lane % 4 * 8;
    const unsigned char *read = at.slice + lane / STORE_LANES * PITCH_BYTES + lane % STORE_LANES * 32;
#pragma unroll 1
    for (int band = 0; band < 2 * BLOCKS_M; band++) {
#pragma unroll
        for (int i = 0; i < 2 * BLOCKS_M; i++) {
            if (i == band) {
#pragma unroll
                for (int j = 0; j < 2 * BLOCKS_N; j++) {
                    *(float2 *)(write + j * 32) = make_float2(acc[i / 2][j][i % 2 * 2], acc[i / 2][j][i % 2 * 2 + 1]);
                }
            }
        }
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < 8; i += STORE_ROWS) {
            const float4 *chunk = (const float4 *)(read + i * PITCH_BYTES);
            float v[8] = {chunk[0].x, chunk[0].y, chunk[0].z, chunk[0].w, chunk[1].x, chunk[1].y, chunk[1].z, chunk[1].w};
            const int row = at.row + band * 8 + i;
            if (row < p.m && at.column < p.n) {
                epilogue_apply8(p, v, row, at.column);
                epilogue_store8(p, v, row, at.column);
            }
        }
        __syncwarp();
    }
}

static __device__ __forceinline__ void store_tile(const float (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                  const struct gm_epilogue_params &p, int m, int n) {
    const bool linear = p.beta == 0.0f && p.bias_mode == 0 && p.activation == 0;
    if (linear && p.d_type != GM_TYPE_fp32 && p.d_vector && p.n % 8 == 0) {
        store_plain(acc, p, store_begin(m, n));
    } else {
        store_general(acc, p, store_begin(m, n));
    }
}

/* ---- entry --------------------------------------------------------------------------------------- */

/* This CTA's operands of a tile, and the loads of its first STAGES - 1 k-blocks. */
static __device__ __forceinline__ void begin_tile(const struct gm_gemm_sm80_params &p, struct operand &a,
                                                  struct operand &b, int blocks, int m, int n) {
    a = operand_begin(shape_a(), p.a, p.lda, p.a_vector, m, p.epilogue.m, p.k);
    b = operand_begin(shape_b(), p.b, p.ldb, p.b_vector, n, p.epilogue.n, p.k);
#pragma unroll 1
    for (int block = 0; block < STAGES - 1; block++) {
        load_begin(a, b, block, blocks, block * STAGE_BYTES);
        load_part(shape_a(), a, false, block * STAGE_BYTES, 0, 1);
        load_part(shape_b(), b, false, block * STAGE_BYTES, 0, 1);
        pipeline_commit();
    }
}

/* All k-blocks of the tile that begin_tile() began. */
static __device__ __forceinline__ void mma_tile(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4], struct operand &a,
                                                struct operand &b, int blocks) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t ring = (uint32_t)__cvta_generic_to_shared(smem);
    const uint32_t a_lane =
        ring + shape_a().start_bytes + swizzle_lane(MAP, A_ROW_ELEMS, A_MN, 0, warp / WARPS_N * WARP_M, lane);
    const uint32_t b_lane =
        ring + shape_b().start_bytes + swizzle_lane(MAP, B_ROW_ELEMS, B_MN, 1, warp % WARPS_N * WARP_N, lane);
    uint32_t read = 0, write = (STAGES - 1) * STAGE_BYTES;
    struct fragments f[2];
    pipeline_wait<STAGES - 2>();
    load_fragments(f[0], a_lane, b_lane, 0);
    /* The bulk of a tile that lies inside D, without a branch or a predicate: all it loads is lean and whole. */
    const bool whole = a.mn_left >= TILE_M && b.mn_left >= TILE_N;
    const int lean = whole ? min(a.lean_blocks, b.lean_blocks) - (STAGES - 1) : 0;
    int block = 0;
#pragma unroll 1
    for (; block < lean; block++) {
        mma_stage(acc, f, a_lane, b_lane, a, b, true, read, write);
        write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
    }
#pragma unroll 1
    for (; block < blocks; block++) {
        load_begin(a, b, block + STAGES - 1, blocks, write);
        mma_stage(acc, f, a_lane, b_lane, a, b, false, read, write);
        write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
    }
    pipeline_wait<0>();
}

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm80_params p) {
    const int tiles = p.raster.tiles_m * p.raster.tiles_n, blocks = p.k / TILE_K + (p.k % TILE_K != 0);
    struct operand a, b;
    int tile_m, tile_n;
    raster_tile(p.raster, blockIdx.x, &tile_m, &tile_n);
    begin_tile(p, a, b, blocks, tile_m * TILE_M, tile_n * TILE_N);
#pragma unroll 1
    for (int linear = blockIdx.x; linear < tiles; linear += gridDim.x) {
        float acc[BLOCKS_M][2 * BLOCKS_N][4] = {};
        mma_tile(acc, a, b, blocks);
        const int m = tile_m * TILE_M, n = tile_n * TILE_N;
        if (linear + (int)gridDim.x < tiles) { /* the next tile's first loads pass under this tile's store */
            raster_tile(p.raster, linear + gridDim.x, &tile_m, &tile_n);
            begin_tile(p, a, b, blocks, tile_m * TILE_M, tile_n * TILE_N);
        }
        store_tile(acc, p.epilogue, m, n);
    }
}
