/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the program's parts: no GPU, no clock, no cuBLASLt. */
#ifndef BENCH_TESTS_H
#define BENCH_TESTS_H

#include <check.h>

TCase *parts_tests(void);
TCase *report_tests(void);
TCase *run_tests(void);

/* The text of a file, or of what was written to a temporary stream; the caller frees it. */
char *read_all(const char *path);

#endif
