/* SPDX-License-Identifier: Apache-2.0 */
/* What the report folds away of an experiment: every number of every point, what each point changes, how it was
 * measured. */
#include <math.h>
#include <string.h>

#include "lab/lab_report.h"
#include "program/base/text_table.h"
#include "program/draw/page.h"

static const enum page_state state_of_number[] = {
    [NOT_MEASURED] = PAGE_NEUTRAL, [AGREES] = PAGE_OK, [DISAGREES] = PAGE_BAD, [NOT_PREDICTED] = PAGE_NEUTRAL};
static const char *const word_of_number[] = {
    [NOT_MEASURED] = "not measured", [AGREES] = "agrees", [DISAGREES] = "disagrees", [NOT_PREDICTED] = "not predicted"};

/* ---- the table ------------------------------------------------------------------------------------ */

/* Which columns have anything in them. */
struct columns {
    bool quantities, simulated, cycles, cycles_predicted, us, gbs, tflops;
};

static struct columns columns_of(const struct record *record) {
    struct columns has = {0};
    for (size_t i = 0; i < record->point_count; i++) {
        const struct record_point *point = &record->points[i];
        has.quantities |= point->quantity_count > 0;
        for (size_t j = 0; j < point->quantity_count; j++)
            has.simulated |= isfinite(point->quantities[j].simulated);
        has.cycles |= isfinite(point->cycles);
        has.cycles_predicted |= isfinite(point->cycles_predicted);
        has.us |= isfinite(point->us);
        has.gbs |= isfinite(point->gbs);
        has.tflops |= isfinite(point->tflops);
    }
    return has;
}

static void put_number(FILE *out, enum page_state state, double value, const char *format) {
    char text[TEXT_TABLE_NUMBER_BYTES];
    page_cell(out, state, false, "%s", text_table_number(text, value, format));
}

static void put_quantity(FILE *out, const struct columns *has, const struct record_point *point,
                         const struct record_quantity *quantity) {
    page_cell(out, PAGE_NEUTRAL, true, "%s", quantity ? quantity->name : "");
    if (quantity) {
        put_number(out, PAGE_NEUTRAL, quantity->predicted, "%.15g");
        put_number(out, state_of_number[quantity->agrees], quantity->counted, "%.15g");
    } else {
        page_cell(out, PAGE_NEUTRAL, false, "%s", "");
        page_cell(out, PAGE_NEUTRAL, false, "%s", "");
    }
    if (has->simulated && quantity && !point->too_large)
        put_number(out, state_of_number[quantity->simulated_agrees], quantity->simulated, "%.15g");
    else if (has->simulated)
        page_cell(out, PAGE_NEUTRAL, false, "%s", quantity ? "too large" : "");
}

/* A cell of the point itself, on the first of its rows only. */
static void put_once(FILE *out, bool column, bool first, enum page_state state, double value, const char *format) {
    if (!column)
        return;
    if (first)
        put_number(out, state, value, format);
    else
        page_cell(out, PAGE_NEUTRAL, false, "%s", "");
}

static void put_verdict(FILE *out, const struct record_point *point, const struct record_quantity *quantity,
                        bool first) {
    if (first && point->result == LAB_WRONG)
        page_cell(out, PAGE_BAD, true, "wrong: %s", point->wrong);
    else if (first && point->cycles_agree == DISAGREES)
        page_cell(out, PAGE_BAD, true, "%s", "the cycles disagree");
    else if (quantity && quantity->simulated_agrees == DISAGREES)
        page_cell(out, PAGE_BAD, true, "%s", "the simulator disagrees");
    else if (quantity && quantity->agrees == NOT_MEASURED && quantity->simulated_agrees == AGREES)
        page_cell(out, PAGE_OK, true, "%s", "agrees, simulated");
    else if (quantity)
        page_cell(out, state_of_number[quantity->agrees], true, "%s", word_of_number[quantity->agrees]);
    else if (first && isfinite(point->cycles_predicted))
        page_cell(out, state_of_number[point->cycles_agree], true, "%s", word_of_number[point->cycles_agree]);
    else
        page_cell(out, PAGE_NEUTRAL, true, "%s", first && point->result == LAB_CORRECT ? "correct" : "");
}

