/* SPDX-License-Identifier: Apache-2.0 */
/* Results files read again: to compare, to add to, to make a page of. */
#ifndef BENCH_RESULTS_READ_H
#define BENCH_RESULTS_READ_H

#include "bench/report/results.h"

/* Fills `results`, which the caller frees, from a file of results_write_json, every number as it stands there. 0, or -1
 * with a printed sentence: no such file, no JSON, not a file of the bench, a row that is broken. */
int results_read_json(struct bench_results *results, const char *path);

/* NULL: rows of `later` may stand in one file with those of `earlier`. Else what differs, as in "the revision: a, b".
 */
const char *results_differ(const struct bench_meta *earlier, const struct bench_meta *later, char *text, size_t bytes);

#endif
