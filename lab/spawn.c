/* SPDX-License-Identifier: Apache-2.0 */
/* Other processes with a time limit. */
#include "lab/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/measure/gpu.h"
#include "program/base/messages.h"
#include "program/base/shared_file.h"

#define CANNOT_RUN          127
#define TERMINATION_SECONDS 1.0

/* ---- waiting -------------------------------------------------------------------------------------- */

static volatile sig_atomic_t child_group; /* the one that Ctrl-C is passed on to */

/* The child has a process group of its own, which the terminal's Ctrl-C does not reach. */
static void pass_on(int signal_number) {
    if (child_group)
        kill(-(pid_t)child_group, SIGTERM);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

struct handlers {
    struct sigaction interrupt, terminate;
};

static struct handlers guard(pid_t group) {
    struct handlers old;
    struct sigaction action = {.sa_handler = pass_on};
    child_group = group;
    sigaction(SIGINT, &action, &old.interrupt);
    sigaction(SIGTERM, &action, &old.terminate);
    return old;
}

static void unguard(const struct handlers *old) {
    sigaction(SIGINT, &old->interrupt, NULL);
    sigaction(SIGTERM, &old->terminate, NULL);
    child_group = 0;
}

static struct spawned outcome(int status, bool timed_out) {
    struct spawned spawned = {.started = true, .timed_out = timed_out, .code = -1};
    if (WIFEXITED(status))
        spawned.code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        spawned.signal = WTERMSIG(status);
    return spawned;
}

static pid_t wait_for(pid_t pid, int *status, double deadline) {
    const struct timespec pause = {.tv_nsec = 2000000};
    pid_t ended;
    while ((ended = waitpid(pid, status, WNOHANG)) == 0 && gpu_seconds() < deadline)
        nanosleep(&pause, NULL);
    return ended;
}

/* The child's end. When the time is up it is asked to end, which it passes on to what it has started, then made to. */
static struct spawned wait_until(pid_t pid, double deadline) {
    int status = 0;
    bool timed_out = wait_for(pid, &status, deadline) == 0;
    if (timed_out) {
        kill(-pid, SIGTERM);
        if (wait_for(pid, &status, gpu_seconds() + TERMINATION_SECONDS) == 0) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
        }
    }
    kill(-pid, SIGKILL); /* what is left of its group */
    return outcome(status, timed_out);
}

/* ---- starting ------------------------------------------------------------------------------------- */

/* fork(), the child in its own process group, which ends with this process. -1 with a printed sentence. */
static pid_t start(void) {
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        complain("cannot start a process: %s", strerror(errno));
    } else if (pid == 0) {
        setpgid(0, 0);
        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(CANNOT_RUN);
    } else {
        setpgid(pid, pid); /* here as well: whichever of the two comes first */
    }
    return pid;
}

struct spawned spawn_function(int (*work)(void *what), void *what, double seconds) {
    double deadline = gpu_seconds() + seconds;
    pid_t pid = start();
    if (pid < 0)
        return (struct spawned){.code = -1};
    if (pid == 0) {
        int code = work(what);
        fflush(NULL);
        _exit(output_finish() == 0 ? code : EXIT_FAILURE);
    }
    struct handlers old = guard(pid);
    struct spawned spawned = wait_until(pid, deadline);
    unguard(&old);
    return spawned;
}

/* ---- another program ------------------------------------------------------------------------------ */

static _Noreturn void become(char *const *arguments, const int *pipe_ends) {
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(nothing);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    execvp(arguments[0], arguments);
    fprintf(stderr, "%s: %s\n", arguments[0], strerror(errno));
    fflush(stderr);
    _exit(CANNOT_RUN);
}

/* Reads to the end of the pipe, or until the time is up. NULL: out of memory. */
static char *read_pipe(int from, double deadline) {
    size_t used = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    while (text) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        double left = deadline - gpu_seconds();
        if (left <= 0 || poll(&ready, 1, (int)(left * 1e3) + 1) == 0)
            break;
        ssize_t got = read(from, text + used, capacity - used - 1);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        used += got > 0 ? (size_t)got : 0;
        if (capacity - used < 4096) {
            char *more = realloc(text, capacity *= 2);
            if (!more)
                free(text);
            text = more;
        }
    }
    if (text)
        text[used] = 0;
    return text;
}

struct spawned spawn_program(char *const *arguments, double seconds, char **output) {
    double deadline = gpu_seconds() + seconds;
    int pipe_ends[2];
    *output = NULL;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        complain("cannot make a pipe: %s", strerror(errno));
        return (struct spawned){.code = -1};
    }
    pid_t pid = start();
    if (pid == 0)
        become(arguments, pipe_ends);
    close(pipe_ends[1]);
    struct spawned spawned = {.code = -1};
    if (pid > 0) {
        struct handlers old = guard(pid);
        *output = read_pipe(pipe_ends[0], deadline);
        spawned = wait_until(pid, deadline);
        unguard(&old);
    }
    close(pipe_ends[0]);
    return spawned;
}
