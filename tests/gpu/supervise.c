/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests in a child process, so that a kernel that hangs or faults costs one test and not the run: the
 * parent notes which test and case it was, ends the child, and starts another at the next test. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_tests.h"

/* A fault costs a second, a hang the whole timeout. */
enum { MOST_CHILDREN = 200, MOST_HANGS = 6 };

enum kind { DEVICE, NO_DEVICE, BEGIN, BEAT, END };

struct message {
    enum kind kind;
    size_t index;
    struct result result;
    char text[320];
};

static int report_fd = -1;

static void send_message(const struct message *message) {
    if (report_fd >= 0 && write(report_fd, message, sizeof *message) != (ssize_t)sizeof *message)
        _exit(2);
}

void heartbeat(const char *what) {
    struct message message = {.kind = BEAT};
    snprintf(message.text, sizeof message.text, "%s", what);
    send_message(&message);
}

/* After a fault the context is lost and every later call fails: leave, so that a fresh process goes on. */
static bool context_lost(void) {
    return env.drv->cuCtxSynchronize() != CUDA_SUCCESS;
}

static void child(const struct test *tests, size_t first, size_t count) {
    struct message message = {.kind = open_device() ? DEVICE : NO_DEVICE};
    snprintf(message.text, sizeof message.text, "%s", env.why);
    if (message.kind == DEVICE)
        snprintf(message.text, sizeof message.text, "%s (%d.%d, %d SMs), driver %d", env.device.name,
                 env.device.cc_major, env.device.cc_minor, env.device.sm_count, env.device.driver_version);
    send_message(&message);
    for (size_t i = first; i < count && message.kind != NO_DEVICE; i++) {
        message = (struct message){.kind = BEGIN, .index = i};
        send_message(&message);
        run_test(&tests[i], &message.result);
        message.kind = END;
        send_message(&message);
        if (message.result.state == FAILED && context_lost())
            _exit(3);
    }
}

struct progress {
    size_t next; /* the test that runs or comes next */
    bool running, no_device;
    char what[320]; /* the case that runs, or the device, or why there is none */
    int totals[STATES], children, hangs;
};

static void note_end(struct progress *p, const struct test *test, const struct result *result) {
    print_result(test, result);
    p->totals[result->state]++;
    p->next++;
    p->running = false;
}

static void receive(struct progress *p, const struct test *tests, const struct message *message) {
    if (message->kind == BEGIN)
        p->running = true;
    if (message->kind == END)
        note_end(p, &tests[message->index], &message->result);
    else
        memcpy(p->what, message->text, sizeof p->what);
    p->no_device = p->no_device || message->kind == NO_DEVICE;
    if (message->kind == DEVICE && p->children == 1 && !opt.silent)
        printf("device: %s\n", message->text);
}

/* Reads messages until the child ends or is silent for too long; true when it was silent. */
static bool follow(struct progress *p, const struct test *tests, int fd) {
    struct message message;
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    for (;;) {
        const int ready = poll(&poll_fd, 1, opt.timeout_seconds * 1000);
        if (ready == 0)
            return true;
        if (read(fd, &message, sizeof message) != (ssize_t)sizeof message)
            return false;
        receive(p, tests, &message);
    }
}

static void note_death(struct progress *p, const struct test *test, bool hung, int status) {
    struct result result = {.state = FAILED};
    if (!opt.silent)
        printf("    %s\n", p->what[0] ? p->what : "before the first case");
    if (hung)
        snprintf(result.note, sizeof result.note, "hung: no progress for %d s", opt.timeout_seconds);
    else if (WIFSIGNALED(status))
        snprintf(result.note, sizeof result.note, "died of signal %d", WTERMSIG(status));
    else
        snprintf(result.note, sizeof result.note, "the process ended with status %d", WEXITSTATUS(status));
    note_end(p, test, &result);
}

static void run_child(struct progress *p, const struct test *tests, size_t count) {
    int fds[2];
    fflush(stdout);
    if (pipe(fds) != 0)
        exit(2);
    p->children++;
    const pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        report_fd = fds[1];
        child(tests, p->next, count);
        fflush(stdout);
        _exit(0);
    }
    close(fds[1]);
    const bool hung = pid < 0 || follow(p, tests, fds[0]);
    close(fds[0]);
    int status = 0;
    if (pid > 0) {
        if (hung)
            kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    p->hangs += hung;
    if (p->running || (hung && p->next < count))
        note_death(p, &tests[p->next], hung, status);
}

static void note_rest(struct progress *p, const struct test *tests, size_t count, enum state state, const char *why) {
    while (p->next < count) {
        struct result result = {.state = state};
        snprintf(result.note, sizeof result.note, "%s", why);
        note_end(p, &tests[p->next], &result);
    }
}

/* Without children: for debuggers and compute-sanitizer. */
static void run_here(struct progress *p, const struct test *tests, size_t count) {
    p->no_device = !open_device();
    snprintf(p->what, sizeof p->what, "%s", env.why);
    while (p->next < count && !p->no_device) {
        struct result result;
        run_test(&tests[p->next], &result);
        note_end(p, &tests[p->next], &result);
    }
}

int supervise(const struct test *tests, size_t count, int totals[STATES]) {
    struct progress p = {0};
    if (opt.no_fork)
        run_here(&p, tests, count);
    while (p.next < count && !p.no_device && p.children < MOST_CHILDREN && p.hangs < MOST_HANGS)
        run_child(&p, tests, count);
    if (p.no_device) {
        printf("no GPU: %s\n", p.what);
        note_rest(&p, tests, count, SKIPPED, "no device");
    }
    note_rest(&p, tests, count, FAILED, "not run: too many tests before it hung or faulted");
    memcpy(totals, p.totals, sizeof p.totals);
    if (!opt.silent)
        printf("%d passed, %d failed, %d skipped, %d illegal\n", p.totals[PASSED], p.totals[FAILED], p.totals[SKIPPED],
               p.totals[ILLEGAL]);
    if (p.totals[FAILED] || count == 0)
        return 1;
    return p.no_device || p.totals[PASSED] ? 0 : 1;
}
