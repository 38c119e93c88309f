/* SPDX-License-Identifier: Apache-2.0 */
/* The 64 bits of a WGMMA matrix descriptor, and what one instruction reads through it.
 *
 *      bits 0-13 start   16-29 LBO   32-45 SBO   49-51 base offset   62-63 swizzle; addresses in units of 16 bytes  */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/smem/draw_canvas.h"
#include "program/smem/draw_memory.h"
#include "program/base/messages.h"
#include "smem/matrix_descriptor.h"

/* ---- the fields --------------------------------------------------------------------------------- */

enum { START, LEADING, STRIDE, BASE_OFFSET, SWIZZLE, FIELDS };

static const struct {
    const char *name, *brief;
    uint32_t first, bits, ground;
} fields_of_bits[FIELDS] = {
    [START] = {"start address", "start address / 16", 0, 14, COLOUR_LANES_0},
    [LEADING] = {"leading offset, LBO", "LBO / 16", 16, 14, COLOUR_LANES_1},
    [STRIDE] = {"stride offset, SBO", "SBO / 16", 32, 14, COLOUR_LANES_2},
    [BASE_OFFSET] = {"base offset", "base", 49, 3, COLOUR_LANES_3},
    [SWIZZLE] = {"swizzle", "mode", 62, 2, COLOUR_FAINT},
};

static uint32_t raw_field(uint64_t bits, int field) {
    return (uint32_t)(bits >> fields_of_bits[field].first & ((UINT64_C(1) << fields_of_bits[field].bits) - 1));
}

struct half_view {
    uint64_t bits;
    uint32_t first; /* 32 or 0: the lowest bit of the half */
};

static uint32_t bit_of(const struct half_view *view, uint32_t column) {
    return view->first + 31 - column;
}

static void half_cell(const void *model, uint32_t row, uint32_t column, struct sheet_cell *cell) {
    const struct half_view *view = model;
    const uint32_t bit = bit_of(view, column);
    (void)row;
    snprintf(cell->text, sizeof cell->text, "%d", (int)(view->bits >> bit & 1));
    memcpy(cell->label, cell->text, sizeof cell->label);
    cell->strong = view->bits >> bit & 1;
    for (int field = 0; field < FIELDS; field++)
        if (bit >= fields_of_bits[field].first && bit < fields_of_bits[field].first + fields_of_bits[field].bits)
            cell->ground = fields_of_bits[field].ground;
}

static void half_row(const void *model, uint32_t row, char text[SHEET_TEXT]) {
    (void)model, (void)row;
    snprintf(text, SHEET_TEXT, "value");
}

static void half_column(const void *model, uint32_t column, char text[SHEET_TEXT]) {
    snprintf(text, SHEET_TEXT, "%" PRIu32, bit_of(model, column));
}

static void put_half(struct canvas *canvas, uint64_t bits, uint32_t first) {
    const struct half_view view = {bits, first};
    struct sheet_span spans[FIELDS];
    size_t count = 0;
    for (int field = FIELDS - 1; field >= 0; field--) {
        const uint32_t low = fields_of_bits[field].first, width = fields_of_bits[field].bits;
        if (low / 32 == first / 32)
            spans[count++] = (struct sheet_span){first + 32 - low - width, width, fields_of_bits[field].brief,
                                                 fields_of_bits[field].ground};
    }
    const struct sheet sheet = {.corner = "bit",
                                .rows = 1,
                                .columns = 32,
                                .spans = spans,
                                .span_count = count,
                                .model = &view,
                                .row_label = half_row,
                                .column_label = half_column,
                                .cell = half_cell};
    canvas_sheet(canvas, &sheet);
}

/* ---- what they mean ----------------------------------------------------------------------------- */

static const char *meaning_of_leading(const struct gm_matrix_descriptor *fields,
                                      const struct gm_wgmma_operand *operand) {
    if (!operand)
        return fields->swizzle ? "K-major: not used; MN-major: to the next slab of rows, one span wide"
                               : "K-major: to the next 16 bytes of k; MN-major: to the next 8 k";
    if (operand->major == GM_K_MAJOR)
        return fields->swizzle ? "not used: the swizzle's span holds all of k" : "to the next 16 bytes of k";
    return fields->swizzle ? "to the next slab of rows, one span wide" : "to the next 8 k";
}

