/* SPDX-License-Identifier: Apache-2.0 */
/* load_stage of gemm.cu: tiles of A and B -> the ring, by TMA. Included once, after gemm.cu's constants. */
#ifndef GM_SM90_GEMM_LOAD_CUH
#define GM_SM90_GEMM_LOAD_CUH

/* One operand's tile into a stage, cut into slabs one span wide. K-major: a slab is MN rows x span of k. MN-major: a
 * slab is TILE_K rows of k x span of mn. Of SHARERS CTAs that need the same tile, number `share` fetches its part of
 * every slab's rows, `rows` of them, and multicasts it to all in `mask`. */
template <int MN, int IS_MN_MAJOR, int SHARERS>
static __device__ __forceinline__ void load_slabs(uint32_t dst, const struct gm_tensor_map &map, int mn0, int k0,
                                                  uint32_t bar, int share, int rows, uint16_t mask, uint64_t policy) {
    constexpr int slabs = (IS_MN_MAJOR ? MN : TILE_K) / SPAN_ELEMS;
    constexpr int slab_rows = IS_MN_MAJOR ? TILE_K : MN;
    static_assert(slab_rows % SHARERS == 0 && (SHARERS == 1 || slab_rows / SHARERS % 8 == 0),
                  "a share is whole 8-row patterns");
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

/* The same for tile number `index` of the operand: a whole one, the last rows, or, in the outermost cluster, nothing. */
template <int MN, int IS_MN_MAJOR, int SHARERS>
static __device__ __forceinline__ void load_operand(uint32_t dst, const struct gm_tensor_map &map,
                                                    const struct gm_tensor_map &tail, const struct gm_tiles &tiles,
                                                    int index, int k0, uint32_t bar, int share, uint16_t mask,
                                                    uint64_t policy) {
    constexpr int rows = (IS_MN_MAJOR ? TILE_K : MN) / SHARERS;
    if (index < tiles.whole)
        load_slabs<MN, IS_MN_MAJOR, SHARERS>(dst, map, index * MN, k0, bar, share, rows, mask, policy);
    else if (!IS_MN_MAJOR && index == tiles.whole && tiles.rows)
        load_slabs<MN, IS_MN_MAJOR, SHARERS>(dst, tail, index * MN, k0, bar, share, tiles.rows, mask, policy);
}

/* What load_operand() of all sharers brings into one stage. */
template <int MN, int SHARERS>
static __device__ __forceinline__ uint32_t operand_bytes(const struct gm_tiles &tiles, int index) {
    return (index < tiles.whole ? MN : index == tiles.whole ? SHARERS * tiles.rows : 0) * TILE_K * GM_ELEM_BYTES;
}

static __device__ __forceinline__ void load_stage(const struct gm_gemm_sm90_params &p, uint32_t stage_addr,
                                                  uint32_t bar, struct tile_position tile, int k0, uint32_t rank) {
    const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M % CLUSTER_N;
    uint16_t a_mask = 0;
    for (int n = 0; n < CLUSTER_N; ++n)
        a_mask |= 1 << (rank_m + n * CLUSTER_M);
    const uint16_t b_mask = ((1 << CLUSTER_M) - 1) << (rank_n * CLUSTER_M);
    load_operand<TILE_M, A_MN, CLUSTER_N>(stage_addr, p.a, p.a_tail, p.a_tiles, tile.m, k0, bar, rank_n, a_mask,
                                          p.a_policy);
    load_operand<TILE_N, B_MN, CLUSTER_M>(stage_addr + A_BYTES, p.b, p.b_tail, p.b_tiles, tile.n, k0, bar, rank_m,
                                          b_mask, p.b_policy);
}

/* One thread feeds the ring with every k-block of every tile of this CTA. */
static __device__ __forceinline__ void produce(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank) {
    const struct pipeline ring = pipeline_at(base);
    const int tiles = p.raster.tiles_m * p.raster.tiles_n;
    struct pipeline_state at = {0, 0};
    uint32_t parity = 0;
    for (int linear = cluster_index(); linear < tiles; linear += cluster_count()) {
        const struct tile_position tile = tile_at(p.raster, linear, rank);
        const uint32_t bytes = operand_bytes<TILE_M, CLUSTER_N>(p.a_tiles, tile.m) +
                               operand_bytes<TILE_N, CLUSTER_M>(p.b_tiles, tile.n);
        if (SPLITS > 1) { /* the exchange of partial sums, in the ring's own memory, has to be over */
            mbarrier_wait(split_barriers_at(base).free_addr, parity ^ 1);
            parity ^= 1;
        }
        for (int k_block = k_first(p, rank); k_block < k_end(p, rank); ++k_block) {
            pipeline_acquire(ring, at, bytes);
            load_stage(p, base + at.slot * STAGE_BYTES, ring.full_addr + 8 * at.slot, tile, k_block * TILE_K, rank);
            pipeline_next<STAGES>(at);
        }
    }
}

#endif
