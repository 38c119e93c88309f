/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of what a picture wrote. */
#include "drawings.h"

#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void drawing_begin(struct drawing *drawing) {
    *drawing = (struct drawing){0};
    drawing->out = open_memstream(&drawing->text, &drawing->bytes);
    ck_assert_ptr_nonnull(drawing->out);
}

char *drawing_end(struct drawing *drawing) {
    ck_assert_int_eq(fclose(drawing->out), 0);
    ck_assert_uint_eq(strlen(drawing->text), drawing->bytes);
    return drawing->text;
}

void drawing_check_text(const char *text, size_t columns) {
    size_t column = 0;
    for (const char *c = text; *c; c++) {
        column = *c == '\n' ? 0 : column + 1;
        ck_assert_msg(*c == '\n' || (*c >= ' ' && *c <= '~'), "character 0x%02x in:\n%s", (unsigned char)*c, text);
        ck_assert_msg(column <= columns, "a line longer than %zu:\n%s", columns, text);
    }
}

/* ---- XML ---------------------------------------------------------------------------------------- */

enum { DEPTH_MOST = 64, NAME_BYTES = 32 };

struct parser {
    const char *at, *start;
    char open[DEPTH_MOST][NAME_BYTES];
    int depth;
};

static void fail_at(const struct parser *p, const char *what) {
    ck_abort_msg("%s at byte %td: %.80s", what, p->at - p->start, p->at);
}

static void take(struct parser *p, const char *text) {
    if (strncmp(p->at, text, strlen(text)) != 0)
        fail_at(p, text);
    p->at += strlen(text);
}

static void take_name(struct parser *p, char name[NAME_BYTES]) {
    size_t length = 0;
    while ((isalnum((unsigned char)*p->at) || *p->at == '-' || *p->at == ':') && length + 1 < NAME_BYTES)
        name[length++] = *p->at++;
    name[length] = 0;
    if (length == 0)
        fail_at(p, "no name");
}

/* Text or an attribute's value up to `end`; "&" begins one of the entities that are written. */
static void take_text(struct parser *p, char end) {
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    while (*p->at && *p->at != end) {
        size_t i = 0;
        if (*p->at == '<')
            fail_at(p, "a tag inside a value");
        if ((unsigned char)*p->at < ' ' && *p->at != '\n')
            fail_at(p, "a control character");
        while (*p->at == '&' && i < 4 && strncmp(p->at, entities[i], strlen(entities[i])) != 0)
            i++;
        if (i == 4)
            fail_at(p, "an unknown entity");
        p->at++;
    }
}

static void take_attributes(struct parser *p) {
    char names[16][NAME_BYTES];
    int count = 0;
    while (*p->at == ' ') {
        p->at++;
        take_name(p, names[count]);
        for (int i = 0; i < count; i++)
            if (strcmp(names[i], names[count]) == 0)
                fail_at(p, "an attribute given twice");
        ck_assert_int_lt(++count, 16);
        take(p, "=\"");
        take_text(p, '"');
        take(p, "\"");
    }
}

static void take_tag(struct parser *p) {
    char name[NAME_BYTES];
    take(p, "<");
    if (*p->at == '/') {
        p->at++;
        take_name(p, name);
        if (p->depth == 0 || strcmp(p->open[p->depth - 1], name) != 0)
            fail_at(p, "a tag closed that is not the open one");
        p->depth--;
        take(p, ">");
        return;
    }
    take_name(p, name);
    ck_assert_str_ne(name, "script");
    take_attributes(p);
    if (*p->at == '/') {
        take(p, "/>");
        return;
    }
    take(p, ">");
    ck_assert_int_lt(p->depth, DEPTH_MOST);
    strcpy(p->open[p->depth++], name);
}

void drawing_check_xml(const char *text) {
    static const char page[] = "<!DOCTYPE html>\n", space[] = "http://www.w3.org/2000/svg";
    struct parser p = {.at = text, .start = text};
    if (strncmp(text, page, strlen(page)) == 0)
        p.at += strlen(page);
    do {
        take_tag(&p);
        take_text(&p, '<');
    } while (*p.at);
    ck_assert_int_eq(p.depth, 0);
    for (const char *link = text; (link = strstr(link, "http")); link++)
        ck_assert_int_eq(strncmp(link, space, strlen(space)), 0);
    ck_assert_ptr_null(strstr(text, "@import"));
    ck_assert_ptr_null(strstr(text, "url("));
}
