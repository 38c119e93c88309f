// SPDX-License-Identifier: Apache-2.0
// The tile loop of a GEMM without the barrier behind its stores, and without the one behind its loads.
//
// launch: without_first --grid 1,1 --block 16,16 --device a100
//         --args out:f32:16x16 buffer:f32:16x64:random=1 buffer:f32:64x16:random=2 i32:16 i32:64
// finds: read-before-written uninitialised write-before-read
//
// launch: without_second --grid 1,1 --block 16,16 --device a100 --seeds 4
//         --args out:f32:16x16 buffer:f32:16x64:random=1 buffer:f32:64x16:random=2 i32:16 i32:64
// finds: read-before-written write-before-read
//
// launch: fixed --grid 1,1 --block 16,16 --device a100 --seeds 4
//         --args out:f32:16x16 buffer:f32:16x64:random=1 buffer:f32:64x16:random=2 i32:16 i32:64
// finds: nothing
// result: right: sum(a[i // 16 * 64 + k] * b[k * 16 + i % 16] for k in range(64))

enum { TILE = 16 };

struct tiles {
    float a[TILE][TILE], b[TILE][TILE];
};

__device__ static void fill(tiles *t, const float *left, const float *right, int n, int depth, int first) {
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    t->a[threadIdx.y][threadIdx.x] = left[y * depth + first + threadIdx.x];
    t->b[threadIdx.y][threadIdx.x] = right[(first + threadIdx.y) * n + x];
}

__device__ static float multiply(const tiles *t) {
    float sum = 0;
    for (int k = 0; k < TILE; k++)
        sum += t->a[threadIdx.y][k] * t->b[k][threadIdx.x];
    return sum;
}

__device__ static void store(float *d, int n, float sum) {
    d[(blockIdx.y * TILE + threadIdx.y) * n + blockIdx.x * TILE + threadIdx.x] = sum;
}

__global__ void without_first(float *d, const float *left, const float *right, int n, int depth) {
    __shared__ tiles t;
    float sum = 0;
    for (int first = 0; first < depth; first += TILE) {
        fill(&t, left, right, n, depth, first);
        sum += multiply(&t); // of what other warps may not have stored yet
        __syncthreads();
    }
    store(d, n, sum);
}

__global__ void without_second(float *d, const float *left, const float *right, int n, int depth) {
    __shared__ tiles t;
    float sum = 0;
    for (int first = 0; first < depth; first += TILE) {
        fill(&t, left, right, n, depth, first); // over what other warps may still read
        __syncthreads();
        sum += multiply(&t);
    }
    store(d, n, sum);
}

__global__ void fixed(float *d, const float *left, const float *right, int n, int depth) {
    __shared__ tiles t;
    float sum = 0;
    for (int first = 0; first < depth; first += TILE) {
        fill(&t, left, right, n, depth, first);
        __syncthreads(); // all stores before all loads of this tile
        sum += multiply(&t);
        __syncthreads(); // all loads of this tile before all stores of the next
    }
    store(d, n, sum);
}
