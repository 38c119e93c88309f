/* SPDX-License-Identifier: Apache-2.0 */
/* Other processes with a time limit: one that runs a function of this program, one that runs another program. */
#ifndef LAB_SPAWN_H
#define LAB_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

struct spawned {
    bool started;   /* false: there was no process; the sentence is printed */
    bool timed_out; /* it was killed, with all that it had started */
    int signal;     /* that ended it; 0: none */
    int code;       /* its exit code; -1 when it did not exit by itself */
};

/* Runs `work(what)` in a child of its own process group; its return value is the exit code, EXIT_FAILURE when
 * what it printed could not be written. */
struct spawned spawn_function(int (*work)(void *what), void *what, double seconds);

/* Runs a program, `arguments` ended by NULL, found in PATH where its name has no slash. What it writes to stdout and
 * stderr goes to *output (the caller frees it; NULL when not started). An exit code of 127: it could not be run. */
struct spawned spawn_program(char *const *arguments, double seconds, char **output);

#endif
