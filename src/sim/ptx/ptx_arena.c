/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: a list of chunks, the newest first, each twice as large as the one before. */
#include "sim/ptx/ptx_arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, CHUNK_FIRST = 1 << 14, CHUNK_MOST = 1 << 20 };

struct chunk {
    struct chunk *older;
    size_t used, room;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct ptx_arena {
    struct chunk *newest;
    size_t taken, limit, next_room;
};

struct ptx_arena *ptx_arena_new(size_t limit) {
    struct ptx_arena *arena = calloc(1, sizeof *arena);
    if (arena) {
        arena->limit = limit;
        arena->next_room = CHUNK_FIRST;
    }
    return arena;
}

void ptx_arena_free(struct ptx_arena *arena) {
    if (!arena)
        return;
    while (arena->newest) {
        struct chunk *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
    free(arena);
}

static struct chunk *add_chunk(struct ptx_arena *arena, size_t bytes) {
    const size_t room = bytes > arena->next_room ? bytes : arena->next_room;
    struct chunk *chunk = calloc(1, sizeof *chunk + room); /* large ones come as untouched zero pages */
    if (!chunk)
        return NULL;
    chunk->room = room;
    chunk->older = arena->newest;
    arena->newest = chunk;
    if (arena->next_room < CHUNK_MOST)
        arena->next_room *= 2;
    return chunk;
}

void *ptx_arena_take(struct ptx_arena *arena, size_t bytes) {
    if (bytes > arena->limit - arena->taken)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct chunk *chunk = arena->newest;
    if ((!chunk || bytes > chunk->room - chunk->used) && !(chunk = add_chunk(arena, bytes)))
        return NULL;
    void *taken = chunk->bytes + chunk->used;
    chunk->used += bytes;
    arena->taken = bytes > arena->limit - arena->taken ? arena->limit : arena->taken + bytes;
    return taken;
}

char *ptx_arena_text(struct ptx_arena *arena, const char *text, size_t length) {
    char *copy = ptx_arena_take(arena, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}
