/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of global memory, for the files that follow device addresses: memory*.c and execute/transfer.c. */
#ifndef SIM_ALLOCATION_H
#define SIM_ALLOCATION_H

#include "sim/memory/memory.h"

/*  What one allocation looks like in the host's address space: its pages lie between guards which belong to nobody, so
 *  an access that runs over either end meets no other allocation.
 *
 *      | guard |  address .. address + bytes  | rest of the last page | guard |
 */
struct sim_allocation {
    uint64_t address, bytes;
    uint64_t *initialised; /* one bit per byte, 64 to a word */
    size_t mapped, bits_mapped;
};

/* The allocation that holds all of [address, address + bytes), or NULL. */
const struct sim_allocation *sim_allocation_find(const struct sim_memory *memory, uint64_t address, uint64_t bytes);

/* The last allocation that begins at or below the address, or NULL. */
const struct sim_allocation *sim_allocation_below(const struct sim_memory *memory, uint64_t address);

/* Ranges of bytes, by their offset in the allocation. */
void sim_allocation_mark(const struct sim_allocation *allocation, uint64_t offset, uint64_t bytes);
bool sim_allocation_is_initialised(const struct sim_allocation *allocation, uint64_t offset, uint64_t bytes);

/* One lane's access: `bytes` is a power of two up to 32 and divides the offset, so its bits lie in one word. */
static inline uint64_t sim_allocation_bits(uint64_t offset, uint32_t bytes) {
    return ((UINT64_C(1) << bytes) - 1) << (offset & 63);
}
static inline void sim_allocation_mark_one(const struct sim_allocation *allocation, uint64_t offset, uint32_t bytes) {
    allocation->initialised[offset >> 6] |= sim_allocation_bits(offset, bytes);
}
static inline bool sim_allocation_has_one(const struct sim_allocation *allocation, uint64_t offset, uint32_t bytes) {
    return !(~allocation->initialised[offset >> 6] & sim_allocation_bits(offset, bytes));
}
static inline void *sim_allocation_at(const struct sim_allocation *allocation, uint64_t offset) {
    return (void *)(uintptr_t)(allocation->address + offset);
}

/* The access of one lane or copy, without the checks of alignment: reports and returns NULL when it is out of bounds.
 */
const struct sim_allocation *sim_allocation_of_access(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                                                      uint64_t address, uint64_t bytes, const char *verb);
void sim_report_uninitialised_global(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                                     uint64_t bytes);
/* True when address is a multiple of align; else reports. */
bool sim_check_alignment(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                         uint32_t bytes, uint32_t align, const char *space);

#endif
