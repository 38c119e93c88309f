/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats: one exact rounding for all of them. The fast conversions of the common pairs are in the header. */
#include "sim/execute/numbers.h"

#include <math.h>

const struct sim_format sim_format_half = {5, 10, 0x7bff, 0x7c00, 0x7fff, 0};
const struct sim_format sim_format_bfloat16 = {8, 7, 0x7f7f, 0x7f80, 0x7fff, 0};
const struct sim_format sim_format_tf32 = {8, 10, 0x3fbff, 0x3fc00, 0x3ffff, 13};
const struct sim_format sim_format_e4m3 = {4, 3, 0x7e, 0x7f, 0x7f, 0};
const struct sim_format sim_format_e5m2 = {5, 2, 0x7b, 0x7c, 0x7f, 0};
const struct sim_format sim_format_float = {8, 23, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0};
const struct sim_format sim_format_double = {
    11, 52, UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000), UINT64_C(0x7fffffffffffffff), 0};

float sim_half_to_float(uint16_t bits) {
    return sim_float_of(sim_half_to_float_bits(bits));
}

float sim_bfloat16_to_float(uint16_t bits) {
    return sim_float_of((uint32_t)bits << 16);
}

float sim_e4m3_to_float(uint8_t bits) {
    return sim_float_of(sim_e4m3_to_float_bits(bits));
}

float sim_e5m2_to_float(uint8_t bits) {
    return sim_float_of(sim_e5m2_to_float_bits(bits));
}

uint16_t sim_float_to_half(float value) {
    return (uint16_t)sim_float_to_half_bits(sim_bits_of(value));
}

uint16_t sim_float_to_bfloat16(float value) {
    return (uint16_t)sim_float_to_bfloat16_bits(sim_bits_of(value));
}

uint32_t sim_float_to_tf32(float value) {
    return sim_float_to_tf32_bits(sim_bits_of(value));
}

/* ---- any format, any rounding ------------------------------------------------------------------------------------ */

/* Whether the magnitude goes up: `rest` of 2^shift was cut off a number whose last bit that stays is `odd`. */
static bool rounds_up(enum sim_rounding rounding, bool negative, bool odd, uint64_t rest, int shift) {
    if (rest == 0)
        return false;
    const uint64_t half = shift <= 64 ? UINT64_C(1) << (shift - 1) : UINT64_MAX; /* beyond 64 nothing comes near half */
    switch (rounding) {
    case SIM_NEAREST_EVEN:
        return rest > half || (rest == half && odd && shift <= 64);
    case SIM_NEAREST_AWAY:
        return rest >= half && shift <= 64;
    case SIM_DOWN:
        return negative;
    case SIM_UP:
        return !negative;
    default:
        return false;
    }
}

static uint64_t sign_of(const struct sim_format *format, bool negative) {
    return (uint64_t)negative << (format->exponent_bits + format->fraction_bits);
}

static uint64_t too_large(const struct sim_format *format, enum sim_rounding rounding, bool finite, bool negative) {
    const bool inwards = rounding == SIM_TOWARDS_ZERO || rounding == (negative ? SIM_UP : SIM_DOWN);
    return finite || inwards ? format->largest : format->infinity;
}

/*  Bits of the magnitude: (exponent field - 1) << fraction_bits, plus a significand that has its leading 1, which makes
 *  the field right; a subnormal one lacks it, and a carry of the rounding raises the field: both by themselves. */
uint64_t sim_round(const struct sim_format *format, enum sim_rounding rounding, bool finite, bool negative,
                   uint64_t significand, int exponent) {
    const uint64_t sign = sign_of(format, negative);
    if (significand == 0)
        return sign << format->unused_bits;
    const int smallest = 2 - (1 << (format->exponent_bits - 1)); /* exponent of the smallest normal number */
    const int own = 63 - __builtin_clzll(significand) + exponent;
    const int scale = own > smallest ? own : smallest;
    const int shift = scale - format->fraction_bits - exponent; /* bits to cut off */
    uint64_t kept, rest;
    if (shift <= 0) {
        kept = significand << -shift;
        rest = 0;
    } else {
        kept = shift < 64 ? significand >> shift : 0;
        rest = shift < 64 ? significand & ((UINT64_C(1) << shift) - 1) : significand;
    }
    if (rounds_up(rounding, negative, kept & 1, rest, shift))
        kept++;
    uint64_t bits = ((uint64_t)(scale - smallest) << format->fraction_bits) + kept;
    if (bits > format->largest)
        bits = too_large(format, rounding, finite, negative);
    return (bits | sign) << format->unused_bits;
}

uint64_t sim_round_double(const struct sim_format *format, enum sim_rounding rounding, bool finite, double value) {
    if (value != value)
        return format->unused_bits ? sim_format_float.nan : format->nan;
    const bool negative = signbit(value);
    if (value - value != 0) {
        const uint64_t bits = finite ? format->largest : format->infinity;
        return (bits | sign_of(format, negative)) << format->unused_bits;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    return sim_round(format, rounding, finite, negative, field ? fraction | UINT64_C(1) << 52 : fraction,
                     (field ? field : 1) - 1075);
}
