/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options. */
#include "program/base/args.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/messages.h"

/* An option of one letter has one dash. */
static const char *dashes(const struct args_option *option) {
    return option->name[1] ? "--" : "-";
}

static void print_help(const struct args_command *command) {
    printf("usage: %s\n\n%s\n\noptions:\n", command->usage, command->about);
    for (size_t i = 0; i < command->option_count; i++) {
        const struct args_option *option = &command->options[i];
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s", dashes(option), option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        printf("  %-24s %s\n", left, option->help);
    }
    printf("  %-24s %s\n", "--help", "this text");
}

static int add_to_list(struct args_list *list, const char *item) {
    if (list->count == ARGS_LIST_MAX)
        return complain("more than %d of one kind of argument", ARGS_LIST_MAX);
    list->items[list->count++] = item;
    return 0;
}

static int set_number(const struct args_option *option, const char *value) {
    const bool whole = option->kind != ARGS_SECONDS;
    const int least = option->kind == ARGS_POSITIVE;
    char *end;
    const double number = strtod(value, &end);
    if (*end || end == value || !(number >= least && number <= INT_MAX) || (whole && number != floor(number)))
        return complain("%s%s wants a %snumber from %d to %d, not `%s`", dashes(option), option->name,
                        whole ? "whole " : "", least, INT_MAX, value);
    if (whole)
        *(int *)option->target = (int)number;
    else
        *(double *)option->target = number;
    return 0;
}

static int set_option(const struct args_option *option, const char *value) {
    switch (option->kind) {
    case ARGS_FLAG:
        *(bool *)option->target = true;
        return 0;
    case ARGS_TEXT:
        *(const char **)option->target = value;
        return 0;
    case ARGS_LIST:
        return add_to_list(option->target, value);
    case ARGS_COUNT:
    case ARGS_POSITIVE:
    case ARGS_SECONDS:
        return set_number(option, value);
    }
    return -1;
}

static const struct args_option *find_option(const struct args_command *command, const char *name, size_t length) {
    for (size_t i = 0; i < command->option_count; i++) {
        const struct args_option *option = &command->options[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

/* Length of "gristmill lab run" in a usage line: its words up to the first that stands for something. */
static int command_words(const char *usage) {
    size_t length = strcspn(usage, " ");
    while (islower((unsigned char)usage[length + (usage[length] == ' ')]))
        length += 1 + strcspn(usage + length + 1, " ");
    return (int)length;
}

static bool is_option(const struct args_command *command, const char *word) {
    return strncmp(word, "--", 2) == 0 || (word[0] == '-' && find_option(command, word + 1, 1) && !word[2]);
}

/* The option that a word "--...", "--...=value" or "-o" names; NULL: there is none. */
static const struct args_option *named(const struct args_command *command, const char *word, const char **value) {
    const char *name = word + (word[1] == '-' ? 2 : 1);
    const size_t length = strcspn(name, "=");
    *value = name[length] ? name + length + 1 : NULL;
    return find_option(command, name, length);
}

/* argv[*at] is an option: consumes its value too where it has one. */
static int take_option(const struct args_command *command, int argc, char **argv, int *at) {
    const char *value;
    const struct args_option *option = named(command, argv[*at], &value);
    if (!option)
        return complain("there is no option %.*s; `%.*s --help` lists them", (int)strcspn(argv[*at], "="), argv[*at],
                        command_words(command->usage), command->usage);
    if (option->kind == ARGS_FLAG && value)
        return complain("--%s takes no value", option->name);
    if (option->kind != ARGS_FLAG && !value) {
        if (*at + 1 >= argc)
            return complain("%s%s wants a value: %s", dashes(option), option->name, option->value);
        value = argv[++*at];
    }
    return set_option(option, value);
}

enum args_outcome args_parse(const struct args_command *command, int argc, char **argv, struct args_list *words) {
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(command);
            return ARGS_HELP;
        }
    }
    for (int i = 0; i < argc; i++) {
        int status;
        if (is_option(command, argv[i]))
            status = take_option(command, argc, argv, &i);
        else if (argv[i][0] == '-' && argv[i][1])
            status = complain("there is no option %s; options begin with two dashes", argv[i]);
        else
            status = add_to_list(words, argv[i]);
        if (status != 0)
            return ARGS_WRONG;
    }
    return ARGS_GO;
}

int args_only(const struct args_command *command, int argc, char **argv, const char *const *allowed, const char *mode) {
    for (int i = 0; i < argc; i++) {
        const char *value;
        const struct args_option *option = is_option(command, argv[i]) ? named(command, argv[i], &value) : NULL;
        if (!option)
            continue;
        size_t at = 0;
        while (allowed[at] && strcmp(allowed[at], option->name) != 0)
            at++;
        if (!allowed[at])
            return complain("%s%s says nothing with %s", dashes(option), option->name, mode);
        i += option->kind != ARGS_FLAG && !value;
    }
    return 0;
}
