/* SPDX-License-Identifier: Apache-2.0 */
/* The lane types of instructions.def (u8 s8 u16 s16 u32 s32 u64 s64 f32 f64, and z32: f32 with denormals flushed), how
 * a row of lanes is read and written as one of them, and the arithmetic that C has no operator for. */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sim/execute/numbers.h"
#include "sim/machine/machine.h"

/* ---- bits and values --------------------------------------------------------------------------------------------- */

/* A result: NaN becomes the one that the hardware gives. */
static inline uint32_t sim_bits_f32(float value) {
    return value != value ? 0x7fffffff : sim_bits_of(value);
}
static inline uint32_t sim_flushed(uint32_t bits) {
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}
static inline double sim_as_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t sim_bits_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Per type: the element of its rows, its C type, reading and writing an element. Registers of 16 bits, and 8-bit values
 * in them, keep the high half of their element zero. */
#define SIM_ELEMENT_u8  uint32_t
#define SIM_ELEMENT_s8  uint32_t
#define SIM_ELEMENT_u16 uint32_t
#define SIM_ELEMENT_s16 uint32_t
#define SIM_ELEMENT_u32 uint32_t
#define SIM_ELEMENT_s32 uint32_t
#define SIM_ELEMENT_u64 uint64_t
#define SIM_ELEMENT_s64 uint64_t
#define SIM_ELEMENT_f32 uint32_t
#define SIM_ELEMENT_z32 uint32_t
#define SIM_ELEMENT_f64 uint64_t

#define SIM_TYPE_u8  uint8_t
#define SIM_TYPE_s8  int8_t
#define SIM_TYPE_u16 uint16_t
#define SIM_TYPE_s16 int16_t
#define SIM_TYPE_u32 uint32_t
#define SIM_TYPE_s32 int32_t
#define SIM_TYPE_u64 uint64_t
#define SIM_TYPE_s64 int64_t
#define SIM_TYPE_f32 float
#define SIM_TYPE_z32 float
#define SIM_TYPE_f64 double

#define SIM_GET_u8(element)  ((uint8_t)(element))
#define SIM_GET_s8(element)  ((int8_t)(element))
#define SIM_GET_u16(element) ((uint16_t)(element))
#define SIM_GET_s16(element) ((int16_t)(element))
#define SIM_GET_u32(element) (element)
#define SIM_GET_s32(element) ((int32_t)(element))
#define SIM_GET_u64(element) (element)
#define SIM_GET_s64(element) ((int64_t)(element))
#define SIM_GET_f32(element) sim_float_of(element)
#define SIM_GET_z32(element) sim_float_of(sim_flushed(element))
#define SIM_GET_f64(element) sim_as_f64(element)

#define SIM_PUT_u8(value)  ((uint8_t)(value))
#define SIM_PUT_s8(value)  ((uint16_t)(int8_t)(value))
#define SIM_PUT_u16(value) ((uint16_t)(value))
#define SIM_PUT_s16(value) ((uint16_t)(value))
#define SIM_PUT_u32(value) ((uint32_t)(value))
#define SIM_PUT_s32(value) ((uint32_t)(value))
#define SIM_PUT_u64(value) ((uint64_t)(value))
#define SIM_PUT_s64(value) ((uint64_t)(value))
#define SIM_PUT_f32(value) sim_bits_f32((float)(value))
#define SIM_PUT_z32(value) sim_flushed(sim_bits_f32((float)(value)))
#define SIM_PUT_f64(value) sim_bits_f64(value)

/* ---- loops over lanes -------------------------------------------------------------------------------------------- */

/* A row is either the same as another or apart from it, so lanes may be computed in any order, many at a time. */
#if defined __clang__
#define SIM_EACH_LANE for (int lane = 0; lane < PTX_LANES; lane++)
#else
#define SIM_EACH_LANE _Pragma("GCC ivdep") for (int lane = 0; lane < PTX_LANES; lane++)
#endif

/* Loops are compiled twice on x86-64: for any such processor, and for those with AVX2 and FMA (a fused multiply-add
 * without the instruction is a call of the C library a lane). */
#if defined __x86_64__
#define SIM_WIDE __attribute__((target("avx2,fma,bmi2,lzcnt,popcnt")))
extern bool sim_wide; /* this processor has them: sim_lanes_begin() */
#else
#define SIM_WIDE
enum { sim_wide = 0 };
#endif
#define SIM_INSIDE static inline __attribute__((always_inline))
void sim_lanes_begin(void);

#define SIM_ALL_LANES UINT32_MAX

/* Lanes of `mask` of a row become those of `from`. */
void sim_blend_32(uint32_t *row, const uint32_t *from, uint32_t mask);
void sim_blend_64(uint64_t *row, const uint64_t *from, uint32_t mask);

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

static inline int64_t sim_clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}
static inline int32_t sim_saturate_s32(int64_t value) {
    return (int32_t)sim_clamp(value, INT32_MIN, INT32_MAX);
}
static inline int32_t sim_s24(uint32_t value) {
    return (int32_t)(value << 8) >> 8;
}

/* shf: 64 bits b:a shifted by 0..32, the high half of the left shift, the low half of the right one. */
static inline uint32_t sim_funnel_left(uint32_t a, uint32_t b, uint32_t by) {
    return (uint32_t)((((uint64_t)b << 32 | a) << by) >> 32);
}
static inline uint32_t sim_funnel_right(uint32_t a, uint32_t b, uint32_t by) {
    return (uint32_t)(((uint64_t)b << 32 | a) >> by);
}

