/* SPDX-License-Identifier: Apache-2.0 */
/* What TMA writes against what WGMMA reads, piece by piece.
 *
 *      row 0    0  1  2  3     the chunk of its 128-byte line in which the piece lies, for writer and reader alike
 *      row 1    1 0/1 3 2/3    0/1: written to chunk 0, read from chunk 1;  0!: the right chunk of another line  */
#include <inttypes.h>
#include <string.h>

#include "program/smem/draw_canvas.h"
#include "program/smem/draw_memory.h"
#include "program/base/messages.h"
#include "smem/matrix_descriptor.h"
#include "smem/operand_boxes.h"

enum { PIECE = 16, ROWS_MOST = 32, COLUMNS_MOST = 24, LINES_MOST = 8 };

struct match_view {
    const struct gm_descriptor_question *question;
    struct gm_operand_boxes boxes;
    struct gm_matrix_descriptor first; /* of the first K step */
    bool k_major;
    uint32_t in_piece, step_k; /* elements */
    uint32_t k_steps, rows, columns;
    uint32_t first_line; /* drawn */
};

/* ---- both sides --------------------------------------------------------------------------------- */

/* The lines from the 8 that hold the first wrong element on, or the first ones. */
static uint32_t first_line_of(const struct match_view *view, const struct gm_descriptor_answer *answer) {
    const uint32_t wrong = answer->agrees ? 0 : (view->k_major ? answer->row : answer->k) / 8 * 8;
    const uint32_t last = view->rows > ROWS_MOST ? view->rows - ROWS_MOST : 0;
    return wrong < last ? wrong : last;
}

static int look(struct match_view *view, const struct gm_descriptor_question *question,
                const struct gm_descriptor_answer *answer) {
    char why[GM_BOXES_SENTENCE];
    const struct gm_wgmma_operand *operand = &question->operand;
    *view = (struct match_view){.question = question, .first = {.size = sizeof view->first}};
    if (gm_wgmma_operand_check(operand) != GM_OK ||
        gm_matrix_descriptor_decode(question->descriptor, &view->first) != GM_OK)
        return complain("%s", gm_last_error());
    if (!gm_operand_boxes_of(question, &view->boxes, why))
        return complain("%s", why);
    view->k_major = operand->major == GM_K_MAJOR;
    view->in_piece = PIECE / operand->element_bytes;
    view->step_k = GM_WGMMA_K_BYTES / operand->element_bytes;
    view->k_steps = question->k_steps ? question->k_steps : gm_operand_boxes_k_steps(&view->boxes);
    const uint32_t all_k = view->k_steps * view->step_k;
    view->rows = view->k_major ? operand->rows : all_k;
    view->columns = (view->k_major ? all_k : operand->rows) / view->in_piece;
    view->first_line = first_line_of(view, answer);
    return 0;
}

/* The first element of the piece at (line, column) of the sheet. */
static void element_of(const struct match_view *view, uint32_t line, uint32_t column, uint32_t *row, uint32_t *k) {
    *row = view->k_major ? view->first_line + line : column * view->in_piece;
    *k = view->k_major ? column * view->in_piece : view->first_line + line;
}

static bool addresses_of(const struct match_view *view, uint32_t row, uint32_t k, uint32_t *written, uint32_t *read) {
    struct gm_matrix_descriptor descriptor = view->first;
    descriptor.start += k / view->step_k * (view->question->k_step_bytes / PIECE * PIECE);
    *written = gm_operand_boxes_address(&view->boxes, row, k);
    return gm_wgmma_address(&descriptor, &view->question->operand, row, k % view->step_k, read) == GM_OK;
}

/* ---- the sheet ---------------------------------------------------------------------------------- */

static uint32_t chunk_of(uint32_t address) {
    return address / PIECE % (MEMORY_LINE / PIECE);
}

