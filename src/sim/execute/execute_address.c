/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: from a space's own to generic ones and back, and to the peers of the cluster. */
#include "sim/execute/instructions.h"
#include "sim/execute/transfer.h"
#include "sim/memory/memory.h"

enum space {
    GLOBAL = 1,
    CONSTANT,
    SHARED,
    SHARED_CTA,
    SHARED_CLUSTER,
    LOCAL,
    PARAM,
    PARAM_ENTRY
}; /* SIM_ADDRESS_SPACES */

static void give(struct sim_warp *warp, const struct ptx_operand *to, uint32_t mask, const uint64_t values[PTX_LANES]) {
    if (to->kind != PTX_OPERAND_REGISTER)
        return;
    for (; mask; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        if (to->bits == 64)
            SIM_ROW_64(warp, to)[lane] = values[lane];
        else
            SIM_ROW_32(warp, to)[lane] = (uint32_t)(to->bits == 16 ? values[lane] & 0xffff : values[lane]);
    }
}

/* The values of a register, an immediate, or a symbol. */
static void take(struct sim_warp *warp, const struct ptx_operand *from, uint64_t values[PTX_LANES]) {
    if (from->kind == PTX_OPERAND_ADDRESS) {
        sim_addresses(warp, from, values);
        return;
    }
    for (int lane = 0; lane < PTX_LANES; lane++)
        values[lane] = sim_lane_value(warp, from, lane);
}

/* ---- cvta, isspacep --------------------------------------------------------------------------------------------- */

static uint64_t window_of(enum space space) {
    switch (space) {
    case SHARED:
    case SHARED_CTA:
    case SHARED_CLUSTER:
        return SIM_SHARED_WINDOW;
    case LOCAL:
        return SIM_LOCAL_WINDOW;
    case PARAM:
    case PARAM_ENTRY:
        return SIM_PARAM_WINDOW;
    default:
        return 0;
    }
}

static bool has_window(uint64_t address) {
    const uint64_t window = address & SIM_WINDOW_MASK;
    return window == SIM_SHARED_WINDOW || window == SIM_LOCAL_WINDOW || window == SIM_PARAM_WINDOW;
}

enum sim_next sim_do_to_generic(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    uint64_t values[PTX_LANES];
    const uint64_t window = window_of((enum space)i->choice[0]);
    (void)path;
    take(warp, &i->operand[1], values);
    for (int lane = 0; lane < PTX_LANES; lane++)
        values[lane] = window && !has_window(values[lane]) ? window | (values[lane] & UINT32_MAX) : values[lane];
    give(warp, &i->operand[0], mask, values);
    return SIM_NEXT;
}

enum sim_next sim_do_from_generic(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    uint64_t values[PTX_LANES];
    const uint64_t window = window_of((enum space)i->choice[0]);
    (void)path;
    take(warp, &i->operand[1], values);
    for (int lane = 0; lane < PTX_LANES; lane++)
        values[lane] =
            window && (values[lane] & SIM_WINDOW_MASK) == window ? values[lane] & ~SIM_WINDOW_MASK : values[lane];
    give(warp, &i->operand[0], mask, values);
    return SIM_NEXT;
}

/* The CTA that a shared address without its window names. */
static uint32_t rank_of(const struct sim_warp *warp, uint64_t address) {
    const uint32_t high = (uint32_t)address >> 24;
    return high ? high - 1 : warp->cta->rank;
}

static bool is_in_space(const struct sim_warp *warp, enum space space, uint64_t address) {
    const uint64_t window = address & SIM_WINDOW_MASK;
    switch (space) {
    case SHARED:
    case SHARED_CTA:
        return window == SIM_SHARED_WINDOW && rank_of(warp, address) == warp->cta->rank;
    case SHARED_CLUSTER:
        return window == SIM_SHARED_WINDOW;
    case LOCAL:
        return window == SIM_LOCAL_WINDOW;
    case PARAM:
    case PARAM_ENTRY:
        return window == SIM_PARAM_WINDOW;
    default:
        return !has_window(address);
    }
}

enum sim_next sim_do_is_space(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    uint64_t values[PTX_LANES];
    uint32_t inside = 0;
    (void)path;
    if (i->operand[0].kind != PTX_OPERAND_PREDICATE)
        return SIM_NEXT;
    take(warp, &i->operand[1], values);
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        inside |= (uint32_t)is_in_space(warp, (enum space)i->choice[0], values[lane]) << lane;
    uint32_t *predicate = SIM_ROW_32(warp, &i->operand[0]);
    *predicate = (*predicate & ~mask) | (inside & mask);
    return SIM_NEXT;
}

/* ---- the cluster's other CTAs ----------------------------------------------------------------------------------- */

/* Ranks that do not exist make addresses that do not either: found when they are used. */
enum sim_next sim_do_map_address(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                 uint32_t mask) {
    const bool generic = i->choice[0] == 0;
    uint64_t values[PTX_LANES], ranks[PTX_LANES];
    (void)path;
    take(warp, &i->operand[1], values);
    take(warp, &i->operand[2], ranks);
    for (int lane = 0; lane < PTX_LANES; lane++) {
        const uint32_t rank = (uint32_t)ranks[lane] < 0xfe ? (uint32_t)ranks[lane] : 0xfe;
        values[lane] = (generic ? SIM_SHARED_WINDOW : 0) | SIM_CLUSTER_ADDRESS(rank, values[lane] & 0xffffff);
    }
    give(warp, &i->operand[0], mask, values);
    return SIM_NEXT;
}

enum sim_next sim_do_rank_of_address(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                     uint32_t mask) {
    uint64_t values[PTX_LANES];
    (void)path;
    take(warp, &i->operand[1], values);
    for (int lane = 0; lane < PTX_LANES; lane++)
        values[lane] = rank_of(warp, values[lane]);
    give(warp, &i->operand[0], mask, values);
    return SIM_NEXT;
}

/* ---- cache policies: opaque, and without effect here ------------------------------------------------------------ */

/* The constants that CUTLASS uses for a fraction of 1. */
enum sim_next sim_do_create_policy(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    static const uint64_t policies[] = {UINT64_C(0x1000000000000000), UINT64_C(0x14F0000000000000),
                                        UINT64_C(0x1000000000000000), UINT64_C(0x12F0000000000000),
                                        UINT64_C(0x16F0000000000000)}; /* none, last, normal, first, unchanged */
    uint64_t values[PTX_LANES];
    (void)path;
    for (int lane = 0; lane < PTX_LANES; lane++)
        values[lane] = policies[i->choice[0] % (sizeof policies / sizeof *policies)];
    give(warp, &i->operand[0], mask, values);
    return SIM_NEXT;
}
