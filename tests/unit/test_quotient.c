/* SPDX-License-Identifier: Apache-2.0 */
/* One correction of a quotient (src/common/quotient.cuh) is enough where a number of 11 bits is divided, and the quotient
 * becomes 8 bits.
 *
 * Both quotients are rounded to the same 8 bits unless a boundary lies between them, or is one of them: a number of 9 bits at
 * most, halfway between two of 8 bits. The quotient in full would then lie within half a unit in the last place of the
 * boundary, so the divisor is one of those tried here. Powers of 2 change nothing. */
#include <check.h>
#include <math.h>

enum { MOST_UNITS = 3 }; /* from a boundary, in the last place of a divisor */

static float corrected_once(float x, float s) {
    const float reciprocal = 1 / s, q = x * reciprocal;
    return fmaf(fmaf(q, s, -x), -reciprocal, q);
}

static int side_of(float q, float boundary) {
    return (q > boundary) - (q < boundary);
}

/* Divisors by which x becomes the boundary, or nearly so; returns how many corrections end on another side of it. */
static int wrong_sides(float x, float boundary) {
    int wrong = 0;
    float s = x / boundary;
    for (int i = 0; i < MOST_UNITS; i++)
        s = nextafterf(s, 0);
    for (int i = -MOST_UNITS; i <= MOST_UNITS; i++, s = nextafterf(s, INFINITY))
        wrong += side_of(corrected_once(x, s), boundary) != side_of(x / s, boundary);
    return wrong;
}

START_TEST(one_correction_rounds_short_numbers_to_8_bits) {
    for (int x = 1 << 10; x < 1 << 11; x++)
        for (int boundary = 1 << 8; boundary < 1 << 9; boundary++)
            ck_assert_int_eq(wrong_sides((float)x, (float)boundary), 0);
}
END_TEST

Suite *quotient_suite(void) {
    Suite *suite = suite_create("quotient");
    TCase *tcase = tcase_create("corrections");
    tcase_add_test(tcase, one_correction_rounds_short_numbers_to_8_bits);
    suite_add_tcase(suite, tcase);
    return suite;
}
