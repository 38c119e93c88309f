/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every suite of the operations on tensors, on the simulated GPU. */
#include <check.h>
#include <stdlib.h>

Suite *tensor_suite(void);
Suite *torch_suite(void);

int main(void) {
    setenv("CK_DEFAULT_TIMEOUT", "120", 0); /* of Check's 4 s a busy machine makes failures */
    SRunner *runner = srunner_create(tensor_suite());
    srunner_add_suite(runner, torch_suite());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
