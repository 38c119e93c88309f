/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as text, SVG or page. */
#include <inttypes.h>
#include <string.h>

#include "program/draw/page.h"
#include "program/draw/palette.h"
#include "program/draw/svg.h"
#include "program/sim/timeline.h"

/* How the kinds of event are drawn; a kind that is not listed is a tick. */
static const struct look {
    const char *kind;
    char letter;
    uint32_t colour;
    const char *meaning;
} looks[] = {
    {"copy", '=', COLOUR_SERIES_0, "a copy into shared memory under way"},
    {"store", '=', COLOUR_SERIES_3, "a copy out of shared memory under way"},
    {"wgmma", 'M', COLOUR_SERIES_2, "wgmmas of a warpgroup in flight"},
    {"wait", '.', COLOUR_FAINT, "a warp waits"},
    {"barrier", '|', COLOUR_MUTED, "a named or cluster barrier passed"},
    {"arrive", '^', COLOUR_SERIES_1, "an arrival on a barrier"},
    {"phase", '#', COLOUR_BAD, "an mbarrier's phase completes"},
    {"exit", 'x', COLOUR_INK, "a warp exits"},
};
enum { LOOKS = sizeof looks / sizeof *looks, TEXT_COLUMNS = 96 };

/* In the order of drawing: waits first and ticks last, so that what matters stays visible. */
enum layer { LAYER_WAITS, LAYER_LENGTHS, LAYER_TICKS, LAYERS };

static enum layer layer_of(const struct gm_sim_event *event) {
    if (event->until <= event->time)
        return LAYER_TICKS;
    return strcmp(event->kind, "wait") == 0 ? LAYER_WAITS : LAYER_LENGTHS;
}

