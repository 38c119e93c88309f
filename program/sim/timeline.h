/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a launch as rows over time: a row for each warp that has any, for the copies under way at once, and for
 * each mbarrier's phases; as text and as SVG. */
#ifndef PROGRAM_SIM_TIMELINE_H
#define PROGRAM_SIM_TIMELINE_H

#include <stdio.h>

#include "sim/sim.h"
#include "program/smem/draw.h"

struct timeline_event {
    struct gm_sim_event event;
    size_t row;
};

struct timeline_row {
    char label[40];
    uint32_t cta[3];
    int warp;  /* -1: not a warp's row */
    int order; /* copies, then warps, then stores, then barriers of a CTA */
    uint64_t busy_until;
};

struct timeline {
    struct timeline_event *events;
    size_t count, room;
    struct timeline_row *rows;
    size_t row_count;
    uint64_t end; /* the last tick */
    const char *title;
    size_t listed; /* events that the text lists */
    int failed;    /* out of host memory */
};

/* A gm_sim_trace_fn: `arg` is the timeline. */
void timeline_note(const struct gm_sim_event *event, void *arg);
/* Sorts the events and gives each a row. 0, or -1 with a printed sentence. */
int timeline_arrange(struct timeline *timeline);
void timeline_free(struct timeline *timeline);
/* The drawing of a struct picture: `what` is the timeline. */
int timeline_draw(FILE *out, enum draw_form form, const void *what);

#endif
