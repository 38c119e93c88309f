/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the examples of a command's help. */
#ifndef HELP_EXAMPLES_H
#define HELP_EXAMPLES_H

/* Runs every line of `help_line`'s output that begins with two blanks and `prefix`, in an empty directory, without the
 * prefix. Asserts that each makes sense (exit code 0 or 1) and writes the files it names. Returns how many there were. */
int run_help_examples(int (*command)(int argc, char **argv), const char *help_line, const char *prefix);

#endif
