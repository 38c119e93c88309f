/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor-map request: its dimensions, the driver's rules, and how one box lies in shared memory. */
#include <inttypes.h>
#include <string.h>

#include "program/smem/draw_canvas.h"
#include "program/smem/draw_memory.h"
#include "program/base/messages.h"
#include "smem/smem_tile.h"
#include "host/tensor_map.h"

enum { LINES_MOST = 32, RANK_MOST = 5 };

static const char *const modes[] = {"none", "32B", "64B", "128B"};

static int put_dimensions(struct canvas *canvas, const struct gm_tensor_map_request *request) {
    struct text_table table;
    const uint32_t rank = request->rank < RANK_MOST ? request->rank : RANK_MOST;
    bool whole = text_table_start(&table, "dimension|elements|stride in bytes|box|element stride");
    for (uint32_t i = 0; i < rank && whole; i++) {
        const uint64_t stride = i ? request->strides[i - 1] : gm_tensor_map_element_bytes(request->type);
        whole = text_table_add(&table, "%" PRIu32 "%s|%" PRIu64 "|%" PRIu64 "|%" PRIu32 "|%" PRIu32, i,
                               i == 0 ? " (inner)" : "", request->dims[i], stride, request->box[i],
                               request->element_strides[i] ? request->element_strides[i] : 1);
    }
    if (whole)
        canvas_table(canvas, NULL, &table, NULL);
    text_table_free(&table);
    return whole ? 0 : complain("out of host memory");
}

static int put_rules(struct canvas *canvas, const struct gm_rule *rules, size_t count) {
    enum { MOST = 64 };
    enum page_state states[MOST];
    struct text_table table;
    bool whole = count <= MOST && text_table_start(&table, "<|<rule|<with these numbers");
    if (!whole)
        return complain("%zu rules; the table holds %d", count, MOST);
    for (size_t i = 0; i < count && whole; i++) {
        const int32_t holds = rules[i].holds;
        states[i] = holds > 0 ? PAGE_OK : holds == 0 ? PAGE_BAD : PAGE_NEUTRAL;
        whole = text_table_add(&table, "%s|%s|%s",
                               holds > 0    ? "holds"
                               : holds == 0 ? "BROKEN"
                                            : "-",
                               rules[i].name, rules[i].sentence);
    }
    if (whole)
        canvas_table(canvas, "The driver's rules", &table, states);
    text_table_free(&table);
    return whole ? 0 : complain("out of host memory");
}

/* 1: the box can be drawn; 0: not this one; -1 with a printed sentence. */
static int look_at_box(const struct gm_tensor_map_request *request, struct memory_view *view) {
    const struct gm_map_desc map = gm_map_desc_of(request);
    const uint32_t row_bytes = gm_tensor_map_delivered(&map, 0) * gm_tensor_map_element_bytes(request->type);
    if (request->interleave != 0 || row_bytes == 0)
        return 0;
    const uint32_t rows = gm_tensor_map_box_bytes(request) / row_bytes, pitch = gm_tensor_map_row_pitch(&map);
    if (rows > GM_TILE_BYTES_MAX / pitch) /* narrow rows a span apart: more than any shared memory */
        return 0;
    const struct gm_smem_tile box = {.size = sizeof box,
                                     .rows = rows,
                                     .row_bytes = row_bytes,
                                     .pitch_bytes = pitch,
                                     .swizzle = gm_swizzle_of_mode(request->swizzle)};
    if (memory_widest_unit(&box) < 4)
        return 0;
    return memory_look(view, &box, 0, LINES_MOST) == 0 ? 1 : -1;
}

static void put_box(struct canvas *canvas, const struct memory_view *view,
                    const struct gm_tensor_map_request *request) {
    char heading[96];
    snprintf(heading, sizeof heading, "One box in shared memory: row and chunk of %" PRIu32 " bytes in each bank",
             view->unit);
    const struct sheet sheet = memory_sheet(view, heading);
    canvas_say(canvas,
               "A load delivers %" PRIu32 " bytes: %" PRIu32 " rows of %" PRIu32 ", %" PRIu32
               " bytes apart. The picture "
               "begins at a multiple of the pattern, which repeats every %" PRIu32 " bytes.",
               gm_tensor_map_box_bytes(request), view->tile.rows, view->tile.row_bytes, view->tile.pitch_bytes,
               gm_swizzle_pattern_bytes(request->swizzle));
    if (view->lines < view->lines_all)
        canvas_say(canvas, "The first %" PRIu32 " of its %" PRIu32 " lines are drawn.", view->lines, view->lines_all);
    canvas_sheet(canvas, &sheet);
}

static void put_verdict(struct canvas *canvas, const struct gm_rule *rules, size_t count, bool legal) {
    size_t broken = 0, first = 0;
    for (size_t i = count; i-- > 0;)
        if (rules[i].holds == 0) {
            broken++;
            first = i;
        }
    if (legal)
        canvas_verdict(canvas, PAGE_OK, "The driver accepts this request.");
    else if (broken)
        canvas_verdict(canvas, PAGE_BAD, "The driver refuses this request (%zu rule%s broken): %s.", broken,
                       broken == 1 ? "" : "s", rules[first].sentence);
    else
        canvas_verdict(canvas, PAGE_BAD, "The driver refuses this request.");
}

static const char lesson[] =
    "A tensor map tells TMA once how a tensor lies in global memory and which box of it one instruction moves. The box "
    "lands in shared memory row after row; a swizzle mode permutes the 16-byte chunks of every 128-byte line on the "
    "way, by bits 7 to 9 of the address in shared memory. Whoever reads the box must apply the same mode.";

int draw_tensor_map(FILE *out, enum draw_form form, const struct gm_tensor_map_request *request,
                    const struct gm_rule *rules, size_t count, bool legal) {
    struct memory_view view;
    struct canvas canvas;
    const int box = legal ? look_at_box(request, &view) : 0;
    if (box < 0 || canvas_begin(&canvas, out, form, "Tensor map") != 0)
        return -1;
    put_verdict(&canvas, rules, count, legal);
    canvas_say(&canvas,
               "Rank %" PRIu32 ", element type %" PRId32 " (%" PRIu32 " bytes), address 0x%" PRIx64 ", swizzle %s.",
               request->rank, request->type, gm_tensor_map_element_bytes(request->type), request->address,
               (unsigned)request->swizzle <= GM_SWIZZLE_128B ? modes[request->swizzle] : "unknown");
    int status = put_dimensions(&canvas, request);
    if (status == 0)
        status = put_rules(&canvas, rules, count);
    if (box > 0)
        put_box(&canvas, &view, request);
    canvas_teach(&canvas, lesson);
    return canvas_end(&canvas) == 0 ? status : -1;
}
