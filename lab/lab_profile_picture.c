/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a profile: the shares of what warps wait for, and rooflines. */
#include <math.h>
#include <string.h>

#include "lab/lab_figures.h"
#include "lab/lab_label.h"
#include "lab/lab_profile.h"
#include "program/base/messages.h"
#include "program/draw/chart.h"
#include "program/draw/page.h"

/* ---- which points ------------------------------------------------------------------------------------------------- */

/* By their names of rows. */
struct chosen {
    const struct record_point *points[LAB_POINTS_MAX];
    char names[LAB_POINTS_MAX][200];
    size_t count;
};

/* Where the experiment's first figure of rates has another size than the pages, or too many points. */
static const struct {
    const char *experiment, *labels;
} patterns[] = {{"transpose", "{row}, 8192 x 8192"}, {"histogram", "{row}, uniform {x}"}};

static const char *pattern_of(const char *experiment) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (strcmp(patterns[i].experiment, experiment) == 0)
            return patterns[i].labels;
    }
    static struct figure figures[FIGURES_MAX];
    const size_t count = figures_listed(experiment, figures);
    for (size_t i = 0; i < count; i++) {
        if (figures[i].value == FIGURE_RATE)
            return figures[i].labels;
    }
    return "{row}";
}

static void choose(struct chosen *chosen, const struct record *record) {
    const char *pattern = pattern_of(record->meta.experiment);
    for (size_t i = 0; i < record->point_count; i++) {
        struct label label;
        if (!label_match(pattern, record->points[i].label, &label))
            continue;
        const char *group = label.part[LABEL_GROUP], *column = label.part[LABEL_COLUMN];
        snprintf(chosen->names[chosen->count], sizeof chosen->names[0], "%s%s%s%s%s", group, group[0] ? ", " : "",
                 label.part[LABEL_ROW], column[0] ? ", " : "", column);
        chosen->points[chosen->count++] = &record->points[i];
    }
}

/* ---- stalls ------------------------------------------------------------------------------------------------------- */

enum { REASONS_SHOWN = 6 };

/* Quantities by number: the reasons with the greatest shares anywhere, in their usual order. */
struct reasons {
    size_t which[REASONS_SHOWN];
    size_t count;
};

/* Its greatest share. */
static double greatest(const struct chosen *chosen, size_t quantity) {
    double most = 0;
    for (size_t i = 0; i < chosen->count; i++)
        most = fmax(most, profile_share(chosen->points[i], &chosen->points[i]->quantities[quantity]));
    return most;
}

static struct reasons find_reasons(const struct chosen *chosen) {
    struct reasons reasons = {.count = 0};
    const size_t quantities = chosen->count ? chosen->points[0]->quantity_count : 0;
    for (size_t j = 0; j < quantities; j++) {
        size_t greater = 0;
        for (size_t k = 0; k < quantities; k++)
            greater +=
                greatest(chosen, k) > greatest(chosen, j) || (greatest(chosen, k) == greatest(chosen, j) && k < j);
        if (greater < REASONS_SHOWN && greatest(chosen, j) > 0)
            reasons.which[reasons.count++] = j;
    }
    return reasons;
}

/* Short enough for a column. */
static const char *heading_of(const struct record_quantity *quantity) {
    const char *reason = quantity->name + strlen(PROFILE_STALLED);
    return strcmp(reason, "long scoreboard") == 0    ? "long score- board"
           : strcmp(reason, "short scoreboard") == 0 ? "short score- board"
           : strcmp(reason, "no instruction") == 0   ? "no instr."
                                                     : reason;
}

static int draw_stalls(FILE *out, const struct chosen *chosen, bool inside_page) {
    const struct chart chart = {
        .title = "What warps wait for, percent of their cycles", .inside_page = inside_page, .narrow = true};
    struct chart_cell cells[LAB_POINTS_MAX * (REASONS_SHOWN + 1)];
    const struct reasons reasons = find_reasons(chosen);
    size_t count = 0;
    for (size_t i = 0; i < chosen->count; i++) {
        const struct record_point *point = chosen->points[i];
        struct chart_cell cell = {.row = chosen->names[i], .note = point->label, .mark = CHART_NUMBER};
        double rest = 100;
        for (size_t j = 0; j < reasons.count; j++) {
            const struct record_quantity *quantity = &point->quantities[reasons.which[j]];
            cell.column = heading_of(quantity);
            cell.value = round(100 * profile_share(point, quantity));
            rest -= cell.value;
            cells[count++] = cell;
        }
        cell.column = "other";
        cell.value = fmax(rest, 0);
        cells[count++] = cell;
    }
    return svg_cells(out, &chart, NULL, cells, count);
}

int profile_stalls_picture(FILE *out, const struct record *record) {
    struct chosen chosen = {.count = 0};
    choose(&chosen, record);
    return draw_stalls(out, &chosen, false);
}

/* ---- rooflines ---------------------------------------------------------------------------------------------------- */

/* What a part lets through in a second, by how busy what it let through kept it: bytes, or wavefronts. The busiest point
 * says it best. */
static double peak_of(const struct record *record, const char *amount, const char *percent) {
    double peak = NAN, busiest = 0;
    for (size_t i = 0; i < record->point_count; i++) {
        const struct record_point *point = &record->points[i];
        const double busy = profile_counted(point, percent);
        if (busy > busiest) {
            busiest = busy;
            peak = profile_counted(point, amount) / (profile_counted(point, PROFILE_DURATION) * 1e-9) / (busy / 100);
        }
    }
    return peak;
}

