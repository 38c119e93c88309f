// SPDX-License-Identifier: Apache-2.0
// A tiled GEMM with one column more, where no access has a conflict; the pad costs wavefronts instead.
//
// launch: faulty --grid 1,1 --block 32,32 --device a100
//         --args out:f32:32x32 buffer:f32:32x32:random=1 buffer:f32:32x32:random=2 i32:32
// finds: nothing
// degree: ld.shared 1.00 in `sum += a`
// wavefronts: ld.shared 2048 in `sum += a`
// result: right: sum(a[i // 32 * 32 + k] * b[k * 32 + i % 32] for k in range(32))
//
// launch: fixed --grid 1,1 --block 32,32 --device a100
//         --args out:f32:32x32 buffer:f32:32x32:random=1 buffer:f32:32x32:random=2 i32:32
// finds: nothing
// degree: ld.shared 1.00 in `sum += a`
// wavefronts: ld.shared 1536 in `sum += a`
// result: right: sum(a[i // 32 * 32 + k] * b[k * 32 + i % 32] for k in range(32))

enum { TILE = 32 };

template <int PITCH> __device__ static void multiply(float *d, const float *left, const float *right, int n) {
    __shared__ float a[TILE][PITCH], b[TILE][PITCH];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        a[threadIdx.y][threadIdx.x] = left[y * n + first + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = right[(first + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    d[y * n + x] = sum;
}

__global__ void faulty(float *d, const float *left, const float *right, int n) {
    multiply<TILE + 1>(d, left, right, n);
}

__global__ void fixed(float *d, const float *left, const float *right, int n) {
    multiply<TILE>(d, left, right, n);
}
