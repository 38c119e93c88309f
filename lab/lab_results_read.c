/* SPDX-License-Identifier: Apache-2.0 */
/* A results file read again. What is missing or of the wrong type is told with its name and makes the file useless. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program/base/json_read.h"
#include "lab/lab_results.h"

#define TEXT(reader, from, key, to) json_read_text((reader), (from), (key), (to), sizeof(to))

/* What is being read: "meta", or a point's label. */
static void set_where(struct json_reader *reader, const char *where) {
    snprintf(reader->where, sizeof reader->where, "%s", where);
}

static void read_meta(struct json_reader *reader, const json_t *from, struct record_meta *meta) {
    set_where(reader, "meta");
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
    meta->counted = json_read_bool(reader, from, "counted");
    if (json_object_get(from, "simulator"))
        TEXT(reader, from, "simulator", meta->simulator);
    meta->simulated = json_read_bool_or_none(reader, from, "simulated");
    meta->simulated_gpu = json_read_bool_or_none(reader, from, "simulated_gpu");
    double rounds = json_read_number(reader, from, "rounds");
    meta->rounds = rounds >= 0 && rounds < 1e6 ? (int)rounds : 0;
    meta->round_ms = json_read_number(reader, from, "round_ms");
    meta->warmup_s = json_read_number(reader, from, "warmup_s");
}

static void read_quantities(struct json_reader *reader, const json_t *from, struct record_point *point) {
    const json_t *quantities = json_read_array(reader, from, "quantities", LAB_QUANTITIES_MAX);
    point->quantity_count = quantities ? json_array_size(quantities) : 0;
    for (size_t i = 0; i < point->quantity_count; i++) {
        const json_t *one = json_array_get(quantities, i);
        struct record_quantity *quantity = &point->quantities[i];
        TEXT(reader, one, "name", quantity->name);
        TEXT(reader, one, "metric", quantity->metric);
        quantity->predicted = json_read_number(reader, one, "predicted");
        quantity->tolerance = json_read_number(reader, one, "tolerance");
        quantity->counted = json_read_number(reader, one, "counted");
        quantity->simulated = json_read_number_or_none(reader, one, "simulated");
    }
}

static void read_cycles(struct json_reader *reader, const json_t *from, struct record_point *point) {
    point->cycles = point->cycles_predicted = NAN;
    if (json_is_null(from))
        return;
    point->cycles_predicted = json_read_number(reader, from, "predicted");
    point->cycles_tolerance = json_read_number(reader, from, "tolerance");
    point->cycles = json_read_number(reader, from, "measured");
}

static void read_time(struct json_reader *reader, const json_t *from, struct record_point *point) {
    point->us = point->us_p10 = point->us_p90 = point->gbs = point->tflops = point->sm_mhz = point->watts = NAN;
    point->timed = !json_is_null(from);
    if (!point->timed)
        return;
    point->us = json_read_number(reader, from, "us");
    point->us_p10 = json_read_number(reader, from, "us_p10");
    point->us_p90 = json_read_number(reader, from, "us_p90");
    point->gbs = json_read_number(reader, from, "gbs");
    point->tflops = json_read_number(reader, from, "tflops");
    point->sm_mhz = json_read_number(reader, from, "sm_mhz");
    point->watts = json_read_number(reader, from, "watts");
}

static void read_point(struct json_reader *reader, const json_t *from, struct record_point *point) {
    const json_t *correct = json_object_get(from, "correct");
    set_where(reader, "a point");
    TEXT(reader, from, "label", point->label);
    if (point->label[0])
        set_where(reader, point->label);
    TEXT(reader, from, "change", point->change);
    TEXT(reader, from, "source", point->source);
    TEXT(reader, from, "kernel", point->kernel);
    TEXT(reader, from, "wrong", point->wrong);
    point->too_large = json_read_bool_or_none(reader, from, "too_large");
    point->result = json_is_null(correct)                     ? LAB_NOT_CHECKED
                    : json_read_bool(reader, from, "correct") ? LAB_CORRECT
                                                              : LAB_WRONG;
    read_quantities(reader, from, point);
    read_cycles(reader, json_object_get(from, "cycles"), point);
    read_time(reader, json_object_get(from, "time"), point);
}

static void read_claims(struct json_reader *reader, const json_t *claims, struct record *record) {
    record->claim_count = claims ? json_array_size(claims) : 0;
    set_where(reader, "a claim");
    for (size_t i = 0; i < record->claim_count; i++) {
        const json_t *one = json_array_get(claims, i);
        TEXT(reader, one, "claim", record->claims[i].sentence);
        record->claims[i].holds = json_read_bool(reader, one, "holds");
        record->claims[i].of_time = json_read_bool(reader, one, "of_time");
    }
}

static int read_root(const json_t *root, const char *path, struct record *record) {
    struct json_reader reader = {.path = path, .where = "the file"};
    read_meta(&reader, json_object_get(root, "meta"), &record->meta);
    set_where(&reader, "the file");
    const json_t *points = json_read_array(&reader, root, "points", LAB_POINTS_MAX);
    const json_t *claims = json_read_array(&reader, root, "claims", LAB_CLAIMS_MAX);
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
