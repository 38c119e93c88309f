/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix walked as the weights of a GEMM for few tokens are: each CTA takes tiles of rows and goes along them, box by
 * box, with as much under way as its ring holds. Nobody multiplies; one word of each box is added up, to be checked.
 *
 *   CTA 0   |1 2|3 4|. .        a stage: two boxes of 128 bytes x box_rows rows
 *   CTA 1   |1 2|3 4|. .
 *
 * What is left is memory's pace: docs/TUNING-LOG.md, entry 23. */
#include "common/tensor_map.h"
#include "sm90/mbarrier.cuh"
#include "sm90/tma.cuh"
#include "tma_walk.h"

struct ring {
    uint32_t base, full; /* stages, then a barrier for each */
    uint32_t slot, parity, filled;
};

/* Waits for the oldest stage, and adds the first word of each of its boxes to the sum. */
static __device__ __forceinline__ void take(const struct walk_shape &shape, struct ring &ring, uint32_t &sum) {
    if (!mbarrier_wait_bounded(ring.full + 8 * ring.slot, ring.parity))
        __trap();
#pragma unroll 1
    for (uint32_t box = 0; box < shape.boxes; box++) {
        uint32_t word;
        asm volatile("ld.shared.b32 %0, [%1];"
                     : "=r"(word)
                     : "r"(ring.base + ring.slot * WALK_STAGE_BYTES(shape) + box * WALK_BOX_BYTES(shape)));
        sum += word;
    }
    fence_proxy_async(); /* the stage is read before TMA fills it again */
}

static __device__ __forceinline__ void next(const struct walk_shape &shape, struct ring &ring) {
    if (++ring.slot == shape.stages) {
        ring.slot = 0;
        ring.parity ^= 1;
    }
}

static __device__ __forceinline__ void fill(const struct walk_shape &shape, const struct gm_tensor_map &map,
                                            const struct ring &ring, uint32_t tile, uint32_t block) {
    const uint32_t bar = ring.full + 8 * ring.slot;
    mbarrier_arrive_expect_tx(bar, WALK_STAGE_BYTES(shape));
#pragma unroll 1
    for (uint32_t box = 0; box < shape.boxes; box++)
        tma_load_2d(ring.base + ring.slot * WALK_STAGE_BYTES(shape) + box * WALK_BOX_BYTES(shape), &map,
                    (block * shape.boxes + box) * WALK_BOX_WORDS, tile * shape.box_rows, bar, GM_L2_EVICT_FIRST);
}

struct place {
    uint32_t worker, workers; /* no worker: worker == workers */
};

/* A CTA that fills an SM is known by it. */
static __device__ __forceinline__ struct place place_of(const struct walk_shape &shape) {
    if (shape.sms == 0)
        return {blockIdx.x, gridDim.x};
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    const uint32_t workers = shape.sms / shape.step;
    return {sm < shape.sms && sm % shape.step == 0 ? sm / shape.step : workers, workers};
}

extern "C" __global__ void __launch_bounds__(WALK_THREADS, 1)
    lab_tma_walk(const __grid_constant__ struct gm_tensor_map map, const __grid_constant__ struct walk_shape shape,
                 uint32_t *sums) {
    extern __shared__ __align__(1024) unsigned char smem[];
    const struct place at = place_of(shape);
    const bool idle = at.worker == at.workers;
    if (idle)
        asm volatile("nanosleep.u32 10000;"); /* so that no other CTA comes to this SM instead of its own */
    if (threadIdx.x != 0 || idle)
        return;
    struct ring ring = {(uint32_t)__cvta_generic_to_shared(smem)};
    uint32_t sum = 0;
    ring.full = ring.base + shape.stages * WALK_STAGE_BYTES(shape);
    for (uint32_t slot = 0; slot < shape.stages; slot++)
        mbarrier_init(ring.full + 8 * slot, 1);
    fence_mbarrier_init();
    ring.parity = 1; /* of the round before the first, which a wait passes at once: nothing is taken in it */
#pragma unroll 1
    for (uint32_t tile = at.worker; tile < shape.tiles; tile += at.workers) {
#pragma unroll 1
        for (uint32_t block = 0; block < shape.blocks; block++) {
            if (ring.filled == shape.stages)
                take(shape, ring, sum);
            else
                ring.filled++;
            fill(shape, map, ring, tile, block);
            next(shape, ring);
        }
    }
    /* The oldest stage is the next slot, or slot 0 of a ring that was never full. */
    if (ring.filled < shape.stages)
        ring.slot = ring.parity = 0;
#pragma unroll 1
    for (; ring.filled > 0; ring.filled--) {
        take(shape, ring, sum);
        next(shape, ring);
    }
    sums[at.worker] = sum;
}
