/* SPDX-License-Identifier: Apache-2.0 */
/* Results that nobody measured, for tests of what is made of results. */
#ifndef INVENTED_H
#define INVENTED_H

#include "bench/report/results.h"

/* A row for each problem of the suite, from seven rounds; the caller frees them. */
void invent_results(struct bench_results *results, const char *suite_name);
/* As a results file; makes the folders. */
void write_invented(const struct bench_results *results, const char *path);

#endif
