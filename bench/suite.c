/* SPDX-License-Identifier: Apache-2.0 */
/* The problems to measure: suite files, --shape arguments, and what options say instead of them. */
#include "bench/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/types.h"
#include "program/base/messages.h"

#define BLANKS " \t\r\n"

/* ---- a line ----------------------------------------------------------------------------------------- */

/* A word of a line. */
struct word {
    const char *text;
    size_t bytes;
};

/* The next word; none at the end of the line, or where a comment begins. */
static struct word next_word(const char **at) {
    *at += strspn(*at, BLANKS);
    const struct word word = {*at, **at == '#' ? 0 : strcspn(*at, BLANKS)};
    *at += word.bytes;
    return word;
}

/* "gemm a b d layout M N K" */
static const char *line_of(const struct gm_operation *operation, char text[CASE_TEXT_BYTES]) {
    size_t used = (size_t)snprintf(text, CASE_TEXT_BYTES, "%s", operation->name);
    for (int i = 0; i < operation->field_count && used < CASE_TEXT_BYTES; i++) {
        const struct gm_field *field = &operation->fields[i];
        char title[GM_FIELD_TEXT_BYTES];
        if (field->uses & GM_IN_SUITES)
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, " %s",
                                     field->kind == GM_FIELD_SIZE ? field_title(field, title) : field->name);
    }
    return text;
}

static int64_t least_of(const struct gm_field *field) {
    return field->uses & GM_MAY_BE_0 ? 0 : 1;
}

/* "one of bf16, fp16", or "a size from 1 to 2147483647". */
static void print_values(const struct gm_field *field, char *text, size_t bytes) {
    static const char *const sizes[] = {"a size from 0 to 2147483647", "a size from 1 to 2147483647"};
    size_t used = (size_t)snprintf(text, bytes, "%s",
                                   field->kind == GM_FIELD_SIZE   ? sizes[least_of(field)]
                                   : field->kind == GM_FIELD_REAL ? "a decimal number"
                                                                  : "one of");
    const char *comma = " ";
    for (int type = 0; field->kind == GM_FIELD_TYPE && type < GM_TYPE_COUNT && used < bytes; type++)
        if (field->types & GM_TYPE_SET(type)) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", comma, gm_type_name((enum gm_type)type));
            comma = ", ";
        }
    for (int i = 0; field->kind == GM_FIELD_WORD && field->words[i] && used < bytes; i++) {
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", comma, field->words[i]);
        comma = ", ";
    }
}

enum set { SET, NOT_TAKEN, NO_VALUE };

/* The word as the field's value of the problem. NOT_TAKEN: it is one that no kernel takes, such as a type. */
static enum set set_field(const struct gm_field *field, void *problem, struct word word) {
    int64_t value;
    if (!gm_field_parse(field, word.text, word.bytes, &value))
        return field->kind == GM_FIELD_TYPE && gm_type_named(word.text, word.bytes) >= 0 ? NOT_TAKEN : NO_VALUE;
    if (field->kind == GM_FIELD_SIZE && value < least_of(field))
        return NO_VALUE;
    return gm_field_set(field, problem, value) ? SET : NOT_TAKEN;
}

/* "M is 0, not a size from 1 to 2147483647" */
static void refuse_value(const struct gm_field *field, struct word word, char *error, size_t error_bytes) {
    char title[GM_FIELD_TEXT_BYTES], values[128];
    print_values(field, values, sizeof values);
    snprintf(error, error_bytes, "%s is %.*s, not %s",
             field->kind == GM_FIELD_SIZE ? field_title(field, title) : field->name, (int)word.bytes, word.text,
             values);
}

/* The option that a NAME=VALUE of so many bytes of name is about; -1 with a sentence: there is none. */
static int option_of(const struct gm_operation *operation, struct word pair, size_t bytes, char *error,
                     size_t error_bytes) {
    char name[GM_FIELD_TEXT_BYTES], text[CASE_TEXT_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)bytes, pair.text);
    const int index = bytes < sizeof name ? gm_field_named(operation, name) : -1;
    if (bytes == pair.bytes)
        snprintf(error, error_bytes, "a line of %s is `%s`, and NAME=VALUE for options behind it, not `%.*s`",
                 operation->name, line_of(operation, text), (int)pair.bytes, pair.text);
    else if (index >= 0 && operation->fields[index].uses & GM_IN_OPTIONS)
        return index;
    else
        snprintf(error, error_bytes, "%s has no option %s; `gristmill explain %s --help` lists them", operation->name,
                 name, operation->name);
    return -1;
}

