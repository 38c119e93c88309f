/* SPDX-License-Identifier: Apache-2.0 */
/* The plot: for each problem a dot at the ratio to the baseline's best, whiskers from p10 to p90, a line at 1. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/report.h"
#include "program/base/text_table.h"
#include "program/base/messages.h"
#include "program/base/shared_file.h"
#include "program/base/stats.h"
#include "program/draw/svg.h"

enum { AXIS = 480, LEFT = 232, RIGHT = 168, TOP = 110, LINE = 20, GAP = 34, BOTTOM = 48 };
enum { TICKS_MAX = 24 };
enum { RATIO_END = 72, RATE_END = RIGHT - 24 }; /* from the axis's end */

struct plot {
    FILE *out;
    const struct bench_results *results;
    const size_t *index;
    size_t count;
    double from, to; /* of the axis */
    int left, width, height;
};

static double x_of(const struct plot *plot, double ratio) {
    double share = (ratio - plot->from) / (plot->to - plot->from);
    return plot->left + fmin(fmax(share, 0), 1) * AXIS;
}

static const struct bench_row *row_at(const struct plot *plot, size_t i) {
    return &plot->results->rows[plot->index[i]];
}

static bool is_drawn(const struct bench_row *row, const struct bench_operation *operation,
                     const struct bench_regime *regime) {
    return report_is_in(&row->problem, operation, regime) && isfinite(row->ratio_best.median);
}

static size_t count_regime(const struct plot *plot, const struct bench_operation *operation,
                           const struct bench_regime *regime) {
    size_t count = 0;
    for (size_t i = 0; i < plot->count; i++)
        count += is_drawn(row_at(plot, i), operation, regime);
    return count;
}

/* "8192 × 4096 fp16". */
static const char *label_of(const struct bench_row *row, char text[2 * CASE_TEXT_BYTES]) {
    char sizes[CASE_TEXT_BYTES], words[CASE_TEXT_BYTES];
    const bool usual = case_is_usual(&row->problem);
    snprintf(text, 2 * CASE_TEXT_BYTES, "%s%s%s", case_sizes(&row->problem, " × ", sizes), usual ? "" : " ",
             usual ? "" : case_words(&row->problem, words));
    return text;
}

static bool told_in_bytes(const struct bench_row *row) {
    return row->problem.operation->told_in_bytes;
}

/* The axis always shows 0.5 to 1.1, and grows in steps of a tenth. It begins behind the longest label. */
static void fit_axis(struct plot *plot) {
    double low = 0.5, high = 1.1;
    plot->height = TOP + BOTTOM;
    plot->left = LEFT;
    for (size_t i = 0; i < plot->count; i++) {
        const struct bench_row *row = row_at(plot, i);
        low = fmin(low, row->ratio_best.p10); /* fmin and fmax pass over a NaN */
        high = fmax(high, row->ratio_best.p90);
        if (isfinite(row->ratio_best.median)) {
            char text[2 * CASE_TEXT_BYTES];
            const int room = (int)svg_text_width(SVG_BODY, label_of(row, text)) + 24;
            plot->left = room > plot->left ? room : plot->left;
        }
    }
    plot->width = plot->left + AXIS + RIGHT;
    plot->from = floor(fmax(low, 0) * 10 + 1e-9) / 10;
    plot->to = fmin(ceil(high * 10 - 1e-9) / 10, 8);
    for (size_t i = 0; i < gm_operation_count(); i++)
        for (int j = 0; j < bench_operations[i]->regime_count; j++) {
            size_t count = count_regime(plot, bench_operations[i], &bench_operations[i]->regimes[j]);
            plot->height += count ? (int)count * LINE + GAP : 0;
        }
}

static void put_text(FILE *out, double x, double y, const char *class, const char *text) {
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    for (; *text; text++) {
        const char *escaped = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        if (escaped)
            fputs(escaped, out);
        else
            fputc(*text, out);
    }
    fputs("</text>\n", out);
}

