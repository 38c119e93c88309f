/* SPDX-License-Identifier: Apache-2.0 */
/* One access as one would draw it by hand: lanes above, banks below, and an arrow from each lane to where its bytes lie.
 * Lanes that are not served together, phases, stand beside each other, each over all 32 banks:
 *
 *      lane   0   1   2   3 ...        with the number of the first word that it asks for
 *              \  |  /   /
 *      bank   0-3 4-7 8-11 ...         as many together as a lane's bytes have, and how many different ones they give */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "program/base/messages.h"
#include "program/draw/svg.h"
#include "program/smem/draw_bank.h"

enum {
    CELL = 26,
    WIDE_CELL = 52,
    FEW = 16 /* cells, which may be wide */,
    BOX = 24,
    BETWEEN = 20,
    FALL = 120 /* of an arrow */,
    LINE = 15
};

/* Lanes that are served together. */
struct phase {
    uint32_t lanes[GM_LANES], count;
    uint32_t unit[GM_LANES]; /* of each, where it points to: banks / words_of_unit */
    uint32_t ways[GM_BANKS]; /* of each unit: what lanes ask of it that differs, or lanes where these share nothing */
    uint32_t most;           /* of these */
};

struct arrows {
    const struct gm_access *access;
    uint32_t words_of_unit, units;
    struct phase phases[GM_LANES];
    uint32_t count;
    double cell; /* width of a lane */
};

/* ---- what is to be seen ------------------------------------------------------------------------- */

/* Whether an earlier lane of the phase asks for the same. */
static bool is_shared(const struct arrows *arrows, const struct phase *phase, uint32_t i) {
    const uint32_t bytes = 4 * arrows->words_of_unit;
    const uint32_t *address = arrows->access->address, mine = address[phase->lanes[i]] / bytes;
    bool shared = false;
    for (uint32_t j = 0; j < i && gm_access_rules[arrows->access->kind].lanes_share; j++)
        shared |= address[phase->lanes[j]] / bytes == mine;
    return shared;
}

static void look_at_phase(const struct arrows *arrows, uint32_t lanes, struct phase *phase) {
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t i = phase->count++, lane = (uint32_t)__builtin_ctz(lanes);
        phase->lanes[i] = lane;
        phase->unit[i] = arrows->access->address[lane] / (4 * arrows->words_of_unit) % arrows->units;
        uint32_t *ways = &phase->ways[phase->unit[i]];
        *ways += !is_shared(arrows, phase, i);
        phase->most = *ways > phase->most ? *ways : phase->most;
    }
}

/* So many lanes, or units, whichever are more, stand beside each other. */
static uint32_t cells_of(const struct arrows *arrows, const struct phase *phase) {
    return phase->count > arrows->units ? phase->count : arrows->units;
}

static int look(struct arrows *arrows) {
    const struct gm_access *access = arrows->access;
    struct gm_access_shape shape;
    uint32_t phases[GM_LANES];
    const int count = bank_find_phases(access, &shape, phases);
    if (count < 0)
        return -1;
    arrows->words_of_unit = shape.width > 4 ? shape.width / 4 : 1;
    arrows->units = GM_BANKS / arrows->words_of_unit;
    arrows->count = (uint32_t)count;
    for (uint32_t i = 0; i < arrows->count; i++)
        look_at_phase(arrows, phases[i], &arrows->phases[i]);
    uint32_t cells = 0;
    for (uint32_t i = 0; i < arrows->count; i++)
        cells += cells_of(arrows, &arrows->phases[i]);
    arrows->cell = cells > FEW ? CELL : WIDE_CELL;
    return 0;
}

/* ---- shapes ------------------------------------------------------------------------------------- */

static double width_of(const struct arrows *arrows, const struct phase *phase) {
    return arrows->cell * cells_of(arrows, phase);
}

/* A number in the middle of a box; small letters where it is too wide for others. */
static void put_text(FILE *out, double x, double y, double room, uint32_t ink, const char *text) {
    const enum svg_role role = svg_text_width(SVG_CELL, text) <= room ? SVG_CELL : SVG_TINY;
    if (svg_text_width(role, text) <= room)
        svg_text(out, (struct svg_text){.x = x, .y = y, .role = role, .anchor = SVG_MIDDLE, .ink = ink}, "%s", text);
}

static void put_box(FILE *out, double middle, double y, double width, uint32_t ground, const char *text) {
    svg_rect(out, middle - width / 2 + 1, y, width - 2, BOX,
             (struct svg_paint){.fill = ground, .stroke = COLOUR_RULE, .radius = 3}, NULL);
    put_text(out, middle, y + BOX / 2.0 + 4, width, palette_ink_on(ground), text);
}

static void put_arrow(FILE *out, double x1, double y1, double x2, double y2, uint32_t ink) {
    enum { HEAD = 7 };
    const double length = hypot(x2 - x1, y2 - y1), dx = (x2 - x1) / length, dy = (y2 - y1) / length;
    const struct svg_paint paint = {.stroke = ink, .stroke_width = 1.3, .opacity = 0.85};
    svg_line(out, x1, y1, x2, y2, paint);
    for (int side = -1; side <= 1; side += 2)
        svg_line(out, x2, y2, x2 - HEAD * (dx - 0.4 * side * dy), y2 - HEAD * (dy + 0.4 * side * dx), paint);
}

