/* SPDX-License-Identifier: Apache-2.0 */
/* A small streaming JSON writer. */
#include "program/base/json.h"

#include <inttypes.h>
#include <math.h>

void json_start(struct json *json, FILE *out) {
    *json = (struct json){.out = out, .first = true};
}

static void write_text(struct json *json, const char *text) {
    fputc('"', json->out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(json->out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(json->out, "\\u%04x", *c);
        else
            fputc(*c, json->out);
    }
    fputc('"', json->out);
}

static void new_line(struct json *json) {
    if (json->line_depth) {
        if (!json->first)
            fputc(' ', json->out);
        return;
    }
    fputc('\n', json->out);
    for (int i = 0; i < json->depth; i++)
        fputs("  ", json->out);
}

/* The comma, the line break and the key in front of a value. */
static void open_value(struct json *json, const char *key) {
    if (!json->first)
        fputc(',', json->out);
    if (json->depth)
        new_line(json);
    json->first = false;
    if (key) {
        write_text(json, key);
        fputs(": ", json->out);
    }
}

static void open_group(struct json *json, const char *key, char bracket) {
    open_value(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->first = true;
}

static void close_group(struct json *json, char bracket) {
    json->depth--;
    if (!json->first && !json->line_depth)
        new_line(json);
    fputc(bracket, json->out);
    json->first = false;
    if (json->line_depth == json->depth + 1)
        json->line_depth = 0;
    if (json->depth == 0)
        fputc('\n', json->out);
}

void json_object_begin(struct json *json, const char *key) {
    open_group(json, key, '{');
}

void json_line_begin(struct json *json, const char *key) {
    open_group(json, key, '{');
    if (!json->line_depth)
        json->line_depth = json->depth;
}

void json_object_end(struct json *json) {
    close_group(json, '}');
}

void json_array_begin(struct json *json, const char *key) {
    open_group(json, key, '[');
}

void json_array_end(struct json *json) {
    close_group(json, ']');
}

void json_put_string(struct json *json, const char *key, const char *value) {
    open_value(json, key);
    if (value)
        write_text(json, value);
    else
        fputs("null", json->out);
}

static void write_digits(struct json *json, double value, int digits) {
    if (isfinite(value))
        fprintf(json->out, "%.*g", digits, value);
    else
        fputs("null", json->out);
}

static void write_number(struct json *json, double value) {
    write_digits(json, value, 6);
}

void json_put_number(struct json *json, const char *key, double value) {
    open_value(json, key);
    write_number(json, value);
}

void json_put_exact(struct json *json, const char *key, double value) {
    open_value(json, key);
    write_digits(json, value, 15);
}

void json_put_integer(struct json *json, const char *key, int64_t value) {
    open_value(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void json_put_bool(struct json *json, const char *key, bool value) {
    open_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_put_numbers(struct json *json, const char *key, const double *values, size_t count) {
    open_value(json, key);
    fputc('[', json->out);
    for (size_t i = 0; i < count; i++) {
        if (i)
            fputs(", ", json->out);
        write_number(json, values[i]);
    }
    fputc(']', json->out);
}

void json_put_raw(struct json *json, const char *key, const char *text) {
    open_value(json, key);
    fputs(text, json->out);
}
