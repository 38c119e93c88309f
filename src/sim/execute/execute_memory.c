/* SPDX-License-Identifier: Apache-2.0 */
/* ld, ldu and st: where the bytes are is transfer.c's business, here they move between memory and registers. */
#include <string.h>

#include "sim/execute/instructions.h"
#include "sim/execute/transfer.h"
#include "sim/report/report.h"

/* ---- operands --------------------------------------------------------------------------------------------------- */

/* The elements of a vector, or the operand itself. */
static const struct ptx_operand *elements_of(const struct sim_warp *warp, const struct ptx_operand *operand,
                                             uint32_t *count) {
    *count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    return operand->kind == PTX_OPERAND_VECTOR ? &warp->machine->function->elements[operand->first] : operand;
}

/* SIM_MEMORY brackets of instructions.def: semantics, scope, space, cache operator, nc, three of caches, hint,
 * prefetch; then the vector's width in rows that have one, then the type. */
enum { SEMANTICS = 0, LOAD_TYPE = 9, STORE_TYPE = 7, SEMANTICS_WEAK = 1 };

static struct sim_transfer transfer_of(const struct ptx_instruction *i, const struct ptx_operand *value, uint32_t count,
                                       uint32_t type_choice) {
    const bool vector = value->kind == PTX_OPERAND_VECTOR;
    struct sim_transfer transfer = sim_transfer_of_type(i->choice[type_choice + vector], count);
    transfer.is_atomic = i->choice[SEMANTICS] > SEMANTICS_WEAK;
    return transfer;
}

/* A vector operand with as many elements as .v2 or .v4 says; other counts do not get past the parser's row. */
static bool has_right_count(uint32_t count) {
    return count == 1 || count == 2 || count == 4;
}

/* ---- memory to registers ---------------------------------------------------------------------------------------- */

static uint64_t register_mask(const struct ptx_operand *to) {
    return to->bits == 16 ? 0xffff : UINT32_MAX;
}

/* 32 lanes, 4 bytes each, `stride` bytes apart. */
static void fetch_row(uint32_t *row, const uint8_t *at, uint32_t stride) {
    if (stride == 4) {
        memcpy(row, at, 4 * PTX_LANES);
        return;
    }
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        memcpy(&row[lane], at + lane * stride, 4);
}

static void load_element(struct sim_warp *warp, const struct ptx_operand *to, const struct sim_lanes *lanes,
                         const struct sim_transfer *transfer, uint32_t element, uint32_t mask) {
    const uint32_t first = element * transfer->element_bytes, bytes = transfer->element_bytes;
    if (to->kind != PTX_OPERAND_REGISTER)
        return;
    if (to->bits == 64) {
        uint64_t *row = SIM_ROW_64(warp, to);
        for (uint32_t left = mask; left; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            row[lane] = lanes->at[lane] ? sim_fetch(lanes->at[lane] + first, bytes, transfer->sign) : 0;
        }
        return;
    }
    uint32_t *row = SIM_ROW_32(warp, to);
    const uint64_t keep = register_mask(to);
    if (lanes->contiguous && bytes == 4 && to->bits == 32) {
        fetch_row(row, lanes->at[0] + first, transfer->bytes);
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        row[lane] = lanes->at[lane] ? (uint32_t)(sim_fetch(lanes->at[lane] + first, bytes, transfer->sign) & keep) : 0;
    }
}

static enum sim_next load(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask, enum sim_space space,
                          uint32_t type_choice) {
    struct sim_lanes lanes;
    uint32_t count;
    const struct ptx_operand *to = elements_of(warp, &i->operand[0], &count);
    if (!has_right_count(count))
        return SIM_NEXT;
    struct sim_transfer transfer = transfer_of(i, &i->operand[0], count, type_choice);
    transfer.is_atomic &= space != SIM_SPACE_PARAM;
    if (!sim_locate(warp, i, &i->operand[1], space, &transfer, mask, &lanes))
        return SIM_FAULT;
    for (uint32_t e = 0; e < count; e++) {
        load_element(warp, &to[e], &lanes, &transfer, e, mask);
        const uint32_t first = e * transfer.element_bytes;
        if (lanes.tainted && to[e].kind == PTX_OPERAND_REGISTER)
            sim_taint(warp, to[e].reg, sim_taint_read(&lanes, first, transfer.element_bytes));
    }
    return SIM_NEXT;
}

