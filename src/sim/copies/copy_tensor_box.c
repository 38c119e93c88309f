/* SPDX-License-Identifier: Apache-2.0 */
/* The boxes of tensor copies: which elements they hold, and where those lie in shared memory. All of it as measured on
 * an H200: docs/course/tma.md. */
#include "sim/copies/copy_tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 16, SPAN_OF_NONE = 16 };

/* ---- measures --------------------------------------------------------------------------------------------------- */

static uint32_t clamped(int64_t value, uint32_t highest) {
    return value < 0 ? 0 : value < highest ? (uint32_t)value : highest;
}

static bool lies_inside(int64_t at, uint64_t elements) {
    return at >= 0 && (uint64_t)at < elements;
}

/* An element stride of s takes every s-th element; without interleave the innermost one is ignored. */
static void measure_tile(struct sim_box *box) {
    const struct sim_tensor_map *map = &box->map;
    uint64_t rows = 1;
    for (uint32_t d = 1; d < map->rank; d++) {
        const uint32_t step = map->element_strides[d];
        box->delivered[d] = (map->box[d] + step - 1) / step;
        rows *= box->delivered[d];
        box->whole &= lies_inside(box->at[d], map->dims[d]) &&
                      lies_inside(box->at[d] + (int64_t)(box->delivered[d] - 1) * step, map->dims[d]);
    }
    box->rows = rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
}

void sim_box_measure(struct sim_box *box) {
    const struct sim_tensor_map *map = &box->map;
    const int64_t x = box->at[0] * (int64_t)map->element_bytes;
    box->delivered[0] = map->im2col ? map->channels : map->box[0];
    box->row_bytes = box->delivered[0] * map->element_bytes;
    /* Narrow rows do not close up: each takes a whole span. */
    box->pitch = map->swizzle ? (uint32_t)SPAN_OF_NONE << map->swizzle : box->row_bytes;
    box->flip_mask = map->swizzle ? box->pitch - CHUNK : 0;
    box->first = clamped(-x, box->row_bytes);
    box->last = clamped((int64_t)(map->dims[0] * map->element_bytes) - x, box->row_bytes);
    box->whole = box->first == 0 && box->last == box->row_bytes && !map->im2col;
    if (map->im2col)
        box->rows = map->pixels;
    else
        measure_tile(box);
}

/* ---- rows in the tensor ----------------------------------------------------------------------------------------- */

void sim_box_begin(const struct sim_box *box, struct sim_box_walk *walk) {
    memcpy(walk->at, box->at, sizeof walk->at);
    memset(walk->step, 0, sizeof walk->step);
}

void sim_box_next(const struct sim_box *box, struct sim_box_walk *walk) {
    if (box->map.im2col) {
        sim_box_next_pixel(box, walk);
        return;
    }
    for (uint32_t d = 1; d < box->map.rank; d++) {
        walk->at[d] += box->map.element_strides[d];
        if (++walk->step[d] < box->delivered[d])
            return;
        walk->step[d] = 0;
        walk->at[d] = box->at[d];
    }
}

bool sim_box_row(const struct sim_box *box, const struct sim_box_walk *walk, uint64_t *address) {
    const struct sim_tensor_map *map = &box->map;
    uint64_t sum = map->address + (uint64_t)walk->at[0] * map->element_bytes;
    for (uint32_t d = 1; d < map->rank; d++) {
        int64_t at = walk->at[d];
        if (map->im2col && d + 1 < map->rank)
            at += box->offset[d - 1];
        if (!lies_inside(at, map->dims[d]))
            return false;
        sum += (uint64_t)at * map->strides[d];
    }
    *address = sum;
    return box->first < box->last;
}

/* ---- rows in shared memory -------------------------------------------------------------------------------------- */

/* The swizzle of an absolute address XORs the place of a 16-byte chunk within its span with bits 7 and up:
 *
 *      address  ...  9 8 7 | 6 5 4 | 3 2 1 0      span 128: bits 4-6 ^= 7-9;  64: 4-5 ^= 7-8;  32: 4 ^= 7
 *
 * A row fills a span that is aligned to its size, so those upper bits are the same for all of its chunks. */
static uint32_t flip_of(const struct sim_box *box, uint32_t at) {
    return at >> 3 & box->flip_mask;
}