/* One NAME=VALUE behind a line's fields; `said` has a bit for each field that was set so. */
static enum set read_option(struct word pair, struct bench_case *out, uint64_t *said, char *error, size_t error_bytes) {
    const char *equals = memchr(pair.text, '=', pair.bytes);
    const size_t bytes = equals ? (size_t)(equals - pair.text) : pair.bytes;
    const struct word value = {pair.text + bytes + 1, pair.bytes - bytes - (equals != NULL)};
    const int index = option_of(out->operation->operation, pair, bytes, error, error_bytes);
    if (index < 0)
        return NO_VALUE;
    const struct gm_field *field = &out->operation->operation->fields[index];
    if (*said >> index & 1) {
        snprintf(error, error_bytes, "%s is said twice", field->name);
        return NO_VALUE;
    }
    *said |= UINT64_C(1) << index;
    const enum set set = set_field(field, out->problem.bytes, value);
    if (set == NO_VALUE)
        refuse_value(field, value, error, error_bytes);
    return set;
}

/* The rest of a line. 1: all is read, 2: and known but not taken. */
static int read_options(const char *at, struct bench_case *out, char *error, size_t error_bytes) {
    uint64_t said = 0;
    bool taken = true;
    for (struct word pair = next_word(&at); pair.bytes; pair = next_word(&at)) {
        const enum set set = read_option(pair, out, &said, error, error_bytes);
        if (set == NO_VALUE)
            return -1;
        taken &= set == SET;
    }
    return taken ? 1 : 2;
}

/* 1: all fields are read, 2: and known but not taken. */
static int read_fields(const char *at, struct bench_case *out, char *error, size_t error_bytes) {
    const struct gm_operation *operation = out->operation->operation;
    bool taken = true;
    char text[CASE_TEXT_BYTES];
    for (int i = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        if (!(field->uses & GM_IN_SUITES))
            continue;
        const struct word word = next_word(&at);
        const enum set set = word.bytes ? set_field(field, out->problem.bytes, word) : NO_VALUE;
        if (word.bytes == 0)
            snprintf(error, error_bytes, "a line of %s is `%s`", operation->name, line_of(operation, text));
        else if (set == NO_VALUE)
            refuse_value(field, word, error, error_bytes);
        if (set == NO_VALUE)
            return -1;
        taken &= set == SET;
    }
    const int read = read_options(at, out, error, error_bytes);
    return taken || read < 0 ? read : 2;
}

int suite_parse_line(const char *line, struct bench_case *out, char *error, size_t error_bytes) {
    const char *at = line;
    char name[24], names[BENCH_NAMES_BYTES];
    const struct word word = next_word(&at);
    *out = (struct bench_case){0};
    if (word.bytes == 0)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)word.bytes, word.text);
    const struct bench_operation *operation = bench_operation_named(name);
    if (!operation) {
        snprintf(error, error_bytes, "operation %s is none of %s", name, bench_operation_names(names));
        return -1;
    }
    case_start(out, operation);
    const int read = read_fields(at, out, error, error_bytes);
    if (read == 2)
        snprintf(out->untaken, sizeof out->untaken, "%.*s", (int)strcspn(word.text, "\r\n#"), word.text);
    return read < 0 ? -1 : 1;
}

/* ---- files ------------------------------------------------------------------------------------------ */

int suite_add(struct bench_suite *suite, const struct bench_case *add) {
    if (suite->count == suite->capacity) {
        size_t capacity = suite->capacity ? suite->capacity * 2 : 64;
        struct bench_case *cases = realloc(suite->cases, capacity * sizeof *cases);
        if (!cases)
            return complain("out of host memory");
        suite->cases = cases;
        suite->capacity = capacity;
    }
    suite->cases[suite->count++] = *add;
    return 0;
}

