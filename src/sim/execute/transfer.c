/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the bytes of a warp's lanes in the memory spaces, all lanes at once where they lie side by side. */
#include "sim/execute/transfer.h"

#include "sim/barriers/barriers.h"
#include "sim/execute/transfer_shared.h"
#include "sim/memory/allocation.h"
#include "sim/report/counters.h"
#include "sim/report/report.h"

/* ---- global ----------------------------------------------------------------------------------------------------- */

static bool within(const struct sim_allocation *allocation, uint64_t address, uint32_t bytes) {
    return bytes <= allocation->bytes && address - allocation->address <= allocation->bytes - bytes;
}

/* All 32 lanes side by side in one allocation, with nothing to report. */
static bool locate_global_span(struct sim_warp *warp, const struct sim_transfer *transfer, struct sim_lanes *lanes) {
    const uint32_t bytes = transfer->bytes * PTX_LANES;
    const uint64_t address = lanes->address[0];
    const struct sim_allocation *allocation = sim_allocation_find(warp->machine->memory, address, bytes);
    if (!allocation || address % transfer->bytes)
        return false;
    const uint64_t offset = address - allocation->address;
    if ((!transfer->is_write || transfer->reads_too) && !sim_allocation_is_initialised(allocation, offset, bytes))
        return false;
    if (transfer->is_write)
        sim_allocation_mark(allocation, offset, bytes);
    uint8_t *at = sim_allocation_at(allocation, offset);
    for (int lane = 0; lane < PTX_LANES; lane++)
        lanes->at[lane] = at + (uint32_t)lane * transfer->bytes;
    lanes->contiguous = true;
    return true;
}

static void locate_global_lane(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                               const struct sim_transfer *transfer, const struct sim_allocation **allocation,
                               struct sim_lanes *lanes) {
    const uint64_t address = lanes->address[lane];
    const char *verb = transfer->is_write ? "writes" : "reads";
    if (!sim_check_alignment(warp, i, lane, address, transfer->bytes, transfer->bytes, "global"))
        return;
    if (!*allocation || !within(*allocation, address, transfer->bytes))
        *allocation = sim_allocation_of_access(warp, i, lane, address, transfer->bytes, verb);
    if (!*allocation)
        return;
    const uint64_t offset = address - (*allocation)->address;
    if ((!transfer->is_write || transfer->reads_too) && !sim_allocation_has_one(*allocation, offset, transfer->bytes))
        sim_report_uninitialised_global(warp, i, lane, address, transfer->bytes);
    if (transfer->is_write)
        sim_allocation_mark_one(*allocation, offset, transfer->bytes);
    lanes->at[lane] = sim_allocation_at(*allocation, offset);
}

static void locate_global(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                          uint32_t mask, bool side_by_side, struct sim_lanes *lanes) {
    const struct sim_allocation *allocation = NULL;
    sim_count_global(warp, i, transfer->is_write, lanes->address, mask, transfer->bytes);
    if (side_by_side && locate_global_span(warp, transfer, lanes))
        return;
    sim_lanes_nowhere(lanes, mask);
    for (uint32_t left = mask; left && !warp->machine->fault; left &= left - 1)
        locate_global_lane(warp, i, __builtin_ctz(left), transfer, &allocation, lanes);
}

/* ---- local and parameters --------------------------------------------------------------------------------------- */

/* The lane's bytes in a small memory of its own or of all lanes: [0, size) from `base`. */
static void locate_small(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint8_t *base, uint64_t size,
                         uint64_t window, const char *space, const struct sim_transfer *transfer,
                         struct sim_lanes *lanes) {
    const uint64_t address = lanes->address[lane];
    const uint64_t offset = (address & SIM_WINDOW_MASK) == window ? address & ~SIM_WINDOW_MASK : address;
    if (!base || transfer->bytes > size || offset > size - transfer->bytes) {
        sim_fail(warp->machine, CUDA_ERROR_LAUNCH_FAILED);
        sim_report(warp, i, SIM_REPORT_OUT_OF_BOUNDS, lane, address, "%u bytes at %llu of %llu bytes of %s memory",
                   transfer->bytes, (unsigned long long)offset, (unsigned long long)size, space);
    } else if (sim_check_alignment(warp, i, lane, offset, transfer->bytes, transfer->bytes, space)) {
        lanes->at[lane] = base + offset;
    }
}

static void locate_local(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                         uint32_t mask, struct sim_lanes *lanes) {
    const uint64_t size = warp->machine->function->local_bytes;
    sim_lanes_nowhere(lanes, mask);
    for (; mask && !warp->machine->fault; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        uint8_t *frame = warp->local ? warp->local + (uint64_t)lane * size : NULL;
        locate_small(warp, i, lane, frame, size, SIM_LOCAL_WINDOW, "local", transfer, lanes);
    }
}

