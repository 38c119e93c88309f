/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor reductions on paper. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "lab/tma_reduce.h"

const struct reduce_type reduce_types[] = {
    {"u8", 0, 1, false, false, false}, {"u16", 1, 2, false, false, false},  {"u32", 2, 4, false, false, false},
    {"s32", 3, 4, false, true, false}, {"u64", 4, 8, false, false, false},  {"s64", 5, 8, false, true, false},
    {"f16", 6, 2, true, true, false},  {"f32", 7, 4, true, true, false},    {"f64", 8, 8, true, true, false},
    {"bf16", 9, 2, true, true, false}, {"f32.ftz", 10, 4, true, true, true}};
const unsigned reduce_type_count = sizeof reduce_types / sizeof *reduce_types;

const char *const reduce_names[REDUCE_OPERATIONS] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

static bool named(const struct reduce_type *type, const char *names) {
    for (const char *at = names; (at = strstr(at, type->name)); at++) {
        const char after = at[strlen(type->name)];
        if ((at == names || at[-1] == ' ') && (after == ' ' || after == 0))
            return true;
    }
    return false;
}

bool reduce_is_listed(enum reduce_operation operation, const struct reduce_type *type) {
    static const char *const listed[REDUCE_OPERATIONS] = {
        [REDUCE_ADD] = "u32 s32 u64 f16 f32 f64 bf16",
        [REDUCE_MIN] = "u32 s32 u64 s64 f16 bf16",
        [REDUCE_MAX] = "u32 s32 u64 s64 f16 bf16",
        [REDUCE_INC] = "u32",
        [REDUCE_DEC] = "u32",
        [REDUCE_AND] = "u32 s32 u64 s64",
        [REDUCE_OR] = "u32 s32 u64 s64",
        [REDUCE_XOR] = "u32 s32 u64 s64",
    };
    return named(type, listed[operation]);
}

bool reduce_is_taken(enum reduce_operation operation, const struct reduce_type *type) {
    const bool of_bits = operation == REDUCE_AND || operation == REDUCE_OR || operation == REDUCE_XOR;
    if (type->flushes)
        return operation == REDUCE_ADD;
    return reduce_is_listed(operation, type) && !(of_bits && strcmp(type->name, "s64") == 0);
}

static uint64_t mask_of(const struct reduce_type *type) {
    return type->bytes == 8 ? ~UINT64_C(0) : (UINT64_C(1) << (8 * type->bytes)) - 1;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double reduce_number_of(const struct reduce_type *type, uint64_t bits) {
    double value;
    if (!type->floating)
        return (double)bits;
    if (type->bytes == 4)
        return float_of((uint32_t)bits);
    if (type->bytes == 2)
        return type->type == 6 ? operands_from_fp16((uint16_t)bits) : operands_from_bf16((uint16_t)bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t reduce_bits_of(const struct reduce_type *type, double number) {
    const float narrow = (float)number;
    uint64_t wide;
    uint32_t bits;
    memcpy(&wide, &number, sizeof wide);
    memcpy(&bits, &narrow, sizeof bits);
    if (!type->floating)
        return (uint64_t)(int64_t)number & mask_of(type);
    if (type->bytes == 2)
        return type->type == 6 ? operands_to_fp16(narrow) : operands_to_bf16(narrow);
    return type->bytes == 4 ? bits : wide;
}

/* Moves the sign bit so that unsigned comparison orders signed numbers. */
static uint64_t order_of(const struct reduce_type *type, uint64_t bits) {
    return type->is_signed ? bits ^ (UINT64_C(1) << (8 * type->bytes - 1)) : bits;
}

static bool is_less(const struct reduce_type *type, uint64_t a, uint64_t b) {
    return type->floating ? reduce_number_of(type, a) < reduce_number_of(type, b)
                          : order_of(type, a) < order_of(type, b);
}

/* A subnormal number becomes the zero of its sign. */
static uint64_t flushed(const struct reduce_type *type, uint64_t bits) {
    const uint64_t sign = UINT64_C(1) << (8 * type->bytes - 1);
    return type->flushes && fabs(reduce_number_of(type, bits)) < FLT_MIN ? bits & sign : bits;
}

uint64_t reduce_bits(enum reduce_operation operation, const struct reduce_type *type, uint64_t old, uint64_t operand) {
    old = flushed(type, old);
    operand = flushed(type, operand);
    const double sum = reduce_number_of(type, old) + reduce_number_of(type, operand);
    switch (operation) {
    case REDUCE_ADD:
        return type->floating ? reduce_bits_of(type, sum) : (old + operand) & mask_of(type);
    case REDUCE_MIN:
        return is_less(type, operand, old) ? operand : old;
    case REDUCE_MAX:
        return is_less(type, old, operand) ? operand : old;
    case REDUCE_INC: /* counts up to the operand, then from 0 again */
        return old >= operand ? 0 : old + 1;
    case REDUCE_DEC: /* counts down to 0, then from the operand again */
        return old == 0 || old > operand ? operand : old - 1;
    case REDUCE_AND:
        return old & operand;
    case REDUCE_OR:
        return old | operand;
    default:
        return old ^ operand;
    }
}
