/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that are no plain copy, logic of predicates, and arithmetic of four operands. */
#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/memory/memory.h"

/* ---- predicates ------------------------------------------------------------------------------------------------- */

enum sim_next sim_do_move_predicate(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                    uint32_t mask) {
    (void)path;
    sim_set_predicate(warp, &i->operand[0], sim_predicate(warp, &i->operand[1]), mask);
    return SIM_NEXT;
}

enum sim_next sim_do_not_predicate(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    (void)path;
    sim_set_predicate(warp, &i->operand[0], ~sim_predicate(warp, &i->operand[1]), mask);
    return SIM_NEXT;
}

#define LOGIC(name, operator)                                                                                          \
    enum sim_next sim_do_##name(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,         \
                                uint32_t mask) {                                                                       \
        const uint32_t a = sim_predicate(warp, &i->operand[1]), b = sim_predicate(warp, &i->operand[2]);               \
        (void)path;                                                                                                    \
        sim_set_predicate(warp, &i->operand[0], a operator b, mask);                                                   \
        return SIM_NEXT;                                                                                               \
    }
LOGIC(and_predicates, &)
LOGIC(or_predicates, |)
LOGIC(xor_predicates, ^)

/* ---- selp ------------------------------------------------------------------------------------------------------- */

enum sim_next sim_do_select_32(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    const uint32_t *const a = SIM_SOURCE_32(warp, &i->operand[1]), *const b = SIM_SOURCE_32(warp, &i->operand[2]);
    const uint32_t chosen = sim_predicate(warp, &i->operand[3]);
    (void)path;
    if (i->operand[0].kind != PTX_OPERAND_REGISTER)
        return SIM_NEXT;
    uint32_t result[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        result[lane] = chosen >> lane & 1 ? a[lane] : b[lane];
    sim_blend_32(SIM_ROW_32(warp, &i->operand[0]), result, mask);
    return SIM_NEXT;
}

enum sim_next sim_do_select_64(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    const uint64_t *const a = SIM_SOURCE_64(warp, &i->operand[1]), *const b = SIM_SOURCE_64(warp, &i->operand[2]);
    const uint32_t chosen = sim_predicate(warp, &i->operand[3]);
    (void)path;
    if (i->operand[0].kind != PTX_OPERAND_REGISTER)
        return SIM_NEXT;
    uint64_t result[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        result[lane] = chosen >> lane & 1 ? a[lane] : b[lane];
    sim_blend_64(SIM_ROW_64(warp, &i->operand[0]), result, mask);
    return SIM_NEXT;
}

/* ---- pack and unpack: the first element is the lowest ----------------------------------------------------------- */

enum sim_next sim_do_pack(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                          uint32_t mask) {
    const struct ptx_operand *const to = &i->operand[0], *const vector = &i->operand[1];
    const struct ptx_operand *const element = &warp->machine->function->elements[vector->first];
    uint64_t result[PTX_LANES] = {0};
    (void)path;
    if (to->kind != PTX_OPERAND_REGISTER || vector->count == 0)
        return SIM_NEXT;
    const uint32_t total = to->bits == 64 ? 64 : 32, bits = total / vector->count;
    const uint32_t ones = bits < 32 ? (UINT32_C(1) << bits) - 1 : UINT32_MAX;
    for (uint32_t n = 0; n < vector->count && bits > 0; n++) {
        const uint32_t *const row = SIM_SOURCE_32(warp, &element[n]);
        for (int lane = 0; lane < PTX_LANES; lane++)
            result[lane] |= (uint64_t)(row[lane] & ones) << n * bits;
    }
    if (total == 64) {
        sim_blend_64(SIM_ROW_64(warp, to), result, mask);
        return SIM_NEXT;
    }
    for (; mask; mask &= mask - 1)
        SIM_ROW_32(warp, to)[__builtin_ctz(mask)] = (uint32_t)result[__builtin_ctz(mask)];
    return SIM_NEXT;
}

enum sim_next sim_do_unpack(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask) {
    const struct ptx_operand *const vector = &i->operand[0], *const from = &i->operand[1];
    const struct ptx_operand *const element = &warp->machine->function->elements[vector->first];
    uint64_t value[PTX_LANES];
    (void)path;
    if (vector->count == 0)
        return SIM_NEXT;
    const bool wide = from->kind == PTX_OPERAND_IMMEDIATE || from->bits == 64;
    for (int lane = 0; lane < PTX_LANES; lane++) /* all read before any is written: the vector may hold the source */
        value[lane] = wide ? SIM_SOURCE_64(warp, from)[lane] : SIM_SOURCE_32(warp, from)[lane];
    const uint32_t bits = (i->choice[0] == 2 ? 64 : 32) / vector->count;
    const uint32_t ones = bits < 32 ? (UINT32_C(1) << bits) - 1 : UINT32_MAX;
    for (uint32_t n = 0; n < vector->count && bits > 0; n++) {
        if (element[n].kind != PTX_OPERAND_REGISTER)
            continue;
        uint32_t *const row = SIM_ROW_32(warp, &element[n]);
        for (uint32_t left = mask; left; left &= left - 1)
            row[__builtin_ctz(left)] = (uint32_t)(value[__builtin_ctz(left)] >> n * bits) & ones;
    }
    return SIM_NEXT;
}

/* ---- addresses and clocks --------------------------------------------------------------------------------------- */

static void store(struct sim_warp *warp, const struct ptx_operand *to, const uint64_t value[PTX_LANES], uint32_t mask) {
    if (to->kind != PTX_OPERAND_REGISTER)
        return;
    for (; mask; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        if (to->bits == 64)
            SIM_ROW_64(warp, to)[lane] = value[lane];
        else
            SIM_ROW_32(warp, to)[lane] = (uint32_t)value[lane];
    }
}

enum sim_next sim_do_move_address(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    uint64_t addresses[PTX_LANES];
    (void)path;
    sim_addresses(warp, &i->operand[1], addresses);
    store(warp, &i->operand[0], addresses, mask);
    return SIM_NEXT;
}

/* Clocks count ticks, and so do nanoseconds. */
enum sim_next sim_do_read_clock(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    const uint64_t time = i->operand[1].value == PTX_CLOCK_HI ? path->time >> 32 : path->time;
    uint64_t row[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        row[lane] = time;
    store(warp, &i->operand[0], row, mask);
    return SIM_NEXT;
}

/* ---- four sources ----------------------------------------------------------------------------------------------- */

enum sim_next sim_do_insert_32(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    const uint32_t *const a = SIM_SOURCE_32(warp, &i->operand[1]), *const b = SIM_SOURCE_32(warp, &i->operand[2]);
    const uint32_t *const at = SIM_SOURCE_32(warp, &i->operand[3]), *const length = SIM_SOURCE_32(warp, &i->operand[4]);
    uint32_t result[PTX_LANES];
    (void)path;
    for (int lane = 0; lane < PTX_LANES; lane++)
        result[lane] = (uint32_t)sim_insert(a[lane], b[lane], at[lane], length[lane]);
    if (i->operand[0].kind == PTX_OPERAND_REGISTER)
        sim_blend_32(SIM_ROW_32(warp, &i->operand[0]), result, mask);
    return SIM_NEXT;
}

enum sim_next sim_do_insert_64(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    const uint64_t *const a = SIM_SOURCE_64(warp, &i->operand[1]), *const b = SIM_SOURCE_64(warp, &i->operand[2]);
    const uint32_t *const at = SIM_SOURCE_32(warp, &i->operand[3]), *const length = SIM_SOURCE_32(warp, &i->operand[4]);
    uint64_t result[PTX_LANES];
    (void)path;
    for (int lane = 0; lane < PTX_LANES; lane++)
        result[lane] = sim_insert(a[lane], b[lane], at[lane], length[lane]);
    if (i->operand[0].kind == PTX_OPERAND_REGISTER)
        sim_blend_64(SIM_ROW_64(warp, &i->operand[0]), result, mask);
    return SIM_NEXT;
}

/* Bit k of the table is the result for (a, b, c) = the bits of k. */
enum sim_next sim_do_lop3(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                          uint32_t mask) {
    const uint32_t *const a = SIM_SOURCE_32(warp, &i->operand[1]), *const b = SIM_SOURCE_32(warp, &i->operand[2]);
    const uint32_t *const c = SIM_SOURCE_32(warp, &i->operand[3]);
    uint32_t result[PTX_LANES] = {0};
    (void)path;
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t x = k & 4 ? 0 : UINT32_MAX, y = k & 2 ? 0 : UINT32_MAX, z = k & 1 ? 0 : UINT32_MAX;
        if (i->operand[4].value >> k & 1)
            for (int lane = 0; lane < PTX_LANES; lane++)
                result[lane] |= (a[lane] ^ x) & (b[lane] ^ y) & (c[lane] ^ z);
    }
    if (i->operand[0].kind == PTX_OPERAND_REGISTER)
        sim_blend_32(SIM_ROW_32(warp, &i->operand[0]), result, mask);
    return SIM_NEXT;
}
