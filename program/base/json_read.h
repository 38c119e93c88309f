/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects, with their types checked: what every reader of a results file needs. */
#ifndef PROGRAM_BASE_JSON_READ_H
#define PROGRAM_BASE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_reader {
    const char *path;
    char where[64]; /* what is being read: "meta", "row 7", or a point's label */
    bool bad;       /* something was wrong; the first such thing was told */
};

/* Says that `key` of what is being read is not `wanted`, and makes the reader bad. */
void json_read_reject(struct json_reader *reader, const char *key, const char *wanted);

/* Numbers of a file are 0 or of a size that a measurement may have, so that what is computed of some is finite. */
#define JSON_READ_LEAST 1e-18
#define JSON_READ_MOST  1e18

/* null is "" and NaN. The forms with _or_none take a member that is missing for null; for the others it is wrong. */
void json_read_text(struct json_reader *reader, const json_t *from, const char *key, char *to, size_t bytes);
void json_read_text_or_none(struct json_reader *reader, const json_t *from, const char *key, char *to, size_t bytes);
double json_read_number(struct json_reader *reader, const json_t *from, const char *key);
double json_read_number_or_none(struct json_reader *reader, const json_t *from, const char *key);
double json_read_amount_or_none(struct json_reader *reader, const json_t *from, const char *key); /* not below 0 */
double json_read_item(struct json_reader *reader, const json_t *item, const char *key); /* of the array `key` */
bool json_read_bool(struct json_reader *reader, const json_t *from, const char *key);
bool json_read_bool_or_none(struct json_reader *reader, const json_t *from, const char *key); /* missing: false */

/* From `least` to 2^31 - 1; `least` when it is wrong. */
int64_t json_read_whole(struct json_reader *reader, const json_t *from, const char *key, int64_t least);
/* NULL when it is wrong. */
const json_t *json_read_object(struct json_reader *reader, const json_t *from, const char *key);
const json_t *json_read_array(struct json_reader *reader, const json_t *from, const char *key, size_t most);

#endif
