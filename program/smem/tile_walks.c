/* SPDX-License-Identifier: Apache-2.0 */
/* All walks of one kind through a tile, for the search. */
#include "program/smem/tile_walks.h"

#include <stdlib.h>
#include <string.h>

#include "program/smem/numbers.h"
#include "program/base/messages.h"
#include "smem/walks.h"

#define WALKS_MAX 65536

static int add_walk(struct tile_walks *walks, struct gm_tile_access walk) {
    if (walks->count == WALKS_MAX)
        return complain("--search: the tile has more than %d such walks; take a smaller one", WALKS_MAX);
    if (walks->count == walks->capacity) {
        const size_t capacity = walks->capacity ? 2 * walks->capacity : 64;
        struct gm_tile_access *items = realloc(walks->items, capacity * sizeof *items);
        if (!items)
            return complain("out of host memory");
        walks->items = items;
        walks->capacity = capacity;
    }
    walks->items[walks->count++] = walk;
    return 0;
}

/* Warps along the rows, from the beginning of each. A row of more than 32 vectors is taken warp by warp, and in the
 * last one the lanes beyond the row's end do nothing. */
static int add_rows(struct tile_walks *walks, const struct gm_smem_tile *tile, uint32_t width) {
    const uint32_t per_row = tile->row_bytes / width;
    int status = 0;
    for (uint32_t row = 0; row < tile->rows && status == 0; row++)
        for (uint32_t start = 0; start < per_row && status == 0; start += GM_LANES) {
            struct gm_tile_access walk = gm_row_walk(tile, width, row, start);
            if (start > 0 && per_row - start < GM_LANES)
                walk.inactive |= UINT32_MAX << (per_row - start);
            status = add_walk(walks, walk);
        }
    return status;
}

static int add_columns(struct tile_walks *walks, const struct gm_smem_tile *tile, uint32_t width) {
    int status = 0;
    for (uint32_t row = 0; row < tile->rows && status == 0; row += GM_LANES)
        for (uint32_t byte = 0; byte + width <= tile->row_bytes && status == 0; byte += width)
            status = add_walk(walks, gm_column_walk(tile, width, row, byte));
    return status;
}

static int add_matrices(struct tile_walks *walks, const struct gm_smem_tile *tile) {
    int status = 0;
    for (uint32_t row = 0; row + 8 <= tile->rows && status == 0; row += 8)
        for (uint32_t byte = 0; byte + 16 <= tile->row_bytes && status == 0; byte += 16)
            status = add_walk(walks, gm_matrix_walk(row, byte));
    return status;
}

int tile_walks_add(struct tile_walks *walks, const struct gm_smem_tile *tile, uint32_t width, const char *text) {
    static const char *const names[] = {"row", "column", "ldmatrix"};
    const size_t length = strcspn(text, ":"), before = walks->count;
    int name = 0, status;
    while (name < 3 && (strlen(names[name]) != length || strncmp(text, names[name], length) != 0))
        name++;
    if (name == 3 || (name == 2 && text[length]))
        return complain("--search is row, column, row:BYTES, column:BYTES or ldmatrix, not `%.40s`", text);
    if (text[length] && number_read("--search, bytes a lane:", text + length + 1, 1, 16, &width) != 0)
        return -1;
    if (width & (width - 1))
        return complain("--search %s: a lane takes 1, 2, 4, 8 or 16 bytes, not %u", text, width);
    if (name == 0)
        status = add_rows(walks, tile, width);
    else
        status = name == 1 ? add_columns(walks, tile, width) : add_matrices(walks, tile);
    if (status == 0 && walks->count == before)
        return complain("--search %s: a tile of %u rows of %u bytes has no such walk", text, tile->rows,
                        tile->row_bytes);
    return status;
}

void tile_walks_free(struct tile_walks *walks) {
    free(walks->items);
    *walks = (struct tile_walks){0};
}