void suite_free(struct bench_suite *suite) {
    free(suite->cases);
    *suite = (struct bench_suite){0};
}

static FILE *open_suite(const char *name, char *path, size_t path_bytes) {
    static const char *const patterns[] = {"%s", "%s.txt", GM_SUITE_DIR "/%s", GM_SUITE_DIR "/%s.txt",
                                           "bench/suites/%s.txt"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *hole = strstr(patterns[i], "%s");
        snprintf(path, path_bytes, "%.*s%s%s", (int)(hole - patterns[i]), patterns[i], name, hole + 2);
        FILE *file = fopen(path, "r");
        if (file)
            return file;
    }
    return NULL;
}

/* "dir/gemm-quick.txt" -> "gemm-quick", joined with + to the names already there. */
static void add_name(struct bench_suite *suite, const char *path) {
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t used = strlen(suite->name);
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".txt") == 0)
        length -= 4;
    snprintf(suite->name + used, sizeof suite->name - used, "%s%.*s", used ? "+" : "", (int)length, base);
}

/* Some editors put a byte order mark before UTF-8, which says nothing. */
static const char *without_mark(const char *line) {
    return strncmp(line, "\xef\xbb\xbf", 3) == 0 ? line + 3 : line;
}

static int read_lines(struct bench_suite *suite, FILE *file, const char *path) {
    char line[512], error[256];
    int status = 0;
    for (int number = 1; status == 0 && fgets(line, sizeof line, file); number++) {
        struct bench_case parsed;
        if (!strchr(line, '\n') && !feof(file))
            return complain("%s:%d: a line has at most %zu characters", path, number, sizeof line - 2);
        int kind = suite_parse_line(number == 1 ? without_mark(line) : line, &parsed, error, sizeof error);
        if (kind < 0)
            status = complain("%s:%d: %s", path, number, error);
        else if (kind > 0)
            status = suite_add(suite, &parsed);
    }
    return status == 0 && ferror(file) ? complain("cannot read %s: %s", path, strerror(errno)) : status;
}

int suite_load(struct bench_suite *suite, const char *name) {
    char path[4096], text[CASE_TEXT_BYTES];
    const size_t before = suite->count;
    FILE *file = open_suite(name, path, sizeof path);
    if (!file)
        return complain("there is no suite %s (looked at that path and in %s)", name, GM_SUITE_DIR);
    add_name(suite, path);
    int status = read_lines(suite, file, path);
    fclose(file);
    if (status == 0 && suite->count == before)
        status = complain("%s has no problem: a line is an operation and its fields, such as `%s`", path,
                          line_of(gm_operations[0], text));
    return status;
}

/* ---- shapes and overrides ---------------------------------------------------------------------------- */

bool suite_parse_shape(const char *text, struct bench_case *problem) {
    const struct gm_operation *operation = problem->operation->operation;
    for (int i = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        if (!(field->uses & GM_IN_SUITES) || field->kind != GM_FIELD_SIZE)
            continue;
        const struct word word = {text, strcspn(text, "xX,")};
        if (set_field(field, problem->problem.bytes, word) != SET)
            return false;
        text += word.bytes;
        text += *text && text[1]; /* a separator with something behind it */
    }
    return *text == 0;
}

/* "MxNxK" */
static const char *shape_of(const struct gm_operation *operation, char text[CASE_TEXT_BYTES]) {
    size_t used = 0;
    for (int i = 0; i < operation->field_count && used < CASE_TEXT_BYTES; i++) {
        const struct gm_field *field = &operation->fields[i];
        char title[GM_FIELD_TEXT_BYTES];
        if (field->uses & GM_IN_SUITES && field->kind == GM_FIELD_SIZE)
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%s%s", used ? "x" : "",
                                     field_title(field, title));
    }
    return text;
}

