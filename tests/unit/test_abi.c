/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of the driver's ABI agree with a toolkit's cuda.h. */
#include "abi.h"
#include "unit.h"

#include <stdio.h>

START_TEST(cuda_abi_h_agrees_with_the_toolkits_cuda_h) {
    if (cuda_fact_count == 0) {
        fprintf(stderr, "skipped: no cuda.h was found when this was built\n");
        return;
    }
    ck_assert_uint_eq(cuda_fact_count, our_fact_count);
    for (size_t i = 0; i < our_fact_count; i++)
        ck_assert_msg(our_facts[i].value == cuda_facts[i].value, "%s: %lld here, %lld in cuda.h", our_facts[i].what,
                      our_facts[i].value, cuda_facts[i].value);
}
END_TEST

Suite *abi_suite(void) {
    Suite *suite = suite_create("abi");
    TCase *cases = tcase_create("cuda.h");
    tcase_add_test(cases, cuda_abi_h_agrees_with_the_toolkits_cuda_h);
    suite_add_tcase(suite, cases);
    return suite;
}
