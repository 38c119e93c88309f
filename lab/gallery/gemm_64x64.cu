// SPDX-License-Identifier: Apache-2.0
// A GEMM of 64 x 64 tiles and 4 x 4 elements a thread, padded against conflicts, which the pad of B makes.
//
// launch: faulty --grid 1,1 --block 256 --device a100
//         --args out:f32:64x64 buffer:f32:64x32:random=1 buffer:f32:32x64:random=2 i32:64 i32:32
// finds: nothing
// wavefronts: ld.shared 2176 in `right[j] = b[k]`
// degree: ld.shared 1.89 in `right[j] = b[k]`
// sectors: ld.global 32.00 in `a[row][k] = left[`
// result: right: sum(a[i // 64 * 32 + k] * b[k * 64 + i % 64] for k in range(32))
//
// launch: fixed --grid 1,1 --block 256 --device a100
//         --args out:f32:64x64 buffer:f32:64x32:random=1 buffer:f32:32x64:random=2 i32:64 i32:32
// finds: nothing
// wavefronts: ld.shared 1152 in `right[j] = b[k]`
// degree: ld.shared 1.00 in `right[j] = b[k]`
// degree: ld.shared 1.00 in `sum[i][j] +=`
// degree: st.shared 1.00 in `a[row][k] = left[`
// sectors: ld.global 4.00 in `a[row][k] = left[`
// result: right: sum(a[i // 64 * 32 + k] * b[k * 64 + i % 64] for k in range(32))

enum { TILE = 64, DEPTH = 16, THREADS = 256, EACH = 4, ACROSS = TILE / EACH };

__global__ void faulty(float *d, const float *left_matrix, const float *right_matrix, int n, int depth) {
    __shared__ float a[TILE][DEPTH + 1], b[DEPTH][TILE + 1];
    const int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    const float *left = left_matrix + blockIdx.y * TILE * depth, *right_block = right_matrix + blockIdx.x * TILE;
    float sum[EACH][EACH] = {};
    for (int first = 0; first < depth; first += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int row = i % TILE, k = i / TILE;
            a[row][k] = left[row * depth + first + k];
            b[k][row] = right_block[(first + k) * n + row];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float right[EACH];
            for (int j = 0; j < EACH; j++)
                right[j] = b[k][EACH * tx + j];
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += a[EACH * ty + i][k] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            d[(blockIdx.y * TILE + EACH * ty + i) * n + blockIdx.x * TILE + EACH * tx + j] = sum[i][j];
}

__global__ void fixed(float *d, const float *left_matrix, const float *right_matrix, int n, int depth) {
    __shared__ float a[TILE][DEPTH], b[DEPTH][TILE];
    const int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    const float *left = left_matrix + blockIdx.y * TILE * depth, *right_block = right_matrix + blockIdx.x * TILE;
    float sum[EACH][EACH] = {};
    for (int first = 0; first < depth; first += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) { // along the rows of either matrix
            const int row = i / DEPTH, k = i % DEPTH;
            a[row][k] = left[row * depth + first + k];
            b[i / TILE][i % TILE] = right_block[(first + i / TILE) * n + i % TILE];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float right[EACH];
            for (int j = 0; j < EACH; j++)
                right[j] = b[k][tx + ACROSS * j]; // lanes side by side
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += a[ty + ACROSS * i][k] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            d[(blockIdx.y * TILE + ty + ACROSS * i) * n + blockIdx.x * TILE + tx + ACROSS * j] = sum[i][j];
}