static const char *meaning_of_stride(const struct gm_matrix_descriptor *fields,
                                     const struct gm_wgmma_operand *operand) {
    if (!operand && fields->swizzle)
        return "K-major: to the next 8 rows; MN-major: to the next 8 k";
    if (!fields->swizzle || operand->major == GM_K_MAJOR)
        return "to the next 8 rows";
    return "to the next 8 k";
}

static int put_fields(struct canvas *canvas, uint64_t bits, const struct gm_matrix_descriptor *fields,
                      const struct gm_wgmma_operand *operand) {
    static const char *const modes[] = {"no swizzle", "the 32B mode", "the 64B mode", "the 128B mode"};
    static const char *const phases[] = {
        "the pattern begins at a multiple of its size",
        "lines of 128 bytes by which the pattern begins beyond a multiple of its size"};
    const uint32_t bytes[FIELDS] = {fields->start, fields->leading_bytes, fields->stride_bytes, 0, 0};
    const char *const meanings[FIELDS] = {"the first element of this instruction", meaning_of_leading(fields, operand),
                                          meaning_of_stride(fields, operand), phases[fields->base_offset != 0],
                                          modes[fields->swizzle]};
    struct text_table table;
    bool whole = text_table_start(&table, "<field|bits|value|bytes|<meaning");
    for (int field = 0; field < FIELDS && whole; field++) {
        const uint32_t first = fields_of_bits[field].first;
        char amount[24] = "";
        if (field <= STRIDE)
            snprintf(amount, sizeof amount, field == START ? "0x%" PRIx32 : "%" PRIu32, bytes[field]);
        whole =
            text_table_add(&table, "%s|%" PRIu32 "-%" PRIu32 "|%" PRIu32 "|%s|%s", fields_of_bits[field].name, first,
                           first + fields_of_bits[field].bits - 1, raw_field(bits, field), amount, meanings[field]);
    }
    if (whole)
        canvas_table(canvas, NULL, &table, NULL);
    text_table_free(&table);
    return whole ? 0 : complain("out of host memory");
}

/* ---- what one instruction reads ----------------------------------------------------------------- */

/*  Pieces of 16 bytes: K-major a row's, MN-major those of 8 rows at one k.  */
enum { PIECE = 16, PIECES_MOST = 512, LINES_MOST = 32 };

struct piece {
    uint32_t address, row, k;
};

struct read_view {
    const struct gm_wgmma_operand *operand;
    struct piece pieces[PIECES_MOST];
    uint32_t count;
    uint32_t lines[PIECES_MOST]; /* that hold a piece, upwards */
    uint32_t line_count;
};

