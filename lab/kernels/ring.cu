/* SPDX-License-Identifier: Apache-2.0 */
/* out = 3 in + 1, every tile of it backwards, so that a thread needs what another one fetched: through a ring of 1 to 6
 * stages that cp.async fills, and through registers with the same shape. A CTA takes every gridDim-th tile. */
#include <stdint.h>

#include "ring.h"
#include "sm80/pipeline.cuh"

enum { THREADS = RING_THREADS };

struct work {
    uint4 *out;
    const uint4 *in;
    int tiles; /* of this CTA */
};

static __device__ __forceinline__ struct work work_of(uint4 *out, const uint4 *in, int tiles) {
    const int first = blockIdx.x * THREADS + threadIdx.x;
    return {out + first, in + first, (tiles - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x};
}

static __device__ __forceinline__ size_t tile_at(int k) {
    return (size_t)k * gridDim.x * THREADS;
}

static __device__ __forceinline__ uint4 changed(uint4 v) {
    return make_uint4(3 * v.w + 1, 3 * v.z + 1, 3 * v.y + 1, 3 * v.x + 1);
}

/* The CTA's k-th tile, from a stage where all of it has arrived. */
static __device__ __forceinline__ void put(const struct work &work, int k, const uint4 *stage) {
    work.out[tile_at(k)] = changed(stage[THREADS - 1 - threadIdx.x]);
}

/* ---- past the registers --------------------------------------------------------------------------- */

/* The k-th tile on its way, as one group; an empty group where there is no such tile, so that groups can be counted. */
static __device__ __forceinline__ void fetch(const struct work &work, int k, uint4 *stage) {
    if (k < work.tiles) {
        cp_async_cg_16((uint32_t)__cvta_generic_to_shared(stage + threadIdx.x), (uint64_t)(work.in + tile_at(k)), 16);
    }
    pipeline_commit();
}

/* A tile is fetched STAGES - 1 tiles ahead, into the stage that the tile before this one has left. */
template <int STAGES> static __device__ __forceinline__ void pass_ring(const struct work &work) {
    __shared__ alignas(16) uint4 ring[STAGES][THREADS];
#pragma unroll
    for (int k = 0; k < STAGES - 1; k++) {
        fetch(work, k, ring[k]);
    }
    int reading = 0, writing = STAGES - 1;
#pragma unroll 1
    for (int k = 0; k < work.tiles; k++) {
        pipeline_wait<STAGES - 2>();
        fetch(work, k + STAGES - 1, ring[writing]);
        put(work, k, ring[reading]);
        writing = reading;
        reading = reading + 1 == STAGES ? 0 : reading + 1;
    }
}

/* One stage: nothing is fetched while a tile is worked on, and a second barrier keeps the next from coming too early. */
template <> __device__ __forceinline__ void pass_ring<1>(const struct work &work) {
    __shared__ alignas(16) uint4 stage[THREADS];
#pragma unroll 1
    for (int k = 0; k < work.tiles; k++) {
        fetch(work, k, stage);
        pipeline_wait<0>();
        put(work, k, stage);
        __syncthreads();
    }
}

#define RING(stages)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) lab_ring_##stages(uint4 *out, const uint4 *in, int tiles) {  \
        pass_ring<stages>(work_of(out, in, tiles));                                                                    \
    }

RING(1)
RING(2)
RING(3)
RING(4)
RING(5)
RING(6)

/* ---- through registers ---------------------------------------------------------------------------- */

/* As one stage of cp.async: load, store, barrier, work, barrier. */
extern "C" __global__ void __launch_bounds__(THREADS) lab_ring_registers_1(uint4 *out, const uint4 *in, int tiles) {
    __shared__ alignas(16) uint4 stage[THREADS];
    const struct work work = work_of(out, in, tiles);
#pragma unroll 1
    for (int k = 0; k < work.tiles; k++) {
        stage[threadIdx.x] = work.in[tile_at(k)];
        __syncthreads();
        put(work, k, stage);
        __syncthreads();
    }
}

/* As two: the next tile travels to registers while this one is worked on, and lands in the other stage. */
extern "C" __global__ void __launch_bounds__(THREADS) lab_ring_registers_2(uint4 *out, const uint4 *in, int tiles) {
    __shared__ alignas(16) uint4 ring[2][THREADS];
    const struct work work = work_of(out, in, tiles);
    uint4 coming = make_uint4(0, 0, 0, 0);
    if (work.tiles > 0) {
        coming = work.in[0];
    }
#pragma unroll 1
    for (int k = 0; k < work.tiles; k++) {
        ring[k % 2][threadIdx.x] = coming;
        __syncthreads();
        if (k + 1 < work.tiles) {
            coming = work.in[tile_at(k + 1)];
        }
        put(work, k, ring[k % 2]);
    }
}
