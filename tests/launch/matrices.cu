// SPDX-License-Identifier: Apache-2.0
// Products of one warp by nvcuda::wmma: D = 2 (A B + 1), in each shape, type and layout once.
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
template <int M, int N, class T, class C, class LA, class LB, bool S> __device__ void go(C *d, const T *a, const T *b) {
    __shared__ T sa[M * 16], sb[16 * N];
    __shared__ C sd[M * N];
    wmma::fragment<wmma::matrix_a, M, N, 16, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, C> fc;
    for (int i = threadIdx.x; i < M * 16; i += 32)
        sa[i] = a[i];
    for (int i = threadIdx.x; i < N * 16; i += 32)
        sb[i] = b[i];
    for (int i = threadIdx.x; i < N * M; i += 32)
        sd[i] = C(1.0f);
    __syncthreads();
    constexpr bool ra = std::is_same<LA, wmma::row_major>::value, rb = std::is_same<LB, wmma::row_major>::value;
    wmma::load_matrix_sync(fa, S ? sa : a, ra ? 16 : M);
    wmma::load_matrix_sync(fb, S ? sb : b, rb ? N : 16);
    wmma::load_matrix_sync(fc, sd, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] + fc.x[i];
    wmma::store_matrix_sync(d, fc, S ? N : M, S ? wmma::mem_row_major : wmma::mem_col_major);
}
using R = wmma::row_major;
using K = wmma::col_major;
extern "C" __global__ void square(float *d, const half *a, const half *b) {
    go<16, 16, half, float, R, K, true>(d, a, b);
}
extern "C" __global__ void wide(half *d, const half *a, const half *b) {
    go<8, 32, half, half, K, R, false>(d, a, b);
}
extern "C" __global__ void tall(float *d, const __nv_bfloat16 *a, const __nv_bfloat16 *b) {
    go<32, 8, __nv_bfloat16, float, R, R, false>(d, a, b);
}
extern "C" __global__ void turned(float *d, const __nv_bfloat16 *a, const __nv_bfloat16 *b) {
    go<16, 16, __nv_bfloat16, float, K, K, true>(d, a, b);
}
extern "C" __global__ void bytes(int *d, const signed char *a) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, R> fragment;
    wmma::load_matrix_sync(fragment, a, 16);
    d[threadIdx.x] = fragment.x[0];
}
