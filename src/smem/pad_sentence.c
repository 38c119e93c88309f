/* SPDX-License-Identifier: Apache-2.0 */
/* What the padding adviser says: the cure, what it does, what it costs, and why not the other one. */
#include "smem/pad.h"

#include "host/text.h"

#include <stdarg.h>

struct text {
    char *at;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t used = gm_format(text->at, text->bytes, format, arguments);
    va_end(arguments);
    text->at += used;
    text->bytes -= used;
}

static void say_wavefronts(struct text *text, uint32_t from, uint32_t to, uint32_t ideal) {
    say(text, "%u wavefronts become %u", from, to);
    if (to == ideal)
        say(text, ", the ideal");
    else
        say(text, " (the ideal is %u)", ideal);
}

static void say_blocks(struct text *text, const struct gm_pad_inquiry *in, const struct gm_pad_advice *a) {
    if (a->blocks == 0)
        say(text, "; but such a block does not fit an SM of %.63s", in->device->name);
    else if (a->blocks_padded < a->blocks)
        say(text, "; %d blocks an SM instead of %d", a->blocks_padded, a->blocks);
    else
        say(text, "; still %d block%s an SM", a->blocks, a->blocks == 1 ? "" : "s");
}

static void say_swizzle(struct text *text, const struct gm_pad_advice *a) {
    say(text, "Swizzle<%u,%u,%d>", a->swizzle.bits, a->swizzle.base, a->swizzle.shift);
}

/* "pad of 4 bytes a row (128 a tile, 3.1 %)" */
static void say_pad(struct text *text, const struct gm_pad_advice *a) {
    const uint32_t extra = a->tile_bytes_padded - a->tile_bytes;
    say(text, "pad of %u bytes a row (%u a tile, %.1f %%)", a->pad_bytes, extra, 100.0 * extra / a->tile_bytes);
}

/* The rule of thumb behind most pads: an odd pitch, counted in what a lane moves, visits all banks in turn. */
static void say_odd_pitch(struct text *text, const struct gm_pad_advice *a, uint32_t pitch) {
    static const char *const units[] = {"words", "double words", "", "vectors of 16 bytes"};
    if (pitch % a->unit_bytes == 0 && pitch / a->unit_bytes % 2 == 1)
        say(text, " makes the pitch an odd %u %s", pitch / a->unit_bytes, units[a->unit_bytes / 4 - 1]);
}

static void say_pad_cure(struct text *text, const struct gm_pad_inquiry *in, const struct gm_pad_advice *a) {
    const uint32_t pitch = in->question->tile.row_bytes + a->pad_bytes;
    say(text, "a ");
    say_pad(text, a);
    say_odd_pitch(text, a, pitch);
    say(text, ": ");
    say_wavefronts(text, a->wavefronts, a->wavefronts_padded, a->ideal);
    say_blocks(text, in, a);
    say(text, ". ");
    if (a->swizzle.bits) {
        say_swizzle(text, a);
        say(text, " would cost no byte, but with the pad the index stays plain: row * %u + byte.", pitch);
    } else {
        say(text, "No swizzle of the unpadded rows reaches the ideal.");
    }
}

/* Why not the pad. */
static void say_swizzle_cure(struct text *text, const struct gm_pad_inquiry *in, const struct gm_pad_advice *a) {
    say_swizzle(text, a);
    say(text, " on byte addresses costs no byte: ");
    say_wavefronts(text, a->wavefronts, a->wavefronts_swizzled, a->ideal);
    say(text, ". ");
    if (in->question->hardware_swizzle) {
        const uint32_t span = gm_swizzle_span_bytes((enum gm_swizzle_mode)a->swizzle.bits);
        const uint32_t slabs = in->question->tile.row_bytes / span;
        say(text, "It is the %uB mode; TMA and WGMMA know no pad", span);
        if (slabs > 1)
            say(text, ", and take the tile as %u slabs of %u bytes a row", slabs, span);
        say(text, ".");
    } else if (a->wavefronts_padded == a->wavefronts_swizzled) {
        say(text, "A ");
        say_pad(text, a);
        say(text, " does the same, but leaves %d block%s an SM instead of %d.", a->blocks_padded,
            a->blocks_padded == 1 ? "" : "s", a->blocks);
    } else {
        say(text, "No pad that fits goes below %u.", a->wavefronts_padded);
    }
}

static void say_nothing_helps(struct text *text, const struct gm_pad_inquiry *in, const struct gm_pad_advice *a) {
    say(text, "%u wavefronts instead of %u, and ", a->wavefronts, a->ideal);
    if (in->question->hardware_swizzle)
        say(text, "none of the modes 32B, 64B, 128B helps rows of %u bytes; TMA and WGMMA know no pad.",
            in->question->tile.row_bytes);
    else
        say(text, "neither a pad of up to %u bytes a row nor a swizzle helps: change which lane takes which element.",
            GM_PAD_MAX);
}

void gm_pad_write_sentence(const struct gm_pad_inquiry *in, struct gm_pad_advice *a) {
    struct text text = {a->sentence, sizeof a->sentence};
    say(&text, "%u rows of %u bytes: ", in->question->tile.rows, in->question->tile.row_bytes);
    switch (a->cure) {
    case GM_CURE_NONE_NEEDED:
        say(&text, "the access%s take%s the ideal %u wavefront%s; leave the tile as it is.", in->count > 1 ? "es" : "",
            in->count > 1 ? "" : "s", a->ideal, a->ideal == 1 ? "" : "s");
        break;
    case GM_CURE_PAD:
        say_pad_cure(&text, in, a);
        break;
    case GM_CURE_SWIZZLE:
        say_swizzle_cure(&text, in, a);
        break;
    case GM_CURE_NOTHING_HELPS:
        say_nothing_helps(&text, in, a);
        break;
    }
}
