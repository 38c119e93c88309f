/* SPDX-License-Identifier: Apache-2.0 */
/* One access: the banks, the wavefronts, and who rides with whom.
 *
 *      bank  0  1  2  3 ...      one column for each bank
 *      wave 0   0  1  2  3       one row for each wavefront: the lane whose word the bank serves
 *      wave 1      !8            lane 8 had to wait: its bank served another word first
 *      words 1  2  1  1          different rides that each bank had to give  */
#include <inttypes.h>
#include <string.h>

#include "program/smem/access.h"
#include "program/smem/draw_bank.h"
#include "program/base/messages.h"

struct bank_view {
    const struct gm_access *access;
    const struct gm_bank_map *map;
    uint32_t phase_of[GM_LANES];                 /* first lane of those that are served together */
    uint32_t lanes[GM_WAVEFRONTS_MAX][GM_BANKS]; /* bit i: lane i rides here */
    bool late[GM_WAVEFRONTS_MAX][GM_BANKS];      /* the bank served another word of the same phase before */
    uint32_t rides[GM_BANKS];
    bool crowded[GM_BANKS]; /* some ride was late */
};

uint32_t bank_lane_ground(uint32_t lane) {
    static const uint32_t grounds[] = {COLOUR_LANES_0, COLOUR_LANES_1, COLOUR_LANES_2, COLOUR_LANES_3};
    return grounds[lane / 8];
}

/* ---- what is to be seen ------------------------------------------------------------------------- */

int bank_find_phases(const struct gm_access *access, struct gm_access_shape *shape, uint32_t phases[GM_LANES]) {
    if (gm_access_shape_of(access->kind, access->width, access->matrices, access->inactive, shape) != GM_OK)
        return complain("%s", gm_last_error());
    return (int)gm_access_phases(access, shape, phases);
}

/* The model's phases, as the first lane of each. */
static int find_phases(struct bank_view *view) {
    struct gm_access_shape shape;
    uint32_t phases[GM_LANES];
    const int count = bank_find_phases(view->access, &shape, phases);
    for (int i = 0; i < count; i++)
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            if (phases[i] >> lane & 1)
                view->phase_of[lane] = (uint32_t)__builtin_ctz(phases[i]);
    return count < 0 ? -1 : 0;
}

static int count_active(const struct gm_bank_map *map) {
    int active = 0;
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        active += map->wavefront[lane][0] != GM_NO_WAVEFRONT;
    return active;
}

static int enter_lane(struct bank_view *view, uint32_t lane) {
    const uint32_t first = view->access->address[lane] / 4, passes = gm_access_rules[view->access->kind].passes;
    for (uint32_t w = 0; w < 4 && view->map->wavefront[lane][w] != GM_NO_WAVEFRONT; w++) {
        const uint32_t wavefront = view->map->wavefront[lane][w];
        if (wavefront + passes > view->map->cost.wavefronts)
            return complain("lane %" PRIu32 " rides in wavefront %" PRIu32 " of %" PRIu32, lane, wavefront,
                            view->map->cost.wavefronts);
        for (uint32_t pass = 0; pass < passes; pass++) /* cas rides twice */
            view->lanes[wavefront + pass][(first + w) % GM_BANKS] |= 1u << lane;
    }
    return 0;
}

/* Counts each bank's rides, and marks those that followed another one of the same phase. */
static void find_late(struct bank_view *view) {
    for (uint32_t bank = 0; bank < GM_BANKS; bank++) {
        uint32_t last_phase = GM_LANES, last_lanes = 0;
        bool last_late = false;
        for (uint32_t wavefront = 0; wavefront < view->map->cost.wavefronts; wavefront++) {
            const uint32_t lanes = view->lanes[wavefront][bank];
            if (!lanes)
                continue;
            const uint32_t phase = view->phase_of[__builtin_ctz(lanes)];
            view->late[wavefront][bank] = lanes == last_lanes ? last_late : phase == last_phase;
            last_late = view->late[wavefront][bank];
            view->crowded[bank] |= view->late[wavefront][bank];
            view->rides[bank]++;
            last_phase = phase;
            last_lanes = lanes;
        }
    }
}

static int look(struct bank_view *view) {
    if (view->map->cost.wavefronts > GM_WAVEFRONTS_MAX)
        return complain("%" PRIu32 " wavefronts; a picture holds %d", view->map->cost.wavefronts, GM_WAVEFRONTS_MAX);
    if (find_phases(view) != 0)
        return -1;
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        if (enter_lane(view, lane) != 0)
            return -1;
    find_late(view);
    return 0;
}

/* ---- the sheet ---------------------------------------------------------------------------------- */

/* "5", "0-3", "0, 2, 4" */
static void list_lanes(uint32_t lanes, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = 0;
    while (lanes && used < bytes) {
        const int first = __builtin_ctz(lanes);
        int last = first;
        while (last < GM_LANES - 1 && lanes >> (last + 1) & 1)
            last++;
        const char *comma = used ? ", " : "";
        used += (size_t)(last > first ? snprintf(text + used, bytes - used, "%s%d-%d", comma, first, last)
                                      : snprintf(text + used, bytes - used, "%s%d", comma, first));
        lanes &= last == GM_LANES - 1 ? 0 : UINT32_MAX << (last + 1);
    }
}

