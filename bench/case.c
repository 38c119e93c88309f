/* SPDX-License-Identifier: Apache-2.0 */
/* A case of the benchmark: its numbers and its words, by the fields of its operation. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/suite.h"

#define FOR_SUITE_FIELDS(field, operation)                                                                             \
    for (const struct gm_field *field = (operation)->fields; field < (operation)->fields + (operation)->field_count;   \
         field++)                                                                                                      \
        if (field->uses & GM_IN_SUITES)

#define FOR_TOLD_FIELDS(field, problem)                                                                                \
    for (const struct gm_field *field = (problem)->operation->operation->fields;                                       \
         field < (problem)->operation->operation->fields + (problem)->operation->operation->field_count; field++)      \
        if (case_tells(problem, field))

void case_start(struct bench_case *problem, const struct bench_operation *operation) {
    *problem = (struct bench_case){.operation = operation};
    memcpy(problem->problem.bytes, operation->usual, operation->operation->problem_bytes);
}

const struct gm_field *case_axis_field(const struct bench_case *problem) {
    const struct gm_operation *operation = problem->operation->operation;
    return &operation->fields[operation->axis];
}

int64_t case_axis(const struct bench_case *problem) {
    return gm_field_get(case_axis_field(problem), problem->problem.bytes);
}

struct gm_work case_work(const struct bench_case *problem) {
    return problem->operation->operation->work(problem->problem.bytes);
}

int case_complete(struct bench_case *problem) {
    const struct bench_operation *operation = problem->operation;
    return operation->complete && !problem->untaken[0] ? operation->complete(problem->problem.bytes) : 0;
}

/* A field's value is that of the operation's usual problem. */
static bool is_usual(const struct bench_case *problem, const struct gm_field *field) {
    return gm_field_get(field, problem->problem.bytes) == gm_field_get(field, problem->operation->usual);
}

bool case_tells(const struct bench_case *problem, const struct gm_field *field) {
    return field->uses & GM_IN_SUITES || (field->uses & GM_IN_OPTIONS && !is_usual(problem, field));
}

static bool equal_options(const struct bench_case *x, const struct bench_case *y) {
    const struct gm_operation *operation = x->operation->operation;
    for (const struct gm_field *field = operation->fields; field < operation->fields + operation->field_count; field++)
        if (field->uses & GM_IN_OPTIONS &&
            gm_field_get(field, x->problem.bytes) != gm_field_get(field, y->problem.bytes))
            return false;
    return true;
}

static bool equal_but(const struct bench_case *x, const struct bench_case *y, const struct gm_field *left_out) {
    if (x->operation != y->operation || strcmp(x->untaken, y->untaken) != 0)
        return false;
    FOR_SUITE_FIELDS(field, x->operation->operation) {
        if (field != left_out && gm_field_get(field, x->problem.bytes) != gm_field_get(field, y->problem.bytes))
            return false;
    }
    return true;
}

bool case_equal(const struct bench_case *x, const struct bench_case *y) {
    return equal_but(x, y, NULL) && equal_options(x, y);
}

bool case_equal_beside_axis(const struct bench_case *x, const struct bench_case *y) {
    char of_x[CASE_TEXT_BYTES], of_y[CASE_TEXT_BYTES];
    return equal_but(x, y, case_axis_field(x)) && strcmp(case_words(x, of_x), case_words(y, of_y)) == 0;
}

bool case_is_usual(const struct bench_case *problem) {
    FOR_SUITE_FIELDS(field, problem->operation->operation) {
        if (field->kind != GM_FIELD_SIZE && !is_usual(problem, field))
            return false;
    }
    return true;
}

/* ---- words ------------------------------------------------------------------------------------------ */

const char *field_title(const struct gm_field *field, char text[GM_FIELD_TEXT_BYTES]) {
    snprintf(text, GM_FIELD_TEXT_BYTES, "%s", field->name);
    if (strlen(text) == 1)
        text[0] = (char)toupper((unsigned char)text[0]);
    return text;
}

/* Appends to a text, which may be cut short. */
static void append(char text[CASE_TEXT_BYTES], const char *between, const char *more) {
    const size_t used = strlen(text);
    snprintf(text + used, CASE_TEXT_BYTES - used, "%s%s", used ? between : "", more);
}

const char *case_sizes(const struct bench_case *problem, const char *between, char text[CASE_TEXT_BYTES]) {
    char number[GM_FIELD_TEXT_BYTES];
    text[0] = 0;
    FOR_SUITE_FIELDS(field, problem->operation->operation) {
        if (field->kind == GM_FIELD_SIZE)
            append(text, between, gm_field_print(field, gm_field_get(field, problem->problem.bytes), number));
    }
    return text;
}

/* The type, and what is not usual. */
static void print_words(const struct bench_case *problem, char text[CASE_TEXT_BYTES]) {
    const struct gm_operation *operation = problem->operation->operation;
    const struct gm_field *type = &operation->fields[operation->type];
    char word[GM_FIELD_TEXT_BYTES], pair[2 * GM_FIELD_TEXT_BYTES];
    text[0] = 0;
    FOR_TOLD_FIELDS(field, problem) {
        const int64_t value = gm_field_get(field, problem->problem.bytes);
        const bool is_size = field->kind == GM_FIELD_SIZE && field->uses & GM_IN_SUITES; /* told elsewhere */
        if (is_size || (is_usual(problem, field) && field != type))
            continue;
        snprintf(pair, sizeof pair, "%s%s%s", field == type ? "" : field->name, field == type ? "" : " ",
                 gm_field_print(field, value, word));
        append(text, field == type ? "" : ", ", pair);
    }
}

const char *case_words(const struct bench_case *problem, char text[CASE_TEXT_BYTES]) {
    if (problem->operation->words)
        problem->operation->words(problem->problem.bytes, text, CASE_TEXT_BYTES);
    else
        print_words(problem, text);
    return text;
}

const char *case_label(const struct bench_case *problem, char text[CASE_TEXT_BYTES]) {
    char words[CASE_TEXT_BYTES];
    if (problem->untaken[0]) {
        snprintf(text, CASE_TEXT_BYTES, "%s", problem->untaken);
        return text;
    }
    case_sizes(problem, " x ", text);
    append(text, " ", case_words(problem, words));
    return text;
}

/* ---- tables ----------------------------------------------------------------------------------------- */

const char *case_columns(const struct bench_operation *operation, char text[CASE_TEXT_BYTES]) {
    char title[GM_FIELD_TEXT_BYTES];
    text[0] = 0;
    FOR_SUITE_FIELDS(field, operation->operation) {
        if (field->kind == GM_FIELD_SIZE)
            append(text, "|", field_title(field, title));
    }
    append(text, "|", "<type");
    return text;
}

const char *case_cells(const struct bench_case *problem, char text[CASE_TEXT_BYTES]) {
    char words[CASE_TEXT_BYTES];
    if (problem->untaken[0]) {
        text[0] = 0;
        FOR_SUITE_FIELDS(field, problem->operation->operation) {
            if (field->kind == GM_FIELD_SIZE)
                append(text, "", "–|");
        }
        append(text, "", problem->untaken);
        return text;
    }
    case_sizes(problem, "|", text);
    append(text, "|", case_words(problem, words));
    return text;
}
