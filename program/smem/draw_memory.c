/* SPDX-License-Identifier: Apache-2.0 */
/* A tile's place in shared memory. A swizzle is its own inverse, so what lies at a place is found by applying it there.
 */
#include "program/smem/draw_memory.h"

#include <inttypes.h>
#include <string.h>

#include "program/base/messages.h"
#include "smem/smem_tile.h"

/* The fields of a swizzle begin at bit M, so it moves pieces of 2^M bytes. */
uint32_t memory_widest_unit(const struct gm_smem_tile *tile) {
    uint32_t unit = 16;
    while (unit > 1 && ((tile->base | gm_smem_tile_pitch(tile) | tile->row_bytes) % unit ||
                        (tile->swizzle.bits && unit > UINT64_C(1) << tile->swizzle.base)))
        unit /= 2;
    return unit;
}

/* The lines between the tile's lowest and its highest byte. */
static void measure_lines(struct memory_view *view, uint32_t lines_most) {
    uint32_t lowest = UINT32_MAX, highest = 0;
    for (uint32_t row = 0; row < view->tile.rows; row++)
        for (uint32_t chunk = 0; chunk < view->chunks; chunk++) {
            const uint32_t logical = view->tile.base + row * view->tile.pitch_bytes + chunk * view->unit;
            const uint32_t place = gm_swizzle_apply(view->tile.swizzle, logical);
            lowest = place < lowest ? place : lowest;
            highest = place > highest ? place : highest;
        }
    view->first_line = lowest / MEMORY_LINE;
    view->lines_all = highest / MEMORY_LINE - view->first_line + 1;
    view->lines = view->lines_all < lines_most ? view->lines_all : lines_most;
}

int memory_look(struct memory_view *view, const struct gm_smem_tile *tile, uint32_t unit, uint32_t lines_most) {
    if (gm_smem_tile_check(tile) != GM_OK)
        return complain("%s", gm_last_error());
    *view = (struct memory_view){.tile = *tile};
    view->tile.pitch_bytes = gm_smem_tile_pitch(tile);
    const uint32_t widest = memory_widest_unit(tile);
    view->unit = unit ? unit : widest;
    if (widest < 4)
        return complain("rows of %" PRIu32 " bytes with a pitch of %" PRIu32 " from address %" PRIu32
                        " are torn into pieces of %" PRIu32 " bytes; the picture shows pieces of 4, 8 or 16",
                        tile->row_bytes, view->tile.pitch_bytes, tile->base, widest);
    if (view->unit != 4 && view->unit != 8 && view->unit != 16)
        return complain("chunks of %" PRIu32 " bytes; the picture shows chunks of 4, 8 or 16", unit);
    if (view->unit > widest)
        return complain("chunks of %" PRIu32 " bytes: this layout keeps only pieces of %" PRIu32 " together", unit,
                        widest);
    view->chunks = tile->row_bytes / view->unit;
    measure_lines(view, lines_most);
    return 0;
}

bool memory_owner(const struct memory_view *view, uint32_t place, uint32_t *row, uint32_t *chunk) {
    const struct gm_smem_tile *tile = &view->tile;
    const uint32_t logical = gm_swizzle_apply(tile->swizzle, place);
    if (logical < tile->base)
        return false;
    *row = (logical - tile->base) / tile->pitch_bytes;
    *chunk = (logical - tile->base) % tile->pitch_bytes / view->unit;
    return *row < tile->rows && *chunk < view->chunks;
}

/* ---- the sheet ---------------------------------------------------------------------------------- */

static void mark_cell(const struct memory_view *view, uint32_t place, struct sheet_cell *cell) {
    const bool written = view->marks && view->mark_written / view->unit == place / view->unit;
    const bool read = view->marks && view->mark_read / view->unit == place / view->unit;
    if (!written && !read)
        return;
    const char *mark = written && read ? "W R" : written ? "W" : "R";
    cell->ground = written && read ? COLOUR_OK : written ? COLOUR_SERIES_0 : COLOUR_BAD;
    cell->strong = true;
    snprintf(cell->text, sizeof cell->text, "[%s]", mark);
    snprintf(cell->label, sizeof cell->label, "%s", mark);
}

static void memory_cell(const void *model, uint32_t line, uint32_t index, struct sheet_cell *cell) {
    const struct memory_view *view = model;
    const uint32_t place = (view->first_line + line) * MEMORY_LINE + index * view->unit;
    uint32_t row, chunk;
    if (memory_owner(view, place, &row, &chunk)) {
        cell->ground = view->marks ? (uint32_t)COLOUR_FAINT : palette_step(chunk, view->chunks);
        if (view->unit == 16)
            snprintf(cell->text, sizeof cell->text, "r%" PRIu32 " c%" PRIu32, row, chunk);
        else if (view->unit == 8)
            snprintf(cell->text, sizeof cell->text, "%" PRIu32 ":%" PRIu32, row, chunk);
        else
            snprintf(cell->text, sizeof cell->text, "%" PRIu32, chunk);
        snprintf(cell->label, sizeof cell->label,
                 view->unit == 16 ? "row %" PRIu32 ", %" PRIu32 : "%" PRIu32 ":%" PRIu32, row, chunk);
        snprintf(cell->hover, sizeof cell->hover,
                 "0x%" PRIx32 ", banks %" PRIu32 "-%" PRIu32 ": row %" PRIu32 ", chunk %" PRIu32 " of %" PRIu32
                 " bytes",
                 place, place / 4 % GM_BANKS, place / 4 % GM_BANKS + view->unit / 4 - 1, row, chunk, view->unit);
    } else {
        snprintf(cell->text, sizeof cell->text, ".");
    }
    mark_cell(view, place, cell);
}

static void memory_row(const void *model, uint32_t line, char text[SHEET_TEXT]) {
    const struct memory_view *view = model;
    snprintf(text, SHEET_TEXT, "0x%04" PRIx32, (view->first_line + line) * MEMORY_LINE);
}

static void memory_column(const void *model, uint32_t bank, char text[SHEET_TEXT]) {
    (void)model;
    snprintf(text, SHEET_TEXT, "%" PRIu32, bank);
}

struct sheet memory_sheet(const struct memory_view *view, const char *heading) {
    return (struct sheet){.heading = heading,
                          .corner = "bank",
                          .rows = view->lines,
                          .columns = GM_BANKS,
                          .span = view->unit / 4,
                          .tiny = view->unit == 4,
                          .model = view,
                          .row_label = memory_row,
                          .column_label = memory_column,
                          .cell = memory_cell};
}

void memory_swizzle_name(struct gm_swizzle swizzle, char *text, size_t bytes) {
    if (swizzle.bits == 0) {
        snprintf(text, bytes, "no swizzle");
        return;
    }
    int length = snprintf(text, bytes, "Swizzle<%" PRIu32 ",%" PRIu32 ",%" PRId32 ">", swizzle.bits, swizzle.base,
                          swizzle.shift);
    for (int mode = GM_SWIZZLE_32B; mode <= GM_SWIZZLE_128B; mode++) {
        const struct gm_swizzle known = gm_swizzle_of_mode((enum gm_swizzle_mode)mode);
        if (known.bits == swizzle.bits && known.base == swizzle.base && known.shift == swizzle.shift &&
            (size_t)length < bytes)
            snprintf(text + length, bytes - (size_t)length, ", the %" PRIu32 "B mode",
                     gm_swizzle_span_bytes((enum gm_swizzle_mode)mode));
    }
}
