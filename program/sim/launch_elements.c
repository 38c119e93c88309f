/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of the types that a reader's kernel may take. */
#include "program/sim/launch_elements.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"

static const struct element_type types[] = {
    {"i8", 'i', 1},  {"u8", 'u', 1},  {"i16", 'i', 2}, {"u16", 'u', 2},  {"i32", 'i', 4}, {"u32", 'u', 4},
    {"i64", 'i', 8}, {"u64", 'u', 8}, {"f16", 'f', 2}, {"bf16", 'f', 2}, {"f32", 'f', 4}, {"f64", 'f', 8},
};

const struct element_type *element_find(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static void put_real(const struct element_type *type, double number, void *to) {
    const float single = (float)number;
    const uint16_t half = type->name[0] == 'b' ? operands_to_bf16(single) : operands_to_fp16(single);
    const void *from = type->bytes == 8 ? (const void *)&number : type->bytes == 4 ? (const void *)&single : &half;
    memcpy(to, from, type->bytes);
}

/* The lowest bytes: hosts of CUDA are little-endian. */
void element_put(const struct element_type *type, int64_t number, void *to) {
    if (type->kind == 'f')
        put_real(type, (double)number, to);
    else
        memcpy(to, &number, type->bytes);
}

bool element_read(const struct element_type *type, const char *text, void *to) {
    const uint32_t bits = 8 * type->bytes;
    char *end;
    errno = 0;
    if (type->kind == 'f') {
        const double number = strtod(text, &end);
        put_real(type, number, to);
        return end != text && *end == '\0';
    }
    const bool is_signed = type->kind == 'i';
    const int64_t number = is_signed ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
    element_put(type, number, to);
    if (errno || end == text || *end || (!is_signed && strchr(text, '-')))
        return false;
    return bits == 64 || (is_signed ? number >> (bits - 1) == 0 || number >> (bits - 1) == -1 : number >> bits == 0);
}

static int64_t whole_of(const struct element_type *type, const void *from) {
    uint64_t bits = 0;
    memcpy(&bits, from, type->bytes);
    const uint32_t above = 64 - 8 * type->bytes;
    return type->kind == 'i' ? (int64_t)(bits << above) >> above : (int64_t)bits;
}

static double real_of(const struct element_type *type, const void *from) {
    double number;
    float single;
    uint16_t half;
    if (type->bytes == 8) {
        memcpy(&number, from, sizeof number);
        return number;
    }
    if (type->bytes == 4) {
        memcpy(&single, from, sizeof single);
        return (double)single;
    }
    memcpy(&half, from, sizeof half);
    return (double)(type->name[0] == 'b' ? operands_from_bf16(half) : operands_from_fp16(half));
}

void element_print(const struct element_type *type, const void *from, FILE *out) {
    if (type->kind == 'f')
        fprintf(out, "%.9g", real_of(type, from));
    else if (type->kind == 'i')
        fprintf(out, "%" PRId64, whole_of(type, from));
    else
        fprintf(out, "%" PRIu64, (uint64_t)whole_of(type, from));
}
