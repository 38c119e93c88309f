/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of points taken apart by a pattern: by "{row}, a lane every {column} bytes" the label "ld.shared.b8, a lane
 * every 4 bytes" has the row "ld.shared.b8" and the column "4". */
#ifndef LAB_LABEL_H
#define LAB_LABEL_H

#include <stdbool.h>

/* {x} and {y} match numbers only, the others any text, as little as will do. */
enum label_part { LABEL_GROUP, LABEL_ROW, LABEL_COLUMN, LABEL_X, LABEL_Y, LABEL_REST, LABEL_PARTS };

struct label {
    char part[LABEL_PARTS][64]; /* what stands twice in the pattern is joined by a blank; "": not in it */
};

/* Whether the whole label is as the pattern says, or as one of several, separated by '|', of which the first is taken. */
bool label_match(const char *pattern, const char *text, struct label *label);
/* The number of {x} or {y}; NaN: there is none. */
double label_number(const struct label *label, enum label_part part);

#endif
