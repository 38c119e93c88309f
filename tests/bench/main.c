/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests of the program's parts. */
#include "bench_tests.h"

#include <stdio.h>
#include <stdlib.h>

char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)length + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)length, file), (size_t)length);
    fclose(file);
    return text;
}

int main(void) {
    if (GM_LEFT_OUT && !getenv("CK_RUN_SUITE") && !getenv("CK_RUN_CASE")) {
        printf(
            "bench_tests want every kernel in the table; this build leaves out %d (CK_RUN_SUITE=NAME runs one suite)\n",
            GM_LEFT_OUT);
        return 77;
    }
    setenv("LC_ALL", "C.UTF-8", 1);         /* whatever the tester's: the marks that are looked for are not ASCII */
    setenv("CK_DEFAULT_TIMEOUT", "120", 0); /* of Check's 4 s a busy machine makes failures */
    Suite *suite = suite_create("bench");
    suite_add_tcase(suite, parts_tests());
    suite_add_tcase(suite, batch_tests());
    suite_add_tcase(suite, report_tests());
    suite_add_tcase(suite, run_tests());
    suite_add_tcase(suite, resume_tests());
    suite_add_tcase(suite, energy_tests());
    suite_add_tcase(suite, compare_tests());
    suite_add_tcase(suite, report_page_tests());
    suite_add_tcase(suite, chain_tests());
    suite_add_tcase(suite, tune_tests());
    suite_add_tcase(suite, tune_files_tests());
    suite_add_tcase(suite, tune_import_tests());
    suite_add_tcase(suite, tune_import_refused_tests());
    suite_add_tcase(suite, shared_file_tests());
    suite_add_tcase(suite, expression_tests());
    suite_add_tcase(suite, command_bank_tests());
    suite_add_tcase(suite, command_swizzle_tests());
    suite_add_tcase(suite, exercises_tests());
    suite_add_tcase(suite, command_descriptor_tests());
    suite_add_tcase(suite, draw_tests());
    suite_add_tcase(suite, draw_tile_tests());
    suite_add_tcase(suite, draw_descriptor_tests());
    suite_add_tcase(suite, page_tests());
    suite_add_tcase(suite, lab_banks_tests());
    suite_add_tcase(suite, lab_registry_tests());
    suite_add_tcase(suite, lab_report_tests());
    suite_add_tcase(suite, lab_profile_tests());
    suite_add_tcase(suite, lab_profiler_tests());
    suite_add_tcase(suite, lab_gemm_tests());
    suite_add_tcase(suite, lab_occupancy_tests());
    suite_add_tcase(suite, lab_ladders_tests());
    suite_add_tcase(suite, lab_attention_tests());
    suite_add_tcase(suite, lab_tma_tests());
    suite_add_tcase(suite, lab_run_tests());
    suite_add_tcase(suite, lab_results_tests());
    suite_add_tcase(suite, lab_play_tests());
    suite_add_tcase(suite, torch_tests());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