static void locate_param(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                         uint32_t mask, struct sim_lanes *lanes) {
    sim_lanes_nowhere(lanes, mask);
    if (transfer->is_write) {
        sim_report(warp, i, SIM_REPORT_ILLEGAL, __builtin_ctz(mask), lanes->address[__builtin_ctz(mask)],
                   "writes to the kernel's parameters, which are constant");
        return;
    }
    for (; mask && !warp->machine->fault; mask &= mask - 1)
        locate_small(warp, i, __builtin_ctz(mask), warp->machine->params, warp->machine->function->parameter_bytes,
                     SIM_PARAM_WINDOW, "parameter", transfer, lanes);
}

/* ---- all spaces ------------------------------------------------------------------------------------------------- */

/* Generic addresses: each lane's window says which space it means. */
static void locate_generic(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                           uint32_t mask, bool side_by_side, struct sim_lanes *lanes) {
    uint32_t shared = 0, local = 0, param = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint64_t window = lanes->address[lane] & SIM_WINDOW_MASK;
        shared |= (uint32_t)(window == SIM_SHARED_WINDOW) << lane;
        local |= (uint32_t)(window == SIM_LOCAL_WINDOW) << lane;
        param |= (uint32_t)(window == SIM_PARAM_WINDOW) << lane;
        if (window == SIM_SHARED_WINDOW)
            lanes->address[lane] &= ~SIM_WINDOW_MASK;
    }
    const uint32_t global = mask & ~(shared | local | param);
    sim_lanes_nowhere(lanes, mask);
    if (shared) /* first, as it may set the places of other lanes too */
        sim_locate_shared(warp, i, transfer, shared, side_by_side && shared == UINT32_MAX, lanes);
    if (global && !warp->machine->fault)
        locate_global(warp, i, transfer, global, side_by_side && global == UINT32_MAX, lanes);
    if (local && !warp->machine->fault)
        locate_local(warp, i, transfer, local, lanes);
    if (param && !warp->machine->fault)
        locate_param(warp, i, transfer, param, lanes);
}

static bool lie_side_by_side(const uint64_t address[PTX_LANES], uint64_t bytes) {
    uint64_t difference = 0;
    for (uint64_t lane = 0; lane < PTX_LANES; lane++)
        difference |= address[lane] - address[0] - lane * bytes;
    return difference == 0;
}

bool sim_locate(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *operand,
                enum sim_space space, const struct sim_transfer *transfer, uint32_t mask, struct sim_lanes *lanes) {
    sim_addresses(warp, operand, lanes->address);
    sim_check_defined(warp, i, operand, mask, "the address");
    lanes->shared = lanes->tainted = 0;
    lanes->contiguous = false;
    const bool side_by_side = mask == UINT32_MAX && lie_side_by_side(lanes->address, transfer->bytes);
    switch (space) {
    case SIM_SPACE_GLOBAL:
        locate_global(warp, i, transfer, mask, side_by_side, lanes);
        break;
    case SIM_SPACE_SHARED:
        sim_locate_shared(warp, i, transfer, mask, side_by_side, lanes);
        break;
    case SIM_SPACE_LOCAL:
        locate_local(warp, i, transfer, mask, lanes);
        break;
    case SIM_SPACE_PARAM:
        locate_param(warp, i, transfer, mask, lanes);
        break;
    case SIM_SPACE_GENERIC:
        locate_generic(warp, i, transfer, mask, side_by_side, lanes);
        break;
    }
    /* Others may wait in a loop for what was written; a plain store to the own CTA is waited for through barriers, and
     * an atomic may change nothing. */
    if (transfer->is_write && !transfer->reads_too &&
        (space == SIM_SPACE_GLOBAL || space == SIM_SPACE_GENERIC || transfer->is_atomic))
        sim_progress(warp->cluster);
    return !warp->machine->fault;
}

struct sim_transfer sim_transfer_of_type(uint32_t choice, uint32_t count) {
    static const struct {
        uint8_t bytes;
        bool sign;
    } types[] = {{4, false}, {1, false}, {1, true},  {1, false}, {2, false}, {2, true},  {2, false}, {4, false},
                 {4, true},  {4, false}, {4, false}, {8, false}, {8, true},  {8, false}, {8, false}};
    const uint32_t known = choice < sizeof types / sizeof *types ? choice : 0;
    return (struct sim_transfer){.element_bytes = types[known].bytes,
                                 .count = count,
                                 .bytes = types[known].bytes * count,
                                 .sign = types[known].sign};
}
