/* SPDX-License-Identifier: Apache-2.0 */
/* Results files read again. What is missing or of the wrong type is told with its name and makes the file useless. */
#include "bench/report/results_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program/base/json_read.h"
#include "program/base/messages.h"

#define TEXT(reader, from, key, to) json_read_text_or_none((reader), (from), (key), (to), sizeof(to))

static void need_text(struct json_reader *reader, const json_t *from, const char *key, char *to, size_t bytes) {
    json_read_text_or_none(reader, from, key, to, bytes);
    if (to[0] == 0)
        json_read_reject(reader, key, "a text");
}
#define NEED_TEXT(reader, from, key, to) need_text((reader), (from), (key), (to), sizeof(to))

static double or_zero(double value) {
    return value > 0 ? value : 0;
}

/* ---- meta ------------------------------------------------------------------------------------------- */

static void read_ceilings(struct json_reader *reader, const json_t *from, struct bench_ceilings *ceilings) {
    ceilings->copy_gbs = json_read_amount_or_none(reader, from, "copy_gbs");
    ceilings->write_gbs = json_read_amount_or_none(reader, from, "write_gbs");
    ceilings->read_gbs = json_read_amount_or_none(reader, from, "read_gbs");
    ceilings->tensor_tflops = json_read_amount_or_none(reader, from, "tensor_tflops");
    ceilings->launch_us = json_read_amount_or_none(reader, from, "launch_us");
    ceilings->launch_host_ns = or_zero(json_read_amount_or_none(reader, from, "launch_host_ns"));
    TEXT(reader, from, "read_source", ceilings->read_source);
    TEXT(reader, from, "tensor_source", ceilings->tensor_source);
    TEXT(reader, from, "launch_source", ceilings->launch_source);
}

/* Files from before there was --l2 were all cold, and say how far they rotated. */
static void read_method(struct json_reader *reader, const json_t *from, struct bench_meta *meta) {
    char l2[8];
    TEXT(reader, from, "l2", l2);
    meta->rotate_l2 = or_zero(json_read_amount_or_none(reader, from, "rotated_over_l2"));
    if (l2[0] && strcmp(l2, results_l2(meta)) != 0)
        json_read_reject(reader, "l2", "what `rotated_over_l2` says");
    meta->rounds = (int)json_read_whole(reader, from, "rounds", 1);
    meta->round_ms = or_zero(json_read_amount_or_none(reader, from, "round_ms"));
    meta->warmup_s = or_zero(json_read_amount_or_none(reader, from, "warmup_s"));
    meta->energy_s = or_zero(json_read_amount_or_none(reader, from, "energy_s"));
    meta->workspace_bytes = or_zero(json_read_amount_or_none(reader, from, "workspace_bytes"));
    TEXT(reader, from, "energy_source", meta->energy_source);
    meta->ways_asked = (int)json_read_whole(reader, from, "baseline_heuristics", 0);
}

