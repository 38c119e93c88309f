/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions with programmatic dependent launch. A tile of x comes with its halo as one box of TMA, which fills what lies
 * beyond x with zeros: the edge of zeros. With other edges, tiles at an edge are loaded by elements, as all are whose
 * addresses TMA does not take. Two stages: a box is under way while the tile before it is computed. */
#define COMPILED_WIDTHS 1
#include "sm80/convolution/convolution.cuh"
#include "sm90/follow.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/tma.cuh"

struct box_loader {
    enum { STAGES = 2 };
    const struct gm_convolution_params &p;
    uint32_t memory, parities; /* a bit for each stage */

    __device__ __forceinline__ box_loader(const struct gm_convolution_params &params, uint32_t memory)
        : p(params), memory(memory), parities(0) {
        if (thread_index() == 0) {
#pragma unroll
            for (int stage = 0; stage < STAGES; ++stage)
                mbarrier_init(barrier(stage), 1);
            fence_mbarrier_init();
        }
    }
    __device__ __forceinline__ uint32_t barrier(int stage) const {
        return memory + GM_CONVOLUTION_BARRIERS + stage * 8;
    }
    __device__ __forceinline__ bool is_box(const struct tile &t) const {
        const int x = t.x - p.origin_x, y = t.y - p.origin_y;
        const bool inside = x >= 0 && y >= 0 && x + p.pitch <= p.width && y + box_rows() <= p.height;
        return p.boxes && (p.edge == GM_CONVOLUTION_EDGE_zero || inside);
    }
    __device__ __forceinline__ int box_rows(void) const { return TILE_HEIGHT + p.filter_height - 1; }
    __device__ __forceinline__ void begin(const struct tile &t, int stage) {
        if (thread_index() == 0 && is_box(t)) {
            mbarrier_arrive_expect_tx(barrier(stage), p.pitch * box_rows() * ELEM_BYTES);
            tma_load_3d(stage_of(p, memory, stage), &p.map, t.x - p.origin_x, t.y - p.origin_y, t.plane,
                        barrier(stage));
        }
    }
    __device__ __forceinline__ void finish(const struct tile &t, int stage) {
        if (is_box(t)) {
            mbarrier_wait(barrier(stage), parities >> stage & 1);
            parities ^= 1u << stage;
        } else {
            load_elements(p, t, stage_of(p, memory, stage));
            fence_proxy_async(); /* a box may come behind it */
            __syncthreads();
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_convolution_params p) {
    griddep_follow();
    convolve<box_loader>(p);
}
