/* SPDX-License-Identifier: Apache-2.0 */
/* CSV as Nsight Compute prints it: fields in quotes, thousands separated. */
#ifndef LAB_CSV_H
#define LAB_CSV_H

#include <stddef.h>

/* The raw page has 270 columns of its own, and four for each metric that is asked for. */
enum { CSV_COLUMNS_MAX = 2048 };

/* One line cut into its fields, in place. */
struct csv_row {
    char *fields[CSV_COLUMNS_MAX];
    size_t count;
};

/* The next line of *text, cut off from the rest; NULL at the end. */
char *csv_next_line(char **text);
void csv_split(char *line, struct csv_row *row);
/* The column of this name; -1: there is none. */
int csv_column(const struct csv_row *names, const char *name, size_t length);
/* "1,980,000" is a number, with separators between the thousands; "n/a" is none: NaN. */
double csv_number(const char *text);

#endif
