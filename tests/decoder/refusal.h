/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the decoder's readers share: a folder of files, and the sentence that die() ends a process with. */
#ifndef DECODER_REFUSAL_H
#define DECODER_REFUSAL_H

#include <stddef.h>

/* What run() writes to stderr in a process of its own, to be freed: "decoder: ..." without the line's end, if it ends
 * as die() does. NULL: it came back and wrote nothing. Another end stands before it: "status 3: ", "signal 11: ". */
char *sentence_of(void (*run)(const char *), const char *argument);

/* A new empty folder for files of a test, and its end with all files. There is one at a time; fixtures of Check. */
void folder_set_up(void);
void folder_tear_down(void);
const char *folder(void);
/* A file of it. The path, which the next call overwrites. */
const char *folder_file(const char *name, const void *data, size_t bytes);

#endif
