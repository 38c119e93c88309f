/* SPDX-License-Identifier: Apache-2.0 */
#include "program/base/json_read.h"

#include <math.h>
#include <string.h>

#include "program/base/messages.h"

void json_read_reject(struct json_reader *reader, const char *key, const char *wanted) {
    if (!reader->bad)
        complain("%s: %s: `%s` is not %s", reader->path, reader->where, key, wanted);
    reader->bad = true;
}

void json_read_text_or_none(struct json_reader *reader, const json_t *from, const char *key, char *to, size_t bytes) {
    const json_t *value = json_object_get(from, key);
    to[0] = 0;
    if (json_is_string(value) && json_string_length(value) < bytes)
        strcpy(to, json_string_value(value));
    else if (value && !json_is_null(value))
        json_read_reject(reader, key, "a text that fits");
}

void json_read_text(struct json_reader *reader, const json_t *from, const char *key, char *to, size_t bytes) {
    json_read_text_or_none(reader, from, key, to, bytes);
    if (!json_object_get(from, key))
        json_read_reject(reader, key, "a text that fits");
}

double json_read_item(struct json_reader *reader, const json_t *item, const char *key) {
    if (!json_is_number(item)) {
        if (item && !json_is_null(item))
            json_read_reject(reader, key, "a number");
        return NAN;
    }
    const double number = json_number_value(item);
    if (number == 0 || (fabs(number) >= JSON_READ_LEAST && fabs(number) <= JSON_READ_MOST))
        return number;
    json_read_reject(reader, key, "of a size that a measurement may have, 1e-18 to 1e18");
    return NAN;
}

double json_read_number_or_none(struct json_reader *reader, const json_t *from, const char *key) {
    return json_read_item(reader, json_object_get(from, key), key);
}

double json_read_amount_or_none(struct json_reader *reader, const json_t *from, const char *key) {
    const double amount = json_read_number_or_none(reader, from, key);
    if (amount < 0)
        json_read_reject(reader, key, "a number of 0 or more");
    return amount;
}

double json_read_number(struct json_reader *reader, const json_t *from, const char *key) {
    if (!json_object_get(from, key))
        json_read_reject(reader, key, "a number");
    return json_read_number_or_none(reader, from, key);
}

bool json_read_bool_or_none(struct json_reader *reader, const json_t *from, const char *key) {
    return json_object_get(from, key) ? json_read_bool(reader, from, key) : false;
}

bool json_read_bool(struct json_reader *reader, const json_t *from, const char *key) {
    const json_t *value = json_object_get(from, key);
    if (!json_is_boolean(value))
        json_read_reject(reader, key, "true or false");
    return json_is_true(value);
}

int64_t json_read_whole(struct json_reader *reader, const json_t *from, const char *key, int64_t least) {
    const json_t *value = json_object_get(from, key);
    if (json_is_integer(value) && json_integer_value(value) >= least && json_integer_value(value) <= INT32_MAX)
        return json_integer_value(value);
    json_read_reject(reader, key, "a whole number that fits");
    return least;
}

const json_t *json_read_object(struct json_reader *reader, const json_t *from, const char *key) {
    const json_t *value = json_object_get(from, key);
    if (json_is_object(value))
        return value;
    json_read_reject(reader, key, "an object");
    return NULL;
}

const json_t *json_read_array(struct json_reader *reader, const json_t *from, const char *key, size_t most) {
    const json_t *value = json_object_get(from, key);
    if (json_is_array(value) && json_array_size(value) <= most)
        return value;
    json_read_reject(reader, key, "an array that fits");
    return NULL;
}
