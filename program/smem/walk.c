/* SPDX-License-Identifier: Apache-2.0 */
/* A tile in shared memory and how a warp walks through it, as the command line says them. */
#include "program/smem/walk.h"

#include <stdbool.h>
#include <string.h>

#include "program/smem/numbers.h"
#include "program/base/messages.h"
#include "smem/smem_tile.h"

/* ---- reading ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint32_t bytes;
} types[] = {{"u8", 1}, {"bf16", 2}, {"f16", 2}, {"f32", 4}, {"f64", 8}};
#define TYPES (sizeof types / sizeof *types)

static int read_type(const char *text, struct walk_tile *out) {
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(text, types[i].name) == 0) {
            out->type = types[i].name;
            out->element_bytes = types[i].bytes;
            return 0;
        }
    }
    return complain("--type is u8, bf16, f16, f32 or f64, not `%.40s`", text);
}

static int read_walk(const char *text, enum walk_name *walk) {
    static const char *const names[] = {"row", "column", "transpose", "ldmatrix"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *walk = (enum walk_name)i;
            return 0;
        }
    }
    return complain("--walk is row, column, transpose or ldmatrix, not `%.40s`", text);
}

/* "32x33" or "0,5": two numbers with one sign between. */
static bool read_pair(const char *text, char between, uint32_t *first, uint32_t *second) {
    if (!number_take(&text, GM_TILE_BYTES_MAX, first) || *text != between)
        return false;
    text++;
    return number_take(&text, GM_TILE_BYTES_MAX, second) && !*text;
}

/* Up to the minus that S may have. */
static bool read_swizzle_fields(const char *text, struct gm_swizzle *swizzle) {
    uint32_t shift;
    bool good = number_take(&text, 32, &swizzle->bits) && *text++ == ',';
    good = good && number_take(&text, 32, &swizzle->base) && *text++ == ',';
    if (!good)
        return false;
    const bool negative = *text == '-';
    text += negative;
    if (!number_take(&text, 32, &shift) || *text)
        return false;
    swizzle->shift = negative ? -(int32_t)shift : (int32_t)shift;
    return true;
}

int walk_read_swizzle(const char *option, const char *text, struct gm_swizzle *swizzle) {
    static const char *const modes[] = {"none", "32B", "64B", "128B"};
    struct gm_swizzle fields;
    for (int mode = 0; mode < 4; mode++) {
        if (strcmp(text, modes[mode]) == 0) {
            *swizzle = gm_swizzle_of_mode((enum gm_swizzle_mode)mode);
            return 0;
        }
    }
    if (!read_swizzle_fields(text, &fields))
        return complain("%s is none, 32B, 64B, 128B, or three numbers B,M,S on byte addresses, not `%.40s`", option,
                        text);
    if (gm_swizzle_check(fields) != GM_OK)
        return complain("%s %s: %s", option, text, gm_last_error());
    *swizzle = fields;
    return 0;
}

static int read_layout(const struct walk_options *given, struct walk_tile *out) {
    struct gm_smem_tile *tile = &out->tile;
    uint32_t pad = 0;
    *tile = (struct gm_smem_tile){.size = sizeof *tile};
    if (!read_pair(given->tile, 'x', &tile->rows, &out->columns))
        return complain("--tile wants rows and elements a row, such as 32x33, not `%.40s`", given->tile);
    if (given->pad && number_read("--pad", given->pad, 0, GM_TILE_BYTES_MAX, &pad) != 0)
        return -1;
    if (given->base && number_read("--base", given->base, 0, UINT32_MAX, &tile->base) != 0)
        return -1;
    if (given->swizzle && walk_read_swizzle("--swizzle", given->swizzle, &tile->swizzle) != 0)
        return -1;
    tile->row_bytes = out->columns * out->element_bytes;
    tile->pitch_bytes = tile->row_bytes + pad * out->element_bytes;
    if (gm_smem_tile_check(tile) != GM_OK)
        return complain("--tile %s of %s: %s", given->tile, out->type, gm_last_error());
    return 0;
}

int walk_read(const struct walk_options *given, struct walk_tile *out) {
    *out = (struct walk_tile){0};
    if (!given->walk)
        return complain("--tile wants --walk: row, column, transpose or ldmatrix");
    if (read_type(given->type ? given->type : "f32", out) != 0 || read_walk(given->walk, &out->walk) != 0 ||
        read_layout(given, out) != 0)
        return -1;
    if (given->at && !read_pair(given->at, ',', &out->row, &out->column))
        return complain("--at wants a row and an element of it, such as 0,5, not `%.40s`", given->at);
    if (out->row >= out->tile.rows || out->column >= out->columns)
        return complain("--at %s lies outside a tile of %s", given->at, given->tile);
    return 0;
}

/* ---- walking ------------------------------------------------------------------------------------ */

/* Vectors of one lane's width, counted along the rows or down the columns from where lane 0 begins. */
static void fill_steps(const struct walk_tile *t, bool down, uint32_t vectors_a_row, struct gm_tile_access *lanes) {
    const uint32_t column = t->column * t->element_bytes / lanes->width, rows = t->tile.rows;
    const uint32_t first = down ? column * rows + t->row : t->row * vectors_a_row + column;
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        const uint32_t n = first + lane;
        lanes->row[lane] = down ? n % rows : n / vectors_a_row;
        lanes->byte[lane] = lanes->width * (down ? n / rows : n % vectors_a_row);
    }
}

static void fill_fragment(const struct walk_tile *t, struct gm_tile_access *lanes) {
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        lanes->row[lane] = t->row + lane % 16;
        lanes->byte[lane] = t->column * t->element_bytes + 16 * (lane / 16);
    }
}

int walk_fill(const struct walk_tile *tile, enum walk_name walk, const struct gm_access *shape,
              struct gm_tile_access *lanes) {
    const uint32_t width = shape->width, vectors_a_row = tile->tile.row_bytes / width;
    const bool matrix_kind = shape->kind == GM_ACCESS_LDMATRIX || shape->kind == GM_ACCESS_STMATRIX;
    *lanes = (struct gm_tile_access){.size = sizeof *lanes,
                                     .kind = shape->kind,
                                     .width = width,
                                     .matrices = shape->matrices,
                                     .inactive = shape->inactive};
    if (width % tile->element_bytes)
        return complain("a lane's %u bytes cut the %u bytes of %s", width, tile->element_bytes, tile->type);
    if (vectors_a_row == 0)
        return complain("a lane's %u bytes are more than a row of %u", width, tile->tile.row_bytes);
    if (tile->column * tile->element_bytes % width)
        return complain("--at begins at byte %u of a row, no multiple of a lane's %u bytes",
                        tile->column * tile->element_bytes, width);
    if (walk == WALK_LDMATRIX && !matrix_kind)
        return complain("--walk ldmatrix belongs to --kind ldmatrix or stmatrix");
    if (walk == WALK_LDMATRIX)
        fill_fragment(tile, lanes);
    else
        fill_steps(tile, walk == WALK_COLUMN, vectors_a_row, lanes);
    return 0;
}
