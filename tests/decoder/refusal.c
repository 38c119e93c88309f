/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SENTENCE_BYTES 4096

/* ---- a sentence --------------------------------------------------------------------------------------- */

static _Noreturn void child(int file, void (*run)(const char *), const char *argument) {
    dup2(file, STDERR_FILENO);
    close(file);
    run(argument);
    fflush(stderr);
    _exit(0);
}

/* What comes out of the pipe, as much as fits. */
static size_t drain(int file, char *text, size_t bytes) {
    size_t used = 0;
    ssize_t got = 1;
    while (used < bytes && (got > 0 || (got < 0 && errno == EINTR))) {
        got = read(file, text + used, bytes - used);
        used += got > 0 ? (size_t)got : 0;
    }
    return used;
}

static int status_of(pid_t process) {
    int status = -1;
    pid_t ended;
    do
        ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    ck_assert(ended == process);
    return status;
}

char *sentence_of(void (*run)(const char *), const char *argument) {
    int ends[2];
    char text[SENTENCE_BYTES], before[32] = "";
    fflush(NULL); /* or the child writes once more what waits */
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t process = fork();
    ck_assert_int_ge(process, 0);
    if (process == 0)
        child(ends[1], run, argument);
    close(ends[1]);
    size_t used = drain(ends[0], text, sizeof text - 1);
    close(ends[0]);
    used -= used > 0 && text[used - 1] == '\n';
    text[used] = 0;
    const int status = status_of(process), is_refusal = strncmp(text, "decoder: ", 9) == 0;
    if (WIFSIGNALED(status))
        snprintf(before, sizeof before, "signal %d: ", WTERMSIG(status));
    else if (WEXITSTATUS(status) != is_refusal || (used && !is_refusal))
        snprintf(before, sizeof before, "status %d: ", WEXITSTATUS(status));
    if (!used && !before[0])
        return NULL;
    char *sentence = malloc(sizeof before + used + 1);
    ck_assert_ptr_nonnull(sentence);
    snprintf(sentence, sizeof before + used + 1, "%s%s", before, text);
    return sentence;
}

/* ---- a folder ----------------------------------------------------------------------------------------- */

static char folder_path[200], file_path[600];

const char *folder(void) {
    return folder_path;
}

void folder_set_up(void) {
    const char *root = getenv("TMPDIR");
    snprintf(folder_path, sizeof folder_path, "%.150s/decoder_XXXXXX", root && *root ? root : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder_path));
}

void folder_tear_down(void) {
    DIR *files = opendir(folder_path);
    ck_assert_ptr_nonnull(files);
    for (const struct dirent *entry; (entry = readdir(files));) {
        snprintf(file_path, sizeof file_path, "%s/%s", folder_path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ck_assert_int_eq(remove(file_path), 0);
    }
    closedir(files);
    ck_assert_int_eq(rmdir(folder_path), 0);
}

const char *folder_file(const char *name, const void *data, size_t bytes) {
    snprintf(file_path, sizeof file_path, "%s/%s", folder_path, name);
    FILE *file = fopen(file_path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert(fwrite(data, 1, bytes, file) == bytes);
    ck_assert_int_eq(fclose(file), 0);
    return file_path;
}
