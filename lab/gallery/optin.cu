// SPDX-License-Identifier: Apache-2.0
// All 164 KB of an A100's shared memory, asked for by one block: 1 KB of each block is the system's.
//
// launch: reverse --grid 1 --block 1024 --shared 167936 --device a100
//         --args out:f32:41984 buffer:f32:41984:iota i32:41984
// refused: a block of NVIDIA A100-SXM4-80GB (simulated) may have 166912 in all
//
// launch: reverse --grid 1 --block 1024 --shared 166912 --device a100
//         --args out:f32:41728 buffer:f32:41728:iota i32:41728
// finds: nothing
// result: right: a[41727 - i]

__global__ void reverse(float *out, const float *in, int count) {
    extern __shared__ float pool[];
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        pool[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = pool[count - 1 - i];
}
