/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of CSV cut into fields. */
#include "lab/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *csv_next_line(char **text) {
    char *line = *text;
    if (!line || !*line)
        return NULL;
    char *end = strchr(line, '\n');
    *text = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    size_t length = strlen(line);
    if (length && line[length - 1] == '\r')
        line[length - 1] = 0;
    return line;
}

/* A field in quotes begins at `from`: its text is moved to where it begins. Returns what follows the closing quote. */
static char *unquote(char *from, char **field) {
    char *to = *field = from++;
    while (*from && !(*from == '"' && from[1] != '"')) {
        from += *from == '"'; /* two stand for one */
        *to++ = *from++;
    }
    char *rest = *from ? from + 1 : from;
    *to = 0;
    return rest;
}

void csv_split(char *line, struct csv_row *row) {
    row->count = 0;
    while (row->count < CSV_COLUMNS_MAX) {
        char **field = &row->fields[row->count++];
        char *end;
        if (*line == '"') {
            end = unquote(line, field);
        } else {
            *field = line;
            end = line + strcspn(line, ",");
        }
        if (*end != ',') /* the last one; what is no CSV ends here too */
            return;
        *end = 0;
        line = end + 1;
    }
}

int csv_column(const struct csv_row *names, const char *name, size_t length) {
    for (size_t i = 0; i < names->count; i++) {
        if (strncmp(names->fields[i], name, length) == 0 && names->fields[i][length] == 0)
            return (int)i;
    }
    return -1;
}

double csv_number(const char *text) {
    char plain[64];
    size_t used = 0;
    for (; *text && used + 1 < sizeof plain; text++) {
        if (*text != ',')
            plain[used++] = *text;
    }
    plain[used] = 0;
    char *end;
    double value = strtod(plain, &end);
    return end == plain || *end ? NAN : value;
}
