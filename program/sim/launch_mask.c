/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text as text. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "program/sim/launch_kernel.h"
#include "program/sim/launch_mask.h"
#include "program/sim/source_text.h"

/* ---- masking ----------------------------------------------------------------------------------------------------- */

/* Behind the comment or string that begins here; `at` itself: none does. */
static char *behind_note(char *at) {
    char *end = NULL;
    if (strncmp(at, "//", 2) == 0)
        return at + strcspn(at, "\n");
    if (strncmp(at, "/*", 2) == 0)
        end = strstr(at + 2, "*/");
    else if (*at == '"')
        end = at + 1 + strcspn(at + 1, "\"\n");
    else
        return at;
    return !end ? at + strlen(at) : *end ? end + (*end == '*' ? 2 : 1) : end;
}

/* Behind the body or the ';' of what begins here. */
static char *behind_definition(char *at) {
    for (int depth = 0; *at;) {
        char *next = behind_note(at);
        if (next != at) {
            at = next;
            continue;
        }
        depth += (*at == '{') - (*at == '}');
        if ((*at == '}' && depth == 0) || (*at == ';' && depth == 0))
            return at + 1;
        at++;
    }
    return at;
}

static bool is_kept(const char *entry, const char *name) {
    char mangled[1024];
    const char *begin = entry + strlen(".entry");
    begin += strspn(begin, " \t\n");
    snprintf(mangled, sizeof mangled, "%.*s", (int)strcspn(begin, "( \t\n"), begin);
    return !name || launch_is_named(mangled, name);
}

/* From the beginning of the line, where .visible and its like stand. */
static char *blank(char *text, char *at) {
    char *end = behind_definition(at);
    while (at > text && at[-1] != '\n')
        at--;
    for (; at < end; at++)
        *at = *at == '\n' ? '\n' : ' ';
    return end;
}

void launch_mask_others(char *text, const char *name) {
    for (char *at = text; *at;) {
        char *next = behind_note(at);
        if (next != at)
            at = next;
        else if (strncmp(at, ".entry", 6) == 0 && isspace((unsigned char)at[6]))
            at = is_kept(at, name) ? behind_definition(at) : blank(text, at);
        else
            at++;
    }
}

/* ---- where a line comes from ------------------------------------------------------------------------------------- */

static const char *line_at(const char *text, uint32_t line) {
    for (uint32_t n = 1; text && n < line; n++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text;
}

/* The name of a .file. */
static bool find_file(const char *text, unsigned number, char name[256]) {
    for (const char *at = text; (at = strstr(at, ".file")) != NULL; at++) {
        unsigned found;
        if (sscanf(at, ".file %u \"%255[^\"]\"", &found, name) == 2 && found == number)
            return true;
    }
    return false;
}

static bool find_source(const char *text, uint32_t line, char name[256], unsigned *source_line) {
    const char *end = line_at(text, line);
    unsigned file = 0, number;
    for (const char *at = text; end && (at = strstr(at, ".loc")) != NULL && at < end; at++) {
        const char *inlined = strstr(at, "inlined_at");
        if (inlined && inlined < at + strcspn(at, "\n"))
            continue;
        if (sscanf(at, ".loc %u %u", &number, source_line) == 2)
            file = number;
    }
    return file && find_file(text, file, name);
}

void launch_describe_line(const char *text, uint32_t line, char *to, size_t bytes) {
    char name[256];
    unsigned source_line = 0;
    size_t used = 0;
    const char *ptx = line ? line_at(text, line) : NULL;
    to[0] = '\0';
    if (!ptx)
        return;
    if (find_source(text, line, name, &source_line))
        used = (size_t)snprintf(to, bytes, " (%s:%u)", source_base(name), source_line);
    ptx += strspn(ptx, " \t");
    if (used < bytes)
        snprintf(to + used, bytes - used, ": %.*s", (int)strcspn(ptx, "\n"), ptx);
}
