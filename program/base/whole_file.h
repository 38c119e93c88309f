/* SPDX-License-Identifier: Apache-2.0 */
/* Files read as a whole. */
#ifndef PROGRAM_BASE_WHOLE_FILE_H
#define PROGRAM_BASE_WHOLE_FILE_H

#include <stddef.h>

/* The file with a NUL behind it, and its size; the caller frees it. NULL: errno says why; 0 where it is no file. */
void *file_read(const char *path, size_t *size);
/* The same with a printed sentence. */
void *file_read_or_complain(const char *path, size_t *size);

#endif
