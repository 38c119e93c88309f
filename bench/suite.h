/* SPDX-License-Identifier: Apache-2.0 */
/* The problems to measure: suite files, --shape arguments, and what options say instead of them. */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/operation.h"
#include "host/options.h"

/* A problem of an operation, or a line whose words are known but that no kernel takes yet. */
struct bench_case {
    const struct bench_operation *operation;
    union {
        int64_t align;
        unsigned char bytes[GM_PROBLEM_MAX];
    } problem;
    char untaken[96]; /* the line that no kernel takes; "": `problem` is one */
};

struct bench_suite {
    char name[128];
    struct bench_case *cases;
    size_t count, capacity;
};

/* ---- a case ----------------------------------------------------------------------------------------- */

/* The operation's usual problem. */
void case_start(struct bench_case *problem, const struct bench_operation *operation);
const struct gm_field *case_axis_field(const struct bench_case *problem);
int64_t case_axis(const struct bench_case *problem); /* tokens, M, rows: what regimes and plots are over */
struct gm_work case_work(const struct bench_case *problem);
/* Fills in what line and options left to the benchmark, such as the packed strides of a batch; again it changes nothing.
 * -1 with a printed sentence: it does not measure such a problem. */
int case_complete(struct bench_case *problem);
/* Whether the results of a problem say the field's value: all fields of suites, of options those that are not usual. */
bool case_tells(const struct bench_case *problem, const struct gm_field *field);
bool case_equal(const struct bench_case *x, const struct bench_case *y);
/* Of equal words, and of equal fields of suites but for the axis: one weight matrix. */
bool case_equal_beside_axis(const struct bench_case *x, const struct bench_case *y);
bool case_is_usual(const struct bench_case *problem); /* but for its sizes */
/* Each of these returns `text`. */
#define CASE_TEXT_BYTES 128
const char *case_sizes(const struct bench_case *problem, const char *between, char text[CASE_TEXT_BYTES]);
const char *case_words(const struct bench_case *problem, char text[CASE_TEXT_BYTES]); /* "bf16 tn → fp32" */
/* "1 x 2 x 3 bf16 tn", for sentences. */
const char *case_label(const struct bench_case *problem, char text[CASE_TEXT_BYTES]);
/* "M|N|K|<type", the columns of a table that case_cells() fills: "1|2|3|bf16 tn". */
const char *case_columns(const struct bench_operation *operation, char text[CASE_TEXT_BYTES]);
const char *case_cells(const struct bench_case *problem, char text[CASE_TEXT_BYTES]);
/* "M" for a field that is called m; a longer name as it is. */
const char *field_title(const struct gm_field *field, char text[GM_FIELD_TEXT_BYTES]);

/* ---- suites ----------------------------------------------------------------------------------------- */

/* Reads one line, the fields of suites and then NAME=VALUE for each of the options that it has: 1 = a case, 0 = blank or comment, -1 = not a case; then `error` holds a sentence. */
int suite_parse_line(const char *line, struct bench_case *out, char *error, size_t error_bytes);
/* Appends the cases of a suite. `name` is a path, or the name of a file in the known suite folder. Prints a
 * sentence and returns -1 when it cannot. */
int suite_load(struct bench_suite *suite, const char *name);
int suite_add(struct bench_suite *suite, const struct bench_case *add);
/* "MxNxK" or "M,N,K", as many sizes as the operation has, each from 1 to 2^31 - 1, into a case of it. */
bool suite_parse_shape(const char *text, struct bench_case *problem);
/* Appends `count` arguments of --shape, usual problems of `operation` (NULL: gemm) with these sizes. Prints a sentence and
 * returns -1 when it cannot. */
int suite_add_shapes(struct bench_suite *suite, const char *operation, const char *const *shapes, size_t count);
void suite_free(struct bench_suite *suite);

/* ---- options that change problems -------------------------------------------------------------------- */

/* --dtype, --out, --layout, each NULL or a word, and FIELD=VALUE of --set. */
struct suite_override {
    const char *dtype, *out, *layout;
    const char *const *sets;
    size_t set_count;
};
/* dtype is the type of the operation's kernels, and of every field that has the same before; out and layout are the
 * fields of that name, and `sets` any field. -1 with a printed sentence: the operation has no such field or value. */
int suite_override(struct bench_case *problem, const struct suite_override *override);
/* One field, from its text. -1 with a printed sentence, which begins with `option`. */
int suite_set(struct bench_case *problem, const struct gm_field *field, const char *option, const char *text);

#endif
