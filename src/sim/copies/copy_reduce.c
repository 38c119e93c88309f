/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of cp.reduce.async.bulk, red.async and their tensor forms, one element at a time. */
#include "sim/copies/copies.h"
#include "sim/execute/numbers.h"

#include <math.h>
#include <string.h>

/* ---- what there is ---------------------------------------------------------------------------------------------- */

#define TYPE(name) (1u << SIM_TYPE_##name)
#define BITS       (TYPE(U32) | TYPE(S32) | TYPE(U64))
#define ORDERED    (BITS | TYPE(S64) | TYPE(F16) | TYPE(BF16))

/* As measured on an H200 (experiment bulk-reduce); and, or, xor of 64 bits want U64 there. FLOAT32 keeps subnormal
 * numbers; .f32 without a map is documented to flush them, as FLOAT32_FTZ does. */
bool sim_reduce_is_taken(enum sim_reduction_kind kind, enum sim_element_type type) {
    static const uint32_t taken[] = {[SIM_REDUCE_ADD] =
                                         BITS | TYPE(F16) | TYPE(BF16) | TYPE(F32) | TYPE(F32_FTZ) | TYPE(F64),
                                     [SIM_REDUCE_MIN] = ORDERED,
                                     [SIM_REDUCE_MAX] = ORDERED,
                                     [SIM_REDUCE_INC] = TYPE(U32),
                                     [SIM_REDUCE_DEC] = TYPE(U32),
                                     [SIM_REDUCE_AND] = BITS,
                                     [SIM_REDUCE_OR] = BITS,
                                     [SIM_REDUCE_XOR] = BITS};
    return kind != SIM_REDUCE_NONE && (taken[kind] >> type & 1);
}

/* ---- whole numbers ---------------------------------------------------------------------------------------------- */

/* Flipping the sign bit makes unsigned comparison order signed numbers. */
static uint64_t reduce_integer(enum sim_reduction_kind kind, uint64_t sign, uint64_t old, uint64_t operand) {
    switch (kind) {
    case SIM_REDUCE_ADD:
        return old + operand;
    case SIM_REDUCE_MIN:
        return (operand ^ sign) < (old ^ sign) ? operand : old;
    case SIM_REDUCE_MAX:
        return (old ^ sign) < (operand ^ sign) ? operand : old;
    case SIM_REDUCE_INC: /* counts up to the operand, then from 0 again */
        return old >= operand ? 0 : old + 1;
    case SIM_REDUCE_DEC: /* counts down to 0, then from the operand again */
        return old == 0 || old > operand ? operand : old - 1;
    case SIM_REDUCE_AND:
        return old & operand;
    case SIM_REDUCE_OR:
        return old | operand;
    default:
        return old ^ operand;
    }
}

static void reduce_32(enum sim_reduction_kind kind, bool is_signed, uint8_t *into, const uint8_t *from) {
    uint32_t old, operand;
    memcpy(&old, into, sizeof old);
    memcpy(&operand, from, sizeof operand);
    old = (uint32_t)reduce_integer(kind, is_signed ? UINT32_C(1) << 31 : 0, old, operand);
    memcpy(into, &old, sizeof old);
}

static void reduce_64(enum sim_reduction_kind kind, bool is_signed, uint8_t *into, const uint8_t *from) {
    uint64_t old, operand;
    memcpy(&old, into, sizeof old);
    memcpy(&operand, from, sizeof operand);
    old = reduce_integer(kind, is_signed ? UINT64_C(1) << 63 : 0, old, operand);
    memcpy(into, &old, sizeof old);
}

/* ---- floating numbers ------------------------------------------------------------------------------------------- */

static bool is_less(float a, float b) {
    return a < b || (a == b && signbit(a) && !signbit(b)); /* -0 below +0 */
}

/* Sums are rounded once: a float holds the sum of two 16-bit numbers well enough. min and max prefer a number to a
 * NaN. */
static float reduce_float(enum sim_reduction_kind kind, float old, float operand) {
    if (kind == SIM_REDUCE_ADD)
        return old + operand;
    if (isnan(old) || isnan(operand))
        return isnan(old) ? operand : old;
    return is_less(operand, old) == (kind == SIM_REDUCE_MIN) ? operand : old;
}

static void reduce_16(enum sim_reduction_kind kind, bool half, uint8_t *into, const uint8_t *from) {
    uint16_t old, operand;
    memcpy(&old, into, sizeof old);
    memcpy(&operand, from, sizeof operand);
    if (half)
        old = sim_float_to_half(reduce_float(kind, sim_half_to_float(old), sim_half_to_float(operand)));
    else
        old = sim_float_to_bfloat16(reduce_float(kind, sim_bfloat16_to_float(old), sim_bfloat16_to_float(operand)));
    memcpy(into, &old, sizeof old);
}

/* A subnormal number becomes the zero of its sign. */
static float flushed(float value, bool flush) {
    return flush && fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static void add_float(bool flush, uint8_t *into, const uint8_t *from) {
    const uint32_t nan = 0x7fffffff;
    float old, operand;
    memcpy(&old, into, sizeof old);
    memcpy(&operand, from, sizeof operand);
    old = flushed(flushed(old, flush) + flushed(operand, flush), flush);
    memcpy(into, isnan(old) ? (const void *)&nan : (const void *)&old, sizeof old);
}

static void add_double(uint8_t *into, const uint8_t *from) {
    double old, operand;
    memcpy(&old, into, sizeof old);
    memcpy(&operand, from, sizeof operand);
    old += operand;
    memcpy(into, &old, sizeof old);
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

void sim_reduce(enum sim_reduction_kind kind, enum sim_element_type type, uint8_t *into, const uint8_t *from,
                uint32_t bytes) {
    const bool wide = type == SIM_TYPE_U64 || type == SIM_TYPE_S64 || type == SIM_TYPE_F64;
    const uint32_t step = wide ? 8 : type == SIM_TYPE_F16 || type == SIM_TYPE_BF16 ? 2 : 4;
    for (uint32_t at = 0; at + step <= bytes; at += step) {
        if (type == SIM_TYPE_F64)
            add_double(into + at, from + at);
        else if (wide)
            reduce_64(kind, type == SIM_TYPE_S64, into + at, from + at);
        else if (step == 2)
            reduce_16(kind, type == SIM_TYPE_F16, into + at, from + at);
        else if (type == SIM_TYPE_F32 || type == SIM_TYPE_F32_FTZ)
            add_float(type == SIM_TYPE_F32_FTZ, into + at, from + at);
        else
            reduce_32(kind, type == SIM_TYPE_S32, into + at, from + at);
    }
}
