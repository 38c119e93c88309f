/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations tile by tile, with plain launches: it begins when the kernel before has ended. */
#include "sm80/permute_tile/permute_tile.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_permute_tile_params p) {
    permute_tiles(p);
}