static void read_meta(struct json_reader *reader, const json_t *from, struct bench_meta *meta) {
    snprintf(reader->where, sizeof reader->where, "meta");
    NEED_TEXT(reader, from, "gpu", meta->gpu);
    results_fill_name(meta->slug, sizeof meta->slug, meta->gpu);
    meta->device.sm_count = (int)json_read_whole(reader, from, "sm_count", 0);
    meta->device.l2_bytes = json_read_whole(reader, from, "l2_bytes", 0);
    meta->device.sm_clock_mhz = (int)json_read_whole(reader, from, "sm_clock_max_mhz", 0);
    meta->power_limit_watts = json_read_amount_or_none(reader, from, "power_limit_watts");
    TEXT(reader, from, "driver", meta->driver);
    TEXT(reader, from, "toolkit", meta->toolkit);
    TEXT(reader, from, "revision", meta->revision);
    TEXT(reader, from, "date", meta->date);
    NEED_TEXT(reader, from, "suite", meta->suite);
    TEXT(reader, from, "command", meta->command);
    TEXT(reader, from, "baseline", meta->baseline);
    meta->execute_ns = or_zero(json_read_amount_or_none(reader, from, "execute_ns"));
    meta->execute_recurring_ns = or_zero(json_read_amount_or_none(reader, from, "execute_recurring_ns"));
    meta->execute_plain_ns = or_zero(json_read_amount_or_none(reader, from, "execute_plain_ns"));
    meta->baseline_execute_ns = or_zero(json_read_amount_or_none(reader, from, "baseline_execute_ns"));
    if (meta->baseline_execute_ns == 0) /* as files up to 0.2 call it */
        meta->baseline_execute_ns = or_zero(json_read_amount_or_none(reader, from, "cublaslt_execute_ns"));
    read_ceilings(reader, json_read_object(reader, from, "ceilings"), &meta->ceilings);
    read_method(reader, json_read_object(reader, from, "method"), meta);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void read_samples(struct json_reader *reader, const json_t *from, const char *key,
                         struct bench_samples *samples) {
    const json_t *array = json_read_array(reader, from, key, MAX_ROUNDS);
    samples->count = json_array_size(array);
    for (size_t i = 0; i < samples->count; i++) {
        samples->us[i] = json_read_item(reader, json_array_get(array, i), key);
        if (!(samples->us[i] > 0))
            json_read_reject(reader, key, "an array of times");
    }
}

/* Appends the field to `line`, a suite's. */
static void read_field(struct json_reader *reader, const json_t *from, const struct gm_field *field, char line[256]) {
    char text[GM_FIELD_TEXT_BYTES];
    const size_t used = strlen(line);
    if (field->kind == GM_FIELD_SIZE)
        snprintf(text, sizeof text, "%" PRId64, json_read_whole(reader, from, field->name, 1));
    else
        NEED_TEXT(reader, from, field->name, text);
    snprintf(line + used, 256 - used, " %s", text);
}

/* An option, where the row says it: files up to 0.2 say none but a batch of 1. */
static void read_option(struct json_reader *reader, const json_t *from, const struct gm_field *field,
                        struct bench_case *problem) {
    const json_t *member = json_object_get(from, field->name);
    char text[GM_FIELD_TEXT_BYTES];
    int64_t value = json_integer_value(member); /* 0: of a text */
    if (!member)
        return;
    if (field->kind != GM_FIELD_SIZE)
        NEED_TEXT(reader, from, field->name, text);
    const bool is_value = field->kind == GM_FIELD_SIZE ? json_is_integer(member) && value >= 0 && value <= INT32_MAX
                                                       : gm_field_parse(field, text, strlen(text), &value);
    if (!is_value || !gm_field_set(field, problem->problem.bytes, value))
        json_read_reject(reader, field->name, "a value of the field");
}

static void read_options(struct json_reader *reader, const json_t *from, struct bench_case *problem) {
    const struct gm_operation *operation = problem->operation->operation;
    for (int i = 0; i < operation->field_count && !reader->bad; i++)
        if (operation->fields[i].uses & GM_IN_OPTIONS)
            read_option(reader, from, &operation->fields[i], problem);
    if (!reader->bad && case_complete(problem) != 0)
        json_read_reject(reader, "op", "a problem that is measured");
}

static void read_problem(struct json_reader *reader, const json_t *from, struct bench_case *problem) {
    char line[256], error[256];
    need_text(reader, from, "op", line, 24);
    const struct gm_operation *operation = gm_operation_named(line);
    if (!operation)
        json_read_reject(reader, "op", "an operation");
    for (int i = 0; operation && i < operation->field_count; i++)
        if (operation->fields[i].uses & GM_IN_SUITES)
            read_field(reader, from, &operation->fields[i], line);
    case_start(problem, bench_operations[0]);
    if (!reader->bad && suite_parse_line(line, problem, error, sizeof error) != 1) {
        complain("%s: %s: %s", reader->path, reader->where, error);
        reader->bad = true;
    }
    if (!reader->bad)
        read_options(reader, from, problem);
}

static void read_numbers(struct json_reader *reader, const json_t *from, struct bench_row *row) {
    const struct {
        const char *key;
        double *number;
    } numbers[] = {{"us", &row->us.median},
                   {"us_p10", &row->us.p10},
                   {"us_p90", &row->us.p90},
                   {"tflops", &row->tflops},
                   {"gbs", &row->gbs},
                   {"default_us", &row->default_us.median},
                   {"best_us", &row->best_us.median},
                   {"ratio_default", &row->ratio_default.median},
                   {"ratio_best", &row->ratio_best.median},
                   {"ratio_best_p10", &row->ratio_best.p10},
                   {"ratio_best_p90", &row->ratio_best.p90},
                   {"floor_us", &row->floor_us},
                   {"sm_mhz", &row->sm_mhz},
                   {"watts", &row->watts},
                   {"ours_joules", &row->ours_joules},
                   {"best_joules", &row->best_joules},
                   {"tflops_per_watt", &row->tflops_per_watt},
                   {"best_tflops_per_watt", &row->best_tflops_per_watt},
                   {"ours_alone_us", &row->ours_alone_us},
                   {"best_alone_us", &row->best_alone_us},
                   {"ratio_alone", &row->ratio_alone}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i].number = json_read_amount_or_none(reader, from, numbers[i].key);
    if (!(row->us.median > 0))
        json_read_reject(reader, "us", "a time");
}

static void read_row(struct json_reader *reader, const json_t *from, struct bench_row *row) {
    read_problem(reader, from, &row->problem);
    NEED_TEXT(reader, from, "kernel", row->kernel);
    read_samples(reader, from, "us_rounds", &row->ours);
    read_samples(reader, from, "best_us_rounds", &row->best);
    read_samples(reader, from, "default_us_rounds", &row->baseline_default);
    if (row->ours.count == 0)
        json_read_reject(reader, "us_rounds", "an array of times");
    row->predicted_us = json_read_amount_or_none(reader, from, "predicted_us");
    TEXT(reader, from, "best", row->best_name);
    row->best_way = (int)json_read_whole(reader, from, "best_heuristic", -1);
    row->ways = (int)json_read_whole(reader, from, "heuristics", 0);
    row->max_difference = json_read_amount_or_none(reader, from, "max_difference");
    results_fill(row); /* what the file does not have; the rest as it stands there, to the last digit */
    read_numbers(reader, from, row);
    TEXT(reader, from, "throttle", row->throttle);
}

static int read_rows(struct json_reader *reader, const json_t *rows, struct bench_results *results) {
    for (size_t i = 0; i < json_array_size(rows) && !reader->bad; i++) {
        struct bench_row *row = results_add(results);
        if (!row)
            return complain("out of host memory");
        snprintf(reader->where, sizeof reader->where, "row %zu", i);
        read_row(reader, json_array_get(rows, i), row);
    }
    return 0;
}

/* ---- options of earlier files ------------------------------------------------------------------------ */

static bool tells_options(const struct bench_case *problem) {
    const struct gm_operation *operation = problem->operation->operation;
    for (int i = 0; i < operation->field_count; i++)
        if (!(operation->fields[i].uses & GM_IN_SUITES) && case_tells(problem, &operation->fields[i]))
            return true;
    return false;
}

/* A pair NAME=VALUE that ends at a blank; what the operation has no longer says nothing. */
static void set_pair(struct bench_case *problem, const char *pair) {
    const struct gm_operation *operation = problem->operation->operation;
    const size_t bytes = strcspn(pair, " "), name_bytes = strcspn(pair, "= ");
    for (int i = 0; i < operation->field_count; i++) {
        const struct gm_field *field = &operation->fields[i];
        int64_t value;
        if (field->uses & GM_IN_OPTIONS && name_bytes < bytes && strlen(field->name) == name_bytes &&
            memcmp(field->name, pair, name_bytes) == 0 &&
            gm_field_parse(field, pair + name_bytes + 1, bytes - name_bytes - 1, &value))
            gm_field_set(field, problem->problem.bytes, value);
    }
}

/* Files up to 0.2 have no options in their rows. All problems have those of the command, where it is one. */
static void read_sets(struct bench_results *results) {
    bool told = strchr(results->meta.command, ';') != NULL;
    for (size_t i = 0; i < results->count && !told; i++)
        told = tells_options(&results->rows[i].problem);
    const char *at = told ? NULL : strstr(results->meta.command, "--set");
    for (; at; at = strstr(at, "--set")) {
        at += strlen("--set");
        for (size_t i = 0; i < results->count && (*at == ' ' || *at == '='); i++)
            set_pair(&results->rows[i].problem, at + 1);
    }
    for (size_t i = 0; i < results->count; i++)
        (void)case_complete(&results->rows[i].problem);
}

int results_read_json(struct bench_results *results, const char *path) {
    json_error_t error;
    struct json_reader reader = {.path = path};
    *results = (struct bench_results){0};
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return error.line > 0 ? complain("%s:%d: %s", path, error.line, error.text) : complain("%s", error.text);
    const json_t *meta = json_object_get(root, "meta"), *rows = json_object_get(root, "rows");
    int status = -1;
    if (!json_is_object(meta) || !json_is_array(rows))
        complain("%s holds no results of gristmill bench: it has no `meta` with `rows`", path);
    else {
        read_meta(&reader, meta, &results->meta);
        status = reader.bad ? -1 : read_rows(&reader, rows, results);
        if (status == 0 && !reader.bad)
            read_sets(results);
    }
    json_decref(root);
    if (status == 0 && !reader.bad)
        return 0;
    results_free(results);
    return -1;
}

const char *results_differ(const struct bench_meta *earlier, const struct bench_meta *later, char *text, size_t bytes) {
    const struct {
        const char *what, *earlier, *later;
    } texts[] = {{"suite", earlier->suite, later->suite},          {"GPU", earlier->gpu, later->gpu},
                 {"driver", earlier->driver, later->driver},       {"toolkit", earlier->toolkit, later->toolkit},
                 {"revision", earlier->revision, later->revision}, {"baseline", earlier->baseline, later->baseline},
                 {"L2", results_l2(earlier), results_l2(later)}};
    const struct {
        const char *what;
        double earlier, later;
    } numbers[] = {{"rounds", earlier->rounds, later->rounds},
                   {"milliseconds of a round", earlier->round_ms, later->round_ms},
                   {"seconds of warm-up", earlier->warmup_s, later->warmup_s},
                   {"seconds of energy", earlier->energy_s, later->energy_s},
                   {"bytes of workspace", earlier->workspace_bytes, later->workspace_bytes},
                   {"rotations over L2", earlier->rotate_l2, later->rotate_l2}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].earlier, texts[i].later) == 0)
            continue;
        snprintf(text, bytes, "the %s: %s, now %s", texts[i].what, texts[i].earlier[0] ? texts[i].earlier : "none",
                 texts[i].later[0] ? texts[i].later : "none");
        return text;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (fabs(numbers[i].earlier - numbers[i].later) <= 1e-5 * numbers[i].later)
            continue;
        snprintf(text, bytes, "the %s: %g, now %g", numbers[i].what, numbers[i].earlier, numbers[i].later);
        return text;
    }
    return NULL;
}