/* prmt: each nibble of `select` takes a byte of b:a, or with its top bit that byte's sign. */
static inline uint32_t sim_permute(uint32_t a, uint32_t b, uint32_t select) {
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t nibble = select >> 4 * i, byte = (uint8_t)(bytes >> 8 * (nibble & 7));
        result |= (nibble & 8 ? byte & 0x80 ? 0xff : 0 : byte) << 8 * i;
    }
    return result;
}
/* The selectors of .ecl and .ecr: bytes 0..3 of a, clamped to at least, at most the `edge`. */
static inline uint32_t sim_edge_clamp_left(uint32_t edge) {
    return edge == 0 ? 0x3210 : edge == 1 ? 0x3211 : edge == 2 ? 0x3222 : 0x3333;
}
static inline uint32_t sim_edge_clamp_right(uint32_t edge) {
    return edge == 0 ? 0 : edge == 1 ? 0x1110 : edge == 2 ? 0x2210 : 0x3210;
}

/* bfe: position and length are their low 8 bits; what lies beyond the register is 0, or the sign. */
static inline uint64_t sim_extract(uint64_t a, uint32_t position, uint32_t length) {
    position &= 0xff, length &= 0xff;
    const uint64_t low = position < 64 ? a >> position : 0;
    return length < 64 ? low & ((UINT64_C(1) << length) - 1) : low;
}
static inline int64_t sim_extract_signed(int64_t a, uint32_t position, uint32_t length, uint32_t bits) {
    position &= 0xff, length &= 0xff;
    if (length == 0)
        return 0;
    const int64_t low = a >> (position < bits ? position : bits - 1);
    return length < bits ? (int64_t)((uint64_t)low << (64 - length)) >> (64 - length) : low;
}
/* bfi: the low `length` bits of a in place of those of b from `position` on. */
static inline uint64_t sim_insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length) {
    position &= 0xff, length &= 0xff;
    if (position > 63)
        return b;
    const uint64_t field = (length < 64 ? (UINT64_C(1) << length) - 1 : UINT64_MAX) << position;
    return (b & ~field) | (a << position & field);
}

static inline uint32_t sim_reverse(uint32_t a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}
/* bfind: the highest 1, or all ones when there is none. */
static inline uint32_t sim_find(uint64_t a) {
    return a ? 63 - (uint32_t)__builtin_clzll(a) : UINT32_MAX;
}
static inline uint32_t sim_dot4(uint32_t a, uint32_t b, bool a_signed, bool b_signed) {
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8) {
        const uint8_t x = (uint8_t)(a >> i), y = (uint8_t)(b >> i);
        sum += (a_signed ? (int8_t)x : x) * (b_signed ? (int8_t)y : y);
    }
    return (uint32_t)sum;
}

/* A NaN gives way to the other operand; -0 is less than +0. */
static inline float sim_min_f32(float a, float b) {
    const float equal = sim_float_of(sim_bits_f32(a) | sim_bits_f32(b));
    return a != a ? b : b != b ? a : a < b ? a : a > b ? b : equal;
}
static inline float sim_max_f32(float a, float b) {
    const float equal = sim_float_of(sim_bits_f32(a) & sim_bits_f32(b));
    return a != a ? b : b != b ? a : a > b ? a : a < b ? b : equal;
}
static inline double sim_min_f64(double a, double b) {
    return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static inline double sim_max_f64(double a, double b) {
    return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b;
}
/* The next float above, or below. */
static inline float sim_next_f32(float a, bool up) {
    if (a == 0)
        return up ? 0x1p-149f : -0x1p-149f;
    return sim_float_of(sim_bits_f32(a) + ((a > 0) == up ? 1 : UINT32_MAX));
}
/* a * b + c, rounded once: down, up, or towards zero as `direction` is -1, 1 or 0. The nearest float is one step away where
 * it lies on the wrong side of the exact sum, which two doubles hold: the product of two floats is exact in one. */
static inline float sim_fma_towards(float a, float b, float c, int direction) {
    const double product = (double)a * (double)b, sum = product + (double)c, part = sum - product;
    const double lost = (product - (sum - part)) + ((double)c - part);
    const float nearest = fmaf(a, b, c);
    const double over = ((double)nearest - sum) - lost;
    if (nearest != nearest || fabsf(a) == INFINITY || fabsf(b) == INFINITY || fabsf(c) == INFINITY)
        return nearest;
    if (direction < 0 && nearest == 0 && over == 0 && (signbit(product) || signbit(c)))
        return -0.0f;
    const bool too_large = over > 0 && (direction < 0 || (direction == 0 && nearest > 0));
    const bool too_small = over < 0 && (direction > 0 || (direction == 0 && nearest < 0));
    return too_large || too_small ? sim_next_f32(nearest, too_small) : nearest;
}
static inline float sim_saturate_f32(float value) {
    return value > 1 ? 1 : value > 0 ? value : 0; /* NaN becomes 0 */
}
/* Divisors above 2^126 have a reciprocal that is flushed: 0, or NaN under an infinity. */
static inline float sim_divide_approx(float a, float b) {
    const float huge = 0x1p126f;
    return fabsf(b) > huge && fabsf(b) < INFINITY ? a * copysignf(0, b) : a / b;
}

#endif