static void match_cell(const void *model, uint32_t line, uint32_t column, struct sheet_cell *cell) {
    const struct match_view *view = model;
    uint32_t row, k, written, read;
    element_of(view, line, column, &row, &k);
    if (!addresses_of(view, row, k, &written, &read)) {
        cell->ground = COLOUR_BAD;
        snprintf(cell->text, sizeof cell->text, "%" PRIu32 "/?", chunk_of(written));
    } else if (written == read) {
        cell->ground = palette_step(chunk_of(written), 16); /* the light half: dark cells are wrong ones */
        snprintf(cell->text, sizeof cell->text, "%" PRIu32, chunk_of(written));
    } else {
        cell->ground = COLOUR_BAD;
        cell->strong = true;
        if (chunk_of(written) == chunk_of(read))
            snprintf(cell->text, sizeof cell->text, "%" PRIu32 "!", chunk_of(written));
        else
            snprintf(cell->text, sizeof cell->text, "%" PRIu32 "/%" PRIu32, chunk_of(written), chunk_of(read));
    }
    memcpy(cell->label, cell->text, sizeof cell->label);
    snprintf(cell->hover, sizeof cell->hover,
             "row %" PRIu32 ", k %" PRIu32 ": written to 0x%" PRIx32 ", read from 0x%" PRIx32, row, k, written, read);
}

static void match_row(const void *model, uint32_t line, char text[SHEET_TEXT]) {
    const struct match_view *view = model;
    snprintf(text, SHEET_TEXT, view->k_major ? "row %2" PRIu32 : "k %2" PRIu32, view->first_line + line);
}

static void match_column(const void *model, uint32_t column, char text[SHEET_TEXT]) {
    const struct match_view *view = model;
    snprintf(text, SHEET_TEXT, "%" PRIu32, column * view->in_piece);
}

static void put_match(struct canvas *canvas, const struct match_view *view) {
    const struct sheet sheet = {.heading = "Each piece of 16 bytes: its chunk in the line of 128 bytes",
                                .corner = view->k_major ? "k" : "row",
                                .rows = view->rows < ROWS_MOST ? view->rows : ROWS_MOST,
                                .columns = view->columns < COLUMNS_MOST ? view->columns : COLUMNS_MOST,
                                .letters = 4,
                                .model = view,
                                .row_label = match_row,
                                .column_label = match_column,
                                .cell = match_cell};
    const struct sheet_key keys[] = {{palette_step(3, 16), "3", "written to chunk 3 and read from there"},
                                     {COLOUR_BAD, "3/5", "written to chunk 3, read from chunk 5"},
                                     {COLOUR_BAD, "3!", "read from chunk 3, but of another line"}};
    canvas_sheet(canvas, &sheet);
    canvas_keys(canvas, keys, sizeof keys / sizeof *keys);
    if (view->rows > ROWS_MOST || view->columns > COLUMNS_MOST)
        canvas_say(canvas, "%" PRIu32 " of %" PRIu32 " rows and %" PRIu32 " of %" PRIu32 " columns of it are drawn.",
                   sheet.rows, view->rows, sheet.columns, view->columns);
}

/* ---- the facts ---------------------------------------------------------------------------------- */

static int put_sides(struct canvas *canvas, const struct match_view *view) {
    static const char *const modes[] = {"none", "32B", "64B", "128B"};
    const struct gm_operand_boxes *boxes = &view->boxes;
    const struct gm_matrix_descriptor *first = &view->first;
    struct text_table table;
    const bool whole =
        text_table_start(&table, "<|<TMA writes|<WGMMA reads") &&
        text_table_add(&table, "swizzle|%s|%s", modes[boxes->swizzle], modes[first->swizzle]) &&
        text_table_add(&table, "first byte|0x%" PRIx32 "|0x%" PRIx32, boxes->destination, first->start) &&
        text_table_add(&table,
                       "layout|%" PRIu32 " box%s of %" PRIu32 " rows of %" PRIu32 " bytes|LBO %" PRIu32 ", SBO %" PRIu32
                       ", base offset %" PRIu32,
                       boxes->count, boxes->count == 1 ? "" : "es", boxes->outer, boxes->inner_bytes,
                       first->leading_bytes, first->stride_bytes, first->base_offset) &&
        text_table_add(&table, "along k|%s|%" PRIu32 " step%s, %" PRIu32 " bytes apart",
                       view->k_major ? "inner index (K-major)" : "outer index (MN-major)", view->k_steps,
                       view->k_steps == 1 ? "" : "s", view->question->k_step_bytes);
    if (whole)
        canvas_table(canvas, NULL, &table, NULL);
    text_table_free(&table);
    return whole ? 0 : complain("out of host memory");
}

