/* SPDX-License-Identifier: Apache-2.0 */
/* A tile and its swizzle: which bits meet, which chunk lies where, and what is free of conflicts.
 *
 *      row 0    0  1  2  3  4  5  6  7      the places of a row, from left to right; in each the logical chunk that
 *      row 1    1  0  3  2  5  4  7  6      lies there: one column of the tile is spread over all places  */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/smem/draw_canvas.h"
#include "program/smem/draw_memory.h"
#include "program/base/messages.h"

enum { ROWS_MOST = 64, CHUNKS_MOST = 32 };

/* ---- the bits of an address --------------------------------------------------------------------- */

struct bits_view {
    struct gm_swizzle swizzle;
    uint32_t count; /* shown, the highest first */
};

static bool in_field(uint32_t bit, uint32_t first, uint32_t bits) {
    return bit >= first && bit < first + bits;
}

static uint32_t lowest_source(struct gm_swizzle swizzle) {
    return swizzle.base + (swizzle.shift > 0 ? (uint32_t)swizzle.shift : 0);
}

static uint32_t lowest_changed(struct gm_swizzle swizzle) {
    return swizzle.base + (swizzle.shift < 0 ? 0u - (uint32_t)swizzle.shift : 0);
}

static void bits_cell(const void *model, uint32_t row, uint32_t column, struct sheet_cell *cell) {
    const struct bits_view *view = model;
    const struct gm_swizzle swizzle = view->swizzle;
    const uint32_t bit = view->count - 1 - column;
    (void)row;
    snprintf(cell->text, sizeof cell->text, "%" PRIu32, bit);
    snprintf(cell->label, sizeof cell->label, "%" PRIu32, bit);
    if (in_field(bit, lowest_changed(swizzle), swizzle.bits))
        cell->ground = COLOUR_LANES_2;
    else
        cell->ground = in_field(bit, lowest_source(swizzle), swizzle.bits) ? COLOUR_LANES_0 : COLOUR_FAINT;
}

static void bits_row(const void *model, uint32_t row, char text[SHEET_TEXT]) {
    (void)model, (void)row;
    snprintf(text, SHEET_TEXT, "bit");
}

static void put_bits(struct canvas *canvas, struct gm_swizzle swizzle) {
    const uint32_t source = lowest_source(swizzle), target = lowest_changed(swizzle);
    const uint32_t high = (source > target ? source : target) + swizzle.bits;
    const struct bits_view view = {swizzle, high + 2 < 32 ? high + 2 : 32};
    const struct sheet_span changed = {view.count - target - swizzle.bits, swizzle.bits, "xor", COLOUR_LANES_2};
    const struct sheet_span by = {view.count - source - swizzle.bits, swizzle.bits, "by", COLOUR_LANES_0};
    const struct sheet_span spans[] = {source > target ? by : changed, source > target ? changed : by};
    const struct sheet sheet = {.heading = "The bits of a byte address: which are XORed, and by which",
                                .rows = 1,
                                .columns = view.count,
                                .spans = spans,
                                .span_count = 2,
                                .model = &view,
                                .row_label = bits_row,
                                .cell = bits_cell};
    canvas_sheet(canvas, &sheet);
}

/* ---- the tile, row by row ----------------------------------------------------------------------- */

static uint32_t least(uint32_t left, uint32_t right) {
    return left < right ? left : right;
}

static void map_cell(const void *model, uint32_t row, uint32_t index, struct sheet_cell *cell) {
    const struct memory_view *view = model;
    const uint32_t place = view->tile.base + row * view->tile.pitch_bytes + index * view->unit;
    uint32_t from, chunk;
    if (!memory_owner(view, place, &from, &chunk)) {
        snprintf(cell->text, sizeof cell->text, ".");
        return;
    }
    cell->ground = palette_step(chunk, view->chunks);
    cell->strong = from != row;
    snprintf(cell->text, sizeof cell->text, "%s%" PRIu32, from != row ? "!" : "", chunk);
    if (from == row)
        snprintf(cell->label, sizeof cell->label, "%" PRIu32, chunk);
    else
        snprintf(cell->label, sizeof cell->label, "%" PRIu32 ":%" PRIu32, from, chunk);
    snprintf(cell->hover, sizeof cell->hover, "row %" PRIu32 ", chunk %" PRIu32 " lies at 0x%" PRIx32, from, chunk,
             place);
}