static void draw_head(const struct plot *plot) {
    const struct bench_meta *meta = &plot->results->meta;
    char line[512];
    fprintf(
        plot->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>\ntext{font-family:'Inter','Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#24292f;"
        "font-size:12px}\n.title{font-size:17px;font-weight:600}\n.small,.tick,.value{fill:#57606a;font-size:11.5px}\n"
        ".mean{font-weight:600;text-anchor:end}.value{text-anchor:end}\n.tick{text-anchor:middle}\n.label{text-anchor:"
        "end}\n.group{font-weight:600}\n"
        ".label,.value,.tick{font-variant-numeric:tabular-nums}\n</style>\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
        plot->width, plot->height, plot->width, plot->height, plot->width, plot->height);
    if (meta->ways_asked > 1)
        snprintf(line, sizeof line, "gristmill against %s, best of up to %d heuristics", meta->baseline,
                 meta->ways_asked);
    else
        snprintf(line, sizeof line, "gristmill against %s", meta->baseline);
    put_text(plot->out, 24, 34, "title", line);
    snprintf(line, sizeof line, "%s, driver %s, suite %s, L2 %s, %s", meta->gpu, report_known(meta->driver),
             meta->suite, results_l2(meta), report_known(meta->date));
    put_text(plot->out, 24, 56, "small", line);
    snprintf(line, sizeof line,
             "Dot: median of %d interleaved rounds. Bar: p10 to p90. Right of 1: gristmill is faster.", meta->rounds);
    put_text(plot->out, 24, 74, "small", line);
}

static void draw_axis(const struct plot *plot) {
    const double range = plot->to - plot->from, step = range > 3.6 ? 0.5 : range > 1.3 ? 0.25 : 0.1;
    double first = ceil(plot->from / step - 1e-9) * step;
    for (int i = 0; i < TICKS_MAX && first + i * step < plot->to + 1e-9; i++) {
        double ratio = first + i * step, x = x_of(plot, ratio);
        char text[16];
        bool one = fabs(ratio - 1) < 1e-6;
        snprintf(text, sizeof text, step == 0.25 ? "%.2f" : "%.1f", ratio);
        fprintf(plot->out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\" stroke-width=\"%s\"/>\n", x,
                TOP - 4, x, plot->height - BOTTOM + 4, one ? "#57606a" : "#e6e8eb", one ? "1.4" : "1");
        put_text(plot->out, x, TOP - 11, "tick", text);
        put_text(plot->out, x, plot->height - BOTTOM + 19, "tick", text);
    }
}

static void draw_row(const struct plot *plot, const struct bench_row *row, double y) {
    double ratio = row->ratio_best.median;
    const char *colour = ratio >= 1 ? "#1a7f37" : ratio >= 0.9 ? "#0969da" : "#bc4c00";
    char text[2 * CASE_TEXT_BYTES], rate[TEXT_TABLE_NUMBER_BYTES];
    const double rates = told_in_bytes(row) ? row->gbs : row->tflops;
    put_text(plot->out, plot->left - 14, y + 4, "label", label_of(row, text));
    fprintf(plot->out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-opacity=\"0.45\" "
            "stroke-width=\"4\" stroke-linecap=\"round\"/>\n",
            x_of(plot, row->ratio_best.p10), y, x_of(plot, row->ratio_best.p90), y, colour);
    fprintf(plot->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.2\" fill=\"%s\"><title>%s</title></circle>\n",
            x_of(plot, ratio), y, colour, row->kernel);
    snprintf(text, sizeof text, "%.3f", ratio);
    put_text(plot->out, plot->left + AXIS + RATIO_END, y + 4, "value", text);
    put_text(plot->out, plot->left + AXIS + RATE_END, y + 4, "value",
             text_table_number(rate, rates, rates < 99.95 ? "%.1f" : "%.0f"));
}

static double draw_regime(const struct plot *plot, const struct bench_operation *operation,
                          const struct bench_regime *regime, double y) {
    double ratios[4096];
    size_t count = 0;
    char text[64];
    for (size_t i = 0; i < plot->count && count < 4096; i++) {
        if (is_drawn(row_at(plot, i), operation, regime))
            ratios[count++] = row_at(plot, i)->ratio_best.median;
    }
    if (count == 0)
        return y;
    const bool is_alone = report_operations(plot->results) == 1;
    snprintf(text, sizeof text, "%s%s%s", is_alone ? "" : operation->operation->name, is_alone ? "" : ", ",
             regime->name);
    put_text(plot->out, 24, y + 20, "group", text);
    snprintf(text, sizeof text, "%.3f", stats_geomean(ratios, count));
    put_text(plot->out, plot->left + AXIS + RATIO_END, y + 20, "mean", text);
    put_text(plot->out, plot->left + AXIS + RATE_END, y + 20, "value", "geo. mean");
    y += GAP;
    for (size_t i = 0; i < plot->count; i++) {
        if (!is_drawn(row_at(plot, i), operation, regime))
            continue;
        draw_row(plot, row_at(plot, i), y + LINE / 2.0);
        y += LINE;
    }
    return y;
}

static const char *rate_title(const struct plot *plot) {
    size_t by_bytes = 0;
    for (size_t i = 0; i < plot->count; i++)
        by_bytes += told_in_bytes(row_at(plot, i));
    return by_bytes == 0 ? "TFLOPS" : by_bytes == plot->count ? "GB/s" : "TFLOPS, GB/s";
}

static void draw(struct plot *plot) {
    double y = TOP;
    fit_axis(plot);
    draw_head(plot);
    draw_axis(plot);
    put_text(plot->out, plot->left + AXIS + RATIO_END, TOP - 11, "value", "ratio");
    put_text(plot->out, plot->left + AXIS + RATE_END, TOP - 11, "value", rate_title(plot));
    for (size_t i = 0; i < gm_operation_count(); i++)
        for (int j = 0; j < bench_operations[i]->regime_count; j++)
            y = draw_regime(plot, bench_operations[i], &bench_operations[i]->regimes[j], y);
    put_text(plot->out, x_of(plot, plot->from), plot->height - 10, "small",
             "time of the baseline's best / time of gristmill");
    fputs("</svg>\n", plot->out);
}

int report_svg(const struct bench_results *results, const char *path) {
    size_t *index = malloc((results->count + 1) * sizeof *index);
    if (!index)
        return complain("out of host memory");
    struct plot plot = {.results = results, .index = index, .count = results_fastest(results, index)};
    plot.out = fopen(path, "w");
    int status = plot.out ? 0 : complain("cannot write %s: %s", path, strerror(errno));
    if (plot.out) {
        draw(&plot);
        status = file_finish(plot.out, path);
    }
    free(index);
    return status;
}
