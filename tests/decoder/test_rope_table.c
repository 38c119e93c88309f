/* SPDX-License-Identifier: Apache-2.0 */
/* Angles, against the models' formulas. */
#include "rope_table.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static double angle(const struct rope_scaling *scaling, int64_t head_dim, int64_t position, int64_t pair) {
    float *table = rope_table(scaling, head_dim, position + 1);
    const float *row = table + position * head_dim;
    const double found = atan2((double)row[pair + head_dim / 2], (double)row[pair]);
    free(table);
    return found;
}

START_TEST(plain_angles_are_powers_of_theta) {
    const struct rope_scaling plain = {.kind = ROPE_PLAIN, .theta = 10000};
    ck_assert_double_eq_tol(angle(&plain, 128, 1, 0), 1, 1e-7);
    ck_assert_double_eq_tol(angle(&plain, 128, 1, 32), 0.01, 1e-8);
    ck_assert_double_eq_tol(angle(&plain, 64, 2, 16), 0.02, 1e-8);
    const struct rope_scaling linear = {.kind = ROPE_LINEAR, .theta = 10000, .factor = 4};
    ck_assert_double_eq_tol(angle(&linear, 128, 1, 0), 0.25, 1e-7);
}
END_TEST

/* Far positions keep the precision of double: an angle in fp32 would be off by 0.004 there. */
START_TEST(far_positions_are_exact) {
    const struct rope_scaling plain = {.kind = ROPE_PLAIN, .theta = 500000};
    float *table = rope_table(&plain, 128, 131072);
    const double want = 131071 * pow(500000, -2.0 * 3 / 128);
    ck_assert_double_eq_tol(table[131071 * 128 + 3], cos(want), 1e-7);
    ck_assert_double_eq_tol(table[131071 * 128 + 64 + 3], sin(want), 1e-7);
    free(table);
}
END_TEST

/* Llama-3.1: factor 8, 1 and 4, of 8192. Waves shorter than 2048 stay, those longer than 8192 are 8 times as long. */
START_TEST(llama3_slows_long_waves) {
    const struct rope_scaling s = {.kind = ROPE_LLAMA3,
                                   .theta = 500000,
                                   .factor = 8,
                                   .low_freq_factor = 1,
                                   .high_freq_factor = 4,
                                   .original_max_position = 8192};
    const double pair = log(500000) * 2 / 128;
    ck_assert_double_eq_tol(angle(&s, 128, 1, 10), exp(-10 * pair), 1e-7);
    ck_assert_double_eq_tol(angle(&s, 128, 1, 60), exp(-60 * pair) / 8, 1e-9);
    const double between = exp(-30 * pair), turns = 8192 * between / (2 * acos(-1)), share = (turns - 1) / 3;
    ck_assert(turns > 1 && turns < 4);
    ck_assert_double_eq_tol(angle(&s, 128, 1, 30), (1 - share) * between / 8 + share * between, 1e-8);
}
END_TEST

START_TEST(yarn_has_a_ramp_and_a_size) {
    const struct rope_scaling s = {.kind = ROPE_YARN,
                                   .theta = 10000,
                                   .factor = 4,
                                   .beta_fast = 32,
                                   .beta_slow = 1,
                                   .attention_factor = 1.25,
                                   .original_max_position = 4096,
                                   .truncate = 1};
    float *table = rope_table(&s, 128, 2);
    ck_assert_double_eq_tol(table[0], 1.25, 1e-6);
    ck_assert_double_eq_tol(hypot((double)table[128 + 5], (double)table[128 + 64 + 5]), 1.25, 1e-6);
    free(table);
    ck_assert_double_eq_tol(angle(&s, 128, 1, 0), 1, 1e-7); /* before the ramp, which is 20 to 46 */
    ck_assert_double_eq_tol(angle(&s, 128, 1, 60), pow(10000, -120.0 / 128) / 4, 1e-9); /* behind it */
    const double plain = pow(10000, -60.0 / 128), ramp = (30.0 - 20) / (46 - 20);
    ck_assert_double_eq_tol(angle(&s, 128, 1, 30), plain / 4 * ramp + plain * (1 - ramp), 1e-8);
}
END_TEST

Suite *rope_table_suite(void);
Suite *rope_table_suite(void) {
    Suite *suite = suite_create("rope_table");
    TCase *all = tcase_create("all");
    tcase_add_test(all, plain_angles_are_powers_of_theta);
    tcase_add_test(all, far_positions_are_exact);
    tcase_add_test(all, llama3_slows_long_waves);
    tcase_add_test(all, yarn_has_a_ramp_and_a_size);
    suite_add_tcase(suite, all);
    return suite;
}
