/* SPDX-License-Identifier: Apache-2.0 */
/* Files read as a whole. */
#include "program/base/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/messages.h"

/* From an open file; NULL: it cannot be. */
static char *read_from(FILE *in, size_t *size) {
    const long bytes = fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    char *read = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (!read)
        return NULL;
    if (fseek(in, 0, SEEK_SET) != 0 || fread(read, 1, (size_t)bytes, in) != (size_t)bytes) {
        free(read);
        return NULL;
    }
    read[bytes] = '\0';
    *size = (size_t)bytes;
    return read;
}

void *file_read(const char *path, size_t *size) {
    errno = 0;
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    char *read = read_from(in, size);
    const int error = errno;
    fclose(in);
    errno = error;
    return read;
}

void *file_read_or_complain(const char *path, size_t *size) {
    void *read = file_read(path, size);
    if (!read)
        complain("cannot read %s: %s", path, errno ? strerror(errno) : "it is no file");
    return read;
}
