/* SPDX-License-Identifier: Apache-2.0 */
/* The padding adviser: the smallest pad that helps, what it costs, and when a swizzle is the better cure. */
#include "smem/pad.h"

#include "smem/bank.h"
#include "host/occupancy.h"
#include "host/device.h"
#include "smem/smem_tile.h"
#include "host/structs.h"

#define WALKS_MAX 65536u

/* ---- what a layout costs ------------------------------------------------------------------------ */

struct total {
    uint32_t wavefronts, ideal;
};

static enum gm_status add_walk(const struct gm_smem_tile *tile, const struct gm_tile_access *walk,
                               struct total *total) {
    struct gm_access access = {.size = sizeof access};
    struct gm_bank_cost cost = {.size = sizeof cost};
    enum gm_status status = gm_tile_access_place(tile, walk, &access);
    if (status == GM_OK)
        status = gm_bank_cost(&access, &cost);
    if (status != GM_OK)
        return status;
    total->wavefronts += cost.wavefronts;
    total->ideal += cost.ideal;
    return GM_OK;
}

static struct gm_smem_tile padded_tile(const struct gm_pad_inquiry *in, uint32_t pad) {
    struct gm_smem_tile tile = in->question->tile;
    tile.pitch_bytes = tile.row_bytes + pad;
    tile.swizzle = (struct gm_swizzle){0};
    return tile;
}

static enum gm_status cost_of_pad(const struct gm_pad_inquiry *in, uint32_t pad, struct total *total) {
    const struct gm_smem_tile tile = padded_tile(in, pad);
    enum gm_status status = GM_OK;
    *total = (struct total){0};
    for (size_t i = 0; i < in->count && status == GM_OK; i++)
        status = add_walk(&tile, gm_walk_at(in->walks, i), total);
    return status;
}

/*  TMA and WGMMA cut a tile into slabs one span wide, one below the other in memory:
 *
 *      rows x 256 bytes, span 128     ->    slab 0: rows x 128 bytes
 *                                           slab 1: rows x 128 bytes  */
static enum gm_status cost_of_mode(const struct gm_pad_inquiry *in, enum gm_swizzle_mode mode, struct total *total) {
    const struct gm_smem_tile *whole = &in->question->tile;
    const uint32_t span = gm_swizzle_span_bytes(mode);
    struct gm_smem_tile slabs = padded_tile(in, 0);
    slabs.rows = whole->rows * (whole->row_bytes / span);
    slabs.row_bytes = slabs.pitch_bytes = span;
    slabs.swizzle = gm_swizzle_of_mode(mode);
    enum gm_status status = GM_OK;
    *total = (struct total){0};
    for (size_t i = 0; i < in->count && status == GM_OK; i++) {
        struct gm_tile_access walk, today;
        walk = *(const struct gm_tile_access *)GM_TAKE_AT(in->walks, i, &today, "walk");
        for (int lane = 0; lane < GM_LANES; lane++) {
            walk.row[lane] += walk.byte[lane] / span * whole->rows;
            walk.byte[lane] %= span;
        }
        status = add_walk(&slabs, &walk, total);
    }
    return status;
}

/* Blocks that an SM holds as far as shared memory and their number go; 0: not even one fits. */
static int32_t resident_blocks(const struct gm_pad_inquiry *in, uint32_t tile_bytes) {
    const uint64_t tiles = in->question->tiles ? in->question->tiles : 1;
    const uint64_t block = tiles * tile_bytes + in->question->other_bytes;
    if (block > (uint64_t)in->device->smem_per_block_bytes)
        return 0;
    return gm_blocks_per_sm(in->device, (int64_t)block);
}

/* ---- the two cures ------------------------------------------------------------------------------ */

/* The fewest wavefronts, then the smallest pad. A pad with which the block no longer fits is none. */
static enum gm_status find_pad(const struct gm_pad_inquiry *in, struct gm_pad_advice *advice) {
    const struct gm_smem_tile *tile = &in->question->tile;
    for (uint32_t pad = advice->unit_bytes; pad <= GM_PAD_MAX && advice->wavefronts_padded > advice->ideal;
         pad += advice->unit_bytes) {
        const uint32_t bytes = tile->rows * (tile->row_bytes + pad);
        const int32_t blocks = resident_blocks(in, bytes);
        struct total total;
        if (bytes > GM_TILE_BYTES_MAX || (blocks == 0 && advice->blocks > 0))
            break;
        enum gm_status status = cost_of_pad(in, pad, &total);
        if (status != GM_OK)
            return status;
        if (total.wavefronts < advice->wavefronts_padded) {
            advice->pad_bytes = pad;
            advice->wavefronts_padded = total.wavefronts;
            advice->tile_bytes_padded = bytes;
            advice->blocks_padded = blocks;
        }
    }
    return GM_OK;
}

/* The mode with the fewest wavefronts, then the one with the fewest slabs. */
static enum gm_status find_mode(const struct gm_pad_inquiry *in, struct gm_pad_advice *advice) {
    for (int mode = GM_SWIZZLE_128B; mode > GM_SWIZZLE_NONE; mode--) {
        struct total total;
        if (in->question->tile.row_bytes % gm_swizzle_span_bytes((enum gm_swizzle_mode)mode))
            continue;
        enum gm_status status = cost_of_mode(in, (enum gm_swizzle_mode)mode, &total);
        if (status != GM_OK)
            return status;
        if (total.wavefronts < advice->wavefronts_swizzled) {
            advice->swizzle = gm_swizzle_of_mode((enum gm_swizzle_mode)mode);
            advice->wavefronts_swizzled = total.wavefronts;
        }
    }
    return GM_OK;
}

