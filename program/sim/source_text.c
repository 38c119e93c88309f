/* SPDX-License-Identifier: Apache-2.0 */
/* The text of source lines that PTX names. */
#include "program/sim/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/whole_file.h"

struct source_files {
    struct source_files *next;
    char *name, *text; /* text: lines that end in NUL; NULL: it could not be read */
    size_t bytes;
};

const char *source_base(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* Its lines end in NUL. NULL: the file is neither where the PTX says nor in the folder. */
static char *read_text(const char *file, const char *folder, size_t *bytes) {
    char path[4096];
    char *text = file_read(file, bytes);
    if (!text && folder) {
        snprintf(path, sizeof path, "%s/%s", folder, source_base(file));
        text = file_read(path, bytes);
    }
    for (size_t i = 0; text && i < *bytes; i++)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = '\0';
    return text;
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
    made->name = name;
    made->text = read_text(file, folder, &made->bytes);
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