void sim_box_put(const struct sim_box *box, uint8_t *shared, uint32_t offset, uint32_t row, const uint8_t *from) {
    const uint32_t at = offset + row * box->pitch, flip = flip_of(box, at);
    if (flip == 0) {
        memcpy(shared + at, from, box->row_bytes);
        return;
    }
    for (uint32_t byte = 0; byte < box->row_bytes; byte += CHUNK)
        memcpy(shared + at + (byte ^ flip), from + byte, CHUNK);
}

void sim_box_get(const struct sim_box *box, const uint8_t *shared, uint32_t offset, uint32_t row, uint8_t *to) {
    const uint32_t at = offset + row * box->pitch, flip = flip_of(box, at);
    if (flip == 0) {
        memcpy(to, shared + at, box->row_bytes);
        return;
    }
    for (uint32_t byte = 0; byte < box->row_bytes; byte += CHUNK)
        memcpy(to + byte, shared + at + (byte ^ flip), CHUNK);
}

/* ---- the shadow ------------------------------------------------------------------------------------------------- */

void sim_box_mark_write(const struct sim_box *box, struct sim_cta *cta, uint32_t offset,
                        const struct sim_actor *actor) {
    if (box->pitch == box->row_bytes) { /* no gaps: the swizzle only permutes */
        sim_copy_mark(cta, offset, box->rows * box->pitch, actor);
        return;
    }
    for (uint32_t row = 0; row < box->rows; row++) {
        const uint32_t at = offset + row * box->pitch, flip = flip_of(box, at);
        for (uint32_t byte = 0; byte < box->row_bytes; byte += CHUNK)
            sim_copy_mark(cta, at + (byte ^ flip), CHUNK, actor);
    }
}

static bool mark_row_read(const struct sim_box *box, struct sim_cta *cta, uint32_t at, const struct sim_actor *actor) {
    const uint32_t flip = flip_of(box, at);
    bool undefined = false;
    if (flip == 0 || (box->pitch == box->last && box->first == 0)) {
        sim_shadow_read(cta, at + box->first, box->last - box->first, actor, &undefined);
        return undefined;
    }
    for (uint32_t byte = box->first; byte < box->last; byte += CHUNK) { /* `first` is a multiple of 16 */
        bool here = false;
        const uint32_t bytes = box->last - byte < CHUNK ? box->last - byte : CHUNK;
        sim_shadow_read(cta, at + (byte ^ flip), bytes, actor, &here);
        undefined |= here;
    }
    return undefined;
}

bool sim_box_mark_read(const struct sim_box *box, struct sim_cta *cta, uint32_t offset, const struct sim_actor *actor) {
    bool undefined = false;
    if (box->whole && box->pitch == box->row_bytes) {
        sim_shadow_read(cta, offset, box->rows * box->pitch, actor, &undefined);
        return undefined;
    }
    struct sim_box_walk walk;
    sim_box_begin(box, &walk);
    for (uint32_t row = 0; row < box->rows; row++, sim_box_next(box, &walk)) {
        uint64_t address;
        if (sim_box_row(box, &walk, &address))
            undefined |= mark_row_read(box, cta, offset + row * box->pitch, actor);
    }
    return undefined;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

void sim_box_describe(const struct sim_box *box, uint64_t map_address, char *text, size_t bytes) {
    const struct sim_tensor_map *map = &box->map;
    char size[48] = "", place[48] = "";
    size_t size_at = 0, place_at = 0;
    for (uint32_t d = 0; d < map->rank && size_at < sizeof size && place_at < sizeof place; d++) {
        const char *comma = d ? "," : "";
        if (!map->im2col || d == 0)
            size_at += (size_t)snprintf(size + size_at, sizeof size - size_at, "%s%" PRIu32, comma, box->delivered[d]);
        place_at += (size_t)snprintf(place + place_at, sizeof place - place_at, "%s%" PRId64, comma, box->at[d]);
    }
    if (map->im2col && size_at < sizeof size)
        snprintf(size + size_at, sizeof size - size_at, " x %" PRIu32 " pixels", map->pixels);
    /* Parameters are aligned to the 128 bytes of a map: the maps that come first are numbered 0, 1, 2 ... */
    if ((map_address & SIM_WINDOW_MASK) == SIM_PARAM_WINDOW)
        snprintf(text, bytes, "map[%" PRIu64 "] box {%s} at (%s)", (map_address & ~SIM_WINDOW_MASK) / 128, size, place);
    else
        snprintf(text, bytes, "map 0x%" PRIx64 " box {%s} at (%s)", map_address, size, place);
}
