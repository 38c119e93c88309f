/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "common/dequantize/params.h"
#include "dequantize/dequantize_tests.h"

static uint8_t *at(uint64_t base, int64_t offset) {
    return (uint8_t *)(uintptr_t)(base + (uint64_t)offset);
}

static double scale_of(const struct gm_dequantize_params *p, int64_t row, int64_t column) {
    const bool is_last = (column + 1) >> p->column_shift != column >> p->column_shift && column + 1 < p->columns;
    int64_t down = p->scale_down, across = p->scale_across;
    if (planted_bug == DEQUANTIZE_BUG_ORDER && p->column_shift < 31)
        down = p->scale_across, across = p->scale_down;
    if (planted_bug == DEQUANTIZE_BUG_NEXT_SCALE && is_last)
        column++;
    const uint8_t *stored = at(p->scales, (row >> p->row_shift) * down + (column >> p->column_shift) * across);
    if (!p->is_e8m0)
        return bits_to_double(GM_FP32, load_bits(stored, GM_FP32));
    if (*stored == 255 && planted_bug != DEQUANTIZE_BUG_NAN_BYTE)
        return NAN;
    return *stored == 0 && planted_bug == DEQUANTIZE_BUG_ZERO_BYTE ? 0 : ldexp(1, *stored - 127);
}

static uint32_t one(const struct gm_dequantize_params *p, int64_t row, int64_t column, int64_t x_pitch) {
    const enum gm_type x_type = (enum gm_type)p->x_type, out_type = (enum gm_type)p->out_type;
    const double x = bits_to_double(x_type, *at(p->x, row * x_pitch + column));
    const double exact = x * scale_of(p, row, column);
    float product = (float)exact;
    if (planted_bug == DEQUANTIZE_BUG_ROUNDS_DOWN && out_type != GM_FP32 && isfinite(exact)) {
        const double rounded = round_to(out_type, (double)product);
        if (fabs(rounded) > fabs(exact))
            product = (float)(rounded - copysign(2 * half_ulp(out_type, rounded), rounded));
    }
    if (product == 0 && planted_bug == DEQUANTIZE_BUG_LOST_SIGN)
        product = 0;
    return double_to_bits(out_type, (double)product);
}

void compute_dequantize(const struct gm_kernel *kernel, const void *params) {
    const struct gm_dequantize_params *p = params;
    const enum gm_type out_type = (enum gm_type)p->out_type;
    const int64_t bytes = gm_type_bytes(out_type);
    const int64_t x_pitch = p->is_packed ? p->columns : p->x_pitch;
    const int64_t out_pitch = p->is_packed ? p->columns * bytes : p->out_pitch;
    int64_t rows = p->rows;
    (void)kernel;
    if (p->row_count && planted_bug != DEQUANTIZE_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits(at(p->row_count, 0), GM_INT32);
        rows = count < rows ? count : rows;
    }
    const int64_t written =
        p->columns + (planted_bug == DEQUANTIZE_BUG_COLUMN_AFTER) - (planted_bug == DEQUANTIZE_BUG_LOST_TAIL);
    for (int64_t row = 0; row < rows - (planted_bug == DEQUANTIZE_BUG_LOST_ROW); row++)
        for (int64_t column = 0; column < written; column++)
            store_bits(at(p->out, row * out_pitch + column * bytes), out_type,
                       column < p->columns ? one(p, row, column, x_pitch) : 1);
}
