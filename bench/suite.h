/* SPDX-License-Identifier: Apache-2.0 */
/* The problems to measure: suite files, --shape arguments, and the names of types and layouts. */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gristmill/gristmill.h"

struct bench_case {
    char op[16];
    char a[8], b[8], d[8], layout[4]; /* as the suite spells them */
    int64_t m, n, k;
};

struct bench_suite {
    char name[128];
    struct bench_case *cases;
    size_t count, capacity;
};

/* Reads one line: 1 = a case, 0 = blank or comment, -1 = not a case; then `error` holds a sentence. */
int suite_parse_line(const char *line, struct bench_case *out, char *error, size_t error_bytes);
/* "MxNxK" or "M,N,K", each from 1 to 2^31 - 1. */
bool suite_parse_shape(const char *text, int64_t *m, int64_t *n, int64_t *k);
/* Appends the cases of a suite. `name` is a path, or the name of a file in the known suite folder. Prints a
 * sentence and returns -1 when it cannot. */
int suite_load(struct bench_suite *suite, const char *name);
int suite_add(struct bench_suite *suite, const struct bench_case *add);
/* Appends `count` arguments of --shape. Prints a sentence and returns -1 when it cannot. */
int suite_add_shapes(struct bench_suite *suite, const char *const *shapes, size_t count);
/* -1 with a printed sentence when --dtype, --out or --layout is neither NULL nor a legal name. */
int suite_check_override(const char *dtype, const char *out, const char *layout);
/* What --dtype, --out and --layout say, each NULL or a legal name. Without `out`, D follows A where it did before. */
void suite_override(struct bench_case *problem, const char *dtype, const char *out, const char *layout);
void suite_free(struct bench_suite *suite);

/* The library's problem for a case; false when the library has no such type, layout or operation. */
bool suite_problem(const struct bench_case *from, struct gm_gemm_problem *problem);

bool suite_type(const char *name, enum gm_type *type);
bool suite_layout(const char *name, enum gm_major *a, enum gm_major *b);

#endif