static const struct look *look_of(const char *kind) {
    for (size_t i = 0; i < LOOKS; i++)
        if (strcmp(looks[i].kind, kind) == 0)
            return &looks[i];
    return &looks[LOOKS - 1];
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void print_bars(FILE *out, const struct timeline *t) {
    char line[TEXT_COLUMNS + 1];
    const double scale = (double)TEXT_COLUMNS / (double)(t->end + 1);
    for (size_t row = 0; row < t->row_count; row++) {
        memset(line, ' ', TEXT_COLUMNS);
        line[TEXT_COLUMNS] = '\0';
        for (int layer = 0; layer < LAYERS; layer++)
            for (size_t i = 0; i < t->count; i++) {
                const struct gm_sim_event *event = &t->events[i].event;
                if (t->events[i].row != row || (int)layer_of(event) != layer)
                    continue;
                const int from = (int)((double)event->time * scale);
                const int to = event->until > event->time ? (int)((double)event->until * scale) : from;
                for (int column = from; column <= to && column < TEXT_COLUMNS; column++)
                    line[column] = look_of(event->kind)->letter;
            }
        int length = TEXT_COLUMNS;
        while (length > 0 && line[length - 1] == ' ')
            length--;
        fprintf(out, "%-22s %.*s\n", t->rows[row].label, length, line);
    }
}

static void print_list(FILE *out, const struct timeline *t) {
    fprintf(out, "\n%9s %9s  %-10s %-8s %6s  %-8s %s\n", "tick", "until", "CTA", "warp", "line", "event", "what");
    for (size_t i = 0; i < t->count && i < t->listed; i++) {
        const struct gm_sim_event *event = &t->events[i].event;
        char cta[32], warp[16] = "", until[24] = "";
        snprintf(cta, sizeof cta, "%u,%u,%u", event->cta[0], event->cta[1], event->cta[2]);
        if (event->warp >= 0)
            snprintf(warp, sizeof warp, "%d", event->warp);
        if (event->until > event->time)
            snprintf(until, sizeof until, "%" PRIu64, event->until);
        fprintf(out, "%9" PRIu64 " %9s  %-10s %-8s %6u  %-8s %s\n", event->time, until, cta, warp, event->line,
                event->kind, event->text);
    }
    if (t->count > t->listed)
        fprintf(out, "and %zu more: --events %zu lists all\n", t->count - t->listed, t->count);
}

static void draw_text(FILE *out, const struct timeline *t) {
    fprintf(out, "%s\n0 .. %" PRIu64 " ticks: an order of events, about a tick an instruction, no measure of time\n\n",
            t->title, t->end);
    print_bars(out, t);
    fputs("\n", out);
    for (size_t i = 0; i < LOOKS; i++)
        fprintf(out, "  %c %-8s %s\n", looks[i].letter, looks[i].kind, looks[i].meaning);
    if (t->listed)
        print_list(out, t);
}

/* ---- SVG ------------------------------------------------------------------------------------------------------- */

enum { MARGIN = 24, LABEL_WIDTH = 170, CHART_WIDTH_PX = 1100, ROW_HEIGHT = 16, HEAD = 64, KEY_HEIGHT = 18 };

static double place(const struct timeline *t, uint64_t tick) {
    return MARGIN + LABEL_WIDTH + (double)tick * CHART_WIDTH_PX / (double)(t->end + 1);
}

static void svg_event(FILE *out, const struct timeline *t, const struct timeline_event *entry) {
    const struct gm_sim_event *event = &entry->event;
    const struct look *look = look_of(event->kind);
    const double y = HEAD + (double)entry->row * ROW_HEIGHT, x = place(t, event->time);
    char hover[200];
    snprintf(hover, sizeof hover, "%s: %s; tick %" PRIu64 "%s%" PRIu64 ", PTX line %u", event->kind, event->text,
             event->time, " .. ", event->until > event->time ? event->until : event->time, event->line);
    if (event->until > event->time) {
        const double width = place(t, event->until) - x;
        svg_rect(out, x, y + 2, width < 1 ? 1 : width, ROW_HEIGHT - 4,
                 (struct svg_paint){.fill = look->colour, .stroke = COLOUR_PAPER, .stroke_width = 0.4}, hover);
    } else {
        svg_rect(out, x - 0.75, y + 2, 1.5, ROW_HEIGHT - 4, (struct svg_paint){.fill = look->colour}, hover);
    }
}

static void svg_axis(FILE *out, const struct timeline *t) {
    const double bottom = HEAD + (double)t->row_count * ROW_HEIGHT;
    uint64_t step = 1;
    while (t->end / step > 12)
        step *= step % 3 == 2 ? 5 : 2; /* 1 2 10 20 100 ... */
    for (uint64_t tick = 0; tick <= t->end; tick += step) {
        svg_line(out, place(t, tick), HEAD - 4, place(t, tick), bottom, (struct svg_paint){.stroke = COLOUR_FAINT});
        svg_text(out, (struct svg_text){place(t, tick), HEAD - 8, SVG_SMALL, SVG_MIDDLE, COLOUR_MUTED, false},
                 "%" PRIu64, tick);
    }
}

static void draw_svg(FILE *out, const struct timeline *t, bool inside_page) {
    const double bottom = HEAD + (double)t->row_count * ROW_HEIGHT;
    svg_begin(out, MARGIN * 2 + LABEL_WIDTH + CHART_WIDTH_PX, bottom + LOOKS * KEY_HEIGHT + MARGIN, inside_page,
              t->title);
    svg_text(out, (struct svg_text){MARGIN, 24, SVG_TITLE, SVG_START, 0, false}, "%s", t->title);
    svg_text(out, (struct svg_text){MARGIN, 42, SVG_SMALL, SVG_START, COLOUR_MUTED, false},
             "ticks: an order of events, about one an instruction, no measure of time");
    svg_axis(out, t);
    for (size_t i = 0; i < t->row_count; i++) {
        const double y = HEAD + (double)i * ROW_HEIGHT;
        if (i && memcmp(t->rows[i].cta, t->rows[i - 1].cta, sizeof t->rows[i].cta) != 0)
            svg_line(out, MARGIN, y, MARGIN + LABEL_WIDTH + CHART_WIDTH_PX, y,
                     (struct svg_paint){.stroke = COLOUR_RULE});
        svg_text(out, (struct svg_text){MARGIN, y + 12, SVG_CODE, SVG_START, 0, false}, "%s", t->rows[i].label);
    }
    for (int layer = 0; layer < LAYERS; layer++)
        for (size_t i = 0; i < t->count; i++)
            if ((int)layer_of(&t->events[i].event) == layer)
                svg_event(out, t, &t->events[i]);
    for (size_t i = 0; i < LOOKS; i++) {
        const double y = bottom + 14 + (double)i * KEY_HEIGHT;
        svg_rect(out, MARGIN, y, 18, 10, (struct svg_paint){.fill = looks[i].colour}, NULL);
        svg_text(out, (struct svg_text){MARGIN + 26, y + 9, SVG_SMALL, SVG_START, 0, false}, "%s: %s", looks[i].kind,
                 looks[i].meaning);
    }
    svg_end(out);
}

int timeline_draw(FILE *out, enum draw_form form, const void *what) {
    const struct timeline *t = what;
    if (form == DRAW_SVG) {
        draw_svg(out, t, false);
        return 0;
    }
    if (form == DRAW_TEXT || form == DRAW_COLOUR) {
        draw_text(out, t);
        return 0;
    }
    page_begin(out, t->title,
               "Who waits for whom: the producer's copies, the consumers' wgmmas, the phases of the "
               "mbarriers between them.");
    page_figure_begin(out);
    draw_svg(out, t, true);
    page_figure_end(out, NULL);
    page_end(out, "made by `gristmill sim trace`");
    return 0;
}