#define LOAD(name, space, type_choice)                                                                                 \
    enum sim_next sim_do_##name(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,         \
                                uint32_t mask) {                                                                       \
        (void)path;                                                                                                    \
        return load(warp, i, mask, space, type_choice);                                                                \
    }
LOAD(load_global, SIM_SPACE_GLOBAL, LOAD_TYPE)
LOAD(load_shared, SIM_SPACE_SHARED, LOAD_TYPE)
LOAD(load_local, SIM_SPACE_LOCAL, LOAD_TYPE)
LOAD(load_generic, SIM_SPACE_GENERIC, LOAD_TYPE)
LOAD(load_param, SIM_SPACE_PARAM, 1)
LOAD(load_uniform, SIM_SPACE_GLOBAL, 1)

/* ---- registers to memory ---------------------------------------------------------------------------------------- */

static void store_element(struct sim_warp *warp, const struct ptx_operand *from, const struct sim_lanes *lanes,
                          const struct sim_transfer *transfer, uint32_t element, uint32_t mask) {
    const uint32_t first = element * transfer->element_bytes, bytes = transfer->element_bytes;
    if (from->kind != PTX_OPERAND_IMMEDIATE && from->bits != 64 && lanes->contiguous && bytes == 4) {
        const uint32_t *row = SIM_ROW_32(warp, from);
        for (uint32_t lane = 0; lane < PTX_LANES; lane++)
            memcpy(lanes->at[0] + first + lane * transfer->bytes, &row[lane], 4);
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (lanes->at[lane])
            sim_put(lanes->at[lane] + first, bytes, sim_lane_value(warp, from, lane));
    }
}

/* Uninitialised values: in shared memory they stay what they are, elsewhere they are reported. */
static void check_stored(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *from,
                         const struct sim_lanes *lanes, const struct sim_transfer *transfer, uint32_t element,
                         uint32_t mask, enum sim_space space) {
    if (from->kind != PTX_OPERAND_REGISTER)
        return;
    const uint32_t tainted = warp->tainted[from->reg / 128] & mask;
    if (tainted & lanes->shared)
        sim_taint_written(lanes, tainted, element * transfer->element_bytes, transfer->element_bytes);
    if ((tainted & ~lanes->shared) && space != SIM_SPACE_LOCAL)
        sim_check_defined(warp, i, from, tainted & ~lanes->shared, "the stored value");
}

static enum sim_next store(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                           enum sim_space space) {
    struct sim_lanes lanes;
    uint32_t count;
    const struct ptx_operand *from = elements_of(warp, &i->operand[1], &count);
    if (!has_right_count(count))
        return SIM_NEXT;
    struct sim_transfer transfer = transfer_of(i, &i->operand[1], count, STORE_TYPE);
    transfer.is_write = true;
    if (!sim_locate(warp, i, &i->operand[0], space, &transfer, mask, &lanes))
        return SIM_FAULT;
    for (uint32_t e = 0; e < count; e++) {
        store_element(warp, &from[e], &lanes, &transfer, e, mask);
        if (warp->tainted)
            check_stored(warp, i, &from[e], &lanes, &transfer, e, mask, space);
    }
    return SIM_NEXT;
}

#define STORE(name, space)                                                                                             \
    enum sim_next sim_do_##name(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,         \
                                uint32_t mask) {                                                                       \
        (void)path;                                                                                                    \
        return store(warp, i, mask, space);                                                                            \
    }
STORE(store_global, SIM_SPACE_GLOBAL)
STORE(store_shared, SIM_SPACE_SHARED)
STORE(store_local, SIM_SPACE_LOCAL)
STORE(store_generic, SIM_SPACE_GENERIC)
