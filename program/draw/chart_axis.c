/* SPDX-License-Identifier: Apache-2.0 */
/* What charts share. */
#include "program/draw/chart_axis.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- axis --------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, such that about six steps cover the range. */
static double round_step(double range) {
    const double rough = range / 6, power = pow(10, floor(log10(rough)));
    const double digit = rough / power;
    return power * (digit <= 1.5 ? 1 : digit <= 3.5 ? 2 : digit <= 7.5 ? 5 : 10);
}

static void linear_ticks(struct chart_axis *axis, bool fitted) {
    const double step = round_step(axis->to - axis->from);
    if (fitted) {
        axis->from = floor(axis->from / step + 1e-9) * step;
        axis->to = ceil(axis->to / step - 1e-9) * step;
    }
    const double first = ceil(axis->from / step - 1e-9);
    for (int i = 0; i < CHART_TICKS_MAX && (first + i) * step <= axis->to + step * 1e-6; i++)
        axis->ticks[axis->tick_count++] = (first + i) * step;
}

/* Powers of ten; 2 and 5 times them as well where there are few. The loops count whole powers: values that overflow or
 * vanish would never reach the end of the axis. */
static void log_ticks(struct chart_axis *axis, bool fitted) {
    static const double digits[] = {1, 2, 5};
    if (fitted) {
        const double first = floor(log10(axis->from) + 1e-5), last = ceil(log10(axis->to) - 1e-5);
        axis->from = pow(10, fmax(first, DBL_MIN_10_EXP));
        axis->to = pow(10, fmin(fmax(last, first + 1), DBL_MAX_10_EXP));
    }
    const int first = (int)floor(log10(axis->from) + 1e-9), last = (int)floor(log10(axis->to) + 1e-6);
    const double decades = log10(axis->to) - log10(axis->from);
    const int stride = decades > 12 ? (int)ceil(decades / 12) : 1;
    for (int power = first; power <= last; power += stride)
        for (int i = 0; i < (decades <= 3 ? 3 : 1) && axis->tick_count < CHART_TICKS_MAX; i++) {
            const double tick = pow(10, power) * digits[i];
            if (tick >= axis->from * 0.999999 && tick <= axis->to * 1.000001)
                axis->ticks[axis->tick_count++] = tick;
        }
}

void chart_range_add(struct chart_range *range, double value) {
    if (!isfinite(value))
        return;
    range->lowest = fmin(range->lowest, value);
    range->highest = fmax(range->highest, value);
    if (value > 0)
        range->positive = fmin(range->positive, value);
}

static bool usable(const struct chart_axis *axis) {
    return isfinite(axis->from) && isfinite(axis->to) && axis->from < axis->to && (!axis->log || axis->from > 0);
}

bool chart_axis_fit(struct chart_axis *axis, bool log, double from, double to, const struct chart_range *range) {
    const bool fitted = from == 0 && to == 0;
    *axis = (struct chart_axis){.log = log && (!fitted || isfinite(range->positive)), .from = from, .to = to};
    if (fitted) {
        if (!isfinite(range->lowest))
            return false;
        axis->from = axis->log ? range->positive * 0.999999 : fmin(range->lowest, 0);
        axis->to = axis->log ? range->highest * 1.000001 : fmax(range->highest, 0);
        if (axis->from == axis->to)
            axis->to = 1;
    }
    if (!usable(axis))
        return false;
    if (axis->log)
        log_ticks(axis, fitted);
    else
        linear_ticks(axis, fitted);
    return usable(axis); /* round ends may lie beyond the numbers that there are */
}

