/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory: allocations, each a mapping of its own, found by their addresses; which bytes were ever written. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/memory/allocation.h"

enum { PAGE_BYTES = 4096, GUARD_BYTES = 1 << 16 };

struct sim_memory {
    struct sim_allocation *allocation; /* by address */
    size_t count, room;
    uint64_t total, used;
    size_t *last; /* the allocation that was asked for last: of its own, so that it changes in a const memory */
};

struct sim_memory *sim_memory_new(uint64_t total_bytes) {
    struct sim_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->total = total_bytes;
    memory->last = calloc(1, sizeof *memory->last);
    if (!memory->last) {
        free(memory);
        return NULL;
    }
    return memory;
}

/* ---- mappings --------------------------------------------------------------------------------------------------- */

static void *map_lazily(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool map_allocation(struct sim_allocation *allocation, uint64_t bytes) {
    const size_t whole_pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    allocation->bytes = bytes;
    allocation->mapped = whole_pages + 2 * GUARD_BYTES;
    allocation->bits_mapped = whole_pages / 8;
    uint8_t *at = map_lazily(allocation->mapped);
    if (!at)
        return false;
    allocation->initialised = map_lazily(allocation->bits_mapped);
    if (!allocation->initialised) {
        munmap(at, allocation->mapped);
        return false;
    }
    mprotect(at, GUARD_BYTES, PROT_NONE); /* a refusal does no harm: nobody follows an unchecked address */
    mprotect(at + GUARD_BYTES + whole_pages, GUARD_BYTES, PROT_NONE);
    allocation->address = (uint64_t)(uintptr_t)(at + GUARD_BYTES);
    return true;
}

static void unmap_allocation(const struct sim_allocation *allocation) {
    munmap((void *)(uintptr_t)(allocation->address - GUARD_BYTES), allocation->mapped);
    munmap(allocation->initialised, allocation->bits_mapped);
}

void sim_memory_free(struct sim_memory *memory) {
    if (!memory)
        return;
    for (size_t a = 0; a < memory->count; a++)
        unmap_allocation(&memory->allocation[a]);
    free(memory->allocation);
    free(memory->last);
    free(memory);
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

/* How many allocations begin at or below the address. */
static size_t count_up_to(const struct sim_memory *memory, uint64_t address) {
    size_t low = 0, high = memory->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memory->allocation[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct sim_memory *memory) {
    if (memory->count < memory->room)
        return true;
    const size_t room = memory->room ? 2 * memory->room : 16;
    struct sim_allocation *grown = realloc(memory->allocation, room * sizeof *grown);
    if (!grown)
        return false;
    memory->allocation = grown;
    memory->room = room;
    return true;
}

uint64_t sim_memory_allocate(struct sim_memory *memory, uint64_t bytes) {
    struct sim_allocation new;
    if (bytes == 0 || bytes > SIZE_MAX / 2 || bytes > memory->total - memory->used || !make_room(memory) ||
        !map_allocation(&new, bytes))
        return 0;
    const size_t at = count_up_to(memory, new.address);
    memmove(&memory->allocation[at + 1], &memory->allocation[at], (memory->count - at) * sizeof new);
    memory->allocation[at] = new;
    memory->count++;
    memory->used += bytes;
    return new.address;
}

bool sim_memory_release(struct sim_memory *memory, uint64_t address) {
    const size_t above = count_up_to(memory, address);
    if (above == 0 || memory->allocation[above - 1].address != address)
        return false;
    unmap_allocation(&memory->allocation[above - 1]);
    memory->used -= memory->allocation[above - 1].bytes;
    memmove(&memory->allocation[above - 1], &memory->allocation[above],
            (memory->count - above) * sizeof *memory->allocation);
    memory->count--;
    *memory->last = 0;
    return true;
}

void sim_memory_info(const struct sim_memory *memory, uint64_t *free_bytes, uint64_t *total_bytes) {
    *free_bytes = memory->total - memory->used;
    *total_bytes = memory->total;
}

static bool holds(const struct sim_allocation *allocation, uint64_t address, uint64_t bytes) {
    const uint64_t offset = address - allocation->address;
    return address >= allocation->address && bytes <= allocation->bytes && offset <= allocation->bytes - bytes;
}

const struct sim_allocation *sim_allocation_find(const struct sim_memory *memory, uint64_t address, uint64_t bytes) {
    if (*memory->last < memory->count && holds(&memory->allocation[*memory->last], address, bytes))
        return &memory->allocation[*memory->last];
    const size_t above = count_up_to(memory, address);
    if (above == 0 || !holds(&memory->allocation[above - 1], address, bytes))
        return NULL;
    *memory->last = above - 1;
    return &memory->allocation[above - 1];
}

const struct sim_allocation *sim_allocation_below(const struct sim_memory *memory, uint64_t address) {
    const size_t above = count_up_to(memory, address);
    return above ? &memory->allocation[above - 1] : NULL;
}

void *sim_memory_view(const struct sim_memory *memory, uint64_t address, uint64_t bytes) {
    const struct sim_allocation *allocation = sim_allocation_find(memory, address, bytes);
    return allocation ? sim_allocation_at(allocation, address - allocation->address) : NULL;
}

/* ---- which bytes were written ----------------------------------------------------------------------------------- */

/* The bits of [first, end) in the word that holds `first`. */
static uint64_t bits_from(uint64_t first, uint64_t end) {
    const uint64_t low = first & 63, left = end - first;
    return (left >= 64 - low ? UINT64_MAX : ((UINT64_C(1) << left) - 1) << low) & UINT64_MAX << low;
}

void sim_allocation_mark(const struct sim_allocation *allocation, uint64_t offset, uint64_t bytes) {
    for (uint64_t at = offset, end = offset + bytes; at < end; at = (at | 63) + 1)
        allocation->initialised[at >> 6] |= bits_from(at, end);
}

bool sim_allocation_is_initialised(const struct sim_allocation *allocation, uint64_t offset, uint64_t bytes) {
    for (uint64_t at = offset, end = offset + bytes; at < end; at = (at | 63) + 1)
        if (~allocation->initialised[at >> 6] & bits_from(at, end))
            return false;
    return true;
}

void sim_memory_mark(struct sim_memory *memory, uint64_t address, uint64_t bytes) {
    const struct sim_allocation *allocation = sim_allocation_find(memory, address, bytes);
    if (allocation)
        sim_allocation_mark(allocation, address - allocation->address, bytes);
}

bool sim_memory_is_initialised(const struct sim_memory *memory, uint64_t address, uint64_t bytes) {
    const struct sim_allocation *allocation = sim_allocation_find(memory, address, bytes);
    return allocation && sim_allocation_is_initialised(allocation, address - allocation->address, bytes);
}