static int by_number(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void list_lines(struct read_view *view) {
    uint32_t all[PIECES_MOST];
    for (uint32_t i = 0; i < view->count; i++)
        all[i] = view->pieces[i].address / MEMORY_LINE;
    qsort(all, view->count, sizeof *all, by_number);
    for (uint32_t i = 0; i < view->count; i++)
        if (i == 0 || all[i] != all[i - 1])
            view->lines[view->line_count++] = all[i];
}

static int list_pieces(struct read_view *view, const struct gm_matrix_descriptor *fields) {
    const struct gm_wgmma_operand *operand = view->operand;
    const uint32_t in_piece = PIECE / operand->element_bytes, all_k = GM_WGMMA_K_BYTES / operand->element_bytes;
    const bool k_major = operand->major == GM_K_MAJOR;
    for (uint32_t row = 0; row < operand->rows; row += k_major ? 1 : in_piece)
        for (uint32_t k = 0; k < all_k && view->count < PIECES_MOST; k += k_major ? in_piece : 1) {
            struct piece *piece = &view->pieces[view->count++];
            *piece = (struct piece){.row = row, .k = k};
            if (gm_wgmma_address(fields, operand, row, k, &piece->address) != GM_OK)
                return complain("%s", gm_last_error());
        }
    list_lines(view);
    return 0;
}

static void read_cell(const void *model, uint32_t line, uint32_t index, struct sheet_cell *cell) {
    const struct read_view *view = model;
    const uint32_t place = view->lines[line] * MEMORY_LINE + index * PIECE;
    const bool k_major = view->operand->major == GM_K_MAJOR;
    const uint32_t last = PIECE / view->operand->element_bytes - 1;
    snprintf(cell->text, sizeof cell->text, ".");
    for (uint32_t i = 0; i < view->count; i++) {
        const struct piece *piece = &view->pieces[i];
        if (piece->address / PIECE != place / PIECE)
            continue;
        cell->ground = k_major ? (piece->k ? COLOUR_LANES_2 : COLOUR_LANES_0) : palette_step(piece->row / 8 % 8, 8);
        snprintf(cell->text, sizeof cell->text, "r%" PRIu32 " k%" PRIu32, piece->row, piece->k);
        if (k_major)
            snprintf(cell->label, sizeof cell->label, "row %" PRIu32 ", k %" PRIu32 "-%" PRIu32, piece->row, piece->k,
                     piece->k + last);
        else
            snprintf(cell->label, sizeof cell->label, "rows %" PRIu32 "-%" PRIu32 ", k %" PRIu32, piece->row,
                     piece->row + last, piece->k);
        snprintf(cell->hover, sizeof cell->hover, "0x%" PRIx32 ": row %" PRIu32 "%s, k %" PRIu32 "%s", place,
                 piece->row, k_major ? "" : " and the next ones", piece->k, k_major ? " and the next ones" : "");
        return;
    }
}

static void read_row(const void *model, uint32_t line, char text[SHEET_TEXT]) {
    const struct read_view *view = model;
    snprintf(text, SHEET_TEXT, "0x%05" PRIx32, view->lines[line] * MEMORY_LINE);
}

static void read_column(const void *model, uint32_t bank, char text[SHEET_TEXT]) {
    (void)model;
    snprintf(text, SHEET_TEXT, "%" PRIu32, bank);
}

static void put_reads(struct canvas *canvas, const struct read_view *view) {
    char heading[128];
    const uint32_t lines = view->line_count < LINES_MOST ? view->line_count : LINES_MOST;
    snprintf(heading, sizeof heading, "What one instruction reads%s", lines < view->line_count ? ", first lines" : "");
    const struct sheet sheet = {.heading = heading,
                                .corner = "bank",
                                .rows = lines,
                                .columns = GM_BANKS,
                                .span = PIECE / 4,
                                .model = view,
                                .row_label = read_row,
                                .column_label = read_column,
                                .cell = read_cell};
    canvas_sheet(canvas, &sheet);
    if (lines < view->line_count)
        canvas_say(canvas, "%" PRIu32 " of the %" PRIu32 " lines that hold elements are drawn.", lines,
                   view->line_count);
}

/* ---- the picture -------------------------------------------------------------------------------- */

static const char lesson[] =
    "wgmma reads its operands from shared memory through this one number: where the tile begins, how far its parts lie "
    "apart, and which swizzle its bytes went through. Addresses count in 16 bytes and reach 256 KB. To walk along k, a "
    "kernel adds to the start address only. The swizzle is numbered the other way round than in a tensor map: here 1 "
    "is 128B and 3 is 32B.";

int draw_matrix_descriptor(FILE *out, enum draw_form form, uint64_t bits, const struct gm_matrix_descriptor *fields,
                           const struct gm_wgmma_operand *operand) {
    struct read_view view = {.operand = operand};
    struct canvas canvas;
    char title[64];
    uint64_t again;
    if (gm_matrix_descriptor_encode(fields, &again) != GM_OK)
        return complain("%s", gm_last_error());
    if (again != bits)
        return complain("these fields make 0x%016" PRIx64 ", not 0x%016" PRIx64, again, bits);
    if (operand && (gm_wgmma_operand_check(operand) != GM_OK))
        return complain("%s", gm_last_error());
    if (operand && list_pieces(&view, fields) != 0)
        return -1;
    snprintf(title, sizeof title, "Matrix descriptor 0x%016" PRIx64, bits);
    if (canvas_begin(&canvas, out, form, title) != 0)
        return -1;
    if (operand)
        canvas_say(&canvas, "For %s operand of %" PRIu32 " rows, elements of %" PRIu32 " byte%s.",
                   operand->major == GM_K_MAJOR ? "a K-major" : "an MN-major", operand->rows, operand->element_bytes,
                   operand->element_bytes == 1 ? "" : "s");
    put_half(&canvas, bits, 32);
    put_half(&canvas, bits, 0);
    const int status = put_fields(&canvas, bits, fields, operand);
    if (operand)
        put_reads(&canvas, &view);
    canvas_teach(&canvas, lesson);
    return canvas_end(&canvas) == 0 ? status : -1;
}
