/* SPDX-License-Identifier: Apache-2.0 */
/* The plots of one experiment, each only where there is something to compare. */
#include <math.h>
#include <string.h>

#include "program/draw/chart.h"
#include "lab/lab_report.h"
#include "program/draw/page.h"

enum { CHARTED_QUANTITIES_MAX = 3 };

/* The bars of one plot while they are collected. */
struct plot {
    struct chart_bar bars[LAB_POINTS_MAX];
    size_t count;
    bool has_markers;
};

static void add_bar(struct plot *plot, const struct record_point *point, double value, double marker) {
    if (!isfinite(value) && !isfinite(marker))
        return;
    struct chart_bar *bar = &plot->bars[plot->count++];
    *bar = (struct chart_bar){.label = point->label, .note = point->change[0] ? point->change : NULL};
    bar->value[0] = value;
    bar->marker[0] = marker;
    plot->has_markers |= isfinite(marker);
}

/* A plot of one bar compares nothing, and one without any measured value shows nothing. */
static bool worth_drawing(const struct plot *plot) {
    bool measured = false, positive = false;
    for (size_t i = 0; i < plot->count; i++) {
        measured |= isfinite(plot->bars[i].value[0]);
        positive |= plot->bars[i].value[0] > 0;
    }
    return plot->count > 1 && measured && positive;
}

static void draw(FILE *out, const struct plot *plot, const char *title, const char *axis, const char *series) {
    if (!worth_drawing(plot))
        return;
    const struct chart chart = {.title = title, .axis = axis, .decimals = -1, .inside_page = true};
    page_figure_begin(out);
    svg_bars(out, &chart, &series, 1, plot->has_markers ? "predicted" : NULL, plot->bars, plot->count);
    page_figure_end(out, NULL);
}

/* ---- counters ------------------------------------------------------------------------------------- */

static const struct record_quantity *quantity_named(const struct record_point *point, const char *name) {
    for (size_t i = 0; i < point->quantity_count; i++) {
        if (strcmp(point->quantities[i].name, name) == 0)
            return &point->quantities[i];
    }
    return NULL;
}

static void draw_quantity(FILE *out, const struct record *record, const char *name) {
    struct plot plot = {0};
    for (size_t i = 0; i < record->point_count; i++) {
        const struct record_quantity *quantity = quantity_named(&record->points[i], name);
        if (quantity)
            add_bar(&plot, &record->points[i], quantity->counted, quantity->predicted);
    }
    draw(out, &plot, name, "counted in one launch", "counted");
}

static void draw_quantities(FILE *out, const struct record *record) {
    const char *names[CHARTED_QUANTITIES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < record->point_count; i++) {
        for (size_t j = 0; j < record->points[i].quantity_count && count < CHARTED_QUANTITIES_MAX; j++) {
            const char *name = record->points[i].quantities[j].name;
            bool seen = false;
            for (size_t k = 0; k < count; k++)
                seen |= strcmp(names[k], name) == 0;
            if (!seen)
                names[count++] = name;
        }
    }
    for (size_t i = 0; i < count; i++)
        draw_quantity(out, record, names[i]);
}

/* ---- clocks and times ----------------------------------------------------------------------------- */

static void draw_cycles(FILE *out, const struct record *record) {
    struct plot plot = {0};
    for (size_t i = 0; i < record->point_count; i++)
        add_bar(&plot, &record->points[i], record->points[i].cycles, record->points[i].cycles_predicted);
    draw(out, &plot, "Cycles", "cycles by the kernel's own clock", "measured");
}

enum unit { UNIT_GBS, UNIT_TFLOPS, UNIT_US, UNITS };

static double rate_of(const struct record_point *point, enum unit unit) {
    const double values[UNITS] = {[UNIT_GBS] = point->gbs, [UNIT_TFLOPS] = point->tflops, [UNIT_US] = point->us};
    return values[unit];
}

/* The first unit that every timed point has: a rate says more than a time. */
static enum unit unit_of(const struct record *record) {
    for (enum unit unit = UNIT_GBS; unit < UNIT_US; unit++) {
        bool all = true;
        for (size_t i = 0; i < record->point_count; i++)
            all &= !isfinite(record->points[i].us) || isfinite(rate_of(&record->points[i], unit));
        if (all)
            return unit;
    }
    return UNIT_US;
}

static void draw_times(FILE *out, const struct record *record) {
    static const char *const titles[UNITS] = {"Bandwidth", "Arithmetic", "Time"};
    static const char *const axes[UNITS] = {"GB/s", "TFLOPS", "µs of one launch"};
    struct plot plot = {0};
    enum unit unit = unit_of(record);
    for (size_t i = 0; i < record->point_count; i++)
        add_bar(&plot, &record->points[i], rate_of(&record->points[i], unit), NAN);
    draw(out, &plot, titles[unit], axes[unit], axes[unit]);
}

void report_charts(FILE *out, const struct record *record) {
    draw_quantities(out, record);
    draw_cycles(out, record);
    draw_times(out, record);
}
