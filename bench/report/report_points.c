/* SPDX-License-Identifier: Apache-2.0 */
/* The page's plots over arithmetic intensity: the roofline, and TFLOPS per watt. A point is a problem. */
#include <math.h>
#include <stdlib.h>

#include "program/draw/chart.h"
#include "program/base/text_table.h"
#include "bench/report/report_page.h"
#include "program/base/messages.h"

enum { NOTE_BYTES = CASE_TEXT_BYTES };

/* Ours and the baseline's best, over intensity. */
struct points {
    double *x, *ours, *best;
    char (*notes)[NOTE_BYTES];
    const char **ours_notes;
    size_t count;
};

static bool make_points(struct points *points, const struct report_view *view) {
    const size_t count = view->count + 1; /* so that none is no failure */
    *points = (struct points){.x = calloc(count, sizeof(double)),
                              .ours = calloc(count, sizeof(double)),
                              .best = calloc(count, sizeof(double)),
                              .notes = calloc(count, NOTE_BYTES),
                              .ours_notes = calloc(count, sizeof(char *)),
                              .count = view->count};
    if (!points->x || !points->ours || !points->best || !points->notes || !points->ours_notes) {
        complain("out of host memory");
        return false;
    }
    for (size_t i = 0; i < view->count; i++) {
        const struct bench_case *problem = &report_view_row(view, i)->problem;
        points->x[i] = report_intensity(problem);
        case_sizes(problem, " x ", points->notes[i]);
        points->ours_notes[i] = points->notes[i];
    }
    return true;
}

static void free_points(struct points *points) {
    free(points->x);
    free(points->ours);
    free(points->best);
    free(points->notes);
    free(points->ours_notes);
}

static struct chart_line scatter(const char *name, const struct points *points, const double *y) {
    return (struct chart_line){
        .name = name, .x = points->x, .y = y, .count = points->count, .scattered = true, .notes = points->ours_notes};
}

static bool any_finite(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]))
            return true;
    }
    return false;
}

/* The ends of a logarithmic axis: 1, 2 or 5 times a power of ten, around what is drawn. */
static void fit_axis(struct chart *chart, const struct points *points, double most) {
    static const double digits[] = {1, 2, 5, 10};
    double least = INFINITY;
    for (size_t i = 0; i < points->count; i++) {
        least = fmin(least, fmin(points->ours[i], points->best[i])); /* fmin and fmax pass over a NaN */
        most = fmax(most, fmax(points->ours[i], points->best[i]));
    }
    const double below = pow(10, floor(log10(least))), above = pow(10, floor(log10(most)));
    for (int i = 0; i < 4; i++) {
        if (below * digits[i] <= least)
            chart->from = below * digits[i];
        if (chart->to < most)
            chart->to = above * digits[i];
    }
}

static const char *best_name(const struct report_view *view, char *name, size_t bytes) {
    snprintf(name, bytes, "%s, best", view->results->meta.baseline);
    return name;
}

/* ---- roofline --------------------------------------------------------------------------------------- */

double report_intensity(const struct bench_case *problem) {
    const struct gm_work work = case_work(problem);
    return work.flops / work.least_bytes;
}

bool report_roofline_has_data(const struct report_view *view) {
    for (size_t i = 0; i < view->count; i++) {
        if (report_view_row(view, i)->tflops > 0)
            return true;
    }
    return false;
}

/* Bandwidth up to the knee, the tensor rate from there on: straight lines on logarithmic axes. */
static void make_roof(const struct bench_ceilings *ceilings, const struct points *points, double x[3], double y[3]) {
    x[0] = INFINITY;
    x[1] = ceilings->tensor_tflops * 1e3 / ceilings->read_gbs;
    x[2] = 0;
    for (size_t i = 0; i < points->count; i++) {
        x[0] = fmin(x[0], points->x[i]);
        x[2] = fmax(x[2], points->x[i]);
    }
    if (x[0] == x[2]) { /* a roof over one point is a line still */
        x[0] /= 4;
        x[2] *= 4;
    }
    x[1] = fmin(fmax(x[1], x[0]), x[2]);
    for (int i = 0; i < 3; i++)
        y[i] = fmin(x[i] * ceilings->read_gbs * 1e-3, ceilings->tensor_tflops);
}

