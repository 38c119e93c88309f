/* SPDX-License-Identifier: Apache-2.0 */
/* threadIdx.x, blockIdx.x and blockDim.x, read anew at every call: what follows from them is then computed where it is used. From
 * the built-in variables the compiler computes it once, ahead of everything, and keeps it in registers through a main
 * loop that has none to spare. */
#ifndef GM_INDEX_CUH
#define GM_INDEX_CUH

static __device__ __forceinline__ int thread_index(void) {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

static __device__ __forceinline__ int cta_index(void) {
    int cta;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cta));
    return cta;
}

static __device__ __forceinline__ int cta_threads(void) {
    int threads;
    asm volatile("mov.u32 %0, %%ntid.x;" : "=r"(threads));
    return threads;
}

#endif
