/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every suite of the decoder's parts; needs no GPU and no driver. */
#include <check.h>
#include <stdlib.h>

Suite *config_suite(void);
Suite *model_suite(void);
Suite *safetensors_suite(void);
Suite *tokenizer_suite(void);
Suite *rope_table_suite(void);

int main(void) {
    setenv("CK_DEFAULT_TIMEOUT", "120", 0); /* of Check's 4 s a busy machine makes failures */
    SRunner *runner = srunner_create(config_suite());
    srunner_add_suite(runner, model_suite());
    srunner_add_suite(runner, safetensors_suite());
    srunner_add_suite(runner, tokenizer_suite());
    srunner_add_suite(runner, rope_table_suite());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
