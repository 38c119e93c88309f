/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the examples of a command's help. */
#include "help_examples.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_command.h"

/* The file after --svg or --html is there and no longer needed. */
static void take_file(const char *line, const char *option) {
    const char *at = strstr(line, option);
    char path[64];
    if (!at)
        return;
    ck_assert_int_eq(sscanf(at + strlen(option), " %63s", path), 1);
    ck_assert_msg(unlink(path) == 0, "%s wrote no %s", line, path);
}

int run_help_examples(int (*command)(int argc, char **argv), const char *help_line, const char *prefix) {
    char directory[] = "/tmp/examples-XXXXXX", start[64], line[512];
    struct outcome help = run_command(command, help_line);
    const int before = open(".", O_RDONLY | O_DIRECTORY);
    int examples = 0;
    ck_assert_int_ge(before, 0);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    snprintf(start, sizeof start, "\n  %s ", prefix);
    for (const char *at = help.out; (at = strstr(at, start)) != NULL; examples++) {
        at += strlen(start);
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        struct outcome got = run_command(command, line);
        ck_assert_msg(got.code == 0 || got.code == 1, "%s: exit code %d: %s", line, got.code, got.err);
        ck_assert_str_eq(got.err, "");
        take_file(line, "--svg");
        take_file(line, "--html");
        forget_outcome(&got);
    }
    ck_assert_int_eq(fchdir(before), 0);
    ck_assert_int_eq(rmdir(directory), 0);
    close(before);
    forget_outcome(&help);
    return examples;
}
