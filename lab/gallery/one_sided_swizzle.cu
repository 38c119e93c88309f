// SPDX-License-Identifier: Apache-2.0
// A transpose whose stores are swizzled and whose loads are not: no race, only the wrong numbers.
//
// launch: faulty --grid 2,2 --block 32,32 --device a100
//         --args out:f32:64x64 buffer:f32:64x64:iota i32:64
// finds: nothing
// degree: ld.shared 32.00 in `out[row * n + column] =`
// result: wrong: a[i % 64 * 64 + i // 64]
//
// launch: fixed --grid 2,2 --block 32,32 --device a100
//         --args out:f32:64x64 buffer:f32:64x64:iota i32:64
// finds: nothing
// degree: ld.shared 1.00 in `out[row * n + column] =`
// result: right: a[i % 64 * 64 + i // 64]

enum { TILE = 32 };

__global__ void faulty(float *out, const float *in, int n) {
    __shared__ float tile[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    const int row = blockIdx.x * TILE + threadIdx.y, column = blockIdx.y * TILE + threadIdx.x;
    tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];
    __syncthreads();
    out[row * n + column] = tile[threadIdx.x][threadIdx.y];
}

__global__ void fixed(float *out, const float *in, int n) {
    __shared__ float tile[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    const int row = blockIdx.x * TILE + threadIdx.y, column = blockIdx.y * TILE + threadIdx.x;
    tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];
    __syncthreads();
    out[row * n + column] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x]; // the row's number again
}
