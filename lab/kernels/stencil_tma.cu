/* SPDX-License-Identifier: Apache-2.0 */
/* The stencil ladder, last step: TMA brings every plane with its rim, and fills what lies outside the grid with zeros.
 * Every wait is bounded: when a box does not come the kernel ends, and leaves what it has not written. */
#include "common/tensor_map.h"
#include "sm90/mbarrier.cuh"
#include "sm90/tma.cuh"
#include "stencil_parts.cuh"

/* A plane with its rim, as TMA writes it: to multiples of 128 bytes. */
struct alignas(128) box {
    float row[STENCIL_ROWS][STENCIL_PITCH];
};

/* Box z of this tile into its slot of the ring; completes on the slot's barrier. One thread calls it. */
static __device__ __forceinline__ void fetch_plane(const void *map, const struct tile &tile, uint32_t ring,
                                                   uint32_t full, int z) {
    const uint32_t slot = (z - tile.first) % STENCIL_RING;
    mbarrier_arrive_expect_tx(full + 8 * slot, sizeof(float[STENCIL_ROWS][STENCIL_PITCH]));
    tma_load_3d(ring + slot * (uint32_t)sizeof(struct box), map, tile.x - STENCIL_FIRST, tile.y - 1, z,
                full + 8 * slot);
}

/* Step 4. One thread asks for a box that begins outside the tile on every side; the 72 x 18 points, the zeros beyond
 * the grid's edges and the addresses are the hardware's work. */
extern "C" __global__ void __launch_bounds__(STENCIL_THREADS, 8)
    lab_stencil_tma(const __grid_constant__ struct gm_tensor_map map, const struct stencil p) {
    __shared__ struct box ring[STENCIL_RING];
    __shared__ uint64_t full[STENCIL_RING];
    const uint32_t ring_addr = (uint32_t)__cvta_generic_to_shared(ring);
    const uint32_t full_addr = (uint32_t)__cvta_generic_to_shared(full);
    const struct tile tile = tile_begin(p);
    if (threadIdx.x == 0) {
        for (int i = 0; i < STENCIL_RING; i++) {
            mbarrier_init(full_addr + 8 * i, 1);
        }
        fence_mbarrier_init();
        for (int z = tile.first; z < tile.first + STENCIL_RING - 1 && z <= tile.end; z++) {
            fetch_plane(&map, tile, ring_addr, full_addr, z);
        }
    }
    struct march march = march_begin(p, tile);
    __syncthreads();
    bool came = mbarrier_wait_bounded(full_addr, 0);
    for (int z = tile.first; z < tile.end && came; z++) {
        const unsigned done = z - tile.first, here = done % STENCIL_RING, above = (done + 1) % STENCIL_RING;
        came = mbarrier_wait_bounded(full_addr + 8 * above, (done + 1) / STENCIL_RING % 2);
        __syncthreads(); /* all have left plane z - 1, whose slot is next */
        if (threadIdx.x == 0 && z + STENCIL_RING - 1 <= tile.end) {
            fetch_plane(&map, tile, ring_addr, full_addr, z + STENCIL_RING - 1);
        }
        if (came) {
            march_up(p, march, ring[here].row[0], ring[above].row[0]);
        }
    }
}