double chart_axis_place(const struct chart_axis *axis, double value) {
    if (axis->log && value <= 0)
        return 0;
    const double share = axis->log ? log(value / axis->from) / log(axis->to / axis->from)
                                   : (value - axis->from) / (axis->to - axis->from);
    return fmin(fmax(share, 0), 1);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static void insert_commas(char *text, size_t bytes) {
    char *digits = text + (*text == '-');
    size_t whole = strspn(digits, "0123456789");
    for (size_t at = whole; at > 3 && strlen(text) + 2 <= bytes;) {
        at -= 3;
        memmove(digits + at + 1, digits + at, strlen(digits + at) + 1);
        digits[at] = ',';
    }
}

void chart_number(char *text, size_t bytes, double value, int decimals) {
    if (!isfinite(value)) {
        snprintf(text, bytes, "-");
        return;
    }
    const double size = fabs(value);
    if (decimals < 0 && value == floor(value) && size < 1e15)
        decimals = 0;
    else if (decimals < 0)
        decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    if (size >= 1e15 || (size > 0 && size < 0.0005 && decimals == 3))
        snprintf(text, bytes, "%.2e", value);
    else
        snprintf(text, bytes, "%.*f", decimals, value);
    insert_commas(text, bytes);
}

void chart_tick(char *text, size_t bytes, double value) {
    static const struct {
        double size;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs(value) >= units[i].size * 0.9999999) {
            const double unit = units[i].size == 1e4 ? 1e3 : units[i].size;
            snprintf(text, bytes, "%.4g%s", value / unit, units[i].letter);
            return;
        }
    snprintf(text, bytes, "%.4g", fabs(value) < 1e-12 ? 0 : value);
    insert_commas(text, bytes);
}

/* ---- the same on both kinds --------------------------------------------------------------------- */

uint32_t chart_series_colour(size_t index) {
    static const uint32_t colours[] = {COLOUR_SERIES_0, COLOUR_SERIES_1, COLOUR_SERIES_2, COLOUR_SERIES_3};
    return colours[index % (sizeof colours / sizeof *colours)];
}

double chart_head(FILE *out, const struct chart *chart) {
    double y = CHART_MARGIN + 10;
    if (chart->title) {
        svg_text(out, (struct svg_text){.x = CHART_MARGIN, .y = y, .role = SVG_TITLE}, "%s", chart->title);
        y += 20;
    }
    if (chart->subtitle) {
        svg_text(out, (struct svg_text){.x = CHART_MARGIN, .y = y, .role = SVG_BODY, .ink = COLOUR_MUTED}, "%s",
                 chart->subtitle);
        y += 18;
    }
    return y;
}

double chart_narrow_head_height(const struct chart *chart) {
    return 4 + (chart->title ? 18 : 0) + (chart->subtitle ? 16 : 0);
}

double chart_narrow_head(FILE *out, const struct chart *chart) {
    double y = 0;
    if (chart->title)
        svg_text(out, (struct svg_text){.x = CHART_NARROW_MARGIN, .y = y += 14, .role = SVG_HEADING}, "%s",
                 chart->title);
    if (chart->subtitle)
        svg_text(out, (struct svg_text){.x = CHART_NARROW_MARGIN, .y = y + 16, .role = SVG_SMALL, .ink = COLOUR_MUTED},
                 "%s", chart->subtitle);
    return chart_narrow_head_height(chart);
}

enum { KEY = 16, NAME_GAP = 14 }; /* of a legend: room for a name's key, and behind the name */

void chart_legend_place(struct chart_legend *legend, const char *name) {
    const double width = KEY + svg_text_width(SVG_SMALL, name);
    if (legend->x > CHART_NARROW_MARGIN && legend->x + width > CHART_NARROW - CHART_NARROW_MARGIN) {
        legend->x = CHART_NARROW_MARGIN;
        legend->y += CHART_LEGEND_LINE;
    }
}

void chart_legend_name(FILE *out, struct chart_legend *legend, const char *name) {
    if (out)
        svg_text(out, (struct svg_text){.x = legend->x + KEY, .y = legend->y + 4, .role = SVG_SMALL}, "%s", name);
    legend->x += KEY + svg_text_width(SVG_SMALL, name) + NAME_GAP;
}

void chart_cut(char *text, size_t bytes, const char *whole, enum svg_role role, double width) {
    const size_t letters = (size_t)(width / svg_text_width(role, "x"));
    size_t used = 0, count = 0;
    for (; whole[used] && used + 5 < bytes; used++) {
        const bool starts = ((unsigned char)whole[used] & 0xc0) != 0x80;
        if (starts && count == letters)
            break;
        count += starts;
    }
    snprintf(text, bytes, "%.*s%s", (int)used, whole, whole[used] ? "…" : "");
}
