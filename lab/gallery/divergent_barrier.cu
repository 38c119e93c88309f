// SPDX-License-Identifier: Apache-2.0
// A reduction with its barrier inside the branch that fewer and fewer threads take.
//
// launch: faulty --grid 1 --block 256 --device a100
//         --args out:f32:1 buffer:f32:256:iota
// finds: deadlock diverged
//
// launch: fixed --grid 1 --block 256 --device a100
//         --args out:f32:1 buffer:f32:256:iota
// finds: nothing
// result: right: sum(a)

__global__ void faulty(float *out, const float *in) {
    __shared__ float part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads();
        }
    }
    if (threadIdx.x == 0)
        *out = part[0];
}

__global__ void fixed(float *out, const float *in) {
    __shared__ float part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads(); // every thread comes here
    }
    if (threadIdx.x == 0)
        *out = part[0];
}
