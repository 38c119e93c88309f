/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV of `ncu --csv --page source --print-source cuda,sass`: for every file of the source a row with its path and one
 * with the kernel, a row of column names, and then a row for each line of the source, above those of the instructions
 * that it became. A line's row has the sums of its instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/csv.h"
#include "lab/profiler.h"
#include "program/sim/source_text.h"

struct page {
    struct csv_row names, row;
    char file[LAUNCH_PLACE_BYTES];
    int wavefronts, ideal, sectors, samples; /* columns; -1: there is none */
};

static int column_of(const struct page *page, const char *name) {
    return csv_column(&page->names, name, strlen(name));
}

/* Of a line without such an access: 0. */
static double value_of(const struct page *page, int column) {
    const double value = column >= 0 && (size_t)column < page->row.count ? csv_number(page->row.fields[column]) : 0;
    return value > 0 ? value : 0;
}

static void find_columns(struct page *page) {
    page->wavefronts = column_of(page, "L1 Wavefronts Shared");
    page->ideal = column_of(page, "L1 Wavefronts Shared Ideal");
    page->sectors = column_of(page, "L2 Theoretical Sectors Global");
    page->samples = column_of(page, "# Samples");
}

/* "short_sb" of the column "stall_short_sb" with the most samples; those that no warp issued in stand twice. */
static void find_reason(const struct page *page, char reason[sizeof((struct launch_line *)NULL)->reason]) {
    static const char stall[] = "stall_";
    double most = 0;
    for (size_t i = 0; i < page->names.count; i++) {
        const char *name = page->names.fields[i];
        const double samples = strncmp(name, stall, strlen(stall)) == 0 ? value_of(page, (int)i) : 0;
        if (samples > most) {
            most = samples;
            snprintf(reason, sizeof((struct launch_line *)NULL)->reason, "%.*s",
                     (int)strcspn(name + strlen(stall), " "), name + strlen(stall));
        }
    }
}

static int add_line(const struct page *page, struct launch_lines *lines) {
    struct launch_line line = {.wavefronts = value_of(page, page->wavefronts),
                               .ideal = value_of(page, page->ideal),
                               .sectors = value_of(page, page->sectors),
                               .samples = value_of(page, page->samples)};
    find_reason(page, line.reason);
    snprintf(line.place, sizeof line.place, "%.200s:%s", source_base(page->file), page->row.fields[0]);
    return line.wavefronts > 0 || line.sectors > 0 || line.samples > 0 ? launch_lines_add(lines, &line) : 0;
}

/* A row of any kind. */
static int read_row(struct page *page, struct launch_lines *lines) {
    const char *first = page->row.fields[0];
    if (strcmp(first, "File Path") == 0 && page->row.count > 1) {
        snprintf(page->file, sizeof page->file, "%s", page->row.fields[1]);
        page->names.count = 0;
        return 0;
    }
    if (strcmp(first, "Line No") == 0) {
        page->names = page->row;
        find_columns(page);
        return 0;
    }
    const bool of_line = page->names.count && first[0] && strspn(first, "0123456789") == strlen(first);
    return of_line ? add_line(page, lines) : 0;
}

int profiler_read_lines(struct launch_lines *lines, char *output, char *why, size_t why_bytes) {
    struct page *page = calloc(1, sizeof *page);
    char *reason = strdup(output), *line; /* the lines are cut while they are read */
    int status = page && reason ? 0 : complain("out of host memory");
    bool found = false;
    while (status == 0 && (line = csv_next_line(&output))) {
        csv_split(line, &page->row);
        found |= page->row.fields[0] && strcmp(page->row.fields[0], "Line No") == 0;
        status = read_row(page, lines);
    }
    if (status == 0 && !found) {
        profiler_explain(reason, why, why_bytes);
        status = -1;
    }
    free(reason);
    free(page);
    return status;
}
