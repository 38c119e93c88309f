/* SPDX-License-Identifier: Apache-2.0 */
/* What an experiment found: filled from its points, judged, written as JSON. */
#include "lab/lab_results.h"

#include <math.h>
#include <string.h>

#include "program/base/json.h"
#include "lab/modules.h"
#include "program/base/shared_file.h"

#define COPY(to, from) snprintf((to), sizeof(to), "%s", (from) ? (from) : "")

/* ---- from the laboratory -------------------------------------------------------------------------- */

static void fill_point(struct record_point *to, const struct lab_point *from) {
    const struct lab_module *module = from->launch.kernel ? lab_module_find(from->launch.module) : NULL;
    *to = (struct record_point){.result = (int)from->result, .quantity_count = from->quantity_count};
    COPY(to->label, from->label);
    COPY(to->change, from->change);
    COPY(to->source, module ? module->source : NULL);
    COPY(to->kernel, from->launch.kernel);
    COPY(to->wrong, from->wrong);
    for (size_t i = 0; i < from->quantity_count; i++) {
        const struct lab_quantity *quantity = &from->quantities[i];
        struct record_quantity *record = &to->quantities[i];
        COPY(record->name, quantity->name);
        COPY(record->metric, quantity->metric);
        record->predicted = quantity->predicted;
        record->tolerance = quantity->tolerance;
        record->counted = quantity->counted;
        record->simulated = quantity->simulated;
    }
    to->too_large = from->too_large;
    to->cycles_predicted = from->cycles_predicted > 0 ? from->cycles_predicted : NAN;
    to->cycles_tolerance = from->cycles_tolerance;
    to->cycles = from->cycles;
    to->timed = from->timed;
    to->us = from->us;
    to->us_p10 = from->us_p10;
    to->us_p90 = from->us_p90;
    to->gbs = lab_gbs(from);
    to->tflops = lab_tflops(from);
    to->sm_mhz = from->sm_mhz;
    to->watts = from->watts;
}

void record_fill(struct record *record, const struct lab *lab) {
    COPY(record->meta.experiment, lab->experiment->name);
    COPY(record->meta.title, lab->experiment->title);
    COPY(record->meta.question, lab->experiment->question);
    COPY(record->meta.page, lab->experiment->page);
    record->point_count = lab->point_count;
    for (size_t i = 0; i < lab->point_count; i++)
        fill_point(&record->points[i], &lab->points[i]);
    record->claim_count = lab->claim_count;
    memcpy(record->claims, lab->claims, sizeof record->claims);
}

/* ---- the verdict ---------------------------------------------------------------------------------- */

static enum agreement compare(double predicted, double measured, double tolerance) {
    if (!isfinite(predicted))
        return NOT_PREDICTED;
    if (!isfinite(measured))
        return NOT_MEASURED;
    return fabs(measured - predicted) <= tolerance * fabs(predicted) ? AGREES : DISAGREES;
}

struct tally {
    size_t wrong;                 /* results */
    size_t counts[AGREEMENTS];    /* quantities, by agreement of what was counted */
    size_t simulated[AGREEMENTS]; /* quantities, by agreement of what was simulated */
    size_t stood_in;              /* simulated and as predicted, where nothing was counted */
    size_t clocks[AGREEMENTS];    /* cycles that were predicted, by agreement */
    size_t claims, broken;        /* in all; that do not hold */
    const char *first;            /* the label of the first point that disagrees */
};

/* A simulated number stands beside the one that was counted, which it must equal, or else beside the prediction. */
static void judge_quantity(struct record_quantity *quantity, struct tally *tally) {
    const bool counted = isfinite(quantity->counted);
    quantity->agrees = compare(quantity->predicted, quantity->counted, quantity->tolerance);
    quantity->simulated_agrees = counted ? compare(quantity->counted, quantity->simulated, 0)
                                         : compare(quantity->predicted, quantity->simulated, quantity->tolerance);
    tally->counts[quantity->agrees]++;
    tally->simulated[quantity->simulated_agrees]++;
    tally->stood_in += quantity->agrees == NOT_MEASURED && quantity->simulated_agrees == AGREES;
}

