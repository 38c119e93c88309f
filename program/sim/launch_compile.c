/* SPDX-License-Identifier: Apache-2.0 */
/* PTX from a file, or from nvcc. */
#include "program/sim/launch_compile.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/base/messages.h"
#include "program/base/whole_file.h"
#include "program/sim/launch_elements.h"

enum { FLAGS_MAX = 64, PATH_BYTES = 4096 };

extern char **environ;

static bool ends_in(const char *text, const char *end) {
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* What kernels for the device are compiled for. */
static const char *architecture_of(const char *device) {
    return strcmp(device, "a100") == 0 ? "80" : strcmp(device, "rtx4090") == 0 ? "89" : "90a";
}

const char *launch_cuda_home(void) {
    const char *home = getenv("CUDA_HOME");
    return home && *home ? home : NULL;
}

/* ---- nvcc -------------------------------------------------------------------------------------------------------- */

static bool runs(const char *path) {
    return access(path, X_OK) == 0;
}

/* nvcc in CUDA_HOME, if that is set; else in PATH, else where CUDA is installed by default. */
static bool find_nvcc(char path[PATH_BYTES]) {
    if (launch_cuda_home()) {
        snprintf(path, PATH_BYTES, "%s/bin/nvcc", launch_cuda_home());
        return runs(path);
    }
    for (const char *at = getenv("PATH"); at && *at;) {
        const size_t length = strcspn(at, ":");
        snprintf(path, PATH_BYTES, "%.*s/nvcc", (int)length, at);
        if (length && runs(path))
            return true;
        at += length + (at[length] == ':');
    }
    snprintf(path, PATH_BYTES, "/usr/local/cuda/bin/nvcc");
    return runs(path);
}

/* 0: the program ended with 0. */
static int run(const char *program, char **words) {
    pid_t child;
    int status = -1;
    fflush(stdout);
    if (posix_spawn(&child, program, NULL, NULL, words, environ) != 0)
        return complain("cannot run %s", program);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

bool launch_is_compiled(const char *path) {
    return ends_in(path, ".cu");
}

int launch_temporary(char *path, size_t bytes) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, bytes, "%s/gristmill-XXXXXX.ptx", folder && *folder ? folder : "/tmp");
    const int file = mkstemps(path, 4);
    return file >= 0 ? file : complain("cannot make a file like %s: %s", path, strerror(errno));
}

/* nvcc writes to a file of its own, which is read and removed. */
static char *compile(const char *nvcc, const char *path, const char *architecture, char *const *flags) {
    char ptx[PATH_BYTES], arch[32];
    char *words[FLAGS_MAX + 8] = {(char *)nvcc, (char *)"-ptx", (char *)"-lineinfo", arch, (char *)"-o", ptx};
    size_t count = 6, bytes;
    snprintf(arch, sizeof arch, "-arch=sm_%s", architecture);
    const int file = launch_temporary(ptx, sizeof ptx);
    if (file < 0)
        return NULL;
    close(file);
    for (; *flags; flags++)
        words[count++] = *flags;
    words[count] = (char *)path;
    char *text = NULL;
    if (run(nvcc, words) == 0)
        text = file_read_or_complain(ptx, &bytes);
    else
        complain("%s could not compile %s", nvcc, path);
    unlink(ptx);
    return text;
}

/* ---- which way --------------------------------------------------------------------------------------------------- */

/* Cuts `text` at its blanks into flags, NULL behind the last. False: too many. */
static bool split_flags(char *text, char *flags[FLAGS_MAX]) {
    int count = 0;
    char *rest = NULL;
    for (char *word = text ? strtok_r(text, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
        if (count == FLAGS_MAX - 1)
            return false;
        flags[count++] = word;
    }
    flags[count] = NULL;
    return true;
}

static char *compile_somehow(const char *path, const char *architecture, char *const *flags) {
    char nvcc[PATH_BYTES];
    int found;
    if (find_nvcc(nvcc))
        return compile(nvcc, path, architecture, flags);
    char *text = launch_nvrtc(path, architecture, flags, &found);
    if (!found)
        complain(
            "there is no nvcc (in CUDA_HOME, PATH, /usr/local/cuda) and no NVRTC to compile %s with; where there is "
            "one, `nvcc -ptx -lineinfo -arch=sm_%s %s` makes a .ptx file, which needs neither",
            path, architecture, path);
    return text;
}

char *launch_ptx(const char *path, const char *device, const char *flags) {
    char *words[FLAGS_MAX], *copy = flags ? strdup(flags) : NULL, *text = NULL;
    size_t bytes;
    if (!launch_is_compiled(path))
        return file_read_or_complain(path, &bytes);
    if (access(path, R_OK) != 0)
        complain("cannot read %s: %s", path, strerror(errno));
    else if ((flags && !copy) || !split_flags(copy, words))
        complain("--flags has more than %d words", FLAGS_MAX - 1);
    else
        text = compile_somehow(path, architecture_of(device), words);
    free(copy);
    return text;
}
