/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab report: one HTML page from the saved results of one GPU. */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include <stdio.h>

#include "lab/lab_results.h"

/* The command: arguments after `gristmill lab report`; returns an exit code. */
int lab_report(int argc, char **argv);

/* The page. `records` are in the order of the page. */
void report_page(FILE *out, const struct record *const *records, size_t count);
/* The plots of one experiment: what was counted beside what was predicted, cycles, times; only what there is. */
void report_charts(FILE *out, const struct record *record);

#endif