int suite_add_shapes(struct bench_suite *suite, const char *operation, const char *const *shapes, size_t count) {
    const struct bench_operation *of = operation ? bench_operation_named(operation) : bench_operations[0];
    char text[CASE_TEXT_BYTES], names[BENCH_NAMES_BYTES];
    if (!of)
        return complain("--operation is one of %s, not `%s`", bench_operation_names(names), operation);
    for (size_t i = 0; i < count; i++) {
        struct bench_case problem;
        case_start(&problem, of);
        if (!suite_parse_shape(shapes[i], &problem))
            return complain("--shape wants %s, each from 1 to 2147483647, not `%s`", shape_of(of->operation, text),
                            shapes[i]);
        if (suite_add(suite, &problem) != 0)
            return -1;
    }
    return 0;
}

/* The field of a suite or of options that is called so; NULL, with a printed sentence: the operation has none. */
static const struct gm_field *field_of(const struct bench_case *problem, const char *name, const char *option) {
    const struct gm_operation *operation = problem->operation->operation;
    const int index = name ? gm_field_named(operation, name) : -1;
    if (index >= 0 && operation->fields[index].uses & (GM_IN_SUITES | GM_IN_OPTIONS))
        return &operation->fields[index];
    complain("%s: %s has no such field", option, operation->name);
    return NULL;
}

int suite_set(struct bench_case *problem, const struct gm_field *field, const char *option, const char *text) {
    const struct word word = {text, strlen(text)};
    char values[128];
    int64_t value;
    if (set_field(field, problem->problem.bytes, word) == SET)
        return 0;
    if (field->set && gm_field_parse(field, word.text, word.bytes, &value))
        return complain("%s is `%s`, which no problem has beside the rest", option, text);
    print_values(field, values, sizeof values);
    return complain("%s is %s, not `%s`", option, values, text);
}

/* Nothing without a text. */
static int set_named(struct bench_case *problem, const char *name, const char *option, const char *text) {
    const struct gm_field *field = text ? field_of(problem, name, option) : NULL;
    if (!field)
        return text ? -1 : 0;
    return suite_set(problem, field, option, text);
}

/* The type, or where a field does not take it what it is in memory. */
static enum gm_type taken_by(const struct gm_field *field, int64_t type) {
    return field->types & GM_TYPE_SET(type) ? (enum gm_type)type : gm_type_in_memory((enum gm_type)type);
}

/* Whether it may follow the kernels' type: a member, or part of a suite's line. */
static int may_follow(const struct gm_field *field) {
    return field->kind == GM_FIELD_TYPE && (!field->get || field->uses & GM_IN_SUITES);
}

/* The fields that have the kernels' type have it afterwards, too. */
static int set_type(struct bench_case *problem, const char *text) {
    const struct gm_operation *operation = problem->operation->operation;
    const struct gm_field *type = &operation->fields[operation->type];
    const int64_t before = gm_field_get(type, problem->problem.bytes);
    uint64_t follow = 0;
    for (int i = 0; text && i < operation->field_count; i++)
        if (may_follow(&operation->fields[i]) && gm_field_get(&operation->fields[i], problem->problem.bytes) == before)
            follow |= UINT64_C(1) << i;
    if (set_named(problem, type->name, "--dtype", text) != 0)
        return -1;
    for (int i = 0; text && i < operation->field_count; i++)
        if (follow >> i & 1)
            gm_field_set(&operation->fields[i], problem->problem.bytes,
                         taken_by(&operation->fields[i], gm_field_get(type, problem->problem.bytes)));
    return 0;
}

/* FIELD=VALUE */
static int set_pair(struct bench_case *problem, const char *pair) {
    char name[GM_FIELD_TEXT_BYTES], option[64];
    const char *equals = strchr(pair, '=');
    if (!equals)
        return complain("--set wants FIELD=VALUE, not `%s`", pair);
    snprintf(name, sizeof name, "%.*s", (int)(equals - pair), pair);
    snprintf(option, sizeof option, "--set %s", name);
    return set_named(problem, name, option, equals + 1);
}

int suite_override(struct bench_case *problem, const struct suite_override *override) {
    if (problem->untaken[0])
        return 0;
    if (set_type(problem, override->dtype) != 0 ||
        set_named(problem, problem->operation->out, "--out", override->out) != 0 ||
        set_named(problem, "layout", "--layout", override->layout) != 0)
        return -1;
    for (size_t i = 0; i < override->set_count; i++)
        if (set_pair(problem, override->sets[i]) != 0)
            return -1;
    return 0;
}