/* Three letters: " 5", "0-3", "x12"; late: "!5", "X12". Five in an SVG, where colour says late as well. */
static void label_lanes(uint32_t lanes, bool late, struct sheet_cell *cell) {
    char list[128];
    list_lanes(lanes, list, sizeof list);
    const int count = __builtin_popcount(lanes);
    const size_t room = late ? 2 : 3;
    if (count == 1 || (strlen(list) <= room && !late))
        snprintf(cell->text, sizeof cell->text, "%s%.3s", late ? "!" : "", list);
    else
        snprintf(cell->text, sizeof cell->text, "%c%d", late ? 'X' : 'x', count);
    if (strlen(list) <= 5)
        snprintf(cell->label, sizeof cell->label, "%.5s", list);
    else
        snprintf(cell->label, sizeof cell->label, "×%d", count);
}

static void bank_cell(const void *model, uint32_t row, uint32_t bank, struct sheet_cell *cell) {
    const struct bank_view *view = model;
    if (row == view->map->cost.wavefronts) { /* the sum below */
        cell->bare = true;
        cell->strong = view->crowded[bank];
        snprintf(cell->text, sizeof cell->text, view->rides[bank] ? "%" PRIu32 : ".", view->rides[bank]);
        snprintf(cell->label, sizeof cell->label, view->rides[bank] ? "%" PRIu32 : "", view->rides[bank]);
        return;
    }
    const uint32_t lanes = view->lanes[row][bank];
    if (!lanes) {
        snprintf(cell->text, sizeof cell->text, ".");
        return;
    }
    char list[128];
    const bool late = view->late[row][bank], several = lanes & (lanes - 1);
    label_lanes(lanes, late, cell);
    list_lanes(lanes, list, sizeof list);
    cell->ground = late ? COLOUR_BAD : bank_lane_ground((uint32_t)__builtin_ctz(lanes));
    cell->strong = late || several;
    snprintf(cell->hover, sizeof cell->hover,
             "wavefront %" PRIu32 ", bank %" PRIu32 ": word 0x%" PRIx32 " for lane%s %s%s", row, bank,
             view->map->word[row][bank], several ? "s" : "", list,
             late ? "; waited, the bank served another word of these lanes first" : "");
}

static void bank_row(const void *model, uint32_t row, char text[SHEET_TEXT]) {
    const struct bank_view *view = model;
    if (row == view->map->cost.wavefronts)
        snprintf(text, SHEET_TEXT, "rides");
    else
        snprintf(text, SHEET_TEXT, "wave %2" PRIu32, row);
}

static void bank_column(const void *model, uint32_t bank, char text[SHEET_TEXT]) {
    (void)model;
    snprintf(text, SHEET_TEXT, "%" PRIu32, bank);
}

/* ---- words beside it ---------------------------------------------------------------------------- */

void bank_put_verdict(struct canvas *canvas, const struct gm_access *given, const struct gm_bank_map *map) {
    const struct gm_bank_cost *cost = &map->cost;
    struct gm_access access = *given;
    char what[64];
    access.matrices = access.matrices ? access.matrices : 4; /* where it is left 0 */
    access_name(&access, what, sizeof what);
    const int lanes = count_active(map);
    canvas_say(canvas, "%s, %d lane%s, %" PRIu32 " different word%s.", what, lanes, lanes == 1 ? "" : "s", cost->words,
               cost->words == 1 ? "" : "s");
    if (gm_access_rules[access.kind].passes > 1)
        canvas_say(canvas, "It reads and compares, then writes: every ride takes two wavefronts.");
    if (cost->conflicts == 0)
        canvas_verdict(canvas, PAGE_OK, "%" PRIu32 " wavefront%s, the ideal: no bank conflict.", cost->wavefronts,
                       cost->wavefronts == 1 ? "" : "s");
    else
        canvas_verdict(canvas, PAGE_BAD,
                       "%" PRIu32 " wavefronts where %" PRIu32 " would do: %" PRIu32 " conflict%s, %" PRIu32 "-way.",
                       cost->wavefronts, cost->ideal, cost->conflicts, cost->conflicts == 1 ? "" : "s", cost->degree);
}

/* Some ride serves more than two lanes, and its cell says only how many. */
static bool has_shared_words(const struct bank_view *view) {
    for (uint32_t wavefront = 0; wavefront < view->map->cost.wavefronts; wavefront++)
        for (uint32_t bank = 0; bank < GM_BANKS; bank++)
            if (__builtin_popcount(view->lanes[wavefront][bank]) > 2)
                return true;
    return false;
}

