/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between double and the element types, repeatable random numbers, and a loop over threads. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "gpu_tests.h"

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static double fp16_to_double(uint32_t bits) {
    const int exponent = bits >> 10 & 31;
    const uint32_t sign = bits >> 15 << 31, fraction = bits & 1023;
    if (exponent == 31)
        return float_of(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        const double value = fraction * 0x1p-24;
        return sign ? -value : value;
    }
    return float_of(sign | (uint32_t)(exponent + 112) << 23 | fraction << 13);
}

/* e4m3 has no infinities, and one NaN of each sign. */
static double e4m3_to_double(uint32_t bits) {
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f)
        return NAN;
    const double size = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
    return bits & 0x80 ? -size : size;
}

double bits_to_double(enum gm_type type, uint32_t bits) {
    if (type == GM_INT32 || type == GM_INT64)
        return (int32_t)bits;
    if (type == GM_INT8)
        return (int8_t)bits;
    if (type == GM_UINT8)
        return (uint8_t)bits;
    if (type == GM_E4M3)
        return e4m3_to_double(bits);
    if (type == GM_E5M2) /* the upper half of an fp16 */
        return fp16_to_double((bits & 0xff) << 8);
    return type == GM_FP16 ? fp16_to_double(bits) : float_of(type == GM_BF16 ? bits << 16 : bits);
}

/* Rounds `value` to `digits` binary digits, none worth less than 2^least. Exact in double. */
static double round_digits(double value, int digits, int least) {
    int exponent;
    frexp(value, &exponent);
    const int quantum = exponent - digits > least ? exponent - digits : least;
    return ldexp(nearbyint(ldexp(value, -quantum)), quantum);
}

static uint32_t to_fp16(double value) {
    const uint32_t sign = signbit(value) ? 0x8000u : 0;
    if (isnan(value))
        return 0x7fff;
    const double rounded = fabs(value) >= 65520 ? INFINITY : fabs(round_digits(value, 11, -24));
    if (isinf(rounded))
        return sign | 0x7c00;
    if (rounded < 0x1p-14)
        return sign | (uint32_t)(rounded * 0x1p24);
    return sign | ((bits_of((float)rounded) >> 13) - (112u << 10));
}

static uint32_t to_bf16(double value) {
    if (isnan(value))
        return 0x7fff;
    const float exact = (float)value;
    if ((double)exact == value) {
        const uint32_t bits = bits_of(exact);
        return isinf(exact) ? bits >> 16 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    return bits_of((float)round_digits(value, 8, -133)) >> 16;
}

static uint32_t to_e4m3(double value) {
    const uint32_t sign = signbit(value) ? 0x80u : 0;
    if (!(fabs(value) <= 464)) /* the next number would be 480, but is NaN */
        return 0x7f;
    const double rounded = fabs(round_digits(value, 4, -9));
    int exponent;
    if (rounded < 0x1p-6)
        return sign | (uint32_t)(rounded * 0x1p9);
    const double fraction = frexp(rounded, &exponent);
    return sign | (uint32_t)(exponent + 6) << 3 | ((uint32_t)(fraction * 16) & 7);
}

static uint32_t to_e5m2(double value) {
    if (isnan(value))
        return 0x7f;
    return to_fp16(isinf(value) || fabs(value) >= 61440 ? copysign(INFINITY, value) : round_digits(value, 3, -16)) >> 8;
}

uint32_t double_to_bits(enum gm_type type, double value) {
    if (type == GM_INT32 || type == GM_INT64)
        return (uint32_t)(int32_t)value;
    if (type == GM_INT8 || type == GM_UINT8)
        return (uint32_t)(int32_t)nearbyint(value) & 0xff;
    if (type == GM_E4M3)
        return to_e4m3(value);
    if (type == GM_E5M2)
        return to_e5m2(value);
    if (type == GM_FP16)
        return to_fp16(value);
    return type == GM_BF16 ? to_bf16(value) : bits_of((float)value);
}

double round_to(enum gm_type type, double value) {
    return bits_to_double(type, double_to_bits(type, value));
}

double half_ulp(enum gm_type type, double value) {
    static const struct {
        int digits, least; /* of a significand; the exponent of the smallest number */
    } formats[] = {[GM_BF16] = {8, -133},
                   [GM_FP16] = {11, -24},
                   [GM_FP32] = {24, -149},
                   [GM_E4M3] = {4, -9},
                   [GM_E5M2] = {3, -16}};
    const int digits = formats[type].digits, least = formats[type].least;
    int exponent;
    frexp(value, &exponent); /* 0 of zero */
    return ldexp(0.5, value != 0 && exponent - digits > least ? exponent - digits : least);
}

uint32_t load_bits(const uint8_t *at, enum gm_type type) {
    const int bytes = gm_type_bytes(type); /* the size of each copy is known to the compiler */
    uint32_t bits;
    uint16_t two;
    if (bytes == 1)
        return *at;
    if (bytes == 2)
        return memcpy(&two, at, 2), two;
    return memcpy(&bits, at, 4), bits; /* little-endian */
}

void store_bits(uint8_t *at, enum gm_type type, uint32_t bits) {
    const int64_t wide = (int32_t)bits;
    memcpy(at, &wide, (size_t)gm_type_bytes(type));
}

bool bits_match(enum gm_type type, uint32_t got_bits, double want, double tolerance) {
    const uint32_t want_bits = double_to_bits(type, want);
    if (got_bits == want_bits)
        return true;
    const double got = bits_to_double(type, got_bits), rounded = bits_to_double(type, want_bits);
    if (isnan(want))
        return isnan(got);
    if (got == rounded) /* zeros of either sign */
        return true;
    if (tolerance == 0 || isnan(got))
        return false;
    if (isinf(got) || isinf(rounded)) /* one of the values within the tolerance may round to Inf */
        return isinf(round_to(type, want + copysign(tolerance, want))) && got * want > 0;
    return fabs(got - want) <= tolerance;
}

uint64_t hash64(uint64_t seed, uint64_t index) {
    uint64_t x = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int64_t draw(struct draws *draws, int64_t below) {
    return (int64_t)(hash64(draws->stream, draws->index++) % (uint64_t)below);
}

double hash_normal(uint64_t seed, uint64_t index) {
    const uint64_t bits = hash64(seed, index);
    const double u = ((double)(bits >> 32) + 0.5) * 0x1p-32, v = (double)(bits & 0xffffffffu) * 0x1p-32;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

struct slice {
    int64_t first, last;
    void (*body)(int64_t, int64_t, void *);
    void *arg;
};

static void *run_slice(void *arg) {
    const struct slice *slice = arg;
    slice->body(slice->first, slice->last, slice->arg);
    return NULL;
}

void parallel_for(int64_t count, double work, void (*body)(int64_t, int64_t, void *), void *arg) {
    enum { MOST = 32 };
    long threads = work < 2e5 ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads > MOST ? MOST : threads > count ? (long)count : threads;
    if (threads <= 1) {
        body(0, count, arg);
        return;
    }
    pthread_t ids[MOST];
    struct slice slices[MOST];
    bool started[MOST];
    for (long t = 0; t < threads; t++) {
        slices[t] = (struct slice){count * t / threads, count * (t + 1) / threads, body, arg};
        started[t] = t > 0 && pthread_create(&ids[t], NULL, run_slice, &slices[t]) == 0;
    }
    for (long t = 0; t < threads; t++)
        if (!started[t])
            run_slice(&slices[t]);
    for (long t = 0; t < threads; t++)
        if (started[t])
            pthread_join(ids[t], NULL);
}
