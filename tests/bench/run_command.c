/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command of the program with what it prints kept. */
#include "run_command.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/base/messages.h"

#define WORDS_MAX 40

static int split(char *line, char **words) {
    int count = 0;
    for (char *word = strtok(line, " "); word && count < WORDS_MAX; word = strtok(NULL, " ")) {
        for (char *at = word; *at; at++)
            *at = *at == '_' ? ' ' : *at;
        words[count++] = word;
    }
    return count;
}

/* Sends a stream to another file; returns what restores it. */
static int divert(FILE *stream, FILE *to) {
    fflush(stream);
    const int saved = dup(fileno(stream));
    ck_assert_int_ge(saved, 0);
    ck_assert_int_ge(dup2(fileno(to), fileno(stream)), 0);
    return saved;
}

static char *restore(FILE *stream, int saved, FILE *from) {
    fflush(stream);
    dup2(saved, fileno(stream));
    close(saved);
    fseek(from, 0, SEEK_END);
    const long length = ftell(from);
    rewind(from);
    char *text = calloc(1, (size_t)length + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)length, from), (size_t)length);
    fclose(from);
    return text;
}

struct outcome run_command(int (*command)(int argc, char **argv), const char *line) {
    char copy[2048], *words[WORDS_MAX];
    ck_assert_uint_lt(strlen(line), sizeof copy);
    strcpy(copy, line);
    const int count = split(copy, words);
    FILE *out = tmpfile(), *err = tmpfile();
    ck_assert(out && err);
    const int saved_out = divert(stdout, out), saved_err = divert(stderr, err);
    struct outcome got = {.code = command(count, words)};
    got.out = restore(stdout, saved_out, out);
    got.err = restore(stderr, saved_err, err);
    return got;
}

void forget_outcome(struct outcome *got) {
    free(got->out);
    free(got->err);
}

void expect_refusal(int (*command)(int argc, char **argv), const char *line, const char *words) {
    struct outcome got = run_command(command, line);
    ck_assert_msg(got.code == EXIT_CODE_USAGE, "%s: exit code %d", line, got.code);
    ck_assert_str_eq(got.out, "");
    ck_assert_msg(strstr(got.err, words) != NULL, "%s: \"%s\" is not in %s", line, words, got.err);
    ck_assert_ptr_eq(strchr(got.err, '\n'), got.err + strlen(got.err) - 1);
    forget_outcome(&got);
}
