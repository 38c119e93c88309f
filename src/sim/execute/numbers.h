/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats of the GPU: conversions with the hardware's rounding and NaN results. */
#ifndef SIM_NUMBERS_H
#define SIM_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

float sim_half_to_float(uint16_t bits);
float sim_bfloat16_to_float(uint16_t bits);
float sim_e4m3_to_float(uint8_t bits);
float sim_e5m2_to_float(uint8_t bits);
uint16_t sim_float_to_half(float value);     /* nearest even; NaN -> 0x7fff */
uint16_t sim_float_to_bfloat16(float value); /* nearest even; NaN -> 0x7fff */
uint32_t sim_float_to_tf32(float value);     /* cvt.rna: to nearest, ties away; as fp32 bits */

/* ---- any format, any rounding ------------------------------------------------------------------------------------ */

enum sim_rounding { SIM_NEAREST_EVEN, SIM_TOWARDS_ZERO, SIM_DOWN, SIM_UP, SIM_NEAREST_AWAY };

/* Sign, exponent and fraction from the top bit down. */
struct sim_format {
    int exponent_bits, fraction_bits;
    uint64_t largest;  /* finite, its bits */
    uint64_t infinity; /* what lies beyond it: the NaN of a format without infinities */
    uint64_t nan;
    int unused_bits; /* below the fraction: tf32 has 13 */
};
extern const struct sim_format sim_format_half, sim_format_bfloat16, sim_format_tf32, sim_format_e4m3, sim_format_e5m2,
    sim_format_float, sim_format_double;

/* The bits of +-significand * 2^exponent, rounded once. `finite`: what is too large becomes the largest number. */
uint64_t sim_round(const struct sim_format *format, enum sim_rounding rounding, bool finite, bool negative,
                   uint64_t significand, int exponent);
/* The bits of a double, infinities and NaN included. */
uint64_t sim_round_double(const struct sim_format *format, enum sim_rounding rounding, bool finite, double value);

/* ---- without a branch, bits to bits: for loops that the compiler makes vectors of -------------------------------- */

static inline float sim_float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t sim_bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exponent and fraction move to their place in the float. A subnormal half gets one exponent too many and its leading 1
 * taken off again by the subtraction, which also puts what remains in order. */
static inline uint32_t sim_half_to_float_bits(uint32_t half) {
    const uint32_t magnitude = half & 0x7fff, moved = (magnitude << 13) + (112u << 23);
    const uint32_t subnormal = sim_bits_of(sim_float_of(moved + (1u << 23)) - sim_float_of(113u << 23));
    const uint32_t large = magnitude > 0x7c00 ? 0x7fffffff : 0x7f800000;
    const uint32_t result = magnitude < 0x0400 ? subnormal : magnitude < 0x7c00 ? moved : large;
    return magnitude > 0x7c00 ? result : result | (half & 0x8000) << 16;
}

/* Adding 0.5 to a float below 2^-14 leaves it rounded to a multiple of 2^-24, counted in the lowest bits. */
static inline uint32_t sim_float_to_half_bits(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    const uint32_t subnormal = sim_bits_of(sim_float_of(magnitude) + 0.5f) - 0x3f000000;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
    const uint32_t result = (magnitude < 0x47800000 ? finite : 0x7c00) | sign;
    return magnitude > 0x7f800000 ? 0x7fff : result;
}

static inline uint32_t sim_float_to_bfloat16_bits(uint32_t bits) {
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded;
}

static inline uint32_t sim_float_to_tf32_bits(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t rounded = magnitude < 0x7f800000 ? (bits + 0x1000) & ~0x1fffu : bits;
    return magnitude > 0x7f800000 ? 0x7fffffff : rounded;
}

/* TMA's rounding, to nearest, ties to even, and its one NaN: as an H200 does it. */
static inline uint32_t sim_tma_tf32_bits(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t rounded = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    return magnitude > 0x7f800000 ? 0x7fffe000 : magnitude == 0x7f800000 ? bits : rounded;
}

/* As a half e4m3 has an exponent bit more to its left, hence 2^8 too little. */
static inline uint32_t sim_e4m3_to_float_bits(uint32_t byte) {
    const uint32_t magnitude = byte & 0x7f;
    const uint32_t value = sim_bits_of(sim_float_of(sim_half_to_float_bits(magnitude << 7)) * 256);
    return magnitude == 0x7f ? 0x7fffffff : value | (byte & 0x80) << 24;
}

static inline uint32_t sim_e5m2_to_float_bits(uint32_t byte) {
    return sim_half_to_float_bits((byte & 0xff) << 8);
}

/* cvt.rzi: out of range becomes the nearest end, NaN 0. */
static inline int32_t sim_float_to_s32(float value) {
    return value != value ? 0 : value >= 0x1p31f ? INT32_MAX : value <= -0x1p31f ? INT32_MIN : (int32_t)value;
}
static inline uint32_t sim_float_to_u32(float value) {
    return value >= 0x1p32f ? UINT32_MAX : value > 0 ? (uint32_t)value : 0;
}

/* .ftz of one half, of a pair. */
static inline uint32_t sim_half_flushed(uint32_t half) {
    return half & 0x7c00 ? half : half & 0x8000;
}
static inline uint32_t sim_halves_flushed(uint32_t pair) {
    return sim_half_flushed(pair & 0xffff) | sim_half_flushed(pair >> 16) << 16;
}

#endif
