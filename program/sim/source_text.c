/* SPDX-License-Identifier: Apache-2.0 */
/* The text of source lines that PTX names. */
#include "program/sim/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MOST ((size_t)16 << 20)

struct source_files {
    struct source_files *next;
    char *name, *text; /* text: lines that end in NUL; NULL: it could not be read */
    size_t bytes;
};

const char *source_base(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static char *read_text(FILE *in, size_t *bytes) {
    char *text = malloc(FILE_BYTES_MOST + 1);
    *bytes = text ? fread(text, 1, FILE_BYTES_MOST, in) : 0;
    fclose(in);
    char *fitting = text ? realloc(text, *bytes + 1) : NULL;
    if (!fitting)
        return text;
    fitting[*bytes] = '\0';
    for (size_t i = 0; i < *bytes; i++)
        if (fitting[i] == '\n' || fitting[i] == '\r')
            fitting[i] = '\0';
    return fitting;
}

static FILE *open_file(const char *file, const char *folder) {
    char path[4096];
    FILE *in = fopen(file, "r");
    if (in || !folder)
        return in;
    snprintf(path, sizeof path, "%s/%s", folder, source_base(file));
    return fopen(path, "r");
}

static const struct source_files *find(struct source_files **files, const char *file, const char *folder) {
    for (const struct source_files *known = *files; known; known = known->next)
        if (strcmp(known->name, file) == 0)
            return known;
    struct source_files *made = calloc(1, sizeof *made);
    char *name = made ? strdup(file) : NULL;
    if (!name) {
        free(made);
        return NULL;
    }
    FILE *in = open_file(file, folder);
    made->name = name;
    made->text = in ? read_text(in, &made->bytes) : NULL;
    made->next = *files;
    *files = made;
    return made;
}

const char *source_text(struct source_files **files, const char *file, uint32_t line, const char *folder) {
    const struct source_files *found = find(files, file, folder);
    const char *at = found ? found->text : NULL, *end = at ? at + found->bytes : NULL;
    for (uint32_t n = 1; at && n < line; n++) {
        at += strlen(at) + 1; /* behind the NUL of the line's end */
        if (at > end)
            return NULL;
    }
    return at ? at + strspn(at, " \t") : NULL;
}

void source_files_free(struct source_files **files) {
    while (*files) {
        struct source_files *next = (*files)->next;
        free((*files)->name);
        free((*files)->text);
        free(*files);
        *files = next;
    }
}
