// SPDX-License-Identifier: Apache-2.0
// A padded transpose that swaps the indices twice: of the tile, and of the matrix that is written.
//
// launch: faulty --grid 2,2 --block 32,32 --device a100
//         --args out:f32:64x64 buffer:f32:64x64:iota i32:64
// finds: nothing
// degree: ld.shared 1.00 in `out[x * n + y] =`
// sectors: st.global 32.00 in `out[x * n + y] =`
// result: wrong: a[i % 64 * 64 + i // 64]
//
// launch: fixed --grid 2,2 --block 32,32 --device a100
//         --args out:f32:64x64 buffer:f32:64x64:iota i32:64
// finds: nothing
// degree: ld.shared 1.00 in `out[row * n + column] =`
// sectors: st.global 4.00 in `out[row * n + column] =`
// result: right: a[i % 64 * 64 + i // 64]

enum { TILE = 32 };

__global__ void faulty(float *out, const float *in, int n) {
    __shared__ float tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[x * n + y] = tile[threadIdx.x][threadIdx.y];
}

__global__ void fixed(float *out, const float *in, int n) {
    __shared__ float tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    // The blocks change places; the lanes of a warp still lie side by side.
    const int row = blockIdx.x * TILE + threadIdx.y, column = blockIdx.y * TILE + threadIdx.x;
    out[row * n + column] = tile[threadIdx.x][threadIdx.y];
}
