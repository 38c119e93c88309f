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
        return 0;
    }
    struct launch_line *each = realloc(lines->each, (lines->count + 1) * sizeof *each);
    if (!each)
        return complain("out of host memory");
    lines->each = each;
    each[lines->count++] = *more;
    return 0;
}

int launch_read_lines(const char *text, struct launch_lines *lines) {
    for (const char *at = text; (at = strstr(at, "\n" LAUNCH_LINE)); at++) {
        struct launch_line line;
        if (sscanf(at + 1, LAUNCH_LINE "%lf %lf %lf %299[^\n]", &line.wavefronts, &line.ideal, &line.sectors,
                   line.place) == 4 &&
            launch_lines_add(lines, &line) != 0)
            return -1;
    }
    return 0;
}