static void map_row(const void *model, uint32_t row, char text[SHEET_TEXT]) {
    (void)model;
    snprintf(text, SHEET_TEXT, "row %2" PRIu32, row);
}

static void map_column(const void *model, uint32_t index, char text[SHEET_TEXT]) {
    (void)model;
    snprintf(text, SHEET_TEXT, "%" PRIu32, index);
}

static void put_map(struct canvas *canvas, const struct memory_view *view) {
    char heading[96];
    const uint32_t places = (view->tile.pitch_bytes + view->unit - 1) / view->unit;
    snprintf(heading, sizeof heading, "Logical chunk (%" PRIu32 " bytes) at each place", view->unit);
    const struct sheet sheet = {.heading = heading,
                                .corner = "place",
                                .rows = least(view->tile.rows, ROWS_MOST),
                                .columns = least(places, CHUNKS_MOST),
                                .model = view,
                                .row_label = map_row,
                                .column_label = map_column,
                                .cell = map_cell};
    canvas_sheet(canvas, &sheet);
}

/* Whether some chunk that is drawn lies in another row's places. */
static bool rows_mix(const struct memory_view *view) {
    for (uint32_t row = 0; row < least(view->tile.rows, ROWS_MOST); row++)
        for (uint32_t index = 0; index < least(view->tile.pitch_bytes / view->unit, CHUNKS_MOST); index++) {
            uint32_t from, chunk;
            if (memory_owner(view, view->tile.base + row * view->tile.pitch_bytes + index * view->unit, &from,
                             &chunk) &&
                from != row)
                return true;
        }
    return false;
}

/* ---- the proof ---------------------------------------------------------------------------------- */

static const char *conflicts_text(uint32_t worst, char text[16]) {
    if (worst > GM_WAVEFRONTS_MAX) /* the tile is too small or too torn for such a walk */
        return "-";
    snprintf(text, 16, worst ? "%" PRIu32 : "none", worst);
    return text;
}

static int put_proof(struct canvas *canvas, const struct gm_swizzle_proof *proof) {
    static const char *const names[] = {"1 byte a lane", "2 bytes", "4 bytes", "8 bytes", "16 bytes"};
    char row[16], column[16];
    struct text_table table;
    bool whole = text_table_start(&table, "<32 lanes|along a row|down a column");
    for (int i = 0; i < 5 && whole; i++)
        whole = text_table_add(&table, "%s|%s|%s", names[i], conflicts_text(proof->row_worst[i], row),
                               conflicts_text(proof->column_worst[i], column));
    whole = whole && text_table_add(&table, "ldmatrix, 8 rows|-|%s", conflicts_text(proof->ldmatrix_worst, column)) &&
            text_table_add(&table, "no two bytes meet|%s|", proof->bijective ? "yes" : "NO") &&
            text_table_add(&table, "its own inverse|%s|", proof->self_inverse ? "yes" : "NO");
    const enum page_state states[] = {
        0, 0, 0, 0, 0, 0, proof->bijective ? PAGE_OK : PAGE_BAD, proof->self_inverse ? PAGE_OK : PAGE_BAD};
    if (whole)
        canvas_table(canvas, "Worst bank conflicts", &table, states);
    text_table_free(&table);
    return whole ? 0 : complain("out of host memory");
}

static void put_verdict(struct canvas *canvas, const struct gm_smem_tile *tile, const struct gm_swizzle_proof *proof) {
    const uint32_t columns = proof->ldmatrix_worst;
    char text[16];
    if (!proof->bijective || !proof->self_inverse)
        canvas_verdict(canvas, PAGE_BAD, "This layout is no permutation: bytes of the tile meet or leave it.");
    else if (columns > GM_WAVEFRONTS_MAX)
        canvas_verdict(canvas, PAGE_NEUTRAL, "A permutation of the tile's bytes. No ldmatrix fits it.");
    else
        canvas_verdict(canvas, columns ? PAGE_BAD : PAGE_OK,
                       "%s permutation of the tile's bytes. Bank conflicts of ldmatrix on 8 rows: %s.",
                       tile->swizzle.bits ? "A" : "The identity is a", conflicts_text(columns, text));
}

