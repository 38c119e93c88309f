/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red: the lanes in order, each reads, computes and writes. */
#include <math.h>
#include <string.h>

#include "sim/execute/instructions.h"
#include "sim/execute/numbers.h"
#include "sim/execute/transfer.h"
#include "sim/report/report.h"

/* Brackets of the rows: semantics, scope, space, operation, noftz, hint, type. Those of cas lack the operation and
 * noftz. */
enum { SPACE = 2, OPERATION_CHOICE = 3, TYPE = 6, CAS_TYPE = 4 };
enum operation { ADD = 1, AND, OR, XOR, INC, DEC, MIN, MAX, EXCH };                      /* SIM_ATOMIC_OPERATIONS */
enum type { U32 = 1, S32, B32, F32, U64, S64, B64, F64, F16, F16X2, BF16, BF16X2, B16 }; /* SIM_ATOMIC_TYPES */

static uint32_t bytes_of(enum type type) {
    switch (type) {
    case U64:
    case S64:
    case B64:
    case F64:
        return 8;
    case F16:
    case BF16:
    case B16:
        return 2;
    default:
        return 4;
    }
}

/* ---- floats ----------------------------------------------------------------------------------------------------- */

static float flushed(float value) {
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

/* On global memory subnormal numbers are flushed, on shared memory they are kept. */
static uint32_t add_f32(uint32_t a, uint32_t b, bool flush) {
    const float x = sim_float_of(a), y = sim_float_of(b);
    const float sum = flush ? flushed(flushed(x) + flushed(y)) : x + y;
    return isnan(sum) ? 0x7fffffff : sim_bits_of(sum);
}

static uint64_t add_f64(uint64_t a, uint64_t b) {
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint16_t add_16(enum type type, uint16_t a, uint16_t b) {
    if (type == BF16 || type == BF16X2)
        return sim_float_to_bfloat16(sim_bfloat16_to_float(a) + sim_bfloat16_to_float(b));
    return sim_float_to_half(sim_half_to_float(a) + sim_half_to_float(b));
}

static uint16_t extreme_16(enum type type, uint16_t a, uint16_t b, bool max) {
    const bool bfloat = type == BF16 || type == BF16X2;
    const float x = bfloat ? sim_bfloat16_to_float(a) : sim_half_to_float(a);
    const float y = bfloat ? sim_bfloat16_to_float(b) : sim_half_to_float(b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0x7fff : isnan(x) ? b : a;
    return (max ? x >= y : x <= y) ? a : b;
}

static uint16_t apply_16(enum operation operation, enum type type, uint16_t a, uint16_t b) {
    return operation == ADD ? add_16(type, a, b) : extreme_16(type, a, b, operation == MAX);
}

/* ---- one lane --------------------------------------------------------------------------------------------------- */

static uint64_t add(enum type type, uint64_t old, uint64_t b, bool flush) {
    switch (type) {
    case F32:
        return add_f32((uint32_t)old, (uint32_t)b, flush);
    case F64:
        return add_f64(old, b);
    default:
        return old + b;
    }
}

static uint64_t extreme(enum type type, uint64_t old, uint64_t b, bool max) {
    bool less;
    if (type == S32)
        less = (int32_t)(uint32_t)old < (int32_t)(uint32_t)b;
    else if (type == S64)
        less = (int64_t)old < (int64_t)b;
    else
        less = bytes_of(type) == 8 ? old < b : (uint32_t)old < (uint32_t)b;
    return less == max ? b : old;
}

static uint64_t apply(enum operation operation, enum type type, uint64_t old, uint64_t b, bool flush) {
    if ((type == F16 || type == BF16) && (operation == ADD || operation == MIN || operation == MAX))
        return apply_16(operation, type, (uint16_t)old, (uint16_t)b);
    if ((type == F16X2 || type == BF16X2) && (operation == ADD || operation == MIN || operation == MAX))
        return apply_16(operation, type, (uint16_t)old, (uint16_t)b) |
               (uint32_t)apply_16(operation, type, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
    switch (operation) {
    case ADD:
        return add(type, old, b, flush);
    case AND:
        return old & b;
    case OR:
        return old | b;
    case XOR:
        return old ^ b;
    case INC:
        return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case DEC:
        return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case MIN:
    case MAX:
        return extreme(type, old, b, operation == MAX);
    case EXCH:
        break;
    }
    return b;
}

static void give_old(struct sim_warp *warp, const struct ptx_operand *to, int lane, uint64_t old) {
    if (!to || to->kind != PTX_OPERAND_REGISTER)
        return;
    if (to->bits == 64)
        SIM_ROW_64(warp, to)[lane] = old;
    else
        SIM_ROW_32(warp, to)[lane] = (uint32_t)(to->bits == 16 ? old & 0xffff : old);
}

/* ---- the warp --------------------------------------------------------------------------------------------------- */

static enum sim_space space_of(const struct ptx_instruction *i) {
    if (i->operation->class == SIM_CLASS_SHARED_ATOMIC)
        return SIM_SPACE_SHARED;
    return i->choice[SPACE] ? SIM_SPACE_GLOBAL : SIM_SPACE_GENERIC;
}

/* atom.add of the constant 1 and .inc: the hardware counts lanes that share a word. */
static bool is_increment(const struct ptx_operand *b, enum operation operation, enum type type) {
    const bool integer = type == U32 || type == S32 || type == B32;
    return integer &&
           (operation == INC || (operation == ADD && b->kind == PTX_OPERAND_IMMEDIATE && (uint32_t)b->value == 1));
}

/* Tainted operands taint shared memory and are reported elsewhere; tainted memory taints the result. */
static void spread_taint(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *to,
                         const struct ptx_operand *from, const struct sim_lanes *lanes, uint32_t bytes, uint32_t mask) {
    uint32_t tainted = lanes->tainted;
    if (to && to->kind == PTX_OPERAND_REGISTER && lanes->tainted)
        sim_taint(warp, to->reg, lanes->tainted);
    if (warp->tainted && from->kind == PTX_OPERAND_REGISTER) {
        const uint32_t values = warp->tainted[from->reg / 128] & mask;
        sim_check_defined(warp, i, from, values & ~lanes->shared, "an atomic's operand");
        tainted |= values & lanes->shared;
    }
    sim_taint_written(lanes, tainted, 0, bytes);
}

static enum sim_next atomic(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                            const struct ptx_operand *to, const struct ptx_operand *address) {
    struct sim_lanes lanes;
    const struct ptx_operand *from = address + 1;
    const enum operation operation = (enum operation)i->choice[OPERATION_CHOICE];
    const enum type type = (enum type)i->choice[TYPE];
    const enum sim_space space = space_of(i);
    const uint32_t bytes = bytes_of(type);
    const struct sim_transfer transfer = {.element_bytes = bytes,
                                          .count = 1,
                                          .bytes = bytes,
                                          .is_write = true,
                                          .is_atomic = true,
                                          .reads_too = true,
                                          .increment = is_increment(from, operation, type)};
    bool changes = false;
    if (!sim_locate(warp, i, address, space, &transfer, mask, &lanes))
        return SIM_FAULT;
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        uint64_t old = 0;
        if (lanes.at[lane]) {
            const bool flush = !(lanes.shared >> lane & 1);
            old = sim_fetch(lanes.at[lane], bytes, false);
            const uint64_t updated = apply(operation, type, old, sim_lane_value(warp, from, lane), flush);
            sim_put(lanes.at[lane], bytes, updated);
            changes |= updated != old;
        }
        give_old(warp, to, lane, old);
    }
    if (changes) /* else it may be a look at what another is to write */
        sim_progress(warp->cluster);
    if (warp->tainted || lanes.tainted)
        spread_taint(warp, i, to, from, &lanes, bytes, mask);
    return SIM_NEXT;
}

enum sim_next sim_do_atomic(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask) {
    (void)path;
    return atomic(warp, i, mask, &i->operand[0], &i->operand[1]);
}

enum sim_next sim_do_reduce(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask) {
    (void)path;
    return atomic(warp, i, mask, NULL, &i->operand[0]);
}

enum sim_next sim_do_compare_swap(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    static const uint8_t sizes[] = {4, 4, 4, 4, 8, 8, 8, 2}; /* SIM_CAS_TYPES */
    struct sim_lanes lanes;
    const uint32_t bytes = sizes[i->choice[CAS_TYPE] % sizeof sizes];
    const struct sim_transfer transfer = {.element_bytes = bytes,
                                          .count = 1,
                                          .bytes = bytes,
                                          .is_write = true,
                                          .is_atomic = true,
                                          .reads_too = true,
                                          .cas = true};
    const uint64_t keep = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
    bool changes = false;
    (void)path;
    if (!sim_locate(warp, i, &i->operand[1], space_of(i), &transfer, mask, &lanes))
        return SIM_FAULT;
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        uint64_t old = 0;
        if (lanes.at[lane]) {
            old = sim_fetch(lanes.at[lane], bytes, false);
            if (old == (sim_lane_value(warp, &i->operand[2], lane) & keep)) {
                sim_put(lanes.at[lane], bytes, sim_lane_value(warp, &i->operand[3], lane));
                changes = true;
            }
        }
        give_old(warp, &i->operand[0], lane, old);
    }
    if (changes)
        sim_progress(warp->cluster);
    if (warp->tainted || lanes.tainted)
        spread_taint(warp, i, &i->operand[0], &i->operand[3], &lanes, bytes, mask);
    return SIM_NEXT;
}
