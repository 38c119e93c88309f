// SPDX-License-Identifier: Apache-2.0
// Kernels for Hopper, of which one allocates memory, which the simulated GPU cannot; the others run all the same.
#include <cstdio>

__global__ void takes(int **out) {
    *out = (int *)malloc(4);
}

__device__ __noinline__ int squared(int x) {
    return x < 2 ? x : x * x;
}

__global__ void speaks(int *out) {
    printf("%s %d\n", "the square is", out[threadIdx.x] = squared(threadIdx.x));
}

__global__ void silent(int *out) {
    /* a comment with { and " in it */
    out[threadIdx.x] = threadIdx.x;
}

__global__ void __cluster_dims__(2) rank(unsigned *out) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    out[blockIdx.x] = rank;
}
