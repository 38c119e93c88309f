/* SPDX-License-Identifier: Apache-2.0 */
/* The last tensor loads of a CTA that do not overlap: a few dozen, one for each box of each stage. */
#include "sim/copies/tile_origin.h"

#include <stdlib.h>
#include <string.h>

#include "sim/copies/copy_tensor.h"
#include "sim/memory/shadow_cell.h"

enum { TILES_MAX = 512, PIECE = 16 };

/* A dimension of a box beside the innermost one. One that begins where x or y ends goes on with it: rows that were cut into
 * pieces, or columns. But a piece that is no box's width is a row by itself, such as a gate with its up behind it. */
struct side {
    uint32_t count; /* of rows */
    int64_t x, y;   /* from one to the next; neither: it is one of the others */
};

struct tile {
    uint32_t offset, bytes, pitch, row_bytes, flip_mask;
    struct side side[SIM_TENSOR_RANK_MAX - 1];
    uint32_t sides;
    int64_t x, y;
    uint64_t others;
    uint32_t line;
};

struct sim_tiles {
    struct tile tile[TILES_MAX];
    uint32_t count, found; /* `found`: where the last search ended */
};

static uint64_t mix(uint64_t number, uint64_t with) {
    return (number ^ with) * UINT64_C(0x9e3779b97f4a7c15) + (number >> 29);
}

static struct side side_of(const struct sim_box *box, uint32_t d) {
    const struct sim_tensor_map *const map = &box->map;
    const uint64_t row = map->dims[0] * map->element_bytes, column = map->dims[1] * map->strides[1];
    struct side side = {.count = box->delivered[d]};
    if (d == 1)
        side.y = 1;
    else if (map->strides[d] == row && map->dims[0] == box->delivered[0])
        side.x = (int64_t)row;
    else if (map->strides[d] == column)
        side.y = (int64_t)map->dims[1];
    return side;
}

static struct tile tile_of(uint32_t offset, const struct sim_box *box, uint32_t line) {
    const struct sim_tensor_map *const map = &box->map;
    struct tile tile = {.offset = offset,
                        .bytes = box->rows * box->pitch,
                        .pitch = box->pitch,
                        .row_bytes = box->row_bytes,
                        .flip_mask = box->flip_mask,
                        .x = box->at[0] * (int64_t)map->element_bytes,
                        .others = map->address,
                        .line = line};
    if (map->im2col) {
        tile.side[tile.sides++] = (struct side){.count = box->rows, .y = 1};
        for (uint32_t d = 1; d < map->rank; d++)
            tile.others = mix(tile.others, (uint64_t)box->at[d]);
        for (uint32_t d = 0; d < 3; d++)
            tile.others = mix(tile.others, box->offset[d]);
        return tile;
    }
    for (uint32_t d = 1; d < map->rank; d++) {
        const struct side side = side_of(box, d);
        tile.side[tile.sides++] = side;
        tile.x += box->at[d] * side.x;
        tile.y += box->at[d] * side.y;
        if (!side.x && !side.y)
            tile.others = mix(tile.others, (uint64_t)box->at[d]);
    }
    return tile;
}

void sim_tile_written(struct sim_cta *cta, uint32_t offset, const struct sim_box *box, uint32_t line) {
    const struct tile tile = tile_of(offset, box, line);
    struct sim_tiles *tiles = cta->tiles ? cta->tiles : (cta->tiles = calloc(1, sizeof *tiles));
    if (!tiles)
        sim_out_of_memory(cta->machine);
    if (!tiles || !tile.bytes || !tile.pitch)
        return;
    uint32_t kept = 0;
    for (uint32_t t = 0; t < tiles->count; t++) {
        const struct tile *const old = &tiles->tile[t];
        if (old->offset + old->bytes <= tile.offset || tile.offset + tile.bytes <= old->offset)
            tiles->tile[kept++] = *old;
    }
    if (kept == TILES_MAX)
        kept--;
    tiles->tile[kept++] = tile;
    tiles->count = kept;
}

void sim_tiles_free(struct sim_cta *cta) {
    free(cta->tiles);
    cta->tiles = NULL;
}

static const struct tile *find(struct sim_tiles *tiles, uint32_t address) {
    for (uint32_t n = 0; n < tiles->count; n++) {
        const uint32_t t = (tiles->found + n) % tiles->count;
        if (address - tiles->tile[t].offset < tiles->tile[t].bytes) {
            tiles->found = t;
            return &tiles->tile[t];
        }
    }
    return NULL;
}

bool sim_origin_of(const struct sim_cta *cta, uint32_t address, struct sim_origin *origin) {
    const struct sim_shadow *const shadow = cta->shadow;
    if (!cta->tiles || !shadow || address / 4 >= shadow->words || !(shadow->cell[address / 4].write & SIM_CELL_ASYNC))
        return false;
    const struct tile *const tile = find(cta->tiles, address);
    if (!tile)
        return false;
    const uint32_t row = (address - tile->offset) / tile->pitch, start = tile->offset + row * tile->pitch;
    const uint32_t byte = (address - start) ^ (start >> 3 & tile->flip_mask);
    *origin = (struct sim_origin){.x = tile->x + byte,
                                  .y = tile->y,
                                  .others = tile->others,
                                  .span = tile->flip_mask ? tile->flip_mask + PIECE : 0,
                                  .line = tile->line,
                                  .barrier = sim_cell_agent(shadow->cell[address / 4].write),
                                  .phase = sim_cell_clock(shadow->cell[address / 4].write),
                                  .tile = tile->offset};
    uint32_t rest = row;
    for (uint32_t d = 0; d < tile->sides; rest /= tile->side[d++].count) {
        const struct side *const side = &tile->side[d];
        const uint32_t at = rest % side->count;
        origin->x += at * side->x;
        origin->y += at * side->y;
        if (!side->x && !side->y)
            origin->others = mix(origin->others, at);
    }
    return byte < tile->row_bytes;
}
