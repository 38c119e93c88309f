/* SPDX-License-Identifier: Apache-2.0 */
/* The harness's own conversions of 8-bit floats, which references round with: every number, and every middle. */
#include <math.h>

#include "gpu_tests.h"

/* Every pattern that is a number is what its value is rounded to, and the middle of two neighbours is the even one. */
static void check_type(struct result *result, enum gm_type type, uint32_t most) {
    for (uint32_t bits = 0; bits <= most; bits++) {
        const double value = bits_to_double(type, bits), next = bits_to_double(type, bits + 1);
        const uint32_t even = bits + (bits & 1);
        if (double_to_bits(type, value) != bits || double_to_bits(type, -value) != (bits | 0x80))
            fail(result, "%s 0x%02x is %g, rounded to 0x%02x", gm_type_name(type), bits, value,
                 double_to_bits(type, value));
        if (bits < most && double_to_bits(type, (value + next) / 2) != even)
            fail(result, "%s: the middle of %g and %g is 0x%02x, not 0x%02x", gm_type_name(type), value, next,
                 double_to_bits(type, (value + next) / 2), even);
        if (bits < most && fabs(next - value) > 2 * half_ulp(type, next))
            fail(result, "%s: half_ulp of %g is %g", gm_type_name(type), next, half_ulp(type, next));
    }
    result->cases++;
}

static void run_numbers(const struct test *test, struct result *result) {
    (void)test;
    check_type(result, GM_E4M3, 0x7e);
    check_type(result, GM_E5M2, 0x7b);
    if (double_to_bits(GM_E4M3, 464) != 0x7e || double_to_bits(GM_E4M3, 464.5) != 0x7f ||
        double_to_bits(GM_E5M2, 61439) != 0x7b || double_to_bits(GM_E5M2, -61440) != 0xfc ||
        bits_to_double(GM_INT8, 0x80) != -128 || double_to_bits(GM_INT8, -2.5) != 0xfe)
        fail(result, "an end of a range is wrong");
}

void add_number_tests(void) {
    add_test("api", "numbers_of_8_bits", run_numbers, -1, 0);
}
