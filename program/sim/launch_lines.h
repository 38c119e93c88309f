/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch cost, line by line of its source. */
#ifndef PROGRAM_SIM_LAUNCH_LINES_H
#define PROGRAM_SIM_LAUNCH_LINES_H

#include <stddef.h>

#define LAUNCH_LINE "line: " /* before what launch_print_lines() prints of a row */

enum { LAUNCH_PLACE_BYTES = 300 };

struct launch_line {
    char place[LAUNCH_PLACE_BYTES];    /* "copy.cu:12" */
    double wavefronts, ideal, sectors; /* of shared memory, if no two words had met in a bank, and of global memory */
    double samples;                    /* in which a warp stood at this line; 0: nobody sampled */
    char reason[48];                   /* what it waited for in most of them */
};
struct launch_lines {
    struct launch_line *each; /* the caller frees it */
    size_t count;
};

/* Adds to the line of this place; the reason of the first stays. 0, or -1 with a printed sentence. */
int launch_lines_add(struct launch_lines *lines, const struct launch_line *more);
/* NULL: there is none. */
const struct launch_line *launch_lines_find(const struct launch_lines *lines, const char *place);
/* By file and number. */
void launch_lines_sort(struct launch_lines *lines);
/* What launch_print_lines() printed, wherever it stands in `text`. 0, or -1 with a printed sentence. */
int launch_read_lines(const char *text, struct launch_lines *lines);

#endif
