/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats: every value of the narrow ones by its definition, and rounding against a search of the two nearest.
 */
#include "sim/execute/numbers.h"
#include "sim_tests.h"

#include <math.h>
#include <stdlib.h>

/* Check writes a note at every assertion: too slow for millions. */
#define SAME(result, expected)                                                                                         \
    do {                                                                                                               \
        if ((result) != (expected))                                                                                    \
            ck_assert_uint_eq(result, expected);                                                                       \
    } while (0)

/* ---- by definition ----------------------------------------------------------------------------------------------- */

/* The value of finite bits without sign: fraction and exponent put together with ldexp. */
static double defined(const struct sim_format *format, uint64_t bits) {
    const int field = (int)(bits >> format->fraction_bits);
    const uint64_t fraction = bits & ((UINT64_C(1) << format->fraction_bits) - 1);
    const int bias = (1 << (format->exponent_bits - 1)) - 1;
    const double significand = ldexp((double)fraction, -format->fraction_bits) + (field ? 1 : 0);
    return ldexp(significand, (field ? field : 1) - bias);
}

/* Rounds by looking for the neighbours; what lies beyond the largest number is compared with the next one after it. */
static uint64_t searched(const struct sim_format *format, enum sim_rounding rounding, double value) {
    const bool negative = signbit(value);
    const double magnitude = fabs(value);
    uint64_t low = 0, high = format->largest + 1;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        *(defined(format, middle) <= magnitude ? &low : &high) = middle;
    }
    const double below = magnitude - defined(format, low), above = defined(format, low + 1) - magnitude;
    bool up = false;
    if (rounding == SIM_NEAREST_EVEN)
        up = above < below || (above == below && low % 2);
    else if (rounding == SIM_NEAREST_AWAY)
        up = above <= below;
    else if (rounding != SIM_TOWARDS_ZERO)
        up = below > 0 && (rounding == SIM_UP) == !negative;
    uint64_t bits = low + up;
    if (bits > format->largest)
        bits = format->infinity;
    else if (low == format->largest && !up && isinf(value))
        bits = format->infinity;
    return bits | (uint64_t)negative << (format->exponent_bits + format->fraction_bits);
}

/* ---- widening ---------------------------------------------------------------------------------------------------- */

static void check_widened(const struct sim_format *format, uint32_t bits, float value, bool infinite) {
    const uint32_t magnitude = bits & ((1u << (format->exponent_bits + format->fraction_bits)) - 1);
    const double sign = bits == magnitude ? 1 : -1;
    bool right = isnan(value);
    if (magnitude <= format->largest)
        right = value == sign * defined(format, magnitude) && !signbit(value) == (sign > 0);
    else if (infinite && magnitude == format->infinity)
        right = isinf(value) && (value > 0) == (sign > 0);
    if (!right)
        ck_abort_msg("0x%x is %a", bits, (double)value);
}

START_TEST(test_every_half) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const float value = sim_half_to_float((uint16_t)bits);
        check_widened(&sim_format_half, bits, value, true);
        if ((bits & 0x7fff) > 0x7c00) {
            SAME(sim_bits_of(value), 0x7fffffff);
            SAME(sim_float_to_half(value), 0x7fff);
        } else {
            SAME(sim_float_to_half(value), bits);
        }
    }
}
END_TEST

START_TEST(test_every_bfloat16) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const float value = sim_bfloat16_to_float((uint16_t)bits);
        check_widened(&sim_format_bfloat16, bits, value, true);
        SAME(sim_float_to_bfloat16(value), (bits & 0x7fff) > 0x7f80 ? 0x7fff : bits);
    }
}
END_TEST

START_TEST(test_every_byte) {
    for (uint32_t bits = 0; bits < 256; bits++) {
        check_widened(&sim_format_e4m3, bits, sim_e4m3_to_float((uint8_t)bits), false);
        check_widened(&sim_format_e5m2, bits, sim_e5m2_to_float((uint8_t)bits), true);
    }
    ck_assert(sim_e4m3_to_float(0x7e) == 448);
    ck_assert(sim_e5m2_to_float(0x7b) == 57344);
}
END_TEST

/* ---- rounding ---------------------------------------------------------------------------------------------------- */

/* Random bits, or close to a number of the format or to the middle between two: where mistakes are made. */
static double draw(const struct sim_format *format, uint32_t *state) {
    uint32_t random[3];
    for (int i = 0; i < 3; i++) {
        *state = *state * 1664525 + 1013904223;
        random[i] = *state >> 8;
    }
    const uint64_t at = (((uint64_t)random[0] << 20) ^ random[1]) % (format->largest + 1);
    double value = defined(format, at);
    if (random[2] & 1)
        value = (value + defined(format, at + 1)) / 2;
    const int nudge = (int)(random[2] >> 1 & 3);
    if (nudge & 1)
        value = (double)nextafterf((float)value, nudge & 2 ? INFINITY : 0);
    return random[2] & 8 ? -value : value;
}

