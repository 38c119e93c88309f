/* SPDX-License-Identifier: Apache-2.0 */
/* What one figure of the report shows. */
#include "lab/lab_report_plot.h"

#include <math.h>
#include <string.h>

#include "lab/modules.h"

#define LOG_SPAN 100.0 /* of values: the greatest over the least */

/* ---- values --------------------------------------------------------------------------------------- */

static double rate_of(const struct record_point *point, enum unit unit) {
    const double values[UNITS] = {[UNIT_GBS] = point->gbs, [UNIT_TFLOPS] = point->tflops, [UNIT_US] = point->us};
    return values[unit];
}

static bool has_rate(const struct record_point *point, enum unit unit) {
    return isfinite(rate_of(point, unit));
}

static bool is_shown(const struct figure *figure, const struct record_point *point) {
    struct label label;
    return label_match(figure->labels, point->label, &label);
}

/* A rate says more than a time, where all points of the figure that have one have the same. */
static enum unit unit_of(const struct record *record, const struct figure *figure) {
    for (enum unit unit = UNIT_GBS; unit < UNIT_US; unit++) {
        const enum unit other = unit == UNIT_GBS ? UNIT_TFLOPS : UNIT_GBS;
        bool any = false, all = true;
        for (size_t i = 0; i < record->point_count; i++) {
            const struct record_point *point = &record->points[i];
            if (!is_shown(figure, point))
                continue;
            any |= has_rate(point, unit);
            all &= has_rate(point, unit) || !has_rate(point, other);
        }
        if (any && all)
            return unit;
    }
    return UNIT_US;
}

static const struct record_quantity *quantity_named(const struct record_point *point, const char *name) {
    for (size_t i = 0; i < point->quantity_count; i++) {
        if (strcmp(point->quantities[i].name, name) == 0)
            return &point->quantities[i];
    }
    return NULL;
}

static void read_quantity(const struct figure *figure, struct shown *shown) {
    const struct record_quantity *quantity = quantity_named(shown->point, figure->quantity);
    if (!quantity)
        return;
    shown->value = isfinite(quantity->counted) ? quantity->counted : quantity->simulated;
    shown->predicted = quantity->predicted;
    shown->bad = quantity->agrees == DISAGREES || quantity->simulated_agrees == DISAGREES;
}

static void read_value(const struct plot *plot, struct shown *shown) {
    const struct figure *figure = plot->figure;
    shown->value = shown->predicted = NAN;
    switch (figure->value) {
    case FIGURE_RATE:
        shown->value = rate_of(shown->point, plot->unit);
        break;
    case FIGURE_QUANTITY:
        read_quantity(figure, shown);
        break;
    case FIGURE_EXCESS:
        read_quantity(figure, shown);
        shown->value -= shown->predicted;
        shown->predicted = NAN;
        break;
    case FIGURE_CYCLES:
        shown->value = shown->point->cycles;
        shown->predicted = shown->point->cycles_predicted;
        shown->bad = shown->point->cycles_agree == DISAGREES;
        break;
    case FIGURE_LABEL:
        shown->value = label_number(&shown->label, LABEL_Y);
        break;
    case FIGURE_RESULT:
        break;
    }
    const double scale = isfinite(plot->whole) ? 100 / plot->whole : figure->per > 0 ? 1 / figure->per : 1;
    shown->value *= scale;
    shown->predicted *= scale;
}

static void collect(struct plot *plot, const struct record *record) {
    for (size_t i = 0; i < record->point_count; i++) {
        struct shown *shown = &plot->shown[plot->count];
        *shown = (struct shown){.point = &record->points[i]};
        if (!label_match(plot->figure->labels, shown->point->label, &shown->label))
            continue;
        read_value(plot, shown);
        if (plot->figure->form == FIGURE_DOTS && !isfinite(shown->predicted))
            continue;
        plot->count += isfinite(shown->value) || plot->figure->value == FIGURE_RESULT;
    }
}

static double whole_of(const struct figure *figure, const struct record *record, enum unit unit) {
    for (size_t i = 0; figure->whole && i < record->point_count; i++) {
        if (strcmp(record->points[i].label, figure->whole) == 0)
            return rate_of(&record->points[i], unit);
    }
    return NAN;
}

/* ---- the plot ------------------------------------------------------------------------------------- */

static void make_title(struct plot *plot) {
    static const char *const rates[UNITS] = {"Bandwidth, GB/s", "Arithmetic, TFLOPS", "Time of a launch, µs"};
    const struct figure *figure = plot->figure;
    const char *title = figure->title                    ? figure->title
                        : figure->value == FIGURE_RATE   ? rates[plot->unit]
                        : figure->value == FIGURE_CYCLES ? "Cycles by the kernel's own clock"
                                                         : figure->quantity;
    snprintf(plot->title, sizeof plot->title, "%s", title ? title : "");
}

struct chart plot_chart(const struct plot *plot) {
    return (struct chart){.title = plot->title,
                          .x_axis = plot->figure->x_axis,
                          .decimals = -1,
                          .inside_page = !plot->alone,
                          .narrow = true};
}

/* Percents are read on a linear axis, whatever they span. */
void plot_choose_axis(const struct plot *plot, struct chart *chart, const struct chart_range *range) {
    chart->log = !plot->figure->whole && range->highest > LOG_SPAN * range->positive;
    chart->subtitle = chart->log ? "logarithmic axis" : NULL;
}

bool plot_make(struct plot *plot, FILE *out, const struct record *record, const struct figure *figure) {
    *plot = (struct plot){.out = out,
                          .gpu = record->meta.gpu,
                          .figure = figure,
                          .experiment = lab_experiment_find(record->meta.experiment),
                          .unit = unit_of(record, figure)};
    plot->whole = whole_of(figure, record, plot->unit);
    collect(plot, record);
    make_title(plot);
    return plot->count > 0;
}
