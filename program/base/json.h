/* SPDX-License-Identifier: Apache-2.0 */
/* A small streaming JSON writer: indented outside, one line per object inside json_line_begin(). The names that do not
 * say `put` are left to Jansson, the reader. */
#ifndef PROGRAM_BASE_JSON_H
#define PROGRAM_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    int depth;
    int line_depth; /* depth at which everything goes on one line; 0: none */
    bool first;
};

void json_start(struct json *json, FILE *out);
/* `key` is NULL for an element of an array and for the outermost value. */
void json_object_begin(struct json *json, const char *key);
void json_line_begin(struct json *json, const char *key); /* an object written on one line */
void json_object_end(struct json *json);
void json_array_begin(struct json *json, const char *key);
void json_array_end(struct json *json);
void json_put_string(struct json *json, const char *key, const char *value); /* NULL: null */
void json_put_number(struct json *json, const char *key, double value);      /* not finite: null */
void json_put_exact(struct json *json, const char *key, double value);       /* the same with 15 digits: a counter */
void json_put_integer(struct json *json, const char *key, int64_t value);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_numbers(struct json *json, const char *key, const double *values, size_t count); /* on one line */
/* Already-made JSON text, written as it is. */
void json_put_raw(struct json *json, const char *key, const char *text);

#endif
