/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of a tile lie, and which addresses a warp's walk through it touches. */
#include "smem/smem_tile.h"

#include <inttypes.h>

#include "smem/bank.h"
#include "host/structs.h"

uint32_t gm_smem_tile_pitch(const struct gm_smem_tile *tile) {
    return tile->pitch_bytes ? tile->pitch_bytes : tile->row_bytes;
}

enum gm_status gm_smem_tile_check(const struct gm_smem_tile *tile) {
    const uint32_t pitch = gm_smem_tile_pitch(tile);
    const uint64_t bytes = (uint64_t)tile->rows * pitch;
    if (tile->rows == 0 || tile->rows > GM_TILE_ROWS_MAX)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the tile has %u rows, not 1 to %u", tile->rows, GM_TILE_ROWS_MAX);
    if (tile->row_bytes == 0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the tile's rows have 0 bytes");
    if (pitch < tile->row_bytes)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the tile's pitch of %u bytes is less than a row of %u", pitch,
                       tile->row_bytes);
    if (bytes > GM_TILE_BYTES_MAX)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "%u rows of %u bytes make %" PRIu64 " bytes, more than %u",
                       tile->rows, pitch, bytes, GM_TILE_BYTES_MAX);
    if (tile->base + bytes > UINT64_C(1) << 32)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "a tile of %" PRIu64 " bytes at address %u ends beyond 2^32", bytes,
                       tile->base);
    return gm_swizzle_check(tile->swizzle);
}

enum gm_status gm_smem_tile_take(const struct gm_smem_tile **tile, struct gm_smem_tile *today) {
    const enum gm_status status = GM_TAKE(*tile, today, "tile");
    return status == GM_OK ? gm_smem_tile_check(*tile) : status;
}

static uint32_t address_of(const struct gm_smem_tile *tile, uint32_t row, uint32_t byte) {
    return gm_swizzle_apply(tile->swizzle, tile->base + row * gm_smem_tile_pitch(tile) + byte);
}

enum gm_status gm_smem_tile_address(const struct gm_smem_tile *tile, uint32_t row, uint32_t byte, uint32_t *address) {
    struct gm_smem_tile today;
    enum gm_status status = gm_smem_tile_take(&tile, &today);
    if (status != GM_OK)
        return status;
    if (!address)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "address is NULL");
    if (row >= tile->rows || byte >= tile->row_bytes)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "byte %u of row %u lies outside a tile of %u rows of %u bytes", byte,
                       row, tile->rows, tile->row_bytes);
    *address = address_of(tile, row, byte);
    return GM_OK;
}

/* A swizzle is linear: what it does to an address is the exclusive-or of what it does to the address's bits. So the
 * bytes of an aligned vector stay together when the vector's own bits stay and no other bit reaches them. */
static int cuts_vectors(struct gm_swizzle swizzle, uint32_t width) {
    for (int bit = 0; bit < 32; bit++) {
        const uint32_t from = 1u << bit, to = gm_swizzle_apply(swizzle, from);
        if (from < width ? to != from : to % width != 0)
            return 1;
    }
    return 0;
}

static enum gm_status check_lanes(const struct gm_smem_tile *tile, const struct gm_tile_access *walk,
                                  const struct gm_access_shape *shape) {
    for (uint32_t lanes = shape->active; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        if (walk->row[lane] >= tile->rows || (uint64_t)walk->byte[lane] + shape->width > tile->row_bytes)
            return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                           "lane %d's %u bytes from byte %u of row %u leave the tile of %u rows of %u bytes", lane,
                           shape->width, walk->byte[lane], walk->row[lane], tile->rows, tile->row_bytes);
    }
    return GM_OK;
}

enum gm_status gm_tile_access_place(const struct gm_smem_tile *tile, const struct gm_tile_access *walk,
                                    struct gm_access *access) {
    struct gm_smem_tile tile_today;
    struct gm_tile_access walk_today;
    struct gm_access_shape shape;
    enum gm_status status = gm_smem_tile_take(&tile, &tile_today);
    if (status == GM_OK)
        status = GM_TAKE(walk, &walk_today, "walk");
    if (status == GM_OK)
        status = GM_CHECK_OUTPUT(access, "access");
    if (status == GM_OK)
        status = gm_access_shape_of(walk->kind, walk->width, walk->matrices, walk->inactive, &shape);
    if (status == GM_OK)
        status = check_lanes(tile, walk, &shape);
    if (status != GM_OK)
        return status;
    if (tile->swizzle.bits && cuts_vectors(tile->swizzle, shape.width))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "Swizzle<%u,%u,%d> tears the %u bytes of a lane apart",
                       tile->swizzle.bits, tile->swizzle.base, tile->swizzle.shift, shape.width);
    struct gm_access placed = {
        .kind = walk->kind, .width = walk->width, .matrices = walk->matrices, .inactive = walk->inactive};
    for (int lane = 0; lane < GM_LANES; lane++)
        placed.address[lane] = shape.active & (1u << lane) ? address_of(tile, walk->row[lane], walk->byte[lane]) : 0;
    GM_OUTPUT(access, &placed);
    return GM_OK;
}
