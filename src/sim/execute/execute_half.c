/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of fp16 and bf16, one number or two a register: add, sub, mul, fma, min, max, neg, abs.
 *
 * Sums and products of two such numbers are exact in a double, so they are rounded once. A fused multiply-add may need
 * more bits than a double has; it is then rounded to odd, which the second rounding cannot mistake for a tie. */
#include "sim/execute/convert.h"

#include <math.h>

#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"

/* Choices of {.f16|.f16x2|.bf16|.bf16x2}. */
static enum sim_float_type type_of(uint8_t choice) {
    return choice <= 2 ? SIM_TYPE_HALF : SIM_TYPE_BFLOAT16;
}

static double flushed(enum sim_float_type type, uint16_t bits, bool flush) {
    if (flush && type == SIM_TYPE_HALF && (bits & 0x7c00) == 0)
        bits &= 0x8000;
    return sim_number(type, bits, false);
}

/* a * b is exact. The sum's error by Knuth's two-sum; where there is one the last bit is made odd. */
static double fused(double a, double b, double c) {
    const double product = a * b, sum = product + c;
    const double other = sum - product, error = (product - (sum - other)) + (c - other);
    uint64_t bits = sim_bits_f64(sum);
    if (sum - sum != 0 || error == 0 || bits & 1)
        return sum;
    bits += (error > 0) == (sum > 0) ? 1 : -1;
    return sim_as_f64(bits);
}

enum half_operation { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA };

static double compute(enum half_operation operation, double a, double b, double c) {
    switch (operation) {
    case HALF_ADD:
        return a + b;
    case HALF_SUB:
        return a - b;
    case HALF_MUL:
        return a * b;
    default:
        return fused(a, b, c);
    }
}

/* One number; `shift`: 16 for the upper one of a pair. */
static uint64_t arithmetic_of(const struct ptx_instruction *i, enum half_operation operation,
                              const struct sim_rules *rules, enum sim_float_type type, const uint32_t source[3],
                              int shift) {
    double value[3] = {0};
    for (int s = 0; s < i->operand_count - 1 && s < 3; s++)
        value[s] = flushed(type, (uint16_t)(source[s] >> shift), rules->flush);
    uint64_t bits = sim_number_bits(type, rules, compute(operation, value[0], value[1], value[2]));
    if (rules->flush && type == SIM_TYPE_HALF && (bits & 0x7c00) == 0)
        bits &= 0x8000;
    return bits << shift;
}

/* choice: [.rn][.ftz][.sat|.relu]{.f16|.f16x2|.bf16|.bf16x2} */
static enum sim_next arithmetic(struct sim_warp *warp, const struct ptx_instruction *i, enum half_operation operation,
                                uint32_t mask) {
    const struct sim_rules rules = {.flush = i->choice[1], .saturate = i->choice[2] == 1, .relu = i->choice[2] == 2};
    const enum sim_float_type type = type_of(i->choice[3]);
    const bool pair = i->choice[3] % 2 == 0;
    uint64_t bits[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++) {
        uint32_t source[3] = {0};
        for (int s = 0; s < i->operand_count - 1 && s < 3; s++)
            source[s] = SIM_SOURCE_32(warp, &i->operand[s + 1])[lane];
        bits[lane] = arithmetic_of(i, operation, &rules, type, source, 0);
        if (pair)
            bits[lane] |= arithmetic_of(i, operation, &rules, type, source, 16);
    }
    sim_put_bits(warp, &i->operand[0], bits, mask);
    return SIM_NEXT;
}

#define ARITHMETIC(name, operation)                                                                                    \
    enum sim_next sim_do_##name(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,         \
                                uint32_t mask) {                                                                       \
        (void)path;                                                                                                    \
        return arithmetic(warp, i, operation, mask);                                                                   \
    }
ARITHMETIC(half_add, HALF_ADD)
ARITHMETIC(half_sub, HALF_SUB)
ARITHMETIC(half_mul, HALF_MUL)
ARITHMETIC(half_fma, HALF_FMA)

/* ---- min, max: the numbers themselves, not rounded --------------------------------------------------------------- */

/* NaN gives way to a number unless .NaN is written; -0 lies below +0. */
static uint16_t lesser(enum sim_float_type type, uint16_t a, uint16_t b, bool greatest, bool keep_nan) {
    const uint16_t infinity = type == SIM_TYPE_HALF ? 0x7c00 : 0x7f80;
    const bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
    if ((a_nan && b_nan) || (keep_nan && (a_nan || b_nan)))
        return 0x7fff;
    if (a_nan || b_nan)
        return a_nan ? b : a;
    const int a_order = a & 0x8000 ? -(a & 0x7fff) - 1 : a, b_order = b & 0x8000 ? -(b & 0x7fff) - 1 : b;
    return (a_order < b_order) != greatest ? a : b;
}

/* choice: [.ftz][.NaN]{.f16|.f16x2|.bf16|.bf16x2} */
static enum sim_next extreme(struct sim_warp *warp, const struct ptx_instruction *i, bool greatest, uint32_t mask) {
    const enum sim_float_type type = type_of(i->choice[2]);
    const int halves = i->choice[2] % 2 == 0 ? 2 : 1;
    const uint32_t *const a = SIM_SOURCE_32(warp, &i->operand[1]), *const b = SIM_SOURCE_32(warp, &i->operand[2]);
    uint64_t bits[PTX_LANES] = {0};
    for (int lane = 0; lane < PTX_LANES; lane++) {
        for (int half = 0; half < halves; half++) {
            uint16_t x = (uint16_t)(a[lane] >> 16 * half), y = (uint16_t)(b[lane] >> 16 * half);
            if (i->choice[0] && type == SIM_TYPE_HALF) {
                x &= x & 0x7c00 ? 0xffff : 0x8000;
                y &= y & 0x7c00 ? 0xffff : 0x8000;
            }
            bits[lane] |= (uint64_t)lesser(type, x, y, greatest, i->choice[1]) << 16 * half;
        }
    }
    sim_put_bits(warp, &i->operand[0], bits, mask);
    return SIM_NEXT;
}

enum sim_next sim_do_half_min(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    (void)path;
    return extreme(warp, i, false, mask);
}

enum sim_next sim_do_half_max(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    (void)path;
    return extreme(warp, i, true, mask);
}
