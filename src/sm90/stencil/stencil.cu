/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils with programmatic dependent launch. A plane of x comes with its halo as one box of TMA, which fills what lies
 * beyond x with zeros: the edge of zeros. With other edges, threads put that rim there themselves, and a plane beyond an
 * edge in z is the box of another plane. While a plane is computed, those of the next STAGES - 1 steps are under way, those
 * of the next march too. By elements comes x where TMA does not take its address or strides. */
#include "sm80/stencil/stencil.cuh"
#include "sm90/follow.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/tma.cuh"

struct box_loader {
    enum { STAGES = GM_STENCIL_STAGES(true, ELEM_BYTES) };
    const struct gm_stencil_params &p;
    uint32_t memory, parities; /* a bit for each stage */
    struct step ahead;         /* of thread 0: whose box is asked for next */
    struct staged staged;

    __device__ __forceinline__ box_loader(const struct gm_stencil_params &params, uint32_t memory)
        : p(params), memory(memory), parities(0), ahead(params, cta_index()) {
        if (thread_index() == 0) {
#pragma unroll
            for (int stage = 0; stage < STAGES; ++stage)
                mbarrier_init(barrier(stage), 1);
            fence_mbarrier_init();
#pragma unroll 1
            for (int stage = 0; stage < STAGES - 2; ++stage)
                load_box(stage);
        }
        __syncthreads();
    }
    __device__ __forceinline__ uint32_t barrier(int stage) const { return memory + stage * 8; }
    /* Whether the tile's halo has something beyond x that is not 0. */
    __device__ __forceinline__ bool has_rim(const struct step &s) const {
        const bool has_edge =
            s.x == 0 || s.y == 0 || s.x + TILE_WIDTH >= p.columns.extent || s.y + TILE_HEIGHT >= p.rows.extent;
        return has_edge && p.columns.before != GM_STENCIL_NOWHERE;
    }
    __device__ __forceinline__ void load_box(int stage) {
        if (!ahead.exists(p) || !p.boxes)
            return;
        mbarrier_arrive_expect_tx(barrier(stage), PITCH * HALO_ROWS * ELEM_BYTES);
        tma_load_4d(plane_of(memory, stage), &p.map, ahead.x - LEAD, ahead.y - 1, ahead.plane(p), ahead.grid,
                    barrier(stage));
        ahead.advance(p);
    }
    /* All have left the stage before the last one. */
    __device__ __forceinline__ void begin(const struct step &s, int stage) {
        if (thread_index() == 0)
            load_box(before<STAGES>(before<STAGES>(stage)));
        if (!s.exists(p))
            return;
        if (!p.boxes)
            staged.load(p, s);
        else if (has_rim(s))
            staged.load_rim(p, s);
    }
    __device__ __forceinline__ void finish(const struct step &s, int stage) {
        if (!p.boxes) {
            staged.store(plane_of(memory, stage));
        } else {
            mbarrier_wait(barrier(stage), parities >> stage & 1);
            parities ^= 1u << stage;
            if (has_rim(s)) {
                staged.store_rim(p, s, plane_of(memory, stage));
                fence_proxy_async(); /* a box comes behind it */
            }
        }
        __syncthreads();
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, GM_STENCIL_CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_stencil_params p) {
    griddep_follow();
    march<box_loader>(p);
}
