/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every suite of the simulator; needs no GPU and no driver. */
#include "sim_tests.h"

#include <stdlib.h>

int main(void) {
    setenv("CK_DEFAULT_TIMEOUT", "120", 0); /* of Check's 4 s a busy machine makes failures */
#define NAME(name) name##_suite,
    Suite *(*const suites[])(void) = {SIM_SUITES(NAME)};
#undef NAME
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
