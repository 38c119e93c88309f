/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM for Hopper: TMA -> ring of stages -> WGMMA -> stmatrix -> TMA store, persistent and warp-specialised.
 *
 * D = act(alpha * A B + beta * C + bias) for 16-bit A and B. The maps in the parameters describe A, B and D exactly,
 * so ragged M, N and K are TMA's clipping: elements outside load as zero and are not stored. One CTA (or a cluster
 * that shares operand tiles by multicast) walks output tiles with the grid's stride. Warpgroup 0 is the producer;
 * the others are consumers, either cooperative (each takes tile_m / consumers rows of every tile) or ping-pong (each
 * takes every second tile whole, one multiplying while the other stores). Compiled once per registry row. */
#include "common/gemm_params.h"
#include "common/tile.h"

#define GM_A_MN GM_LAYOUT_A_MN(GM_LAYOUT)
#define GM_B_MN GM_LAYOUT_B_MN(GM_LAYOUT)
#if GM_TYPE == GM_TYPE_bf16
#define GM_PTX_TYPE "bf16"
#else
#define GM_PTX_TYPE "f16"
#endif

#include "common/convert.cuh"
#include "common/epilogue.cuh"
#include "common/raster.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/swizzle.cuh"
#include "sm90/tma.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_shapes.cuh"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    CLUSTER_M = GM_CLUSTER_M, /* CTAs that share a B tile */
    CLUSTER_N = GM_CLUSTER_N, /* CTAs that share an A tile */
    CLUSTER_SIZE = CLUSTER_M * CLUSTER_N,
    CONSUMERS = GM_WARPS_M(GM_WARPS),
    PINGPONG = GM_WARPS_SCHEDULE(GM_WARPS) == 2,
    SPAN = GM_SMEM_MAP, /* swizzle span of A and B, bytes */
    SPAN_ELEMS = SPAN / GM_ELEM_BYTES,
    THREADS = GM_SM90_THREADS(CONSUMERS),

    ROWS = PINGPONG ? TILE_M : TILE_M / CONSUMERS, /* of the tile, per consumer warpgroup */
    ATOMS_M = ROWS / 64,                           /* wgmma atoms of 64 rows, per consumer warpgroup */
    K_STEPS = TILE_K / 16,                         /* wgmma atoms of 16 k, per stage */
    ATOM_REGISTERS = TILE_N / 2,                   /* accumulator registers of one atom, per thread */

    A_BYTES = GM_SM90_A_BYTES(TILE_M, TILE_K),
    STAGE_BYTES = GM_SM90_STAGE_BYTES(TILE_M, TILE_N, TILE_K),
    STORE_SPAN = GM_SM90_STORE_SPAN(TILE_N), /* bytes of one row of a staged chunk of D */
    CHUNK_BYTES = GM_SM90_CHUNK_BYTES(TILE_N),
    CHUNK_COLS_16 = STORE_SPAN / 2,
    CHUNK_COLS_32 = STORE_SPAN / 4,

    FEW_REGISTERS = CONSUMERS > 1 && ATOMS_M *ATOM_REGISTERS < 192,
    PRODUCER_REGISTERS = CONSUMERS == 1 || FEW_REGISTERS ? 40 : 24,
    CONSUMER_REGISTERS = CONSUMERS == 1 || FEW_REGISTERS ? 232 : 240,

    BAR_STAGING = 1, /* named barriers: + consumer */
    BAR_ORDER = 1 + CONSUMERS,
};
static_assert(ROWS % 64 == 0 && TILE_N % 16 == 0 && TILE_N <= 256 && TILE_K % 16 == 0, "tile is made of wgmma atoms");
static_assert(!PINGPONG || CONSUMERS == 2, "ping-pong takes two consumers");
static_assert(ATOMS_M * ATOM_REGISTERS <= 192, "accumulators must leave registers for the rest");
static_assert(GM_A_MN ? TILE_M % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "A is cut into slabs of the span");
static_assert(GM_B_MN ? TILE_N % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "B is cut into slabs of the span");
static_assert(GM_SM90_SMEM_BYTES(TILE_M, TILE_N, TILE_K, STAGES, CONSUMERS) <= 232448, "fits a Hopper SM");

/* ---- shared memory: stages | staging | barriers ---------------------------------------------------- */

static __device__ __forceinline__ uint32_t smem_base(void) {
    extern __shared__ unsigned char smem[];
    return ((uint32_t)__cvta_generic_to_shared(smem) + GM_SM90_ALIGN - 1) & ~(uint32_t)(GM_SM90_ALIGN - 1);
}

static __device__ __forceinline__ uint32_t staging_addr(uint32_t base, int consumer) {
    return base + STAGES * STAGE_BYTES + consumer * GM_SM90_STORE_BUFFERS * CHUNK_BYTES;
}

static __device__ __forceinline__ struct pipeline pipeline_at(uint32_t base) {
    const uint32_t full = base + STAGES * STAGE_BYTES + GM_SM90_STAGING_BYTES(TILE_N, CONSUMERS);
    return {full, full + 8 * STAGES};
}

/* ---- tile order ------------------------------------------------------------------------------------ */