static struct tally count_up(struct record *record) {
    struct tally tally = {.claims = record->claim_count};
    for (size_t i = 0; i < record->point_count; i++) {
        struct record_point *point = &record->points[i];
        bool bad = point->result == LAB_WRONG;
        tally.wrong += bad;
        for (size_t j = 0; j < point->quantity_count; j++) {
            judge_quantity(&point->quantities[j], &tally);
            bad |= point->quantities[j].agrees == DISAGREES || point->quantities[j].simulated_agrees == DISAGREES;
        }
        point->cycles_agree = compare(point->cycles_predicted, point->cycles, point->cycles_tolerance);
        if (isfinite(point->cycles_predicted))
            tally.clocks[point->cycles_agree]++;
        bad |= point->cycles_agree == DISAGREES;
        if (bad && !tally.first)
            tally.first = point->label;
    }
    for (size_t i = 0; i < record->claim_count; i++)
        tally.broken += !record->claims[i].holds;
    return tally;
}

static void add(char *text, size_t bytes, const char *format, size_t number) {
    size_t used = strlen(text);
    if (number)
        snprintf(text + used, bytes - used, format, used ? ", " : "", number, number == 1 ? "" : "s");
}

static void describe_trouble(const struct tally *tally, char *text, size_t bytes) {
    text[0] = 0;
    add(text, bytes, "%s%zu wrong result%s", tally->wrong);
    add(text, bytes, "%s%zu counted number%s not as predicted", tally->counts[DISAGREES]);
    add(text, bytes, "%s%zu simulated number%s not as counted or predicted", tally->simulated[DISAGREES]);
    add(text, bytes, "%s%zu number%s of cycles not as predicted", tally->clocks[DISAGREES]);
    add(text, bytes, "%s%zu claim%s broken", tally->broken);
    size_t used = strlen(text);
    if (tally->first)
        snprintf(text + used, bytes - used, "; first at `%s`", tally->first);
}

/* Points that were launched, numbers that agree, and how many of them the simulator counted too. */
static void describe_agreement(const struct record *record, const struct tally *tally, char *text, size_t bytes) {
    size_t launched = 0;
    for (size_t i = 0; i < record->point_count; i++)
        launched += !(record->meta.simulated_gpu && record->points[i].too_large);
    text[0] = 0;
    add(text, bytes, "%s%zu point%s", launched);
    add(text, bytes, "%s%zu number%s", tally->counts[AGREES] + tally->clocks[AGREES] + tally->stood_in);
    if (!record->meta.simulated_gpu)
        add(text, bytes, "%s%zu of them simulated%.0s", tally->simulated[AGREES]);
    add(text, bytes, "%s%zu claim%s", tally->claims);
}

