/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of mma and wgmma. */
#include "sim/execute/matrix_tile.h"

#include "sim/execute/lanes.h"
#include "sim/execute/numbers.h"

uint32_t sim_element_bytes(enum sim_element element) {
    return element <= SIM_ELEMENT_BF16 ? 2 : element == SIM_ELEMENT_TF32 ? 4 : 1;
}

/* ---- widening ---------------------------------------------------------------------------------------------------- */

#define WIDEN_LOOP(name, type, expression)                                                                             \
    SIM_INSIDE void widen_##name(const type *from, float *to, uint32_t count) {                                        \
        for (uint32_t k = 0; k < count; k++) {                                                                         \
            const type a = from[k];                                                                                    \
            to[k] = expression;                                                                                        \
        }                                                                                                              \
    }
WIDEN_LOOP(half, uint16_t, sim_float_of(sim_half_to_float_bits(a)))
WIDEN_LOOP(bfloat16, uint16_t, sim_float_of((uint32_t)a << 16))
WIDEN_LOOP(tf32, uint32_t, sim_float_of(a & ~0x1fffu)) /* the low 13 bits are not looked at */
WIDEN_LOOP(e4m3, uint8_t, sim_float_of(sim_e4m3_to_float_bits(a)))
WIDEN_LOOP(e5m2, uint8_t, sim_float_of(sim_e5m2_to_float_bits(a)))
WIDEN_LOOP(s8, int8_t, (float)a)
WIDEN_LOOP(u8, uint8_t, (float)a)

SIM_INSIDE void widen(enum sim_element element, const void *from, float *to, uint32_t count) {
    switch (element) {
    case SIM_ELEMENT_F16:
        widen_half(from, to, count);
        break;
    case SIM_ELEMENT_BF16:
        widen_bfloat16(from, to, count);
        break;
    case SIM_ELEMENT_TF32:
        widen_tf32(from, to, count);
        break;
    case SIM_ELEMENT_E4M3:
        widen_e4m3(from, to, count);
        break;
    case SIM_ELEMENT_E5M2:
        widen_e5m2(from, to, count);
        break;
    case SIM_ELEMENT_S8BIT:
        widen_s8(from, to, count);
        break;
    default:
        widen_u8(from, to, count);
        break;
    }
}

SIM_WIDE static void widen_wide(enum sim_element element, const void *from, float *to, uint32_t count) {
    widen(element, from, to, count);
}

void sim_widen(enum sim_element element, const void *from, float *to, uint32_t count) {
    if (sim_wide)
        widen_wide(element, from, to, count);
    else
        widen(element, from, to, count);
}

/* ---- the product ------------------------------------------------------------------------------------------------- */

/* Products and sums are rounded one by one, k by k: both ways give the same bits. */
static void multiply(const float *restrict a, const float *restrict b, float *restrict c, uint32_t rows,
                     uint32_t columns, uint32_t depth) {
    for (uint32_t m = 0; m < rows; m++) {
        float *const row = c + m * columns;
        memset(row, 0, columns * sizeof *row);
        for (uint32_t k = 0; k < depth; k++)
            for (uint32_t n = 0; n < columns; n++)
                row[n] += a[m * depth + k] * b[k * columns + n];
    }
}

#if defined __x86_64__
/* Eight columns are a register. */
typedef float block __attribute__((vector_size(32), aligned(4), may_alias));

/* 4 rows by `blocks` blocks of columns, all sums in registers. */
SIM_WIDE SIM_INSIDE void multiply_corner(const float *a, const float *b, float *c, size_t columns, size_t depth,
                                         const int blocks) {
    block sum[4][2] = {0};
    for (size_t k = 0; k < depth; k++) {
#pragma GCC unroll 2
        for (int j = 0; j < blocks; j++) {
            const block right = *(const block *)(b + k * columns + 8 * j);
#pragma GCC unroll 4
            for (int row = 0; row < 4; row++)
                sum[row][j] += a[row * depth + k] * right;
        }
    }
#pragma GCC unroll 4
    for (int row = 0; row < 4; row++)
#pragma GCC unroll 2
        for (int j = 0; j < blocks; j++)
            *(block *)(c + row * columns + 8 * j) = sum[row][j];
}

SIM_WIDE static void multiply_wide(const float *a, const float *b, float *c, uint32_t rows, uint32_t columns,
                                   uint32_t depth) {
    uint32_t n = 0;
    for (; n + 16 <= columns; n += 16)
        for (uint32_t m = 0; m < rows; m += 4)
            multiply_corner(a + m * depth, b + n, c + m * columns + n, columns, depth, 2);
    for (uint32_t m = 0; n < columns && m < rows; m += 4)
        multiply_corner(a + m * depth, b + n, c + m * columns + n, columns, depth, 1);
}
#else
#define multiply_wide multiply
#endif

