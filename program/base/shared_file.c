/* SPDX-License-Identifier: Apache-2.0 */
/* Drafts that are renamed, and locks in a file beside the one that they guard: PATH.lock, which is there while one
 * holds it or waits for it. (The file itself is another one after every write.) */
#include "program/base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/base/messages.h"

int file_finish(FILE *out, const char *path) {
    const bool broken = ferror(out); /* since when, and why, is no longer known; a byte more fails the same way */
    if (broken) {
        clearerr(out);
        putc('\n', out);
    }
    errno = EIO;
    return fclose(out) == 0 && !broken ? 0 : complain("cannot write %s: %s", path, strerror(errno));
}

int output_finish(void) {
    return file_finish(stdout, "the standard output");
}

/* ---- drafts -------------------------------------------------------------------------------------------- */

/* No other process has this number; a draft of its name was left by one that is gone. */
int draft_begin(struct draft *draft, const char *path) {
    const int bytes = snprintf(draft->name, sizeof draft->name, "%s.%ld.tmp", path, (long)getpid());
    if (bytes < 0 || (size_t)bytes >= sizeof draft->name)
        return complain("cannot write %.200s...: the path is too long", path);
    snprintf(draft->path, sizeof draft->path, "%s", path);
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* a terminal or a pipe is written to, not replaced */
        snprintf(draft->name, sizeof draft->name, "%s", path);
    draft->out = fopen(draft->name, "w");
    return draft->out ? 0 : complain("cannot write %s: %s", path, strerror(errno));
}

int draft_end(struct draft *draft) {
    if (strcmp(draft->name, draft->path) == 0)
        return file_finish(draft->out, draft->path);
    const bool written = !ferror(draft->out);
    if (fclose(draft->out) == 0 && written && rename(draft->name, draft->path) == 0)
        return 0;
    const int error = errno;
    remove(draft->name);
    return complain("cannot write %s: %s", draft->path, strerror(error));
}

void draft_drop(struct draft *draft) {
    fclose(draft->out);
    if (strcmp(draft->name, draft->path) != 0)
        remove(draft->name);
}

/* ---- locks --------------------------------------------------------------------------------------------- */

static int flock_whatever_interrupts(int file, int how) {
    int status;
    do
        status = flock(file, how);
    while (status != 0 && errno == EINTR);
    return status;
}

/* Whether the lock's file still has its name: whoever held the lock before has removed it. */
static bool has_its_name(const struct file_lock *lock) {
    struct stat ours, named;
    return fstat(lock->file, &ours) == 0 && stat(lock->name, &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

/* 0: locked, though perhaps without its name. */
static int try_lock(struct file_lock *lock, const char *path, bool *told) {
    lock->file = open(lock->name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock->file < 0)
        return complain("cannot write %s: %s", path, strerror(errno));
    int status = flock_whatever_interrupts(lock->file, LOCK_EX | LOCK_NB);
    if (status != 0 && errno == EWOULDBLOCK) {
        if (!*told)
            note("Another process is writing %s: this one waits for it.", path);
        *told = true;
        status = flock_whatever_interrupts(lock->file, LOCK_EX);
    }
    if (status == 0)
        return 0;
    const int error = errno;
    close(lock->file);
    return complain("cannot lock %s: %s", lock->name, strerror(error));
}

int file_lock(struct file_lock *lock, const char *path) {
    bool told = false;
    *lock = (struct file_lock){0};
    const int bytes = snprintf(lock->name, sizeof lock->name, "%s.lock", path);
    if (bytes < 0 || (size_t)bytes >= sizeof lock->name)
        return complain("cannot write %.200s...: the path is too long", path);
    while (!lock->held) {
        if (try_lock(lock, path, &told) != 0)
            return -1;
        lock->held = has_its_name(lock);
        if (!lock->held)
            close(lock->file);
    }
    return 0;
}

void file_unlock(struct file_lock *lock) {
    if (!lock->held)
        return;
    unlink(lock->name);
    close(lock->file);
    lock->held = false;
}
