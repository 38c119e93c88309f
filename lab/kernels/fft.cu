/* SPDX-License-Identifier: Apache-2.0 */
/* The FFT ladder: a CTA transforms a signal of 1024 complex numbers in shared memory, in place: its elements come in with
 * the digits of their numbers reversed, and passes of butterflies over distances 1, radix, radix^2 ... leave the spectrum
 * in order. `twiddle` has e^(-pi i j / d) at d + j, for d = 1, 2, 4 ... 512 and j < d. */
#include <stdint.h>

#include "fft.h"

enum { POINTS = FFT_POINTS, THREADS = FFT_THREADS };

/* Where a plane's elements lie, and how many words it has. */
struct plain {
    enum { WORDS = POINTS };
    static __device__ __forceinline__ uint32_t word(uint32_t i) { return FFT_PLAIN(i); }
};
struct padded {
    enum { WORDS = FFT_PADDED(POINTS) };
    static __device__ __forceinline__ uint32_t word(uint32_t i) { return FFT_PADDED(i); }
};
struct exclusive_or {
    enum { WORDS = POINTS };
    static __device__ __forceinline__ uint32_t word(uint32_t i) { return FFT_XOR(i); }
};

/* A signal in shared memory. */
template <class layout> struct signal {
    float *real, *imaginary;

    __device__ __forceinline__ float2 get(uint32_t i) const {
        return make_float2(real[layout::word(i)], imaginary[layout::word(i)]);
    }
    __device__ __forceinline__ void put(uint32_t i, float2 value) const {
        real[layout::word(i)] = value.x;
        imaginary[layout::word(i)] = value.y;
    }
};

static __device__ __forceinline__ float2 operator+(float2 a, float2 b) {
    return make_float2(a.x + b.x, a.y + b.y);
}

static __device__ __forceinline__ float2 operator-(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}

static __device__ __forceinline__ float2 operator*(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static __device__ __forceinline__ float2 times_minus_i(float2 a) {
    return make_float2(a.y, -a.x);
}

/* Passes of two elements, and of four: how a number is reversed, and a butterfly. */
struct by_two {
    enum { RADIX = 2 };

    static __device__ __forceinline__ uint32_t reversed(uint32_t i) { return __brev(i) >> (32 - FFT_BITS); }

    template <class layout>
    static __device__ __forceinline__ void butterfly(const signal<layout> &x, const float2 *__restrict__ twiddle,
                                                     uint32_t b, uint32_t d) {
        const uint32_t first = FFT_FIRST(b, d, RADIX);
        const float2 a0 = x.get(first), a1 = x.get(first + d) * twiddle[d + (b & (d - 1))];
        x.put(first, a0 + a1);
        x.put(first + d, a0 - a1);
    }
};

struct by_four {
    enum { RADIX = 4 };

    static __device__ __forceinline__ uint32_t reversed(uint32_t i) {
        const uint32_t bits = by_two::reversed(i), odd = 0x55555555;
        return (bits & odd) << 1 | (bits >> 1 & odd);
    }

    template <class layout>
    static __device__ __forceinline__ void butterfly(const signal<layout> &x, const float2 *__restrict__ twiddle,
                                                     uint32_t b, uint32_t d) {
        const uint32_t first = FFT_FIRST(b, d, RADIX), j = b & (d - 1);
        const float2 once = twiddle[2 * d + j], twice = twiddle[d + j];
        const float2 a0 = x.get(first), a1 = x.get(first + d) * once, a2 = x.get(first + 2 * d) * twice;
        const float2 a3 = x.get(first + 3 * d) * (once * twice);
        const float2 even = a0 + a2, odd = a1 + a3, crossed = times_minus_i(a1 - a3);
        x.put(first, even + odd);
        x.put(first + d, a0 - a2 + crossed);
        x.put(first + 2 * d, even - odd);
        x.put(first + 3 * d, a0 - a2 - crossed);
    }
};

template <class layout, class pass>
static __device__ __forceinline__ void transform(const float2 *__restrict__ from, float2 *__restrict__ to,
                                                 const float2 *__restrict__ twiddle) {
    __shared__ float real[layout::WORDS], imaginary[layout::WORDS];
    const signal<layout> x = {real, imaginary};
    from += (size_t)blockIdx.x * POINTS;
    to += (size_t)blockIdx.x * POINTS;
#pragma unroll
    for (uint32_t i = threadIdx.x; i < POINTS; i += THREADS)
        x.put(pass::reversed(i), from[i]);
    __syncthreads();
#pragma unroll 1
    for (uint32_t d = 1; d < POINTS; d *= pass::RADIX) {
#pragma unroll
        for (uint32_t b = threadIdx.x; b < POINTS / pass::RADIX; b += THREADS)
            pass::butterfly(x, twiddle, b, d);
        __syncthreads();
    }
#pragma unroll
    for (uint32_t i = threadIdx.x; i < POINTS; i += THREADS)
        to[i] = x.get(i);
}

/* Step 1: ten passes, elements where their numbers say. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_fft_plain(const float2 *from, float2 *to, const float2 *twiddle) {
    transform<plain, by_two>(from, to, twiddle);
}

/* Step 2: a word more after every 32. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_fft_padded(const float2 *from, float2 *to, const float2 *twiddle) {
    transform<padded, by_two>(from, to, twiddle);
}

/* Step 3: no word more, and the words of every row in an order of its own. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_fft_xor(const float2 *from, float2 *to, const float2 *twiddle) {
    transform<exclusive_or, by_two>(from, to, twiddle);
}

/* Step 4: five passes of four elements instead of ten of two. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_fft_four(const float2 *from, float2 *to, const float2 *twiddle) {
    transform<exclusive_or, by_four>(from, to, twiddle);
}