void sim_multiply(const float *a, const float *b, float *c, uint32_t rows, uint32_t columns, uint32_t depth) {
    if (sim_wide)
        multiply_wide(a, b, c, rows, columns, depth);
    else
        multiply(a, b, c, rows, columns, depth);
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

/* Four at a time: `width` is 4, 8 or 16, and a copy of a size that is unknown costs more than the widening. */
SIM_INSIDE void copy_floats(float *to, const float *from, uint32_t width) {
    for (uint32_t k = 0; k < width; k += 4)
        memcpy(to + k, from + k, 4 * sizeof *to);
}

/* Register r: rows g + 8 (r mod 2), the r / 2-th 16 bytes of k. */
void sim_fragment_rows(enum sim_element element, const uint32_t *const *registers, uint32_t count, float *a) {
    const uint32_t width = SIM_CORE_BYTES / sim_element_bytes(element), depth = count / 2 * width;
    float core[SIM_CORE_ROWS * SIM_CORE_BYTES];
    for (uint32_t r = 0; r < count; r++) {
        sim_widen(element, registers[r], core, SIM_CORE_ROWS * width);
        for (uint32_t g = 0; g < SIM_CORE_ROWS; g++)
            copy_floats(a + (g + 8 * (r & 1)) * depth + r / 2 * width, core + g * width, width);
    }
}

void sim_fragment_columns(enum sim_element element, const uint32_t *const *registers, uint32_t count, float *b) {
    const uint32_t width = SIM_CORE_BYTES / sim_element_bytes(element);
    float core[SIM_CORE_ROWS * SIM_CORE_BYTES];
    for (uint32_t r = 0; r < count; r++) {
        sim_widen(element, registers[r], core, SIM_CORE_ROWS * width);
        for (uint32_t k = 0; k < width; k++)
            for (uint32_t g = 0; g < SIM_CORE_ROWS; g++)
                b[(r * width + k) * 8 + sim_column(g)] = core[g * width + k];
    }
}

/* ---- accumulators ------------------------------------------------------------------------------------------------ */

/* c is d or apart from it, so that lanes may be taken many at a time (SIM_EACH_LANE). */
SIM_INSIDE void add_floats(uint32_t *d, const uint32_t *c, const float *sums) {
    if (c)
        SIM_EACH_LANE d[lane] = sim_bits_f32(sim_float_of(c[lane]) + sums[lane]);
    else
        SIM_EACH_LANE d[lane] = sim_bits_f32(sums[lane]);
}

SIM_INSIDE void add_halves(uint32_t *d, const uint32_t *c, const float *even, const float *odd) {
    SIM_EACH_LANE {
        const uint32_t old = c ? c[lane] : 0;
        const float low = sim_float_of(sim_half_to_float_bits(old & 0xffff)) + even[lane];
        const float high = sim_float_of(sim_half_to_float_bits(old >> 16)) + odd[lane];
        d[lane] = sim_float_to_half_bits(sim_bits_of(low)) | sim_float_to_half_bits(sim_bits_of(high)) << 16;
    }
}

/* Sums of up to 32 products of 8 bits are exact in fp32. */
SIM_INSIDE void add_integers(uint32_t *d, const uint32_t *c, const float *sums, bool saturate) {
    SIM_EACH_LANE {
        const int64_t sum = (int64_t)(c ? (int32_t)c[lane] : 0) + (int32_t)sums[lane];
        d[lane] = (uint32_t)(saturate ? sim_saturate_s32(sum) : sum);
    }
}

SIM_INSIDE void accumulate(enum sim_accumulator type, const struct sim_accumulators *registers, const float *sums,
                           uint32_t stride, bool saturate) {
    float even[PTX_LANES], odd[PTX_LANES];
    for (uint32_t g = 0; g < SIM_CORE_ROWS; g++) {
        memcpy(even + 4 * g, sums + g * stride, 4 * sizeof *even);
        memcpy(odd + 4 * g, sums + g * stride + 4, 4 * sizeof *odd);
    }
    if (type == SIM_ACCUMULATE_F32) {
        add_floats(registers->d_even, registers->c_even, even);
        add_floats(registers->d_odd, registers->c_odd, odd);
    } else if (type == SIM_ACCUMULATE_F16) {
        add_halves(registers->d_even, registers->c_even, even, odd);
    } else {
        add_integers(registers->d_even, registers->c_even, even, saturate);
        add_integers(registers->d_odd, registers->c_odd, odd, saturate);
    }
}

SIM_WIDE static void accumulate_wide(enum sim_accumulator type, const struct sim_accumulators *registers,
                                     const float *sums, uint32_t stride, bool saturate) {
    accumulate(type, registers, sums, stride, saturate);
}

void sim_accumulate(enum sim_accumulator type, const struct sim_accumulators *registers, const float *sums,
                    uint32_t stride, bool saturate) {
    if (sim_wide)
        accumulate_wide(type, registers, sums, stride, saturate);
    else
        accumulate(type, registers, sums, stride, saturate);
}