struct tile_position {
    int m0, n0; /* first row and column of this CTA's tile */
};

static __device__ __forceinline__ int cluster_count(void) {
    return gridDim.x / CLUSTER_SIZE;
}
static __device__ __forceinline__ int cluster_index(void) {
    return blockIdx.x / CLUSTER_SIZE;
}

static __device__ __forceinline__ struct tile_position tile_at(const struct gm_raster &raster, int linear,
                                                               uint32_t rank) {
    int tile_m, tile_n;
    raster_tile(raster, linear, &tile_m, &tile_n);
    return {(int)(tile_m * CLUSTER_M + rank % CLUSTER_M) * TILE_M,
            (int)(tile_n * CLUSTER_N + rank / CLUSTER_M) * TILE_N};
}

/* ---- load_stage: TMA ------------------------------------------------------------------------------- */

/* One operand's tile into a stage, cut into slabs one span wide. K-major: a slab is MN rows x span of k. MN-major: a
 * slab is TILE_K rows of k x span of mn. Of SHARERS CTAs that need the same tile, number `share` fetches its part of
 * every slab's rows and multicasts it to all in `mask`. */
template <int MN, int IS_MN_MAJOR, int SHARERS>
static __device__ __forceinline__ void load_operand(uint32_t dst, const struct gm_tensor_map &map, int mn0, int k0,
                                                    uint32_t bar, int share, uint16_t mask, uint64_t policy) {
    constexpr int slabs = (IS_MN_MAJOR ? MN : TILE_K) / SPAN_ELEMS;
    constexpr int slab_rows = IS_MN_MAJOR ? TILE_K : MN;
    constexpr int rows = slab_rows / SHARERS;
    static_assert(slab_rows % SHARERS == 0 && (SHARERS == 1 || rows % 8 == 0), "a share is whole 8-row patterns");
#pragma unroll
    for (int slab = 0; slab < slabs; ++slab) {
        const uint32_t addr = dst + (slab * slab_rows + share * rows) * SPAN;
        const int x = (IS_MN_MAJOR ? mn0 : k0) + slab * SPAN_ELEMS;
        const int y = (IS_MN_MAJOR ? k0 : mn0) + share * rows;
        if (SHARERS == 1)
            tma_load_2d(addr, &map, x, y, bar, policy);
        else
            tma_load_2d_multicast(addr, &map, x, y, bar, mask, policy);
    }
}

static __device__ __forceinline__ void load_stage(const struct gm_gemm_sm90_params &p, uint32_t stage_addr,
                                                  uint32_t bar, struct tile_position tile, int k0, uint32_t rank) {
    const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M;
    uint16_t a_mask = 0;
    for (int n = 0; n < CLUSTER_N; ++n)
        a_mask |= 1 << (rank_m + n * CLUSTER_M);
    const uint16_t b_mask = ((1 << CLUSTER_M) - 1) << (rank_n * CLUSTER_M);
    load_operand<TILE_M, GM_A_MN, CLUSTER_N>(stage_addr, p.a, tile.m0, k0, bar, rank_n, a_mask, p.a_policy);
    load_operand<TILE_N, GM_B_MN, CLUSTER_M>(stage_addr + A_BYTES, p.b, tile.n0, k0, bar, rank_m, b_mask, p.b_policy);
}

/* One thread feeds the ring with every k-block of every tile of this CTA. */
static __device__ __forceinline__ void produce(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank) {
    const struct pipeline ring = pipeline_at(base);
    const int tiles = p.raster.tiles_m * p.raster.tiles_n;
    struct pipeline_state at = {0, 0};
    for (int linear = cluster_index(); linear < tiles; linear += cluster_count()) {
        const struct tile_position tile = tile_at(p.raster, linear, rank);
        for (int k_block = 0; k_block < p.k_blocks; ++k_block) {
            pipeline_acquire(ring, at, p.stage_bytes);
            load_stage(p, base + at.slot * STAGE_BYTES, ring.full_addr + 8 * at.slot, tile, k_block * TILE_K, rank);
            pipeline_next<STAGES>(at);
        }
    }
}

/* ---- mma_stage: WGMMA ------------------------------------------------------------------------------ */

/* Descriptor of an operand's atom at a shared address. */
template <int IS_MN_MAJOR> static __device__ __forceinline__ uint64_t operand_descriptor(uint32_t addr) {
    return wgmma_descriptor(addr, IS_MN_MAJOR ? TILE_K * SPAN : 16, 8 * SPAN, SPAN);
}

/* Bytes from the tile's first atom to the atom at row mn (a multiple of 64, or 0) and k-step k. */
template <int MN, int IS_MN_MAJOR>
static __device__ __forceinline__ constexpr uint32_t atom_offset(int mn, int k_step) {
    return IS_MN_MAJOR ? (mn / SPAN_ELEMS) * TILE_K * SPAN + k_step * 16 * SPAN
                       : mn * SPAN + (k_step * 32 / SPAN) * MN * SPAN + k_step * 32 % SPAN;
}

