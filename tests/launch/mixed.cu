// SPDX-License-Identifier: Apache-2.0
// Kernels for Hopper, of which one calls a function, which the simulated GPU has not; the others run all the same.
#include <cstdio>

__global__ void speaks(int *out) {
    printf("%d\n", *out);
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
