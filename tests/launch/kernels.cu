// SPDX-License-Identifier: Apache-2.0
// Kernels that tests/launch_check.py runs on the simulated GPU, right and wrong ones; it names their lines by their text.

namespace shapes {
__global__ void transpose(float *out, const float *in, int n) {
    __shared__ float tile[32][32];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
} // namespace shapes

__global__ void race(float *out, const float *in) {
    extern __shared__ float shifted[];
    shifted[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = shifted[(threadIdx.x + 1) % blockDim.x];
}

__global__ void turned(float *out, const float *in) {
    __shared__ float one[32];
    one[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = one[(threadIdx.x + 1) % blockDim.x];
}

struct pair {
    float scale;
    int offset;
};

template <typename T> __global__ void scaled(T *out, pair p, double factor, unsigned char add, long long more) {
    out[threadIdx.x] = (T)(p.scale * (float)factor + (float)(p.offset + add + more + threadIdx.x));
}
template __global__ void scaled(float *, pair, double, unsigned char, long long);
template __global__ void scaled(int *, pair, double, unsigned char, long long);

__global__ void beyond(float *out, const float *in) {
    out[threadIdx.x] = in[threadIdx.x + 1];
}

// Rows of eight vectors, in the dynamic part; and of no order at all.
__global__ void vectors(float4 *out, const float4 *in) {
    extern __shared__ float4 rows[];
    for (int i = 0; i < 8; i++)
        rows[threadIdx.x * 8 + i] = in[threadIdx.x + 32 * i];
    __syncthreads();
    for (int i = 0; i < 8; i++)
        out[threadIdx.x + 32 * i] = rows[threadIdx.x * 8 + i];
}

__global__ void scattered(float *out, const float *in) {
    __shared__ float some[1024];
    for (int i = 0; i < 32; i++)
        some[threadIdx.x + 32 * i] = in[threadIdx.x + 32 * i];
    __syncthreads();
    out[threadIdx.x] = some[threadIdx.x * 2654435761u >> 22];
}

__global__ void empty(void) {}
