/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command of the program with what it prints kept. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

struct outcome {
    int code;
    char *out, *err;
};

/* `line`: its arguments with blanks between; '_' stands for a blank within one. */
struct outcome run_command(int (*command)(int argc, char **argv), const char *line);
void forget_outcome(struct outcome *got);

/* The line makes no sense: exit code 2, one sentence that has these words, and no picture. */
void expect_refusal(int (*command)(int argc, char **argv), const char *line, const char *words);

#endif
