/* SPDX-License-Identifier: Apache-2.0 */
/* The convolution ladders, of a line by 17 taps and of an image by 7 x 7. Each element is needed once from memory; what
 * limits the steps is how often it is read from wherever it is near. */
#include "convolution.h"

/* Has word(i) done for i = 0 .. words - 1 by all threads, in as many trips for each of them, so that no warp comes apart. */
template <int words, int threads, class action> static __device__ __forceinline__ void for_words(const action &word) {
#pragma unroll
    for (int trip = 0; trip < (words + threads - 1) / threads; trip++) {
        const int i = trip * threads + threadIdx.x;
        if (i < words) {
            word(i);
        }
    }
    __syncthreads();
}

/* ---- a line --------------------------------------------------------------------------------------- */

static __device__ __forceinline__ float point_of(const struct line &p, int i) {
    return i >= 0 && i < (int)p.count ? p.from[i] : 0.0f;
}

/* Step 1. A thread an output, all taps from global memory: L1 serves what the neighbours have read. */
extern "C" __global__ void __launch_bounds__(LINE_THREADS) lab_convolution_line_naive(const struct line p) {
    const int i = blockIdx.x * LINE_THREADS + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < LINE_TAPS; k++) {
        sum += p.tap[k] * point_of(p, i + k - LINE_RADIUS);
    }
    if (i < (int)p.count) {
        p.to[i] = sum;
    }
}

/* The tile of `outputs` outputs with its halo, both sides of it. */
template <int outputs> static __device__ __forceinline__ void load_line(const struct line &p, int first, float *tile) {
    for_words<LINE_WORDS(outputs), LINE_THREADS>([&](int i) { tile[i] = point_of(p, first - LINE_RADIUS + i); });
}

/* Step 2. A tile with its halo in shared memory: an element is loaded once, and read 17 times there. */
extern "C" __global__ void __launch_bounds__(LINE_THREADS) lab_convolution_line_tile(const struct line p) {
    __shared__ float tile[LINE_WORDS(LINE_THREADS)];
    const int first = blockIdx.x * LINE_THREADS, i = first + threadIdx.x;
    load_line<LINE_THREADS>(p, first, tile);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < LINE_TAPS; k++) {
        sum += p.tap[k] * tile[threadIdx.x + k];
    }
    if (i < (int)p.count) {
        p.to[i] = sum;
    }
}

/* Step 3. Four outputs a thread, whose 20 elements come in five loads of 16 bytes: 5 wavefronts for 32 outputs, not 17. */
extern "C" __global__ void __launch_bounds__(LINE_THREADS) lab_convolution_line_registers(const struct line p) {
    constexpr int outputs = LINE_THREADS * LINE_OUTPUTS, near = LINE_OUTPUTS + 2 * LINE_RADIUS;
    __shared__ __align__(16) float tile[LINE_WORDS(outputs)];
    const int first = blockIdx.x * outputs, mine = threadIdx.x * LINE_OUTPUTS;
    load_line<outputs>(p, first, tile);
    float value[near], sum[LINE_OUTPUTS] = {};
#pragma unroll
    for (int i = 0; i < near; i += 4) {
        *(float4 *)&value[i] = *(const float4 *)&tile[mine + i];
    }
#pragma unroll
    for (int k = 0; k < LINE_TAPS; k++) {
#pragma unroll
        for (int i = 0; i < LINE_OUTPUTS; i++) {
            sum[i] += p.tap[k] * value[i + k];
        }
    }
    if (first + mine + LINE_OUTPUTS <= (int)p.count) {
        *(float4 *)&p.to[first + mine] = make_float4(sum[0], sum[1], sum[2], sum[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < LINE_OUTPUTS; i++) {
        if (first + mine + i < (int)p.count) {
            p.to[first + mine + i] = sum[i];
        }
    }
}

/* ---- an image ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ float point_of(const struct image &p, int x, int y) {
    return x >= 0 && x < p.width && y >= 0 && y < p.height ? p.from[y * p.width + x] : 0.0f;
}

static __device__ __forceinline__ void store_point(const struct image &p, int x, int y, float value) {
    if (x < p.width && y < p.height) {
        p.to[y * p.width + x] = value;
    }
}

/* Step 1. A thread an output, 49 loads from global memory. */
extern "C" __global__ void __launch_bounds__(IMAGE_THREADS) lab_convolution_image_naive(const struct image p) {
    const int x = blockIdx.x * IMAGE_TILE + threadIdx.x % 32, y = blockIdx.y * IMAGE_WARPS + threadIdx.x / 32;
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < IMAGE_TAPS; j++) {
#pragma unroll
        for (int i = 0; i < IMAGE_TAPS; i++) {
            sum += p.tap[j][i] * point_of(p, x + i - IMAGE_RADIUS, y + j - IMAGE_RADIUS);
        }
    }
    store_point(p, x, y, sum);
}

/* Of a CTA: 38 x 38 elements, 32 x 32 outputs and their halo, dense. */
static __device__ __forceinline__ void load_image(const struct image &p, float (*tile)[IMAGE_SPAN]) {
    const int left = blockIdx.x * IMAGE_TILE - IMAGE_RADIUS, top = blockIdx.y * IMAGE_TILE - IMAGE_RADIUS;
    for_words<IMAGE_SPAN * IMAGE_SPAN, IMAGE_THREADS>(
        [&](int i) { tile[0][i] = point_of(p, left + i % IMAGE_SPAN, top + i / IMAGE_SPAN); });
}

/* Step 2. The tile in shared memory: an output still reads 49 words. */
extern "C" __global__ void __launch_bounds__(IMAGE_THREADS) lab_convolution_image_tile(const struct image p) {
    __shared__ float tile[IMAGE_SPAN][IMAGE_SPAN];
    const int lane = threadIdx.x % 32;
    load_image(p, tile);
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < IMAGE_TILE; row += IMAGE_WARPS) {
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < IMAGE_TAPS; j++) {
#pragma unroll
            for (int i = 0; i < IMAGE_TAPS; i++) {
                sum += p.tap[j][i] * tile[row + j][lane + i];
            }
        }
        store_point(p, blockIdx.x * IMAGE_TILE + lane, blockIdx.y * IMAGE_TILE + row, sum);
    }
}