/* The memory around the first wrong element, with W where it was written and R where it is read. */
static int put_first_wrong(struct canvas *canvas, const struct match_view *view,
                           const struct gm_descriptor_answer *answer) {
    const struct gm_operand_boxes *boxes = &view->boxes;
    const struct gm_smem_tile box = {.size = sizeof box,
                                     .rows = boxes->outer * boxes->count,
                                     .row_bytes = boxes->inner_bytes,
                                     .pitch_bytes = boxes->pitch,
                                     .base = boxes->destination,
                                     .swizzle = gm_swizzle_of_mode(boxes->swizzle)};
    struct memory_view memory;
    if (memory_look(&memory, &box, PIECE, LINES_MOST) != 0)
        return -1;
    memory.first_line = answer->written / MEMORY_LINE / LINES_MOST * LINES_MOST;
    memory.lines = LINES_MOST;
    memory.marks = true;
    memory.mark_written = answer->written;
    memory.mark_read = answer->read;
    canvas_say(canvas,
               "First wrong element: row %" PRIu32 ", k %" PRIu32 ". TMA writes it to 0x%" PRIx32
               " (W), WGMMA reads 0x%" PRIx32 " (R%s).",
               answer->row, answer->k, answer->written, answer->read,
               answer->read / MEMORY_LINE / LINES_MOST == memory.first_line / LINES_MOST ? ""
                                                                                         : ", outside the picture");
    const struct sheet sheet = memory_sheet(&memory, "Around it: row and chunk of the boxes in each bank");
    canvas_sheet(canvas, &sheet);
    return 0;
}

/* ---- the picture -------------------------------------------------------------------------------- */

static const char lesson[] =
    "TMA and WGMMA never talk to each other: one is told by the tensor map how to write the tile, the other by the "
    "matrix descriptor how to read it. Both swizzle by address bits, so the mode, the place of the pattern in memory "
    "and the distances LBO and SBO must fit. Nothing checks this on the GPU: when they do not fit, the product is "
    "simply wrong.";

/* Why there is nothing to draw: the boxes hold no such operand. */
static int draw_refusal(struct canvas *canvas, const struct gm_descriptor_answer *answer) {
    canvas_verdict(canvas, PAGE_BAD, "They cannot be compared: %s.", answer->sentence);
    return 0;
}

static int draw_match(struct canvas *canvas, const struct match_view *view, const struct gm_descriptor_answer *answer) {
    if (answer->agrees)
        canvas_verdict(canvas, PAGE_OK, "They agree: %s.", answer->sentence);
    else
        canvas_verdict(canvas, PAGE_BAD,
                       "They do not agree: %" PRIu32 " of %" PRIu32 " elements are read from elsewhere.", answer->wrong,
                       answer->elements);
    if (!answer->agrees)
        canvas_say(canvas, "Why: %s.", answer->sentence);
    int status = put_sides(canvas, view);
    put_match(canvas, view);
    if (status == 0 && !answer->agrees)
        status = put_first_wrong(canvas, view, answer);
    return status;
}

int draw_comparison(FILE *out, enum draw_form form, const struct gm_descriptor_question *question,
                    const struct gm_descriptor_answer *answer) {
    struct match_view view;
    struct canvas canvas;
    if ((answer->elements && look(&view, question, answer) != 0) ||
        canvas_begin(&canvas, out, form, "Tensor map against matrix descriptor") != 0)
        return -1;
    const int status = answer->elements ? draw_match(&canvas, &view, answer) : draw_refusal(&canvas, answer);
    canvas_teach(&canvas, lesson);
    return canvas_end(&canvas) == 0 ? status : -1;
}