/* Its number, and that of its word below it. */
static void put_lane(FILE *out, const struct arrows *arrows, uint32_t lane, double middle, double y) {
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, lane);
    put_box(out, middle, y, arrows->cell, bank_lane_ground(lane), text);
    snprintf(text, sizeof text, "%" PRIu32, arrows->access->address[lane] / 4);
    put_text(out, middle, y + BOX + 11, arrows->cell + 2, COLOUR_MUTED, text);
}

static void put_unit(FILE *out, const struct arrows *arrows, uint32_t unit, uint32_t ways, double middle, double y,
                     double width) {
    char text[24];
    const uint32_t first = unit * arrows->words_of_unit;
    snprintf(text, sizeof text, arrows->words_of_unit > 1 ? "%" PRIu32 "-%" PRIu32 : "%" PRIu32, first,
             first + arrows->words_of_unit - 1);
    put_box(out, middle, y, width, ways > 1 ? COLOUR_BAD : ways ? COLOUR_FAINT : COLOUR_PAPER, text);
    snprintf(text, sizeof text, "%" PRIu32, ways);
    if (ways)
        put_text(out, middle, y + BOX + 12, width, ways > 1 ? COLOUR_BAD : COLOUR_MUTED, text);
}

static void put_phase(FILE *out, const struct arrows *arrows, const struct phase *phase, double x, double y) {
    const double width = width_of(arrows, phase), of_lane = width / phase->count, of_unit = width / arrows->units;
    const double below = y + BOX + LINE + FALL;
    for (uint32_t i = 0; i < phase->count; i++) {
        const uint32_t unit = phase->unit[i];
        put_lane(out, arrows, phase->lanes[i], x + (i + 0.5) * of_lane, y);
        put_arrow(out, x + (i + 0.5) * of_lane, y + BOX + LINE, x + (unit + 0.5) * of_unit, below,
                  phase->ways[unit] > 1 ? COLOUR_BAD : COLOUR_SERIES_0);
    }
    for (uint32_t unit = 0; unit < arrows->units; unit++)
        put_unit(out, arrows, unit, phase->ways[unit], x + (unit + 0.5) * of_unit, below, of_unit);
    const uint32_t wavefronts = phase->most * gm_access_rules[arrows->access->kind].passes;
    svg_text(out,
             (struct svg_text){.x = x + width / 2,
                               .y = below + BOX + 2 * LINE + 2,
                               .role = SVG_BOLD,
                               .anchor = SVG_MIDDLE,
                               .ink = phase->most > 1 ? COLOUR_BAD : COLOUR_OK},
             "%" PRIu32 " wavefront%s", wavefronts, wavefronts == 1 ? "" : "s");
}

/* What stands in a line, left of it. */
static void put_side(FILE *out, double x, double y, const char *text) {
    svg_text(out, (struct svg_text){.x = x, .y = y, .role = SVG_TINY, .anchor = SVG_END, .ink = COLOUR_MUTED}, "%s",
             text);
}

static void put_phases(struct canvas *canvas, const struct arrows *arrows) {
    const double y = canvas_room(canvas, BOX + LINE + FALL + BOX + 2 * LINE + 6), below = y + BOX + LINE + FALL;
    double x = canvas->x;
    put_side(canvas->body, x - 3, y + 15, "lane");
    put_side(canvas->body, x - 3, y + BOX + 11, "word");
    put_side(canvas->body, x - 3, below + 15, "bank");
    put_side(canvas->body, x - 3, below + BOX + 11, "ways");
    for (uint32_t i = 0; i < arrows->count; i++) {
        put_phase(canvas->body, arrows, &arrows->phases[i], x, y);
        x += width_of(arrows, &arrows->phases[i]) + BETWEEN;
    }
}

/* 16-byte lanes whose neighbours agree are served as many at a time as those of 8. */
static int served_at_once(const struct arrows *arrows) {
    bool half = arrows->units == GM_BANKS / 2;
    for (uint32_t i = 0; i < arrows->count; i++)
        half |= arrows->phases[i].count > GM_LANES / 4;
    return half ? GM_LANES / 2 : GM_LANES / 4;
}

/* Whether some banks give one thing, or several. */
static bool has_ways(const struct arrows *arrows, bool several) {
    bool has = false;
    for (uint32_t i = 0; i < arrows->count; i++) {
        for (uint32_t unit = 0; unit < arrows->units; unit++)
            has |= several ? arrows->phases[i].ways[unit] > 1 : arrows->phases[i].ways[unit] == 1;
    }
    return has;
}

static void put_keys(struct canvas *canvas, const struct arrows *arrows) {
    struct sheet_key keys[2];
    size_t count = 0;
    if (has_ways(arrows, false))
        keys[count++] = (struct sheet_key){COLOUR_SERIES_0, NULL, "all that these banks are asked for"};
    if (has_ways(arrows, true))
        keys[count++] = (struct sheet_key){
            COLOUR_BAD, NULL, "one of several that these banks are asked for, and give one after the other"};
    if (arrows->count > 1)
        canvas_say(canvas, "Lanes are served %d at a time: a conflict is among those that stand together.",
                   served_at_once(arrows));
    canvas_keys(canvas, keys, count);
}

int draw_arrows(FILE *out, const char *title, const struct gm_access *access, const struct gm_bank_map *map) {
    struct arrows arrows = {.access = access};
    struct canvas canvas;
    if (look(&arrows) != 0 || canvas_begin(&canvas, out, DRAW_SVG, title) != 0)
        return -1;
    bank_put_verdict(&canvas, access, map);
    put_phases(&canvas, &arrows);
    put_keys(&canvas, &arrows);
    return canvas_end(&canvas);
}