static enum gm_status find_swizzle(const struct gm_pad_inquiry *in, struct gm_pad_advice *advice) {
    if (in->question->hardware_swizzle)
        return find_mode(in, advice);
    const struct gm_smem_tile tile = padded_tile(in, 0);
    struct gm_swizzle swizzle;
    int found = 0;
    enum gm_status status = gm_swizzle_search(&tile, in->walks, in->count, &swizzle, &found);
    if (status == GM_OK && found) {
        advice->swizzle = swizzle;
        advice->wavefronts_swizzled = advice->ideal;
    }
    return status;
}

/* A pad keeps the index simple; it must make room for a swizzle where that is better, or where the pad costs a block.
 */
static enum gm_cure choose(const struct gm_pad_inquiry *in, const struct gm_pad_advice *advice) {
    const int swizzle_helps = advice->wavefronts_swizzled < advice->wavefronts;
    const int pad_helps = advice->wavefronts_padded < advice->wavefronts && !in->question->hardware_swizzle;
    if (advice->wavefronts == advice->ideal)
        return GM_CURE_NONE_NEEDED;
    if (pad_helps && swizzle_helps && advice->wavefronts_padded == advice->wavefronts_swizzled)
        return advice->blocks_padded < advice->blocks ? GM_CURE_SWIZZLE : GM_CURE_PAD;
    if (swizzle_helps && (!pad_helps || advice->wavefronts_swizzled < advice->wavefronts_padded))
        return GM_CURE_SWIZZLE;
    return pad_helps ? GM_CURE_PAD : GM_CURE_NOTHING_HELPS;
}

/* ---- the public function ------------------------------------------------------------------------ */

static enum gm_status check_inquiry(const struct gm_pad_inquiry *in) {
    if (!in->walks || in->count == 0 || in->count > WALKS_MAX)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%zu walks%s; the advice wants 1 to %u", in->count,
                       in->walks ? "" : " at NULL", WALKS_MAX);
    if (in->device->smem_per_block_bytes <= 0 || in->device->smem_per_sm_bytes <= 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the device has %d bytes of shared memory a block and %d an SM",
                       in->device->smem_per_block_bytes, in->device->smem_per_sm_bytes);
    if (in->question->hardware_swizzle && in->question->tile.base % GM_PAD_MAX)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "TMA cannot fill a tile at address %u, no multiple of 128",
                       in->question->tile.base);
    const struct gm_smem_tile tile = padded_tile(in, 0);
    return gm_smem_tile_check(&tile);
}

/* The widest access, at least a word: another pad would misalign it. */
static enum gm_status find_unit(const struct gm_pad_inquiry *in, uint32_t *unit) {
    *unit = 4;
    for (size_t i = 0; i < in->count; i++) {
        struct gm_tile_access today;
        struct gm_access_shape shape;
        const struct gm_tile_access *walk = GM_TAKE_AT(in->walks, i, &today, "walk");
        if (!walk)
            return gm_last_status();
        const enum gm_status status =
            gm_access_shape_of(walk->kind, walk->width, walk->matrices, walk->inactive, &shape);
        if (status != GM_OK)
            return status;
        *unit = shape.width > *unit ? shape.width : *unit;
    }
    return GM_OK;
}

static enum gm_status measure(const struct gm_pad_inquiry *in, struct gm_pad_advice *advice) {
    struct total plain;
    enum gm_status status = find_unit(in, &advice->unit_bytes);
    if (status == GM_OK)
        status = cost_of_pad(in, 0, &plain);
    if (status != GM_OK)
        return status;
    advice->wavefronts = advice->wavefronts_padded = advice->wavefronts_swizzled = plain.wavefronts;
    advice->ideal = plain.ideal;
    advice->tile_bytes = advice->tile_bytes_padded = in->question->tile.rows * in->question->tile.row_bytes;
    advice->blocks = advice->blocks_padded = resident_blocks(in, advice->tile_bytes);
    return GM_OK;
}

enum gm_status gm_pad_advise(const struct gm_pad_question *question, const struct gm_tile_access *walks, size_t count,
                             const struct gm_device *device, struct gm_pad_advice *advice) {
    struct gm_pad_question question_today;
    struct gm_device device_today;
    struct gm_pad_advice found = {0};
    enum gm_status status = GM_TAKE(question, &question_today, "question");
    if (status == GM_OK)
        status = GM_CHECK_WITHIN(&question->tile, "question.tile");
    if (status == GM_OK)
        status = gm_device_take(&device, &device_today);
    const struct gm_pad_inquiry in = {question, walks, count, device};
    if (status == GM_OK)
        status = check_inquiry(&in);
    if (status == GM_OK)
        status = GM_CHECK_OUTPUT(advice, "advice");
    if (status == GM_OK)
        status = measure(&in, &found);
    if (status == GM_OK && found.wavefronts > found.ideal)
        status = find_pad(&in, &found);
    if (status == GM_OK && found.wavefronts > found.ideal)
        status = find_swizzle(&in, &found);
    if (status != GM_OK)
        return status;
    found.cure = choose(&in, &found);
    gm_pad_write_sentence(&in, &found);
    GM_OUTPUT(advice, &found);
    return GM_OK;
}
