/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab report: one HTML page from the saved results of one GPU; and gristmill lab figure: one figure of it. */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include <stdio.h>

#include "lab/lab_results.h"

/* The commands: arguments after `gristmill lab report` and `gristmill lab figure`; return an exit code. */
int lab_report(int argc, char **argv);
int lab_figure(int argc, char **argv);

/* What a page is made of: records in its order, profiles in any, and the way from the page to the project root, "" or with
 * a slash at its end. */
struct report_input {
    const struct record *const *records, *const *profiles;
    size_t count, profile_count;
    const char *root;
};
void report_page(FILE *out, const struct report_input *input);
/* The figures of one experiment: at least one. */
void report_figures(FILE *out, const struct record *record);
/* The figure of this number, from 0, as a picture of its own. 0, or -1 with a printed sentence. */
int report_picture(FILE *out, const struct record *record, size_t number);
/* Its points, folded away. */
void report_rows(FILE *out, const struct record *record);

#endif