static __device__ __forceinline__ void store_rows(const struct image &p, const float (&sum)[IMAGE_ROWS]) {
    const int x = blockIdx.x * IMAGE_TILE + threadIdx.x % 32;
    const int y = blockIdx.y * IMAGE_TILE + threadIdx.x / 32 * IMAGE_ROWS;
#pragma unroll
    for (int row = 0; row < IMAGE_ROWS; row++) {
        store_point(p, x, y + row, sum[row]);
    }
}

/* Step 3. Four outputs below one another a thread: of the 10 rows that they need, a word is read once for all of them. */
extern "C" __global__ void __launch_bounds__(IMAGE_THREADS) lab_convolution_image_registers(const struct image p) {
    __shared__ float tile[IMAGE_SPAN][IMAGE_SPAN];
    const int lane = threadIdx.x % 32, top = threadIdx.x / 32 * IMAGE_ROWS;
    load_image(p, tile);
    float sum[IMAGE_ROWS] = {};
#pragma unroll
    for (int j = 0; j < IMAGE_REACH; j++) {
#pragma unroll
        for (int i = 0; i < IMAGE_TAPS; i++) {
            const float value = tile[top + j][lane + i];
#pragma unroll
            for (int row = 0; row < IMAGE_ROWS; row++) {
                if (j >= row && j - row < IMAGE_TAPS) {
                    sum[row] += p.tap[j - row][i] * value;
                }
            }
        }
    }
    store_rows(p, sum);
}

/* Step 4. The filter is a column times a row: the tile's rows are convolved first, into a second tile, and then its
 * columns: 14 FFMA an output instead of 49, and one more trip through shared memory, with a barrier of its own. */
extern "C" __global__ void __launch_bounds__(IMAGE_THREADS) lab_convolution_image_separable(const struct image p) {
    __shared__ float tile[IMAGE_SPAN][IMAGE_SPAN], middle[IMAGE_SPAN][IMAGE_TILE];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, top = warp * IMAGE_ROWS;
    load_image(p, tile);
#pragma unroll
    for (int row = warp; row < IMAGE_SPAN; row += IMAGE_WARPS) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < IMAGE_TAPS; i++) {
            sum += p.row[i] * tile[row][lane + i];
        }
        middle[row][lane] = sum;
    }
    __syncthreads();
    float sum[IMAGE_ROWS] = {};
#pragma unroll
    for (int j = 0; j < IMAGE_REACH; j++) {
        const float value = middle[top + j][lane];
#pragma unroll
        for (int row = 0; row < IMAGE_ROWS; row++) {
            if (j >= row && j - row < IMAGE_TAPS) {
                sum[row] += p.column[j - row] * value;
            }
        }
    }
    store_rows(p, sum);
}
