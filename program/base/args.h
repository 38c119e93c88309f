/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options: `--name value` or `--name=value`, `-o value` for a name of one letter, and the help made from
 * the same list. */
#ifndef PROGRAM_BASE_ARGS_H
#define PROGRAM_BASE_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#define ARGS_LIST_MAX 64

struct args_list {
    const char *items[ARGS_LIST_MAX];
    size_t count;
};

enum args_kind {
    ARGS_FLAG,     /* bool */
    ARGS_TEXT,     /* const char * */
    ARGS_COUNT,    /* int, 0 or more */
    ARGS_POSITIVE, /* int, 1 or more: for what nothing comes of without any */
    ARGS_SECONDS,  /* double, 0 or more */
    ARGS_LIST      /* struct args_list: may be given more than once */
};

struct args_option {
    const char *name;  /* without the dashes */
    const char *value; /* what the help calls it; NULL for a flag */
    enum args_kind kind;
    void *target;
    const char *help;
};

struct args_command {
    const char *usage; /* "gristmill explain M N K [options]" */
    const char *about; /* a sentence or two */
    const struct args_option *options;
    size_t option_count;
};

enum args_outcome { ARGS_GO, ARGS_HELP, ARGS_WRONG };

/* Fills the targets; words that are no options go to `words`. Prints the help, or what is wrong. */
enum args_outcome args_parse(const struct args_command *command, int argc, char **argv, struct args_list *words);

/* A command line that was parsed has no option but those of `allowed`, a list of names that NULL ends. -1 with a
 * printed sentence: one of it says nothing with `mode`, which does something else. */
int args_only(const struct args_command *command, int argc, char **argv, const char *const *allowed, const char *mode);

#endif
