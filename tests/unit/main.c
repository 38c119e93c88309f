/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every unit suite; needs no GPU and no driver. */
#include "host/family.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

struct gm_gemm_problem problem_of(int64_t m, int64_t n, int64_t k) {
    return (struct gm_gemm_problem){.size = sizeof(struct gm_gemm_problem), .m = m, .n = n, .k = k};
}

struct gm_device device_of(const char *model) {
    struct gm_device device = {.size = sizeof device};
    ck_assert_int_eq(gm_device_model(model, &device), GM_OK);
    return device;
}

size_t gemm_count(void) {
    size_t count = 0;
    while (count < gm_kernel_count() && gm_kernels[count].family->operation == &gm_operation_gemm)
        count++;
    return count;
}

int main(void) {
    if (GM_LEFT_OUT && !getenv("CK_RUN_SUITE") &&
        !getenv("CK_RUN_CASE")) { /* choices and sentences are of the whole table */
        printf(
            "unit_tests want every kernel in the table; this build leaves out %d (CK_RUN_SUITE=NAME runs one suite)\n",
            GM_LEFT_OUT);
        return 77;
    }
    setenv("CK_DEFAULT_TIMEOUT", "120", 0); /* of Check's 4 s a busy machine makes failures */
    Suite *(*const suites[])(void) = {
#define SUITE(name) name##_suite,
#include "unit_suites.def"
#undef SUITE
    };
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
