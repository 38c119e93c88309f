/* SPDX-License-Identifier: Apache-2.0 */
/* The rows CONVERT and COMPARE of instructions.def: cvt between integers, and setp. */
#include "sim/execute/lane_loops.h"

/* ---- cvt -------------------------------------------------------------------------------------------------------- */

/* The low halves of a 64-bit register, for a conversion from a narrower type. */
static void narrow(uint32_t low[PTX_LANES], const uint64_t *row) {
    for (int lane = 0; lane < PTX_LANES; lane++)
        low[lane] = (uint32_t)row[lane];
}

/* Writes values of `bits` bits, extended by their sign or zero to the register's width. */
static void store_wider(struct sim_warp *warp, const struct ptx_operand *operand, const uint32_t *values, uint32_t bits,
                        bool is_signed, uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        const uint64_t zeros = (uint64_t)values[lane] << (64 - bits);
        const uint64_t value = is_signed ? (uint64_t)((int64_t)zeros >> (64 - bits)) : zeros >> (64 - bits);
        if (operand->bits == 64)
            SIM_ROW_64(warp, operand)[lane] = value;
        else
            SIM_ROW_32(warp, operand)[lane] = operand->bits == 16 ? (uint16_t)value : (uint32_t)value;
    }
}

enum { SIGNED_u8, SIGNED_s8, SIGNED_u16 = 0, SIGNED_s16, SIGNED_u32 = 0, SIGNED_s32, SIGNED_u64 = 0, SIGNED_s64 };

#define CONVERT(name, opcode, D, A, expression)                                                                        \
    LOOP(name, D, (const ELEMENT(A) * row_a), (row_a), LANE(A, a), expression)                                         \
    HANDLER_OF(name) {                                                                                                 \
        const struct ptx_operand *const operand = i->operand;                                                          \
        const ELEMENT(A) *row_a = ROW(A, 1);                                                                           \
        uint32_t low[PTX_LANES];                                                                                       \
        if (operand->kind != PTX_OPERAND_REGISTER)                                                                     \
            return SIM_NEXT;                                                                                           \
        if (sizeof(ELEMENT(A)) == 4 && operand[1].kind == PTX_OPERAND_REGISTER && operand[1].bits == 64) {             \
            narrow(low, SIM_SOURCE_64(warp, operand + 1));                                                             \
            row_a = (const void *)low;                                                                                 \
        }                                                                                                              \
        ELEMENT(D) aside[PTX_LANES], *const row = (ELEMENT(D) *)(warp->registers + operand->reg);                      \
        const bool wider = sizeof(ELEMENT(D)) == 4 && 8 * sizeof(SIM_TYPE_##D) < operand->bits;                        \
        ELEMENT(D) *const result = mask == SIM_ALL_LANES && !wider ? row : aside;                                      \
        RUN(name, result, (row_a));                                                                                    \
        if (wider)                                                                                                     \
            store_wider(warp, operand, (const void *)aside, 8 * sizeof(SIM_TYPE_##D), SIGNED_##D, mask);               \
        else if (result == aside)                                                                                      \
            BLEND(row, aside, mask);                                                                                   \
        return SIM_NEXT;                                                                                               \
    }

/* ---- setp ------------------------------------------------------------------------------------------------------- */

#define TEST(T, condition)                                                                                             \
    SIM_EACH_LANE {                                                                                                    \
        LANE(T, a);                                                                                                    \
        LANE(T, b);                                                                                                    \
        bits |= (uint32_t)(condition) << lane;                                                                         \
    }                                                                                                                  \
    break

/* The comparisons: those named ...u are also true of NaNs, the others false. Of integers, .lo .ls .hi .hs are < <= > >=
 * of unsigned types. */
#define COMPARISONS(T)                                                                                                 \
    switch (comparison) {                                                                                              \
    case SIM_EQ:                                                                                                       \
        TEST(T, a == b);                                                                                               \
    case SIM_NE:                                                                                                       \
        TEST(T, a != b && a == a && b == b);                                                                           \
    case SIM_LT:                                                                                                       \
    case SIM_LO:                                                                                                       \
        TEST(T, a < b);                                                                                                \
    case SIM_LE:                                                                                                       \
    case SIM_LS:                                                                                                       \
        TEST(T, a <= b);                                                                                               \
    case SIM_GT:                                                                                                       \
    case SIM_HI:                                                                                                       \
        TEST(T, a > b);                                                                                                \
    case SIM_GE:                                                                                                       \
    case SIM_HS:                                                                                                       \
        TEST(T, a >= b);                                                                                               \
    case SIM_EQU:                                                                                                      \
        TEST(T, a == b || a != a || b != b);                                                                           \
    case SIM_NEU:                                                                                                      \
        TEST(T, a != b);                                                                                               \
    case SIM_LTU:                                                                                                      \
        TEST(T, !(a >= b));                                                                                            \
    case SIM_LEU:                                                                                                      \
        TEST(T, !(a > b));                                                                                             \
    case SIM_GTU:                                                                                                      \
        TEST(T, !(a <= b));                                                                                            \
    case SIM_GEU:                                                                                                      \
        TEST(T, !(a < b));                                                                                             \
    case SIM_NUM:                                                                                                      \
        TEST(T, a == a && b == b);                                                                                     \
    case SIM_NAN:                                                                                                      \
        TEST(T, a != a || b != b);                                                                                     \
    }

enum { COMBINE_AND = 1, COMBINE_OR, COMBINE_XOR };

static uint32_t combine(int how, uint32_t a, uint32_t b) {
    return how == COMBINE_AND ? a & b : how == COMBINE_OR ? a | b : how == COMBINE_XOR ? a ^ b : a;
}

/* p = test op c, q = !test op c. */
static void set_both(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t test, uint32_t mask) {
    const struct ptx_operand *const third = &i->operand[4];
    const uint32_t c = third->kind == PTX_OPERAND_NONE ? 0 : sim_predicate(warp, third);
    sim_set_predicate(warp, &i->operand[0], combine(i->choice[1], test, c), mask);
    sim_set_predicate(warp, &i->operand[1], combine(i->choice[1], ~test, c), mask);
}

#define COMPARE(name, opcode, T)                                                                                       \
    SIM_INSIDE uint32_t name##_inside(int comparison, const ELEMENT(T) * row_a, const ELEMENT(T) * row_b) {            \
        uint32_t bits = 0;                                                                                             \
        COMPARISONS(T)                                                                                                 \
        return bits;                                                                                                   \
    }                                                                                                                  \
    SIM_WIDE static uint32_t name##_wide(int comparison, const ELEMENT(T) * row_a, const ELEMENT(T) * row_b) {         \
        return name##_inside(comparison, row_a, row_b);                                                                \
    }                                                                                                                  \
    static uint32_t name##_plain(int comparison, const ELEMENT(T) * row_a, const ELEMENT(T) * row_b) {                 \
        return name##_inside(comparison, row_a, row_b);                                                                \
    }                                                                                                                  \
    HANDLER_OF(name) {                                                                                                 \
        const struct ptx_operand *const operand = i->operand;                                                          \
        const ELEMENT(T) *const row_a = ROW(T, 2), *const row_b = ROW(T, 3);                                           \
        set_both(warp, i, RUN(name, i->choice[0], (row_a, row_b)), mask);                                              \
        return SIM_NEXT;                                                                                               \
    }

#define LANES1(name, opcode, class, D, A, expression)
#define LANES2(name, opcode, class, D, A, B, expression)
#define LANES3(name, opcode, class, D, A, B, C, expression)
#define OPERATION(opcode, operands, class, handler)

#include "sim/execute/instructions.def"
