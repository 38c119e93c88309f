/* SPDX-License-Identifier: Apache-2.0 */
/* What a swizzle does to a tile, found by going through the tile: every byte, every row, every column.
 *
 * Neither the pitch nor the number of rows needs to be a power of two. The swizzle permutes the bytes of every aligned
 * block of 2^(M + B + |S|) bytes, its pattern, so a tile that does not fill its last pattern may own bytes beyond its
 * end (and before its base, when that is not aligned): room for whole patterns must be set aside. */
#include "smem/smem_tile.h"
#include "host/structs.h"
#include "smem/walks.h"

#define WIDTHS      5
#define MATRIX_ROWS 8

/* ---- every byte --------------------------------------------------------------------------------- */

static uint64_t pattern_of(struct gm_swizzle swizzle) {
    const uint32_t distance = (uint32_t)(swizzle.shift < 0 ? -swizzle.shift : swizzle.shift);
    return swizzle.bits ? UINT64_C(1) << (swizzle.bits + swizzle.base + distance) : 1;
}

/* When the swizzle leads back from every byte's place to that byte, no two bytes share a place. */
static void prove_bytes(const struct gm_smem_tile *tile, struct gm_swizzle_proof *proof) {
    const uint64_t pattern = pattern_of(tile->swizzle), pitch = gm_smem_tile_pitch(tile);
    const uint64_t end = tile->base + (tile->rows - 1) * pitch + tile->row_bytes;
    const uint64_t low = tile->base / pattern * pattern, high = (end + pattern - 1) / pattern * pattern;
    uint32_t comes_back = 1, stays = 1;
    for (uint32_t row = 0; row < tile->rows; row++) {
        const uint32_t first = tile->base + row * (uint32_t)pitch;
        for (uint32_t byte = 0; byte < tile->row_bytes; byte++) {
            const uint32_t place = gm_swizzle_apply(tile->swizzle, first + byte);
            comes_back &= gm_swizzle_apply(tile->swizzle, place) == first + byte;
            stays &= place >= low && place < high;
        }
    }
    proof->self_inverse = comes_back;
    proof->bijective = comes_back && stays;
}

/* ---- every walk --------------------------------------------------------------------------------- */

/* Every lane's bytes are aligned and stay together. Torn apart are vectors wider than the pieces that move. */
static int fits(const struct gm_smem_tile *tile, uint32_t width) {
    const uint32_t pitch = tile->rows > 1 ? gm_smem_tile_pitch(tile) : 0;
    const int torn = tile->swizzle.bits && (UINT64_C(1) << tile->swizzle.base) < width;
    return tile->row_bytes >= width && tile->base % width == 0 && pitch % width == 0 && !torn;
}

static uint32_t conflicts_of(const struct gm_smem_tile *tile, const struct gm_tile_access *walk) {
    struct gm_access access = {.size = sizeof access};
    struct gm_bank_cost cost = {.size = sizeof cost};
    if (gm_tile_access_place(tile, walk, &access) != GM_OK || gm_bank_cost(&access, &cost) != GM_OK)
        return GM_NO_WALK;
    return cost.conflicts;
}

static uint32_t larger(uint32_t left, uint32_t right) {
    return left > right ? left : right;
}

static uint32_t worst_row(const struct gm_smem_tile *tile, uint32_t width) {
    if (!fits(tile, width))
        return GM_NO_WALK;
    const uint32_t per_row = tile->row_bytes / width;
    const uint32_t starts = per_row > GM_LANES ? per_row - GM_LANES + 1 : 1;
    uint32_t worst = 0;
    for (uint32_t row = 0; row < tile->rows; row++)
        for (uint32_t start = 0; start < starts; start++) {
            const struct gm_tile_access walk = gm_row_walk(tile, width, row, start);
            worst = larger(worst, conflicts_of(tile, &walk));
        }
    return worst;
}

static uint32_t worst_column(const struct gm_smem_tile *tile, uint32_t width) {
    if (!fits(tile, width))
        return GM_NO_WALK;
    const uint32_t starts = tile->rows > GM_LANES ? tile->rows - GM_LANES + 1 : 1;
    uint32_t worst = 0;
    for (uint32_t row = 0; row < starts; row++)
        for (uint32_t byte = 0; byte + width <= tile->row_bytes; byte += width) {
            const struct gm_tile_access walk = gm_column_walk(tile, width, row, byte);
            worst = larger(worst, conflicts_of(tile, &walk));
        }
    return worst;
}

static uint32_t worst_matrix(const struct gm_smem_tile *tile) {
    if (!fits(tile, 16) || tile->rows < MATRIX_ROWS)
        return GM_NO_WALK;
    uint32_t worst = 0;
    for (uint32_t row = 0; row + MATRIX_ROWS <= tile->rows; row += MATRIX_ROWS)
        for (uint32_t byte = 0; byte + 16 <= tile->row_bytes; byte += 16) {
            const struct gm_tile_access walk = gm_matrix_walk(row, byte);
            worst = larger(worst, conflicts_of(tile, &walk));
        }
    return worst;
}

enum gm_status gm_swizzle_prove(const struct gm_smem_tile *tile, struct gm_swizzle_proof *proof) {
    struct gm_smem_tile today;
    enum gm_status status = gm_smem_tile_take(&tile, &today);
    if (status == GM_OK)
        status = GM_CHECK_OUTPUT(proof, "proof");
    if (status != GM_OK)
        return status;
    struct gm_swizzle_proof found = {0};
    prove_bytes(tile, &found);
    for (uint32_t i = 0; i < WIDTHS; i++) {
        found.row_worst[i] = worst_row(tile, 1u << i);
        found.column_worst[i] = worst_column(tile, 1u << i);
    }
    found.ldmatrix_worst = worst_matrix(tile);
    GM_OUTPUT(proof, &found);
    return GM_OK;
}