static void put_keys(struct canvas *canvas, const struct bank_view *view) {
    const bool terminal = canvas_on_terminal(canvas), share = gm_access_rules[view->access->kind].lanes_share;
    char waits[128];
    snprintf(waits, sizeof waits, "waits: its bank serves another %s first%s", share ? "word of these lanes" : "lane",
             terminal && share ? " (X2: two lanes wait)" : "");
    struct sheet_key keys[6] = {{COLOUR_LANES_0, NULL, "lanes 0-7"},
                                {COLOUR_LANES_1, NULL, "lanes 8-15"},
                                {COLOUR_LANES_2, NULL, "lanes 16-23"},
                                {COLOUR_LANES_3, NULL, "lanes 24-31"}};
    size_t count = 4;
    if (share && has_shared_words(view))
        keys[count++] =
            (struct sheet_key){COLOUR_NONE, terminal ? "x4" : "×4", "4 lanes share the word: one ride serves all"};
    if (view->map->cost.conflicts)
        keys[count++] = (struct sheet_key){COLOUR_BAD, terminal ? "!5" : "5", waits};
    canvas_keys(canvas, keys, count);
}

/* "5", "4-7" */
static void range_text(uint32_t first, uint32_t last, char text[24]) {
    if (first == last)
        snprintf(text, 24, "%" PRIu32, first);
    else
        snprintf(text, 24, "%" PRIu32 "-%" PRIu32, first, last);
}

/* The four cells of one lane, behind what `row` holds already. */
static void add_lane(const struct bank_view *view, uint32_t lane, const char *between, char *row, size_t bytes) {
    char bank[24], wavefront[24];
    const size_t used = strlen(row);
    const uint8_t *rides = view->map->wavefront[lane];
    if (rides[0] == GM_NO_WAVEFRONT) {
        snprintf(row + used, bytes - used, "%s%" PRIu32 "|-|-|-", used ? between : "", lane);
        return;
    }
    uint32_t words = 1, first_ride = rides[0], last_ride = rides[0];
    for (; words < 4 && rides[words] != GM_NO_WAVEFRONT; words++) {
        first_ride = rides[words] < first_ride ? rides[words] : first_ride;
        last_ride = rides[words] > last_ride ? rides[words] : last_ride;
    }
    const uint32_t first = view->access->address[lane] / 4 % GM_BANKS;
    range_text(first, first + words - 1, bank);
    range_text(first_ride, last_ride, wavefront);
    snprintf(row + used, bytes - used, "%s%" PRIu32 "|0x%" PRIx32 "|%s|%s", used ? between : "", lane,
             view->access->address[lane], bank, wavefront);
}

/* Four lanes beside each other; two when their addresses are too wide for a terminal. */
static uint32_t lanes_across(const struct bank_view *view) {
    uint32_t bits = 0;
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        bits |= view->access->address[lane];
    return bits > 0xffff ? 2 : 4;
}

static int put_lanes(struct canvas *canvas, const struct bank_view *view) {
    const uint32_t across = lanes_across(view), lines = GM_LANES / across;
    const char *between = canvas_on_terminal(canvas) ? "|" : "||"; /* an empty column, where there is room for it */
    struct text_table table;
    char titles[128] = "lane|byte|bank|wave";
    for (uint32_t i = 1; i < across; i++)
        snprintf(titles + strlen(titles), sizeof titles - strlen(titles), "%s lane|byte|bank|wave", between);
    bool whole = text_table_start(&table, titles);
    for (uint32_t line = 0; line < lines && whole; line++) {
        char row[512] = "";
        for (uint32_t lane = line; lane < GM_LANES; lane += lines)
            add_lane(view, lane, between, row, sizeof row);
        whole = text_table_add(&table, "%s", row);
    }
    if (whole)
        canvas_table(canvas, "Lane by lane: byte address, bank, wavefront", &table, NULL);
    text_table_free(&table);
    return whole ? 0 : complain("out of host memory");
}

static const char lesson[] =
    "Shared memory has 32 banks of 4 bytes: bank = address / 4 mod 32. A wavefront takes one word from every bank, and "
    "lanes that ask for the same word share it (broadcast). Different words of one bank wait for each other: that is a "
    "bank conflict, and each one costs another wavefront. Accesses of 8 and 16 bytes a lane are served in groups of "
    "16 and 8 lanes, and lanes of different groups do not conflict.";

int draw_bank(FILE *out, enum draw_form form, const char *title, const struct gm_access *access,
              const struct gm_bank_map *map) {
    struct bank_view view = {.access = access, .map = map};
    struct canvas canvas;
    if (look(&view) != 0 || canvas_begin(&canvas, out, form, title) != 0)
        return -1;
    const struct sheet sheet = {.corner = "bank",
                                .rows = map->cost.wavefronts + 1,
                                .columns = GM_BANKS,
                                .model = &view,
                                .row_label = bank_row,
                                .column_label = bank_column,
                                .cell = bank_cell};
    bank_put_verdict(&canvas, access, map);
    canvas_sheet(&canvas, &sheet);
    put_keys(&canvas, &view);
    const int status = put_lanes(&canvas, &view);
    canvas_teach(&canvas, lesson);
    return canvas_end(&canvas) == 0 ? status : -1;
}
