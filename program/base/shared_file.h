/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written to the end, or said not to be; and those that several processes may write: replaced as a
 * whole, and read and rewritten by one process at a time. */
#ifndef PROGRAM_BASE_SHARED_FILE_H
#define PROGRAM_BASE_SHARED_FILE_H

#include <stdbool.h>
#include <stdio.h>

#define SHARED_PATH_BYTES 4096

/* Closes what was written to `path`. -1 with a printed sentence when not all of it is there. */
int file_finish(FILE *out, const char *path);
int output_finish(void); /* the same of the standard output, which is closed too */

/* What a file will be, in a file of its own beside it; readers see the old file or the new one. */
struct draft {
    FILE *out;
    char path[SHARED_PATH_BYTES], name[SHARED_PATH_BYTES]; /* the same where `path` is no file, such as /dev/stdout */
};
/* Each prints a sentence and returns -1 when it cannot; then there is no draft. */
int draft_begin(struct draft *draft, const char *path);
int draft_end(struct draft *draft);   /* what was written to `out` is the file now */
void draft_drop(struct draft *draft); /* the file stays what it was */

/* Held by one process at a time, from before it reads the file until it has written it. All zero: not held. */
struct file_lock {
    bool held;
    int file;
    char name[SHARED_PATH_BYTES];
};
/* Waits, with a note, while another process holds it. -1 with a printed sentence when it cannot. */
int file_lock(struct file_lock *lock, const char *path);
void file_unlock(struct file_lock *lock);

#endif