/* ---- the picture -------------------------------------------------------------------------------- */

static void put_facts(struct canvas *canvas, const struct memory_view *view) {
    const struct gm_smem_tile *tile = &view->tile;
    const struct gm_swizzle swizzle = tile->swizzle;
    char name[96];
    memory_swizzle_name(swizzle, name, sizeof name);
    canvas_say(canvas, "%" PRIu32 " rows of %" PRIu32 " bytes, pitch %" PRIu32 ", from address 0x%" PRIx32 "; %s.",
               tile->rows, tile->row_bytes, tile->pitch_bytes, tile->base, name);
    if (swizzle.bits)
        canvas_say(canvas, "place = a ^ ((a & 0x%" PRIx32 ") %s %d)",
                   ((UINT32_C(1) << swizzle.bits) - 1) << lowest_source(swizzle), swizzle.shift < 0 ? "<<" : ">>",
                   abs((int)swizzle.shift));
}

/* What the pictures leave out. */
static void put_cuts(struct canvas *canvas, const struct memory_view *view) {
    const uint32_t places = view->tile.pitch_bytes / view->unit;
    if (view->tile.rows > ROWS_MOST)
        canvas_say(canvas, "The first %d of %" PRIu32 " rows are drawn.", ROWS_MOST, view->tile.rows);
    if (places > CHUNKS_MOST)
        canvas_say(canvas, "The first %d of %" PRIu32 " places of a row are drawn.", CHUNKS_MOST, places);
    if (view->lines_all > view->lines)
        canvas_say(canvas, "Of the memory image, the first %" PRIu32 " of %" PRIu32 " lines are drawn.", view->lines,
                   view->lines_all);
    if (rows_mix(view))
        canvas_say(canvas, "Chunks marked ! (in colour: row:chunk) come from another row.");
}

static const char lesson[] =
    "A swizzle XORs some bits of an address with bits further up, here: the chunk with the line it is in. Nothing is "
    "lost and no byte is spent. A row keeps its bytes in its own line, so reading along a row stays as cheap as "
    "before; "
    "a column, which lay in one place of every line, is spread over all of them. In the picture one colour is one "
    "logical column: where a colour stands twice below itself within the rows that are read together, there is a bank "
    "conflict. The bits come from the address in shared memory, not from the row's number: a buffer that does not "
    "begin "
    "at a multiple of the pattern shows the same picture shifted.";

int draw_swizzle(FILE *out, enum draw_form form, const char *title, const struct gm_smem_tile *tile,
                 uint32_t unit_bytes, const struct gm_swizzle_proof *proof) {
    struct memory_view view;
    struct canvas canvas;
    if (memory_look(&view, tile, unit_bytes, ROWS_MOST) != 0 || canvas_begin(&canvas, out, form, title) != 0)
        return -1;
    const struct sheet memory = memory_sheet(&view, view.unit == 4 && (form == DRAW_TEXT || form == DRAW_COLOUR)
                                                        ? "Memory, lines of 128 bytes: the chunk in each bank"
                                                        : "Memory, lines of 128 bytes: row and chunk in each bank");
    put_facts(&canvas, &view);
    put_verdict(&canvas, tile, proof);
    put_cuts(&canvas, &view);
    if (tile->swizzle.bits)
        put_bits(&canvas, tile->swizzle);
    canvas_beside_begin(&canvas);
    put_map(&canvas, &view);
    const int status = put_proof(&canvas, proof);
    canvas_beside_end(&canvas);
    canvas_sheet(&canvas, &memory);
    canvas_teach(&canvas, lesson);
    return canvas_end(&canvas) == 0 ? status : -1;
}
