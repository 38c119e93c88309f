// SPDX-License-Identifier: Apache-2.0
// A ring of three stages that cp.async fills, and whose last two tiles are read before they have arrived.
//
// launch: faulty --grid 1 --block 128 --device a100
//         --args out:f32:640 buffer:f32:640:iota i32:5
// finds: exit-in-flight read-before-written
// result: wrong: 2 * a[i // 128 * 128 + 127 - i % 128]
//
// launch: fixed --grid 1 --block 128 --device a100
//         --args out:f32:640 buffer:f32:640:iota i32:5
// finds: nothing
// result: right: 2 * a[i // 128 * 128 + 127 - i % 128]
#include <cuda_pipeline.h>

enum { STAGES = 3, TILE = 128 };

__device__ static void fetch(float *stage, const float *in, int tile) {
    __pipeline_memcpy_async(&stage[threadIdx.x], &in[tile * TILE + threadIdx.x], sizeof(float));
}

__global__ void faulty(float *out, const float *in, int tiles) {
    __shared__ float ring[STAGES][TILE];
    for (int tile = 0; tile < STAGES - 1 && tile < tiles; tile++) {
        fetch(ring[tile], in, tile);
        __pipeline_commit();
    }
    for (int tile = 0; tile < tiles; tile++) {
        const int next = tile + STAGES - 1;
        if (next < tiles) {
            fetch(ring[next % STAGES], in, next);
            __pipeline_commit();
        }
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        out[tile * TILE + threadIdx.x] = 2 * ring[tile % STAGES][TILE - 1 - threadIdx.x];
        __syncthreads();
    }
}

__global__ void fixed(float *out, const float *in, int tiles) {
    __shared__ float ring[STAGES][TILE];
    for (int tile = 0; tile < STAGES - 1; tile++) {
        if (tile < tiles)
            fetch(ring[tile], in, tile);
        __pipeline_commit();
    }
    for (int tile = 0; tile < tiles; tile++) {
        const int next = tile + STAGES - 1;
        if (next < tiles)
            fetch(ring[next % STAGES], in, next);
        __pipeline_commit(); // empty at the end, so that the count of groups stays what wait_prior() counts on
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        out[tile * TILE + threadIdx.x] = 2 * ring[tile % STAGES][TILE - 1 - threadIdx.x];
        __syncthreads();
    }
}