/* FFMA of a lane are two operations; an SM has a wavefront a cycle, and as many lanes. */
static double arithmetic_peak(const struct record *record, double wavefronts) {
    const int lanes = strstr(record->meta.gpu, "A100") ? 64 : 128;
    return 2 * lanes * wavefronts;
}

struct roofline {
    struct chosen chosen;
    double x[LAB_POINTS_MAX], y[LAB_POINTS_MAX], slope, flat; /* in the unit of y */
    const char *names[LAB_POINTS_MAX];
    size_t count;
    bool flops, of_memory;
};

enum { IDLE = 3 }; /* below so many per cent the pipe says nothing of a point, and its roof is far away */

/* Work a second, and for each unit of `amount`. */
static void add(struct roofline *roofline, const struct record_point *point, const char *name, const char *amount) {
    if (!roofline->of_memory && profile_counted(point, PROFILE_PIPE) < IDLE)
        return;
    const double rate = roofline->flops ? point->tflops * 1e12 : point->gbs * 1e9;
    const double x = rate * profile_counted(point, PROFILE_DURATION) * 1e-9 / profile_counted(point, amount);
    if (!isfinite(x) || x <= 0)
        return;
    roofline->x[roofline->count] = x;
    roofline->y[roofline->count] = roofline->flops ? point->tflops : point->gbs;
    roofline->names[roofline->count++] = name;
}

/* Slanted up to the knee, flat from there on, a little beyond the points on both sides. */
static void make_roof(const struct roofline *roofline, double x[3], double y[3]) {
    x[0] = INFINITY;
    x[1] = roofline->flat / roofline->slope;
    x[2] = 0;
    for (size_t i = 0; i < roofline->count; i++) {
        x[0] = fmin(x[0], roofline->x[i] / 1.4);
        x[2] = fmax(x[2], roofline->x[i] * 2);
    }
    x[0] = fmin(x[0], x[1] / 1.4);
    x[2] = fmax(x[2], x[1] * 1.4);
    for (int i = 0; i < 3; i++)
        y[i] = fmin(x[i] * roofline->slope, roofline->flat);
}

/* False: nothing of it was counted, or no peak is known. */
static bool make_roofline(struct roofline *roofline, const struct record *record, bool of_memory) {
    const double memory = peak_of(record, PROFILE_MEMORY, PROFILE_DRAM);
    const double pipe = peak_of(record, PROFILE_WAVES, PROFILE_PIPE);
    *roofline = (struct roofline){.of_memory = of_memory};
    choose(&roofline->chosen, record);
    for (size_t i = 0; i < roofline->chosen.count; i++)
        roofline->flops |= isfinite(roofline->chosen.points[i]->tflops);
    for (size_t i = 0; i < roofline->chosen.count; i++)
        add(roofline, roofline->chosen.points[i], roofline->chosen.names[i],
            of_memory ? PROFILE_MEMORY : PROFILE_WAVES);
    const double unit = roofline->flops ? 1e12 : 1e9;
    roofline->flat = (roofline->flops ? arithmetic_peak(record, pipe) : memory) / unit;
    roofline->slope = (of_memory ? memory : pipe) / unit;
    return roofline->count && isfinite(roofline->flat) && isfinite(roofline->slope);
}

static int draw_roofline(FILE *out, const struct roofline *roofline, const char *gpu, bool inside_page) {
    const char *work = roofline->flops ? "operations" : "bytes of work";
    const char *amount = roofline->of_memory ? "a byte of memory" : "a wavefront of shared memory";
    double roof_x[3], roof_y[3];
    char subtitle[160], x_axis[96];
    snprintf(subtitle, sizeof subtitle, "%s; %s", roofline->flops ? "TFLOPS" : "GB/s", gpu);
    snprintf(x_axis, sizeof x_axis, "%s for %s", work, amount);
    make_roof(roofline, roof_x, roof_y);
    const struct chart chart = {.title = roofline->of_memory ? "Under memory's roof"
                                                             : "Under the roof of shared memory's pipe",
                                .subtitle = subtitle,
                                .x_axis = x_axis,
                                .log = true,
                                .x_log = true,
                                .decimals = -1,
                                .inside_page = inside_page,
                                .narrow = true};
    const struct chart_line reached = {.name = "reached",
                                       .x = roofline->x,
                                       .y = roofline->y,
                                       .count = roofline->count,
                                       .scattered = true,
                                       .notes = roofline->names,
                                       .named = true};
    const struct chart_line lines[] = {reached, {.name = "roof", .x = roof_x, .y = roof_y, .count = 3, .dashed = true}};
    return svg_lines(out, &chart, lines, 2);
}

int profile_roofline_picture(FILE *out, const struct record *record, bool of_memory) {
    struct roofline roofline;
    if (!make_roofline(&roofline, record, of_memory))
        return complain("%s has no roofline: nothing of it was counted, or no peak", record->meta.experiment);
    return draw_roofline(out, &roofline, record->meta.gpu, false);
}

/* ---- in a page ---------------------------------------------------------------------------------------------------- */

void profile_figures(FILE *out, const struct record *record) {
    struct chosen chosen = {.count = 0};
    choose(&chosen, record);
    if (find_reasons(&chosen).count) {
        page_figure_begin(out);
        draw_stalls(out, &chosen, true);
        page_figure_end(out, NULL);
    }
    for (int of_memory = 1; of_memory >= 0; of_memory--) {
        struct roofline roofline;
        if (!make_roofline(&roofline, record, of_memory))
            continue;
        page_figure_begin(out);
        draw_roofline(out, &roofline, record->meta.gpu, true);
        page_figure_end(out, NULL);
    }
}