static const struct sim_format *const formats[] = {&sim_format_half, &sim_format_bfloat16, &sim_format_e4m3,
                                                   &sim_format_e5m2};

START_TEST(test_rounding) {
    uint32_t state = 1;
    for (int i = 0; i < 40000; i++) {
        const double value = draw(formats[_i], &state);
        for (enum sim_rounding r = SIM_NEAREST_EVEN; r <= SIM_NEAREST_AWAY; r++)
            if (sim_round_double(formats[_i], r, false, value) != searched(formats[_i], r, value))
                ck_abort_msg("%a, rounding %d: 0x%llx, not 0x%llx", value, (int)r,
                             (unsigned long long)sim_round_double(formats[_i], r, false, value),
                             (unsigned long long)searched(formats[_i], r, value));
    }
}
END_TEST

/* The fast ones are the exact one, bit by bit; every 997th float. */
START_TEST(test_fast_rounding) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 4400000; i++, bits += 997) {
        const float value = sim_float_of(bits);
        SAME(sim_float_to_half(value), sim_round_double(&sim_format_half, SIM_NEAREST_EVEN, false, value));
        SAME(sim_float_to_bfloat16(value), sim_round_double(&sim_format_bfloat16, SIM_NEAREST_EVEN, false, value));
        SAME(sim_float_to_tf32(value), sim_round_double(&sim_format_tf32, SIM_NEAREST_AWAY, false, value));
    }
}
END_TEST

START_TEST(test_fast_edges) {
    uint32_t state = 7;
    for (int i = 0; i < 200000; i++) {
        const float half = (float)draw(&sim_format_half, &state), brain = (float)draw(&sim_format_bfloat16, &state);
        SAME(sim_float_to_half(half), searched(&sim_format_half, SIM_NEAREST_EVEN, half));
        SAME(sim_float_to_bfloat16(brain), searched(&sim_format_bfloat16, SIM_NEAREST_EVEN, brain));
    }
    ck_assert_uint_eq(sim_float_to_half(65519.996f), 0x7bff);
    ck_assert_uint_eq(sim_float_to_half(65520), 0x7c00);
    ck_assert_uint_eq(sim_float_to_half(-INFINITY), 0xfc00);
    ck_assert_uint_eq(sim_float_to_half(NAN), 0x7fff);
    ck_assert_uint_eq(sim_float_to_half(0x1p-25f), 0);
    ck_assert_uint_eq(sim_float_to_half(-0x1.000002p-25f), 0x8001);
    ck_assert_uint_eq(sim_float_to_tf32(sim_float_of(0x3f801000)), 0x3f802000);
    ck_assert_uint_eq(sim_float_to_tf32(sim_float_of(0xbf801000)), 0xbf802000);
    ck_assert_uint_eq(sim_float_to_tf32(sim_float_of(0x7f7fffff)), 0x7f800000);
}
END_TEST

/* The host's own conversions round to nearest even. */
START_TEST(test_against_host) {
    uint64_t bits = 0x123456789abcdef;
    for (int i = 0; i < 200000; i++) {
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2) /* where floats are */
            value = ldexp(frexp(value, &(int){0}), (int)(bits >> 20 & 511) - 270);
        if (isnan(value))
            continue;
        SAME(sim_round_double(&sim_format_float, SIM_NEAREST_EVEN, false, value), sim_bits_of((float)value));
        const bool negative = (int64_t)bits < 0;
        const uint64_t magnitude = negative ? 0 - bits : bits;
        SAME(sim_round(&sim_format_float, SIM_NEAREST_EVEN, false, negative, magnitude, 0),
             sim_bits_of((float)(int64_t)bits));
    }
}
END_TEST

START_TEST(test_finite) {
    ck_assert_uint_eq(sim_round_double(&sim_format_e4m3, SIM_NEAREST_EVEN, true, 1e9), 0x7e);
    ck_assert_uint_eq(sim_round_double(&sim_format_e4m3, SIM_NEAREST_EVEN, true, -INFINITY), 0xfe);
    ck_assert_uint_eq(sim_round_double(&sim_format_e5m2, SIM_NEAREST_EVEN, true, INFINITY), 0x7b);
    ck_assert_uint_eq(sim_round_double(&sim_format_e5m2, SIM_NEAREST_EVEN, true, NAN), 0x7f);
    ck_assert_uint_eq(sim_round_double(&sim_format_half, SIM_NEAREST_EVEN, true, 70000), 0x7bff);
}
END_TEST

Suite *numbers_suite(void) {
    Suite *suite = suite_create("sim numbers");
    TCase *tests = tcase_create("numbers");
    tcase_add_test(tests, test_every_half);
    tcase_add_test(tests, test_every_bfloat16);
    tcase_add_test(tests, test_every_byte);
    tcase_add_loop_test(tests, test_rounding, 0, sizeof formats / sizeof *formats);
    tcase_add_test(tests, test_fast_rounding);
    tcase_add_test(tests, test_fast_edges);
    tcase_add_test(tests, test_against_host);
    tcase_add_test(tests, test_finite);
    suite_add_tcase(suite, tests);
    return suite;
}
