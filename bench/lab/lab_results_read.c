/* SPDX-License-Identifier: Apache-2.0 */
/* A results file read again. What is missing or of the wrong type is told with its name and makes the file useless. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "lab_results.h"

struct reader {
    const char *path, *where; /* the file, and what is being read: "meta", or a point's label */
    bool bad;
};

static void reject(struct reader *reader, const char *key, const char *wanted) {
    if (!reader->bad)
        complain("%s: %s: `%s` is not %s", reader->path, reader->where, key, wanted);
    reader->bad = true;
}

/* null is "". */
static void get_text(struct reader *reader, const json_t *from, const char *key, char *to, size_t bytes) {
    const json_t *value = json_object_get(from, key);
    to[0] = 0;
    if (json_is_string(value) && json_string_length(value) < bytes)
        strcpy(to, json_string_value(value));
    else if (!json_is_null(value))
        reject(reader, key, "a text that fits");
}
#define TEXT(reader, from, key, to) get_text((reader), (from), (key), (to), sizeof(to))

/* null is NaN. */
static double get_number(struct reader *reader, const json_t *from, const char *key) {
    const json_t *value = json_object_get(from, key);
    if (!json_is_number(value) && !json_is_null(value))
        reject(reader, key, "a number");
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Results from before there was a simulator do not say these. */
static double get_number_or_none(struct reader *reader, const json_t *from, const char *key) {
    return json_object_get(from, key) ? get_number(reader, from, key) : NAN;
}

static bool get_bool(struct reader *reader, const json_t *from, const char *key) {
    const json_t *value = json_object_get(from, key);
    if (!json_is_boolean(value))
        reject(reader, key, "true or false");
    return json_is_true(value);
}

static bool get_bool_or_false(struct reader *reader, const json_t *from, const char *key) {
    return json_object_get(from, key) ? get_bool(reader, from, key) : false;
}

/* An array of at most `most` elements; NULL otherwise. */
static const json_t *get_array(struct reader *reader, const json_t *from, const char *key, size_t most) {
    const json_t *value = json_object_get(from, key);
    if (json_is_array(value) && json_array_size(value) <= most)
        return value;
    reject(reader, key, "an array that fits");
    return NULL;
}

static void read_meta(struct reader *reader, const json_t *from, struct record_meta *meta) {
    reader->where = "meta";
    TEXT(reader, from, "gpu", meta->gpu);
    TEXT(reader, from, "driver", meta->driver);
    TEXT(reader, from, "toolkit", meta->toolkit);
    TEXT(reader, from, "revision", meta->revision);
    TEXT(reader, from, "date", meta->date);
    TEXT(reader, from, "experiment", meta->experiment);
    TEXT(reader, from, "title", meta->title);
    TEXT(reader, from, "question", meta->question);
    TEXT(reader, from, "page", meta->page);
    TEXT(reader, from, "counters", meta->counters);
    meta->counted = get_bool(reader, from, "counted");
    if (json_object_get(from, "simulator"))
        TEXT(reader, from, "simulator", meta->simulator);
    meta->simulated = get_bool_or_false(reader, from, "simulated");
    meta->simulated_gpu = get_bool_or_false(reader, from, "simulated_gpu");
    double rounds = get_number(reader, from, "rounds");
    meta->rounds = rounds >= 0 && rounds < 1e6 ? (int)rounds : 0;
    meta->round_ms = get_number(reader, from, "round_ms");
    meta->warmup_s = get_number(reader, from, "warmup_s");
}

static void read_quantities(struct reader *reader, const json_t *from, struct record_point *point) {
    const json_t *quantities = get_array(reader, from, "quantities", LAB_QUANTITIES_MAX);
    point->quantity_count = quantities ? json_array_size(quantities) : 0;
    for (size_t i = 0; i < point->quantity_count; i++) {
        const json_t *one = json_array_get(quantities, i);
        struct record_quantity *quantity = &point->quantities[i];
        TEXT(reader, one, "name", quantity->name);
        TEXT(reader, one, "metric", quantity->metric);
        quantity->predicted = get_number(reader, one, "predicted");
        quantity->tolerance = get_number(reader, one, "tolerance");
        quantity->counted = get_number(reader, one, "counted");
        quantity->simulated = get_number_or_none(reader, one, "simulated");
    }
}

static void read_cycles(struct reader *reader, const json_t *from, struct record_point *point) {
    point->cycles = point->cycles_predicted = NAN;
    if (json_is_null(from))
        return;
    point->cycles_predicted = get_number(reader, from, "predicted");
    point->cycles_tolerance = get_number(reader, from, "tolerance");
    point->cycles = get_number(reader, from, "measured");
}

static void read_time(struct reader *reader, const json_t *from, struct record_point *point) {
    point->us = point->us_p10 = point->us_p90 = point->gbs = point->tflops = point->sm_mhz = point->watts = NAN;
    point->timed = !json_is_null(from);
    if (!point->timed)
        return;
    point->us = get_number(reader, from, "us");
    point->us_p10 = get_number(reader, from, "us_p10");
    point->us_p90 = get_number(reader, from, "us_p90");
    point->gbs = get_number(reader, from, "gbs");
    point->tflops = get_number(reader, from, "tflops");
    point->sm_mhz = get_number(reader, from, "sm_mhz");
    point->watts = get_number(reader, from, "watts");
}

static void read_point(struct reader *reader, const json_t *from, struct record_point *point) {
    const json_t *correct = json_object_get(from, "correct");
    reader->where = "a point";
    TEXT(reader, from, "label", point->label);
    if (point->label[0])
        reader->where = point->label;
    TEXT(reader, from, "change", point->change);
    TEXT(reader, from, "source", point->source);
    TEXT(reader, from, "kernel", point->kernel);
    TEXT(reader, from, "wrong", point->wrong);
    point->too_large = get_bool_or_false(reader, from, "too_large");
    point->result = json_is_null(correct)                  ? LAB_NOT_CHECKED
                    : get_bool(reader, from, "correct") ? LAB_CORRECT
                                                          : LAB_WRONG;
    read_quantities(reader, from, point);
    read_cycles(reader, json_object_get(from, "cycles"), point);
    read_time(reader, json_object_get(from, "time"), point);
}

static void read_claims(struct reader *reader, const json_t *claims, struct record *record) {
    record->claim_count = claims ? json_array_size(claims) : 0;
    reader->where = "a claim";
    for (size_t i = 0; i < record->claim_count; i++) {
        const json_t *one = json_array_get(claims, i);
        TEXT(reader, one, "claim", record->claims[i].sentence);
        record->claims[i].holds = get_bool(reader, one, "holds");
        record->claims[i].of_time = get_bool(reader, one, "of_time");
    }
}

static int read_root(const json_t *root, const char *path, struct record *record) {
    struct reader reader = {.path = path, .where = "the file"};
    read_meta(&reader, json_object_get(root, "meta"), &record->meta);
    reader.where = "the file";
    const json_t *points = get_array(&reader, root, "points", LAB_POINTS_MAX);
    const json_t *claims = get_array(&reader, root, "claims", LAB_CLAIMS_MAX);
    record->point_count = points ? json_array_size(points) : 0;
    for (size_t i = 0; i < record->point_count; i++)
        read_point(&reader, json_array_get(points, i), &record->points[i]);
    read_claims(&reader, claims, record);
    return reader.bad ? -1 : 0;
}

int record_read(struct record *record, const char *path) {
    json_error_t error;
    memset(record, 0, sizeof *record);
    json_t *root = json_load_file(path, 0, &error);
    if (!root && error.line < 0)
        return complain("%s: %s", path, error.text);
    if (!root)
        return complain("%s: line %d: %s", path, error.line, error.text);
    int status = read_root(root, path, record);
    json_decref(root);
    if (status == 0)
        record_judge(record);
    return status;
}
