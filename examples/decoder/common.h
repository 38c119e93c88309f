/* SPDX-License-Identifier: Apache-2.0 */
/* What all files of the decoder use: how it stops, and memory of the host. */
#ifndef DECODER_COMMON_H
#define DECODER_COMMON_H

#include <stddef.h>
#include <stdint.h>

/* One sentence to stderr, "decoder: ...", and exit status 1. Nothing is tidied up: the process is over. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a file says, for a sentence: a terminal obeys control characters. */
const char *printable(const char *text);

/* Zeroed memory of count elements, or die(). free() takes it. */
void *grab(size_t count, size_t bytes);
/* Room for one element more, twice as much where it is spent, or die(). `memory` with no room is NULL. */
void *grown(void *memory, size_t used, size_t *room, size_t bytes);

/* "folder/name", to be freed. */
char *path_of(const char *folder, const char *name);

/* A whole file with a 0 behind it, to be freed; die() where it cannot be read. *bytes may be NULL. */
char *read_file(const char *path, size_t *bytes);

/* Seconds of a clock that only goes on. */
double seconds(void);

#endif
