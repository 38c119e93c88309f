/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the program's parts: no GPU, no clock, no cuBLASLt. */
#ifndef BENCH_TESTS_H
#define BENCH_TESTS_H

#include <check.h>

TCase *parts_tests(void);
TCase *batch_tests(void);
TCase *report_tests(void);
TCase *run_tests(void);
TCase *resume_tests(void);
TCase *energy_tests(void);
TCase *compare_tests(void);
TCase *report_page_tests(void);
TCase *chain_tests(void);
TCase *tune_tests(void);
TCase *tune_files_tests(void);
TCase *tune_import_tests(void);
TCase *tune_import_refused_tests(void);
TCase *shared_file_tests(void);
TCase *expression_tests(void);
TCase *command_bank_tests(void);
TCase *command_swizzle_tests(void);
TCase *exercises_tests(void);
TCase *command_descriptor_tests(void);
TCase *draw_tests(void);
TCase *draw_tile_tests(void);
TCase *draw_descriptor_tests(void);
TCase *page_tests(void);
TCase *lab_banks_tests(void);
TCase *lab_registry_tests(void);
TCase *lab_report_tests(void);
TCase *lab_profile_tests(void);
TCase *lab_profiler_tests(void);
TCase *lab_gemm_tests(void);
TCase *lab_occupancy_tests(void);
TCase *lab_ladders_tests(void);
TCase *lab_attention_tests(void);
TCase *lab_tma_tests(void);
TCase *lab_run_tests(void);
TCase *lab_results_tests(void);
TCase *lab_play_tests(void);
TCase *torch_tests(void);

/* The text of a file, or of what was written to a temporary stream; the caller frees it. */
char *read_all(const char *path);

#endif
