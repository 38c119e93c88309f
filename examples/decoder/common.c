/* SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Noreturn void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("decoder: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    exit(1);
}

const char *printable(const char *text) {
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return "(a word with control characters)";
    return text;
}

void *grab(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);
    if (!memory)
        die("out of host memory: %zu elements of %zu bytes", count, bytes);
    return memory;
}

void *grown(void *memory, size_t used, size_t *room, size_t bytes) {
    if (used < *room)
        return memory;
    const size_t more = *room ? 2 * *room : 16;
    void *larger = realloc(memory, more * bytes);
    if (!larger)
        die("out of host memory: %zu elements of %zu bytes", more, bytes);
    *room = more;
    return larger;
}

char *path_of(const char *folder, const char *name) {
    const size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = grab(bytes, 1);
    snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file)
        die("cannot open %s: %s", path, strerror(errno));
    char *text = NULL;
    size_t used = 0, size = 0;
    while (!feof(file)) {
        if (size - used < 2) {
            size = size ? 2 * size : 1 << 16;
            text = realloc(text, size);
            if (!text)
                die("out of host memory for %s", path);
        }
        used += fread(text + used, 1, size - used - 1, file);
        if (ferror(file))
            die("cannot read %s: %s", path, strerror(errno));
    }
    fclose(file);
    text[used] = 0;
    if (bytes)
        *bytes = used;
    return text;
}

double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
