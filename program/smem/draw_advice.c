/* SPDX-License-Identifier: Apache-2.0 */
/* A pad advice: what each cure costs and does, and how the tile's rows lie in the banks with it. */
#include <inttypes.h>
#include <string.h>

#include "program/smem/draw_canvas.h"
#include "program/smem/draw_memory.h"
#include "program/base/messages.h"
#include "smem/smem_tile.h"

enum { LINES_MOST = 8 };

/* One way to lay out the tile. */
struct layout {
    char name[96];
    uint32_t wavefronts, tile_bytes;
    int32_t blocks;
    bool taken, ruled_out; /* what is ruled out is listed, not drawn */
    struct gm_smem_tile tile;
};

/* TMA and WGMMA cut rows that are wider than the span of their mode into slabs; the first one is drawn. */
static struct gm_smem_tile swizzled_tile(const struct gm_pad_question *question, struct gm_swizzle swizzle) {
    struct gm_smem_tile tile = question->tile;
    const uint32_t span = 16u << swizzle.bits;
    tile.swizzle = swizzle;
    tile.pitch_bytes = 0;
    if (question->hardware_swizzle && span < tile.row_bytes)
        tile.row_bytes = span;
    return tile;
}

/* As it is; with the pad, and with the swizzle, where there is one. Returns how many. */
static size_t list_layouts(const struct gm_pad_question *question, const struct gm_pad_advice *advice,
                           struct layout layouts[3]) {
    struct gm_smem_tile plain = question->tile;
    size_t count = 1;
    plain.pitch_bytes = 0;
    plain.swizzle = (struct gm_swizzle){0};
    layouts[0] = (struct layout){.name = "as it is",
                                 .wavefronts = advice->wavefronts,
                                 .tile_bytes = advice->tile_bytes,
                                 .blocks = advice->blocks,
                                 .taken = advice->cure == GM_CURE_NONE_NEEDED,
                                 .tile = plain};
    if (advice->pad_bytes) {
        struct layout *pad = &layouts[count++];
        *pad = (struct layout){.wavefronts = advice->wavefronts_padded,
                               .tile_bytes = advice->tile_bytes_padded,
                               .blocks = advice->blocks_padded,
                               .taken = advice->cure == GM_CURE_PAD,
                               .ruled_out = question->hardware_swizzle,
                               .tile = plain};
        pad->tile.pitch_bytes = plain.row_bytes + advice->pad_bytes;
        snprintf(pad->name, sizeof pad->name, "pad of %" PRIu32 " bytes a row", advice->pad_bytes);
    }
    if (advice->swizzle.bits) {
        struct layout *swizzle = &layouts[count++];
        *swizzle = (struct layout){.wavefronts = advice->wavefronts_swizzled,
                                   .tile_bytes = advice->tile_bytes,
                                   .blocks = advice->blocks,
                                   .taken = advice->cure == GM_CURE_SWIZZLE,
                                   .tile = swizzled_tile(question, advice->swizzle)};
        memory_swizzle_name(advice->swizzle, swizzle->name, sizeof swizzle->name);
    }
    return count;
}

static int put_layouts(struct canvas *canvas, const struct layout *layouts, size_t count, uint32_t ideal) {
    struct text_table table;
    enum page_state states[3];
    bool whole = text_table_start(&table, "<layout|wavefronts|ideal|bytes a tile|blocks an SM|<");
    for (size_t i = 0; i < count && whole; i++) {
        const struct layout *layout = &layouts[i];
        const char *remark = layout->taken ? "<- take this" : layout->ruled_out ? "not with TMA or WGMMA" : "";
        states[i] = layout->taken ? PAGE_OK : PAGE_NEUTRAL;
        whole = text_table_add(&table, "%s|%" PRIu32 "|%" PRIu32 "|%" PRIu32 "|%" PRId32 "|%s", layout->name,
                               layout->wavefronts, ideal, layout->tile_bytes, layout->blocks, remark);
    }
    if (whole)
        canvas_table(canvas, NULL, &table, states);
    text_table_free(&table);
    return whole ? 0 : complain("out of host memory");
}

/* The first lines of the tile; layouts whose pieces are too small to be drawn are left out. */
static int put_picture(struct canvas *canvas, const struct layout *layout, uint32_t unit) {
    const uint32_t widest = memory_widest_unit(&layout->tile);
    struct memory_view view;
    char heading[160];
    if (widest < 4)
        return 0;
    if (memory_look(&view, &layout->tile, unit < widest ? unit : widest, LINES_MOST) != 0)
        return -1;
    snprintf(heading, sizeof heading, "%.90s%s", layout->name,
             view.lines < view.lines_all ? " (the first lines of the tile)" : "");
    const struct sheet sheet = memory_sheet(&view, heading);
    canvas_sheet(canvas, &sheet);
    return 0;
}

static void put_verdict(struct canvas *canvas, const struct gm_pad_advice *advice) {
    char name[96];
    memory_swizzle_name(advice->swizzle, name, sizeof name);
    switch (advice->cure) {
    case GM_CURE_NONE_NEEDED:
        canvas_verdict(canvas, PAGE_OK, "Leave the tile as it is.");
        break;
    case GM_CURE_PAD:
        canvas_verdict(canvas, PAGE_OK, "Take a pad of %" PRIu32 " bytes a row.", advice->pad_bytes);
        break;
    case GM_CURE_SWIZZLE:
        canvas_verdict(canvas, PAGE_OK, "Take %s.", name);
        break;
    case GM_CURE_NOTHING_HELPS:
        canvas_verdict(canvas, PAGE_BAD, "Nothing helps: change which lane takes which element.");
        break;
    }
}

static const char lesson[] =
    "A pad shifts every row by a few banks against the row above, so that a column no longer stands on one bank; it "
    "costs its bytes in every row, and sometimes a resident block. A swizzle does the same without a byte, but every "
    "access must go through it. TMA and WGMMA know no pad at all, only their swizzle modes. The colours are the "
    "columns of the tile: lanes that read down a column read one colour, and want it in as many banks as possible.";

int draw_advice(FILE *out, enum draw_form form, const char *title, const struct gm_pad_question *question,
                const struct gm_pad_advice *advice) {
    struct layout layouts[3];
    struct canvas canvas;
    const size_t count = list_layouts(question, advice, layouts);
    if ((unsigned)advice->cure > GM_CURE_NOTHING_HELPS)
        return complain("cure %d is not one of 0 to %d", (int)advice->cure, GM_CURE_NOTHING_HELPS);
    for (size_t i = 0; i < count; i++)
        if (gm_smem_tile_check(&layouts[i].tile) != GM_OK)
            return complain("%s: %s", layouts[i].name, gm_last_error());
    if (canvas_begin(&canvas, out, form, title) != 0)
        return -1;
    put_verdict(&canvas, advice);
    canvas_say(&canvas, "%s", advice->sentence);
    int status = put_layouts(&canvas, layouts, count, advice->ideal);
    for (size_t i = 0; i < count && status == 0; i++)
        if (!layouts[i].ruled_out)
            status = put_picture(&canvas, &layouts[i], advice->unit_bytes);
    canvas_teach(&canvas, lesson);
    return canvas_end(&canvas) == 0 ? status : -1;
}
