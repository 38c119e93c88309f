/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of common/quotient.cuh on the host: quotients that become 8 bits, in two steps, are on the same side of every
 * number in the middle of two of 8 bits as x / s rounded to fp32 is, unless the divisor is one that takes the long way. */
#include "unit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { BIT = 1 << 23, BESIDE = (1 << 17) - 1 };

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float short_quotient(float x, float s) {
    float r = 1 / s, missing = fmaf(-s, r, 1);
    const float rounded = r;
    if (missing < 0) {
        r = from_bits(bits_of(r) - 1);
        missing = fmaf(-s, r, 1);
    }
    return fmaf(x, r, x * (missing * rounded));
}

static int takes_the_long_way(uint32_t s) {
    return (s & BESIDE) != 0 && ((s + 16) & BESIDE) <= 32;
}

static int side(float q, float of) {
    return (q > of) - (q < of);
}

/* Of divisor s, of 24 bits: x beside each product of s and the middle of T = t 2^a and a neighbour of it in fp32. */
static int wrong_ones(uint32_t s) {
    const float divisor = from_bits(s - BIT + 0x3f800000);
    int wrong = 0;
    for (uint32_t t = 1; t < 256; t += 2) {
        const int bits = 32 - __builtin_clz(t);
        for (int neighbour = -1; neighbour <= 1; neighbour += 2) {
            const uint64_t product = (((uint64_t)t << (25 - bits)) + (uint64_t)neighbour) * s;
            const int shift = 64 - __builtin_clzll(product) - 24;
            for (uint64_t x = product >> shift; x <= (product >> shift) + 1; x++) {
                const float number = ldexpf((float)x, shift - 47), middle = ldexpf((float)t, 1 - bits);
                wrong += side(short_quotient(number, divisor), middle) != side(number / divisor, middle);
            }
        }
    }
    return wrong;
}

START_TEST(two_steps_are_enough_for_8_bits) {
    for (uint32_t multiple = BIT; multiple < 2 * BIT; multiple += BESIDE + 1)
        for (uint32_t beside = 0; beside < 100; beside++) {
            const uint32_t divisors[] = {multiple + beside, multiple + BESIDE - beside, multiple + beside * 1301};
            for (int i = 0; i < 3; i++)
                ck_assert(takes_the_long_way(divisors[i]) || wrong_ones(divisors[i]) == 0);
        }
}
END_TEST

Suite *quotient_suite(void) {
    Suite *suite = suite_create("quotient");
    TCase *steps = tcase_create("steps");
    tcase_set_tags(steps, "long"); /* minutes under valgrind */
    tcase_add_test(steps, two_steps_are_enough_for_8_bits);
    suite_add_tcase(suite, steps);
    return suite;
}
