/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting the events of a launch, and giving each a row. */
#include "program/sim/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "program/base/messages.h"

enum { EVENTS_MAX = 1 << 20, ROWS_MAX = 256 };

void timeline_note(const struct gm_sim_event *event, void *arg) {
    struct timeline *timeline = arg;
    if (timeline->count >= EVENTS_MAX || timeline->failed)
        return;
    if (timeline->count == timeline->room) {
        const size_t room = timeline->room * 2 + 256;
        struct timeline_event *events = realloc(timeline->events, room * sizeof *events);
        if (!events) {
            timeline->failed = 1;
            return;
        }
        timeline->events = events;
        timeline->room = room;
    }
    timeline->events[timeline->count++] = (struct timeline_event){.event = *event};
}

static int earlier(const void *left, const void *right) {
    const struct gm_sim_event *a = &((const struct timeline_event *)left)->event;
    const struct gm_sim_event *b = &((const struct timeline_event *)right)->event;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool is_copy(const struct gm_sim_event *event) {
    return strcmp(event->kind, "copy") == 0;
}
static bool is_store(const struct gm_sim_event *event) {
    return strcmp(event->kind, "store") == 0;
}
static bool is_phase(const struct gm_sim_event *event) {
    return strcmp(event->kind, "phase") == 0;
}

/* What the row of an event is called: a barrier's name is the first word of a phase event. */
static struct timeline_row row_of(const struct gm_sim_event *event) {
    struct timeline_row row = {.cta = {event->cta[0], event->cta[1], event->cta[2]}, .warp = -1};
    char what[24];
    if (is_copy(event) || is_store(event)) {
        row.order = is_copy(event) ? 0 : 2;
        snprintf(what, sizeof what, "%s", is_copy(event) ? "copies" : "stores");
    } else if (is_phase(event)) {
        row.order = 3;
        snprintf(what, sizeof what, "%.*s", (int)strcspn(event->text, " :,"), event->text);
    } else {
        row.order = 1;
        row.warp = event->warp;
        if (event->warp < 0)
            snprintf(what, sizeof what, "barriers");
        else
            snprintf(what, sizeof what, "warp %d", event->warp);
    }
    snprintf(row.label, sizeof row.label, "CTA %u %s", event->cta[0], what);
    return row;
}

/* Copies under way at the same time take rows of the same label. */
static bool fits(const struct timeline_row *row, const struct timeline_row *wanted, const struct gm_sim_event *event) {
    if (memcmp(row->cta, wanted->cta, sizeof row->cta) != 0 || strcmp(row->label, wanted->label) != 0)
        return false;
    return (row->order != 0 && row->order != 2) || row->busy_until <= event->time;
}

static int find_row(struct timeline *timeline, struct timeline_event *entry) {
    const struct gm_sim_event *event = &entry->event;
    const struct timeline_row wanted = row_of(event);
    size_t i = 0;
    while (i < timeline->row_count && !fits(&timeline->rows[i], &wanted, event))
        i++;
    if (i == timeline->row_count) {
        if (i == ROWS_MAX)
            i--;
        else
            timeline->rows[timeline->row_count++] = wanted;
    }
    if (event->until > timeline->rows[i].busy_until)
        timeline->rows[i].busy_until = event->until;
    entry->row = i;
    return 0;
}

/* Rows in the order CTA, copies, warps, stores, barriers; `place[i]` becomes the new index of row i. */
static void sort_rows(struct timeline *timeline, size_t place[ROWS_MAX]) {
    struct timeline_row sorted[ROWS_MAX];
    for (size_t i = 0; i < timeline->row_count; i++) {
        const struct timeline_row *row = &timeline->rows[i];
        size_t before = 0;
        for (size_t j = 0; j < timeline->row_count; j++) {
            const struct timeline_row *other = &timeline->rows[j];
            const int cta = memcmp(other->cta, row->cta, sizeof row->cta);
            const bool first = cta ? other->cta[0] < row->cta[0] || (other->cta[0] == row->cta[0] && cta < 0)
                               : other->order != row->order ? other->order < row->order
                               : other->warp != row->warp   ? other->warp < row->warp
                                                            : j < i;
            before += first;
        }
        place[i] = before;
    }
    for (size_t i = 0; i < timeline->row_count; i++)
        sorted[place[i]] = timeline->rows[i];
    memcpy(timeline->rows, sorted, timeline->row_count * sizeof *sorted);
}

int timeline_arrange(struct timeline *timeline) {
    size_t place[ROWS_MAX];
    timeline->rows = calloc(ROWS_MAX, sizeof *timeline->rows);
    if (!timeline->rows || timeline->failed)
        return complain("out of host memory");
    qsort(timeline->events, timeline->count, sizeof *timeline->events, earlier);
    for (size_t i = 0; i < timeline->count; i++) {
        const struct gm_sim_event *event = &timeline->events[i].event;
        find_row(timeline, &timeline->events[i]);
        const uint64_t last = event->until > event->time ? event->until : event->time;
        if (last > timeline->end)
            timeline->end = last;
    }
    sort_rows(timeline, place);
    for (size_t i = 0; i < timeline->count; i++)
        timeline->events[i].row = place[timeline->events[i].row];
    return 0;
}

void timeline_free(struct timeline *timeline) {
    free(timeline->events);
    free(timeline->rows);
    *timeline = (struct timeline){0};
}