int report_roofline_draw(FILE *out, const struct report_view *view, bool inside_page) {
    const struct bench_meta *meta = &view->results->meta;
    struct points points;
    double roof_x[3], roof_y[3];
    char name[96], subtitle[200], read[TEXT_TABLE_NUMBER_BYTES], tensor[TEXT_TABLE_NUMBER_BYTES];
    if (!make_points(&points, view)) {
        free_points(&points);
        return -1;
    }
    for (size_t i = 0; i < view->count; i++) {
        const struct bench_row *row = report_view_row(view, i);
        points.ours[i] = row->tflops;
        points.best[i] = case_work(&row->problem).flops / row->best_us.median * 1e-6;
    }
    const bool has_roof = meta->ceilings.read_gbs > 0 && meta->ceilings.tensor_tflops > 0;
    make_roof(&meta->ceilings, &points, roof_x, roof_y);
    snprintf(subtitle, sizeof subtitle, "%s; read %s GB/s, tensor %s TFLOPS; L2 %s", meta->gpu,
             text_table_number(read, meta->ceilings.read_gbs, "%.0f"),
             text_table_number(tensor, meta->ceilings.tensor_tflops, "%.0f"), results_l2(meta));
    struct chart chart = {.title = "Roofline",
                          .subtitle = subtitle,
                          .axis = "TFLOPS",
                          .x_axis = "operations for each of the least bytes",
                          .log = true,
                          .x_log = true,
                          .decimals = 1,
                          .inside_page = inside_page};
    fit_axis(&chart, &points, roof_y[2]);
    struct chart_line lines[3] = {scatter("gristmill", &points, points.ours)};
    size_t count = 1;
    if (any_finite(points.best, points.count))
        lines[count++] = scatter(best_name(view, name, sizeof name), &points, points.best);
    if (has_roof)
        lines[count++] =
            (struct chart_line){.name = "measured ceilings", .x = roof_x, .y = roof_y, .count = 3, .dashed = true};
    int status = svg_lines(out, &chart, lines, count);
    free_points(&points);
    return status;
}

/* ---- efficiency ------------------------------------------------------------------------------------- */

bool report_efficiency_has_data(const struct report_view *view) {
    for (size_t i = 0; i < view->count; i++) {
        if (report_view_row(view, i)->tflops_per_watt > 0)
            return true;
    }
    return false;
}

int report_efficiency_draw(FILE *out, const struct report_view *view, bool inside_page) {
    const struct bench_meta *meta = &view->results->meta;
    struct points points;
    char name[96], subtitle[160];
    if (!make_points(&points, view)) {
        free_points(&points);
        return -1;
    }
    for (size_t i = 0; i < view->count; i++) {
        const struct bench_row *row = report_view_row(view, i);
        points.ours[i] = row->tflops_per_watt;
        points.best[i] = row->best_tflops_per_watt;
    }
    snprintf(subtitle, sizeof subtitle, "%s; each alone for %g s; %s; L2 %s", meta->gpu, meta->energy_s,
             meta->energy_source, results_l2(meta));
    struct chart chart = {.title = "TFLOPS per watt",
                          .subtitle = subtitle,
                          .axis = "TFLOPS per watt",
                          .x_axis = "operations for each of the least bytes",
                          .log = true,
                          .x_log = true,
                          .decimals = 3,
                          .inside_page = inside_page};
    fit_axis(&chart, &points, 0);
    struct chart_line lines[2] = {scatter("gristmill", &points, points.ours)};
    size_t count = 1;
    if (any_finite(points.best, points.count))
        lines[count++] = scatter(best_name(view, name, sizeof name), &points, points.best);
    int status = svg_lines(out, &chart, lines, count);
    free_points(&points);
    return status;
}
