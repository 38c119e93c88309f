/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as a warp sees them: checked, and reported when they are wrong. */
#include "sim/memory/allocation.h"
#include "sim/memory/peers.h"
#include "sim/report/report.h"

/* An address this far behind an allocation is probably an overrun of it. */
enum { NEAR_BYTES = 1 << 16 };

/* ---- global memory ---------------------------------------------------------------------------------------------- */

bool sim_check_alignment(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                         uint32_t bytes, uint32_t align, const char *space) {
    if (align <= 1 || address % align == 0)
        return true;
    sim_report(warp, i, SIM_REPORT_MISALIGNED, lane, address,
               "%u bytes of %s memory at 0x%llx, which is no multiple of %u", bytes, space, (unsigned long long)address,
               align);
    return false;
}

/* Names the allocation that was probably meant: the last one that begins below. */
static void report_outside(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                           uint64_t bytes, const char *verb) {
    const struct sim_allocation *below = sim_allocation_below(warp->machine->memory, address);
    if (below && address - below->address < below->bytes + NEAR_BYTES)
        sim_report(
            warp, i, SIM_REPORT_OUT_OF_BOUNDS, lane, address,
            "%s %llu bytes of global memory at 0x%llx, which is byte %llu of an allocation of %llu bytes at 0x%llx",
            verb, (unsigned long long)bytes, (unsigned long long)address,
            (unsigned long long)(address - below->address), (unsigned long long)below->bytes,
            (unsigned long long)below->address);
    else
        sim_report(warp, i, SIM_REPORT_OUT_OF_BOUNDS, lane, address,
                   "%s %llu bytes of global memory at 0x%llx, which is in no allocation", verb,
                   (unsigned long long)bytes, (unsigned long long)address);
}

const struct sim_allocation *sim_allocation_of_access(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                                                      uint64_t address, uint64_t bytes, const char *verb) {
    const struct sim_allocation *allocation = sim_allocation_find(warp->machine->memory, address, bytes);
    if (!allocation)
        report_outside(warp, i, lane, address, bytes, verb);
    return allocation;
}

void sim_report_uninitialised_global(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                                     uint64_t bytes) {
    sim_report(warp, i, SIM_REPORT_UNINITIALISED, lane, address,
               "reads %llu bytes of global memory at 0x%llx, not all of which were ever written",
               (unsigned long long)bytes, (unsigned long long)address);
}

void *sim_global_read(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                      uint32_t bytes, uint32_t align) {
    if (!sim_check_alignment(warp, i, lane, address, bytes, align, "global"))
        return NULL;
    const struct sim_allocation *allocation = sim_allocation_of_access(warp, i, lane, address, bytes, "reads");
    if (!allocation)
        return NULL;
    const uint64_t offset = address - allocation->address;
    if (!sim_allocation_is_initialised(allocation, offset, bytes))
        sim_report_uninitialised_global(warp, i, lane, address, bytes);
    return sim_allocation_at(allocation, offset);
}

void *sim_global_write(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                       uint32_t bytes, uint32_t align) {
    if (!sim_check_alignment(warp, i, lane, address, bytes, align, "global"))
        return NULL;
    const struct sim_allocation *allocation = sim_allocation_of_access(warp, i, lane, address, bytes, "writes");
    if (!allocation)
        return NULL;
    const uint64_t offset = address - allocation->address;
    sim_allocation_mark(allocation, offset, bytes);
    return sim_allocation_at(allocation, offset);
}

/* ---- shared memory ---------------------------------------------------------------------------------------------- */

/* The CTA that the address names, or NULL: the cluster has no such CTA. */
static struct sim_cta *shared_owner(struct sim_warp *warp, uint32_t address) {
    if (address < SIM_CLUSTER_ADDRESS(0, 0))
        return warp->cta;
    const uint32_t rank = (address >> 24) - 1;
    return rank < warp->cluster->cta_count ? &warp->cluster->ctas[rank] : NULL;
}

/* Hardware says so with CUDA_ERROR_LAUNCH_FAILED, not CUDA_ERROR_ILLEGAL_ADDRESS. */
static void fail_shared(struct sim_warp *warp) {
    sim_fail(warp->machine, CUDA_ERROR_LAUNCH_FAILED);
}

static void report_outside_shared(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint32_t address,
                                  uint32_t bytes, const struct sim_cta *cta) {
    fail_shared(warp);
    if (!cta)
        sim_report(warp, i, SIM_REPORT_OUT_OF_BOUNDS, lane, address,
                   "shared address 0x%x names CTA %u of a cluster of %u", address, (address >> 24) - 1,
                   warp->cluster->cta_count);
    else if ((address & 0xffffff) < SIM_SHARED_RESERVED)
        sim_report(warp, i, SIM_REPORT_OUT_OF_BOUNDS, lane, address,
                   "shared address 0x%x lies in the first %d bytes, which are the system's", address,
                   SIM_SHARED_RESERVED);
    else
        sim_report(warp, i, SIM_REPORT_OUT_OF_BOUNDS, lane, address,
                   "%u bytes of shared memory at 0x%x: the CTA has 0x%x", bytes, address, cta->shared_bytes);
}

/* A peer's memory: noted for the peer's exit; false when that has been already. */
static bool use_peer(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint32_t address,
                     struct sim_cta *peer) {
    sim_peer_used(warp, peer);
    if (!peer->exited)
        return true;
    sim_report(warp, i, SIM_REPORT_PEER_EXITED, lane, address,
               "shared memory of CTA %u of the cluster (0x%x) is used after that CTA has exited", peer->rank, address);
    return false;
}

bool sim_shared_locate(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint32_t address,
                       uint32_t bytes, uint32_t align, struct sim_cta **cta, uint32_t *offset) {
    struct sim_cta *owner = shared_owner(warp, address);
    const uint32_t at = address & 0xffffff;
    if (!owner || at < SIM_SHARED_RESERVED || bytes > owner->shared_bytes || at > owner->shared_bytes - bytes) {
        report_outside_shared(warp, i, lane, address, bytes, owner);
        return false;
    }
    if (!sim_check_alignment(warp, i, lane, at, bytes, align, "shared"))
        return false;
    if (owner != warp->cta && !use_peer(warp, i, lane, address, owner))
        return false;
    *cta = owner;
    *offset = at;
    return true;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

void sim_addresses(struct sim_warp *warp, const struct ptx_operand *operand, uint64_t addresses[PTX_LANES]) {
    const uint64_t displacement = (uint64_t)operand->value;
    if (operand->kind == PTX_OPERAND_ADDRESS && operand->based && operand->bits == 64) {
        const uint64_t *base = SIM_ROW_64(warp, operand);
        for (int lane = 0; lane < PTX_LANES; lane++)
            addresses[lane] = base[lane] + displacement;
    } else if (operand->kind == PTX_OPERAND_ADDRESS && operand->based) {
        const uint32_t *base = SIM_ROW_32(warp, operand);
        for (int lane = 0; lane < PTX_LANES; lane++)
            addresses[lane] = base[lane] + (uint32_t)displacement;
    } else {
        for (int lane = 0; lane < PTX_LANES; lane++)
            addresses[lane] = displacement;
    }
}

struct sim_actor sim_warp_actor(struct sim_warp *warp, const struct ptx_instruction *i, uint8_t lane, bool atomic) {
    return (struct sim_actor){.stamp = sim_warp_stamp(warp),
                              .known = &warp->known,
                              .flushed = &warp->flushed,
                              .proxy = SIM_PROXY_GENERIC,
                              .atomic = atomic,
                              .lane = lane,
                              .warp = warp,
                              .instruction = i};
}
