/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a source, each once. */
#include "program/sim/launch_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/messages.h"

const struct launch_line *launch_lines_find(const struct launch_lines *lines, const char *place) {
    for (size_t i = 0; i < lines->count; i++) {
        if (strcmp(lines->each[i].place, place) == 0)
            return &lines->each[i];
    }
    return NULL;
}

int launch_lines_add(struct launch_lines *lines, const struct launch_line *more) {
    struct launch_line *line = (struct launch_line *)launch_lines_find(lines, more->place);
    if (line) {
        line->wavefronts += more->wavefronts;
        line->ideal += more->ideal;
        line->sectors += more->sectors;
        line->samples += more->samples;
        return 0;
    }
    struct launch_line *each = realloc(lines->each, (lines->count + 1) * sizeof *each);
    if (!each)
        return complain("out of host memory");
    lines->each = each;
    each[lines->count++] = *more;
    return 0;
}

/* "copy.cu:9" before "copy.cu:12". */
static int by_place(const void *left, const void *right) {
    const char *a = ((const struct launch_line *)left)->place, *b = ((const struct launch_line *)right)->place;
    const char *number_a = strrchr(a, ':'), *number_b = strrchr(b, ':');
    const size_t file_a = number_a ? (size_t)(number_a - a) : strlen(a);
    const size_t file_b = number_b ? (size_t)(number_b - b) : strlen(b);
    if (file_a != file_b || strncmp(a, b, file_a) != 0 || !number_a)
        return strcmp(a, b);
    const long line_a = atol(number_a + 1), line_b = atol(number_b + 1);
    return (line_a > line_b) - (line_a < line_b);
}

void launch_lines_sort(struct launch_lines *lines) {
    if (lines->count)
        qsort(lines->each, lines->count, sizeof *lines->each, by_place);
}

int launch_read_lines(const char *text, struct launch_lines *lines) {
    for (const char *at = text; (at = strstr(at, "\n" LAUNCH_LINE)); at++) {
        struct launch_line line = {.samples = 0};
        if (sscanf(at + 1, LAUNCH_LINE "%lf %lf %lf %299[^\n]", &line.wavefronts, &line.ideal, &line.sectors,
                   line.place) == 4 &&
            launch_lines_add(lines, &line) != 0)
            return -1;
    }
    return 0;
}
