/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: global allocations, and the address spaces as a warp sees them.
 *
 * Global memory is host memory at its own address (mmap, committed as it is touched), so a device address is a host
 * pointer that only code of this file may follow, after a check against the allocations. One shadow bit per byte says
 * whether it was ever written.
 *
 * Generic and 64-bit addresses of other spaces lie in windows no host allocation can have: */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "sim/machine/machine.h"
#include "sim/memory/shadow.h"

#define SIM_PARAM_WINDOW  UINT64_C(0xA000000000000000) /* + offset into machine->params */
#define SIM_SHARED_WINDOW UINT64_C(0xB000000000000000) /* + 32-bit shared (cta or cluster) address */
#define SIM_LOCAL_WINDOW  UINT64_C(0xC000000000000000) /* + offset in the lane's frame */
#define SIM_WINDOW_MASK   UINT64_C(0xF000000000000000)

struct sim_memory;
struct sim_memory *sim_memory_new(uint64_t total_bytes);
void sim_memory_free(struct sim_memory *memory);
/* 256-byte aligned, uninitialised. 0: out of memory (total_bytes would be exceeded, or the host refuses), or bytes = 0. */
uint64_t sim_memory_allocate(struct sim_memory *memory, uint64_t bytes);
/* False: nothing was allocated at this address. */
bool sim_memory_release(struct sim_memory *memory, uint64_t address);
void sim_memory_info(const struct sim_memory *memory, uint64_t *free_bytes, uint64_t *total_bytes);
/* The host's view of [address, address + bytes) if all of it is inside one allocation, else NULL. */
void *sim_memory_view(const struct sim_memory *memory, uint64_t address, uint64_t bytes);
/* Copies and fills by the host mark bytes as initialised. */
void sim_memory_mark(struct sim_memory *memory, uint64_t address, uint64_t bytes);
bool sim_memory_is_initialised(const struct sim_memory *memory, uint64_t address, uint64_t bytes);

/* ---- device accesses: checked, reported, counted ------------------------------------------------------------------ */

/* Global memory for one lane's access of `bytes` at `address` (or a copy's). Reports misalignment (address not a multiple
 * of `align`), out of bounds, and, for reads, uninitialised bytes. NULL: a fault was reported. Writes are marked
 * initialised. */
void *sim_global_read(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                      uint32_t bytes, uint32_t align);
void *sim_global_write(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                       uint32_t bytes, uint32_t align);

/* The CTA and offset that a 32-bit shared address (own or cluster window) names. Reports out of bounds, misalignment,
 * and a peer that has exited; then false. Marks `*cta` as used by this warp, for the check at its exit (peers.h). */
bool sim_shared_locate(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint32_t address,
                       uint32_t bytes, uint32_t align, struct sim_cta **cta, uint32_t *offset);

/* The lanes' addresses of an address operand: base row + offset, or the symbol's. 64-bit base rows are taken whole. */
void sim_addresses(struct sim_warp *warp, const struct ptx_operand *operand, uint64_t addresses[PTX_LANES]);

/* An actor for an access that the warp itself makes now. */
struct sim_actor sim_warp_actor(struct sim_warp *warp, const struct ptx_instruction *i, uint8_t lane, bool atomic);

#endif
