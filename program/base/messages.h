/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says on stderr: failures, notes, and a progress bar when it is a terminal. */
#ifndef PROGRAM_BASE_MESSAGES_H
#define PROGRAM_BASE_MESSAGES_H

#include <stddef.h>

enum exit_code { EXIT_CODE_OK = 0, EXIT_CODE_FAILURE = 1, EXIT_CODE_USAGE = 2 };

/* Prints "gristmill: <sentence>"; returns -1, so that `return complain(...)` reads well. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line that is drawn over; nothing at all when stderr is no terminal or after progress_silence(). */
void progress_show(size_t done, size_t total, const char *label);
void progress_clear(void);
void progress_silence(void);

#endif
