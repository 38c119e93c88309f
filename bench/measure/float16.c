/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between float and the types of 16 and 8 bits, rounding to nearest even. */
#include <string.h>

#include "bench/measure/operands.h"

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float value_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t operands_to_bf16(float value) {
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float operands_from_bf16(uint16_t bits) {
    return value_of((uint32_t)bits << 16);
}

uint16_t operands_to_fp16(float value) {
    uint32_t bits = bits_of(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return 0x7fff;
    if (bits >= 0x477ff000) /* rounds to 65536 or more */
        return sign | 0x7c00;
    if (bits < 0x38800000) { /* subnormal: let the adder of float round at bit 2^-24 */
        float shifted = value_of(bits) + 0.5f;
        return sign | (uint16_t)(bits_of(shifted) - 0x3f000000);
    }
    bits += 0xfff + (bits >> 13 & 1);
    return sign | (uint16_t)((bits - 0x38000000) >> 13);
}

float operands_from_fp16(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t rest = bits & 0x7fff;
    if (rest >= 0x7c00)
        return value_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest < 0x400) {
        float magnitude = (float)rest * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return value_of(sign | ((rest << 13) + 0x38000000));
}

/* Moved to the place of a float's exponent and mantissa it is 2^120 times too small. */
static float from_e4m3(uint8_t bits) {
    const float size = value_of((uint32_t)(bits & 0x7f) << 20) * 0x1p120f;
    return (bits & 0x7f) == 0x7f ? value_of(0x7fffffff) : bits & 0x80 ? -size : size;
}

/* Of numbers that e4m3 has room for. */
static uint8_t to_e4m3(float value) {
    const uint32_t bits = bits_of(value * 0x1p-120f), size = bits & 0x7fffffff;
    return (uint8_t)(bits >> 24 & 0x80) | (uint8_t)((size + 0x7ffff + (size >> 20 & 1)) >> 20);
}

static uint8_t to_e5m2(float value) {
    const uint16_t bits = operands_to_fp16(value);
    return (uint8_t)((bits + 0x7f + (bits >> 8 & 1)) >> 8);
}

void operands_put(void *array, uint64_t index, enum gm_type type, float value) {
    if (gm_type_in_memory(type) == GM_FP32)
        ((float *)array)[index] = value;
    else if (type == GM_E4M3)
        ((uint8_t *)array)[index] = to_e4m3(value);
    else if (type == GM_E5M2)
        ((uint8_t *)array)[index] = to_e5m2(value);
    else
        ((uint16_t *)array)[index] = type == GM_BF16 ? operands_to_bf16(value) : operands_to_fp16(value);
}

float operands_value(const void *array, int64_t index, enum gm_type type) {
    if (gm_type_in_memory(type) == GM_FP32)
        return ((const float *)array)[index];
    if (type == GM_E4M3)
        return from_e4m3(((const uint8_t *)array)[index]);
    if (type == GM_E5M2)
        return operands_from_fp16((uint16_t)(((const uint8_t *)array)[index] << 8));
    if (type == GM_INT8)
        return (float)((const int8_t *)array)[index];
    if (type == GM_INT32)
        return (float)((const int32_t *)array)[index];
    if (type == GM_INT64)
        return (float)((const int64_t *)array)[index];
    if (type == GM_UINT8)
        return (float)((const uint8_t *)array)[index];
    const uint16_t bits = ((const uint16_t *)array)[index];
    return type == GM_BF16 ? operands_from_bf16(bits) : operands_from_fp16(bits);
}
