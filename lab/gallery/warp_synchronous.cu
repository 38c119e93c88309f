// SPDX-License-Identifier: Apache-2.0
// The last steps of a sum in shared memory, which one warp makes without barriers, as articles did before Volta.
//
// launch: faulty --grid 1 --block 64 --args out:f32:1 buffer:f32:64:iota
// finds: write-before-read
// result: wrong: sum(a)
//
// launch: with_volatile --grid 1 --block 64 --args out:f32:1 buffer:f32:64:iota
// finds: nothing
// result: right: sum(a)
//
// launch: half_fixed --grid 1 --block 64 --args out:f32:1 buffer:f32:64:iota
// finds: write-before-read
// result: right: sum(a)
//
// launch: fixed --grid 1 --block 64 --seeds 4 --args out:f32:1 buffer:f32:64:iota
// finds: nothing
// result: right: sum(a)
//
// launch: fixed_by_shuffles --grid 1 --block 64 --seeds 4 --args out:f32:1 buffer:f32:64:iota
// finds: nothing
// wavefronts: ld.shared 2 in `float sum = part`
// result: right: sum(a)

enum { THREADS = 64 };

__device__ static void store(float *out, float sum) {
    if (threadIdx.x == 0)
        *out = sum;
}

__global__ void faulty(float *out, const float *in) {
    __shared__ float part[THREADS];
    const int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int step = 32; step > 0; step /= 2)
            part[t] += part[t + step]; // of what the other lane may not have stored yet
        store(out, part[t]);
    }
}

__global__ void with_volatile(float *out, const float *in) {
    __shared__ volatile float part[THREADS];
    const int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int step = 32; step > 0; step /= 2)
            part[t] = part[t] + part[t + step]; // each time from memory, but when?
        store(out, part[t]);
    }
}

__global__ void half_fixed(float *out, const float *in) {
    __shared__ float part[THREADS];
    const int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int step = 32; step > 0; step /= 2) {
            part[t] += part[t + step]; // over what another lane may still have to read
            __syncwarp();              // all stores before the next step's loads
        }
        store(out, part[t]);
    }
}

__global__ void fixed(float *out, const float *in) {
    __shared__ float part[THREADS];
    const int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int step = 32; step > 0; step /= 2) {
            const float other = part[t + step];
            __syncwarp(); // all loads before all stores
            part[t] += other;
            __syncwarp(); // all stores before the next step's loads
        }
        store(out, part[t]);
    }
}

__global__ void fixed_by_shuffles(float *out, const float *in) {
    __shared__ float part[THREADS];
    const int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    if (t < 32) {
        float sum = part[t] + part[t + 32];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, step); // waits for the lanes that it names
        store(out, sum);
    }
}
