/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV of `ncu --csv --page raw`: lines of its own ("==PROF== ..."), then a row of column names, a row of units, and
 * a row for every launch in the order of the launches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/csv.h"
#include "lab/profiler.h"
#include "lab/runner.h"

/* The sum of a quantity's metrics in one row; NaN when one of them is not there. */
static double value_of(const struct csv_row *names, const struct csv_row *row, const char *metric) {
    double sum = 0;
    while (*metric) {
        size_t length = strcspn(metric, "+");
        int column = csv_column(names, metric, length);
        sum += column >= 0 && (size_t)column < row->count ? csv_number(row->fields[column]) : NAN;
        metric += length + (metric[length] == '+');
    }
    return sum;
}

void profiler_explain(const char *output, char *why, size_t bytes) {
    static const char *const prefixes[] = {"==ERROR== ", "gristmill: ", "==WARNING== "};
    if (strstr(output, "ERR_NVGPUCTRPERM")) {
        snprintf(why, bytes, "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)");
        return;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const char *found = strstr(output, prefixes[i]);
        if (found) {
            found += strlen(prefixes[i]);
            snprintf(why, bytes, "Nsight Compute failed: %.*s", (int)strcspn(found, "\r\n"), found);
            return;
        }
    }
    snprintf(why, bytes, "Nsight Compute printed no table");
}

/* Without the parameter list that C++ names carry. */
static bool same_kernel(const char *printed, const char *kernel) {
    size_t length = strlen(kernel);
    return strncmp(printed, kernel, length) == 0 && (printed[length] == 0 || printed[length] == '(');
}

struct table {
    struct csv_row names, row;
    int kernel_column;
    char *rest; /* the rows that are not read yet */
};

static int find_table(char *output, struct table *table, char *why, size_t bytes) {
    char *reason = strdup(output); /* the lines are cut while they are searched */
    char *line;
    *table = (struct table){.rest = output};
    while ((line = csv_next_line(&table->rest))) {
        if (strncmp(line, "\"ID\",", 5) != 0)
            continue;
        csv_split(line, &table->names);
        table->kernel_column = csv_column(&table->names, "Kernel Name", 11);
        csv_next_line(&table->rest); /* the units */
        free(reason);
        if (table->kernel_column < 0)
            snprintf(why, bytes, "Nsight Compute's table has no column \"Kernel Name\"");
        return table->kernel_column < 0 ? -1 : 0;
    }
    profiler_explain(reason ? reason : "", why, bytes);
    free(reason);
    return -1;
}

/* The row of the next launch; false at the end. */
static bool next_row(struct table *table) {
    char *line;
    while ((line = csv_next_line(&table->rest))) {
        if (*line != '"')
            continue;
        csv_split(line, &table->row);
        return table->row.count > (size_t)table->kernel_column;
    }
    return false;
}

/* Counts one point, into `counted`. */
static int read_point(struct table *table, const struct lab_point *point, size_t index, double *counted, char *why,
                      size_t bytes) {
    if (!next_row(table)) {
        snprintf(why, bytes, "Nsight Compute saw only %zu launches; the next would be `%s` (%s)", index, point->label,
                 point->launch.kernel);
        return -1;
    }
    const char *printed = table->row.fields[table->kernel_column];
    if (!same_kernel(printed, point->launch.kernel)) {
        snprintf(why, bytes, "Nsight Compute's launch %zu is %.64s, not %s of `%s`", index + 1, printed,
                 point->launch.kernel, point->label);
        return -1;
    }
    for (size_t i = 0; i < point->quantity_count; i++) {
        const char *metric = point->quantities[i].metric;
        counted[i] = metric ? value_of(&table->names, &table->row, metric) : point->quantities[i].counted;
    }
    return 0;
}

int profiler_read(struct lab *lab, char *output, char *why, size_t why_bytes) {
    double(*counted)[LAB_QUANTITIES_MAX] = calloc(LAB_POINTS_MAX, sizeof *counted);
    struct table *table = calloc(1, sizeof *table);
    size_t launches = 0;
    int status = counted && table ? find_table(output, table, why, why_bytes) : complain("out of host memory");
    for (size_t i = 0; status == 0 && i < lab->point_count; i++) {
        if (runner_is_profiled(&lab->points[i]))
            status = read_point(table, &lab->points[i], launches++, counted[i], why, why_bytes);
    }
    if (status == 0 && next_row(table)) {
        snprintf(why, why_bytes, "Nsight Compute saw more than the %zu launches that were made", launches);
        status = -1;
    }
    for (size_t i = 0; status == 0 && i < lab->point_count; i++) {
        struct lab_point *point = &lab->points[i];
        for (size_t j = 0; runner_is_profiled(point) && j < point->quantity_count; j++)
            point->quantities[j].counted = counted[i][j];
    }
    free(table);
    free(counted);
    return status;
}
