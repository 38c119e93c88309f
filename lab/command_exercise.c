/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab exercise: lists them, asks one, judges an answer. */
#include "lab/command_exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/exercises.h"
#include "program/base/args.h"
#include "program/base/text_table.h"
#include "program/base/messages.h"

static const char about[] =
    "The exercises of the course, five a page: without a number a list, with one the question, and with an answer\n"
    "whether it is right. An answer is a number, or an address of each lane: an expression in `lane`, in quotes. The\n"
    "model of shared memory works out what is right; no GPU is needed.\n\n"
    "examples:\n"
    "  gristmill lab exercise\n"
    "  gristmill lab exercise 2\n"
    "  gristmill lab exercise 2 4\n"
    "  gristmill lab exercise 10";

/* A line of the list: as much of the question as fits. */
enum { LIST_COLUMNS = 90 };

static int print_list(void) {
    struct text_table table;
    text_table_start(&table, ">|<page|<question");
    for (size_t i = 0; i < exercise_count; i++) {
        const char *question = exercises[i].question;
        const int is_long = strlen(question) > LIST_COLUMNS;
        text_table_add(&table, "%zu|%s|%.*s%s", i + 1, exercises[i].page, LIST_COLUMNS, question,
                       is_long ? " ..." : "");
    }
    text_table_print(&table, stdout);
    text_table_free(&table);
    return EXIT_CODE_OK;
}

static int ask(size_t number, const struct exercise *exercise) {
    printf("%zu, of docs/course/%s.md\n\n%s\n\nYour answer: gristmill lab exercise %zu %s\n", number, exercise->page,
           exercise->question, number, exercise->accepts ? "'EXPRESSION'" : "NUMBER");
    return EXIT_CODE_OK;
}

static int judge(const struct exercise *exercise, const char *answer) {
    const int verdict = exercise_judge(exercise, answer);
    if (verdict < 0)
        return EXIT_CODE_USAGE;
    printf(verdict ? "right: %s\n" : "no. %s\n", verdict ? exercise->because : exercise->hint);
    return verdict ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

/* NULL with a printed sentence: there is none of that number. */
static const struct exercise *numbered(const char *word, size_t *number) {
    char *end = NULL;
    const long value = strtol(word, &end, 10);
    if (end != word && *end == '\0' && value >= 1 && (size_t)value <= exercise_count) {
        *number = (size_t)value;
        return &exercises[value - 1];
    }
    complain("there is no exercise `%s`; they are 1 to %zu", word, exercise_count);
    return NULL;
}

int lab_exercise(int argc, char **argv) {
    const struct args_command command = {"gristmill lab exercise [N [ANSWER]]", about, NULL, 0};
    struct args_list words = {0};
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    size_t number = 0;
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (words.count == 0)
        return print_list();
    if (words.count > 2) {
        complain("an answer is one word: put it into quotes");
        return EXIT_CODE_USAGE;
    }
    const struct exercise *exercise = numbered(words.items[0], &number);
    if (!exercise)
        return EXIT_CODE_USAGE;
    return words.count == 1 ? ask(number, exercise) : judge(exercise, words.items[1]);
}
