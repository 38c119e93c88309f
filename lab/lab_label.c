/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of points taken apart by a pattern. */
#include "lab/lab_label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part that "{name}" at this place of a pattern stands for; LABEL_PARTS: none. */
static enum label_part part_at(const char *pattern) {
    static const char *const names[LABEL_PARTS] = {"{group}", "{row}", "{column}", "{x}", "{y}", "{rest}"};
    enum label_part part = LABEL_GROUP;
    while (part < LABEL_PARTS && strncmp(pattern, names[part], strlen(names[part])) != 0)
        part++;
    return part;
}

static bool is_number(const char *text, size_t length) {
    return length > 0 && strspn(text, "+-.0123456789") >= length;
}

static void join(char to[64], const char *text, size_t length) {
    const size_t used = strlen(to);
    snprintf(to + used, 64 - used, "%s%.*s", used && length ? " " : "", (int)length, text);
}

static bool match(const char *pattern, const char *text, struct label *label);

/* Tries ever more of the text for a part, until the rest of the pattern matches what follows. */
static bool match_part(const char *pattern, enum label_part part, const char *text, struct label *label) {
    const char *const rest = strchr(pattern, '}') + 1;
    const struct label before = *label;
    for (size_t length = 0; length <= strlen(text); length++) {
        if ((part == LABEL_X || part == LABEL_Y) && !is_number(text, length))
            continue;
        *label = before;
        join(label->part[part], text, length);
        if (match(rest, text + length, label))
            return true;
    }
    return false;
}

static bool match(const char *pattern, const char *text, struct label *label) {
    for (; *pattern && *pattern != '|'; pattern++, text++) {
        const enum label_part part = part_at(pattern);
        if (part < LABEL_PARTS)
            return match_part(pattern, part, text, label);
        if (*pattern != *text)
            return false;
    }
    return *text == 0;
}

bool label_match(const char *pattern, const char *text, struct label *label) {
    for (const char *at = pattern; at; at = strchr(at, '|')) {
        at += *at == '|';
        *label = (struct label){0};
        if (match(at, text, label))
            return true;
    }
    return false;
}

double label_number(const struct label *label, enum label_part part) {
    return label->part[part][0] ? strtod(label->part[part], NULL) : NAN;
}