static void put_row(FILE *out, const struct columns *has, const struct record_point *point, size_t index) {
    const struct record_quantity *quantity = index < point->quantity_count ? &point->quantities[index] : NULL;
    const bool first = index == 0;
    page_row_begin(out);
    page_cell(out, PAGE_NEUTRAL, true, "%s", first ? point->label : "");
    if (has->quantities)
        put_quantity(out, has, point, quantity);
    put_once(out, has->cycles_predicted, first, PAGE_NEUTRAL, point->cycles_predicted, "%.0f");
    put_once(out, has->cycles, first, state_of_number[point->cycles_agree], point->cycles, "%.0f");
    put_once(out, has->us, first, PAGE_NEUTRAL, point->us, "%.2f");
    put_once(out, has->gbs, first, PAGE_NEUTRAL, point->gbs, "%.1f");
    put_once(out, has->tflops, first, PAGE_NEUTRAL, point->tflops, "%.2f");
    put_verdict(out, point, quantity, first);
    page_row_end(out);
}

static void put_table(FILE *out, const struct record *record) {
    const struct columns has = columns_of(record);
    char titles[256];
    snprintf(titles, sizeof titles, "<point%s%s%s%s%s%s%s|<verdict",
             has.quantities ? "|<quantity|predicted|counted" : "", has.simulated ? "|simulated" : "",
             has.cycles_predicted ? "|cycles predicted" : "", has.cycles ? "|cycles" : "", has.us ? "|µs" : "",
             has.gbs ? "|GB/s" : "", has.tflops ? "|TFLOPS" : "");
    page_table_begin(out, titles, NULL);
    for (size_t i = 0; i < record->point_count; i++) {
        put_row(out, &has, &record->points[i], 0);
        for (size_t j = 1; j < record->points[i].quantity_count; j++)
            put_row(out, &has, &record->points[i], j);
    }
    page_table_end(out);
}

/* ---- the words ------------------------------------------------------------------------------------ */

/* What each point changes; points in a row that say the same share a line. */
static void put_changes(FILE *out, const struct record *record) {
    bool any = false;
    for (size_t i = 0; i < record->point_count; i++)
        any |= record->points[i].change[0] != 0;
    if (!any)
        return;
    page_table_begin(out, "<point|<what it changes", "The steps");
    for (size_t from = 0, to; from < record->point_count; from = to) {
        const struct record_point *point = &record->points[from];
        for (to = from + 1; to < record->point_count && !strcmp(record->points[to].change, point->change);)
            to++;
        page_row_begin(out);
        page_cell(out, PAGE_NEUTRAL, true, "%s%s%s", point->label, to > from + 1 ? " … " : "",
                  to > from + 1 ? record->points[to - 1].label : "");
        page_cell(out, PAGE_NEUTRAL, true, "%s", point->change);
        page_row_end(out);
    }
    page_table_end(out);
}

static void put_method(FILE *out, const struct record *record) {
    const struct record_meta *meta = &record->meta;
    char times[128] = "no times were taken", clock[96] = "";
    if (meta->rounds)
        snprintf(times, sizeof times, "times: %d rounds of %g ms after %g s of warm-up", meta->rounds, meta->round_ms,
                 meta->warmup_s);
    for (size_t i = 0; meta->rounds && i < record->point_count && !clock[0]; i++) {
        if (isfinite(record->points[i].sm_mhz))
            snprintf(clock, sizeof clock, ", at %.0f MHz and %.0f W", record->points[i].sm_mhz,
                     record->points[i].watts);
    }
    page_code(out, "gristmill lab run %s --verify", meta->experiment);
    page_aside(out, "%s%s;%s%s%s %s%s; %s, revision %s.",
               meta->counted ? "Counters: " : "No counters: ", meta->counters, meta->simulated ? " simulated by " : "",
               meta->simulated ? meta->simulator : "", meta->simulated ? ";" : "", times, clock, meta->date,
               meta->revision[0] ? meta->revision : "unknown");
}

void report_rows(FILE *out, const struct record *record) {
    char summary[96];
    snprintf(summary, sizeof summary, "%zu point%s, every number", record->point_count,
             record->point_count == 1 ? "" : "s");
    page_details_begin(out, summary);
    put_table(out, record);
    put_changes(out, record);
    put_method(out, record);
    page_details_end(out);
}
