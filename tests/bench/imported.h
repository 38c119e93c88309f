/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up results of the bench for gristmill tune --import: 512 x 512 x 512 on an H200, three rounds. */
#ifndef IMPORTED_H
#define IMPORTED_H

#include "cases.h"
#include "tuned.h"

#define FIRST    "bench-tests-import-1.json"
#define SECOND   "bench-tests-import-2.json"
#define IMPORT   "--import " FIRST " -o " BOOK
#define ROWS_MAX 2048

extern struct bench_results results;       /* what the next write_to() writes */
extern struct tune_sample liked[ROWS_MAX]; /* what an H200 takes, the model's pick first */
extern int likes;

void import_set_up(void);
void import_tear_down(void);

const char *name_of(int place); /* in `liked` */
struct bench_row *add(const char *kernel, double a, double b, double c);
void add_flat(int place, double us);
/* And begins anew. */
void write_to(const char *path);
/* The entry of the problem begins with these words. */
void expect_entry(const char *words);

#endif