/* One k-block: the wgmma atoms of the stage at `stage_addr`, as one group. */
static __device__ __forceinline__ void mma_stage(float (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t stage_addr, int row0,
                                                 int accumulate) {
    const uint64_t a = operand_descriptor<GM_A_MN>(stage_addr + atom_offset<TILE_M, GM_A_MN>(row0, 0));
    const uint64_t b = operand_descriptor<GM_B_MN>(stage_addr + A_BYTES);
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
        wgmma_fence_operand(acc[i]);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k)
#pragma unroll
        for (int i = 0; i < ATOMS_M; ++i)
            wgmma_m64k16<TILE_N>(acc[i], wgmma_descriptor_advance(a, atom_offset<TILE_M, GM_A_MN>(i * 64, k)),
                                 wgmma_descriptor_advance(b, atom_offset<TILE_N, GM_B_MN>(0, k)), accumulate | k);
    wgmma_commit_group();
}

/* All k-blocks of one tile. One group stays in flight: a stage is released when its successor has been issued, the
 * last by mma_drain().
 * NOTE: the first k-block stands before the loop because ptxas before 12.9 serialises the loop (C7515) when its own
 * first turn is the one that overwrites the accumulators. */
static __device__ __forceinline__ void mma_tile(float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                struct pipeline_state &at, uint32_t base, int row0, int k_blocks,
                                                uint32_t thread) {
    uint32_t previous = at.slot;
    pipeline_wait(ring, at);
    mma_stage(acc, base + at.slot * STAGE_BYTES, row0, 0);
    pipeline_next<STAGES>(at);
    for (int k_block = 1; k_block < k_blocks; ++k_block) {
        pipeline_wait(ring, at);
        mma_stage(acc, base + at.slot * STAGE_BYTES, row0, 1);
        wgmma_wait_group<1>();
        pipeline_release<CLUSTER_SIZE>(ring, previous, thread);
        previous = at.slot;
        pipeline_next<STAGES>(at);
    }
}

static __device__ __forceinline__ void mma_drain(float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                 struct pipeline_state at, uint32_t thread) {
    wgmma_wait_group<0>();
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
        wgmma_fence_operand(acc[i]);
    pipeline_release<CLUSTER_SIZE>(ring, (at.slot + STAGES - 1) % STAGES, thread);
}

#include "sm90/gemm_store.cuh"

/* ---- roles -------------------------------------------------------------------------------------------- */

/* One consumer warpgroup: multiply and store its share of this CTA's tiles. */
static __device__ __forceinline__ void consume(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                               int consumer) {
    const struct pipeline ring = pipeline_at(base);
    const int tiles = p.raster.tiles_m * p.raster.tiles_n, stride = cluster_count();
    const uint32_t thread = threadIdx.x % 128;
    const int row0 = PINGPONG ? 0 : consumer * ROWS;
    struct store_context store = {staging_addr(base, consumer), thread, (uint32_t)(BAR_STAGING + consumer), 0};
    struct pipeline_state at = {0, 0};
    float acc[ATOMS_M][ATOM_REGISTERS];

    int linear = cluster_index();
    if (PINGPONG && consumer == 1) {
        linear += stride;
        pipeline_skip<STAGES>(at, p.k_blocks);
    }
    for (; linear < tiles; linear += PINGPONG ? 2 * stride : stride) {
        const struct tile_position tile = tile_at(p.raster, linear, rank);
        /* Ping-pong: the other consumer's multiplications of the tile before come first, then mine, then its next. */
        if (PINGPONG && linear >= stride)
            bar_sync(BAR_ORDER + consumer, 256);
        mma_tile(acc, ring, at, base, row0, p.k_blocks, thread);
        if (PINGPONG && linear + stride < tiles)
            bar_arrive(BAR_ORDER + (consumer ^ 1), 256);
        mma_drain(acc, ring, at, thread);
        if (PINGPONG)
            pipeline_skip<STAGES>(at, p.k_blocks);
        if (!p.plain)
            store_general(p, store, acc, tile.m0 + row0, tile.n0);
        else if (p.epilogue.d_type == GM_TYPE_fp32)
            store_plain<4>(p, store, acc, tile.m0 + row0, tile.n0);
        else
            store_plain<2>(p, store, acc, tile.m0 + row0, tile.n0);
    }
    if (thread == 0)
        bulk_wait_group_read<0>();
}

/* ---- entry: set-up, roles, drain ------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm90_params p) {
    const uint32_t base = smem_base();
    const uint32_t rank = CLUSTER_SIZE == 1 ? 0 : cluster_ctarank();
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);

    if (threadIdx.x == 0) {
        prefetch_tensormap(&p.a);
        prefetch_tensormap(&p.b);
        prefetch_tensormap(&p.d);
        pipeline_init<STAGES>(pipeline_at(base), (PINGPONG ? 1 : CONSUMERS) * CLUSTER_SIZE);
    }
    if (CLUSTER_SIZE == 1)
        __syncthreads();
    else
        cluster_sync();

    if (warpgroup == 0) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce(p, base, rank);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(p, base, rank, warpgroup - 1);
    }
    /* A CTA may not exit while its peers still multicast into it or arrive on its barriers. */
    if (CLUSTER_SIZE > 1)
        cluster_sync();
}