void record_judge(struct record *record) {
    const struct tally tally = count_up(record);
    const size_t agreeing = tally.counts[AGREES] + tally.clocks[AGREES] + tally.stood_in;
    const size_t missing = tally.counts[NOT_MEASURED] - tally.stood_in + tally.clocks[NOT_MEASURED];
    const size_t troubles =
        tally.wrong + tally.counts[DISAGREES] + tally.simulated[DISAGREES] + tally.clocks[DISAGREES] + tally.broken;
    char what[256], rest[64] = "";
    record->wrong = tally.wrong > 0;
    if (troubles > 0) {
        record->state = RECORD_DISAGREE;
        describe_trouble(&tally, what, sizeof what);
        snprintf(record->verdict, sizeof record->verdict, "DISAGREE: %s", what);
        return;
    }
    describe_agreement(record, &tally, what, sizeof what);
    if (missing && !agreeing && !record->meta.simulated_gpu) {
        record->state = RECORD_NOT_MEASURED;
        snprintf(record->verdict, sizeof record->verdict, "not measured (%s; %s)",
                 record->meta.counted ? "the counters are not there" : "no counters",
                 record->meta.rounds ? "time only" : "no times");
        return;
    }
    if (missing)
        snprintf(rest, sizeof rest, "; %zu number%s not measured", missing, missing == 1 ? "" : "s");
    record->state = RECORD_AGREE;
    snprintf(record->verdict, sizeof record->verdict, "agree%s (%s%s)",
             record->meta.simulated_gpu ? " on the simulator" : "", what, rest);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static const char *or_null(const char *text) {
    return text[0] ? text : NULL;
}

static void write_agreement(struct json *json, const char *key, enum agreement agreement) {
    if (agreement == NOT_MEASURED || agreement == NOT_PREDICTED)
        json_put_string(json, key, NULL);
    else
        json_put_bool(json, key, agreement == AGREES);
}

static void write_meta(struct json *json, const struct record_meta *meta) {
    json_object_begin(json, "meta");
    json_put_string(json, "gpu", meta->gpu);
    json_put_string(json, "driver", meta->driver);
    json_put_string(json, "toolkit", or_null(meta->toolkit));
    json_put_string(json, "revision", or_null(meta->revision));
    json_put_string(json, "date", meta->date);
    json_put_string(json, "experiment", meta->experiment);
    json_put_string(json, "title", meta->title);
    json_put_string(json, "question", meta->question);
    json_put_string(json, "page", or_null(meta->page));
    json_put_string(json, "counters", meta->counters);
    json_put_bool(json, "counted", meta->counted);
    json_put_string(json, "simulator", or_null(meta->simulator));
    json_put_bool(json, "simulated", meta->simulated);
    json_put_bool(json, "simulated_gpu", meta->simulated_gpu);
    json_put_integer(json, "rounds", meta->rounds);
    json_put_number(json, "round_ms", meta->round_ms);
    json_put_number(json, "warmup_s", meta->warmup_s);
    json_object_end(json);
}

static void write_quantities(struct json *json, const struct record_point *point) {
    json_array_begin(json, "quantities");
    for (size_t i = 0; i < point->quantity_count; i++) {
        const struct record_quantity *quantity = &point->quantities[i];
        json_line_begin(json, NULL);
        json_put_string(json, "name", quantity->name);
        json_put_string(json, "metric", or_null(quantity->metric));
        json_put_exact(json, "predicted", quantity->predicted);
        json_put_number(json, "tolerance", quantity->tolerance);
        json_put_exact(json, "counted", quantity->counted);
        write_agreement(json, "agrees", quantity->agrees);
        json_put_exact(json, "simulated", quantity->simulated);
        write_agreement(json, "simulated_agrees", quantity->simulated_agrees);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_cycles(struct json *json, const struct record_point *point) {
    if (!isfinite(point->cycles) && !isfinite(point->cycles_predicted)) {
        json_put_string(json, "cycles", NULL);
        return;
    }
    json_line_begin(json, "cycles");
    json_put_exact(json, "predicted", point->cycles_predicted);
    json_put_number(json, "tolerance", point->cycles_tolerance);
    json_put_exact(json, "measured", point->cycles);
    write_agreement(json, "agrees", point->cycles_agree);
    json_object_end(json);
}

static void write_time(struct json *json, const struct record_point *point) {
    if (!point->timed) {
        json_put_string(json, "time", NULL);
        return;
    }
    json_line_begin(json, "time");
    json_put_number(json, "us", point->us);
    json_put_number(json, "us_p10", point->us_p10);
    json_put_number(json, "us_p90", point->us_p90);
    json_put_number(json, "gbs", point->gbs);
    json_put_number(json, "tflops", point->tflops);
    json_put_number(json, "sm_mhz", point->sm_mhz);
    json_put_number(json, "watts", point->watts);
    json_object_end(json);
}

static void write_point(struct json *json, const struct record_point *point) {
    json_object_begin(json, NULL);
    json_put_string(json, "label", point->label);
    json_put_string(json, "change", or_null(point->change));
    json_put_string(json, "source", or_null(point->source));
    json_put_string(json, "kernel", or_null(point->kernel));
    if (point->result == LAB_NOT_CHECKED)
        json_put_string(json, "correct", NULL);
    else
        json_put_bool(json, "correct", point->result == LAB_CORRECT);
    json_put_string(json, "wrong", or_null(point->wrong));
    json_put_bool(json, "too_large", point->too_large);
    write_quantities(json, point);
    write_cycles(json, point);
    write_time(json, point);
    json_object_end(json);
}

static void write_record(struct json *json, const struct record *record) {
    json_object_begin(json, NULL);
    write_meta(json, &record->meta);
    json_array_begin(json, "points");
    for (size_t i = 0; i < record->point_count; i++)
        write_point(json, &record->points[i]);
    json_array_end(json);
    json_array_begin(json, "claims");
    for (size_t i = 0; i < record->claim_count; i++) {
        json_line_begin(json, NULL);
        json_put_string(json, "claim", record->claims[i].sentence);
        json_put_bool(json, "holds", record->claims[i].holds);
        json_put_bool(json, "of_time", record->claims[i].of_time);
        json_object_end(json);
    }
    json_array_end(json);
    json_put_string(json, "verdict", record->verdict);
    json_object_end(json);
}

int record_write(const struct record *record, const char *path) {
    struct draft draft;
    struct json json;
    if (draft_begin(&draft, path) != 0)
        return -1;
    json_start(&json, draft.out);
    write_record(&json, record);
    return draft_end(&draft);
}
