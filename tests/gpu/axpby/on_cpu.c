/* SPDX-License-Identifier: Apache-2.0 */
/* axpby of any variant on the CPU, from the same parameter struct that the GPU kernel gets, and the planted bugs. */
#include <math.h>

#include "axpby/axpby_tests.h"
#include "common/axpby/params.h"

static uint8_t *at(uint64_t base, int64_t offset) {
    return (uint8_t *)(uintptr_t)(base + (uint64_t)offset);
}

static int64_t pitch_of(const struct gm_axpby_params *p, int64_t pitch, int type) {
    return p->is_packed ? p->columns * gm_type_bytes((enum gm_type)type) : pitch;
}

static double load(const struct gm_axpby_params *p, const struct gm_axpby_operand *o, int64_t row, int64_t column) {
    const enum gm_type type = (enum gm_type)o->type;
    const int64_t offset = row * pitch_of(p, o->pitch, o->type) + column * gm_type_bytes(type);
    const double value = bits_to_double(type, load_bits(at(o->address, offset), type));
    return planted_bug == AXPBY_BUG_DOUBLE ? value : (double)(float)value;
}

static double sum_of(const struct gm_axpby_params *p, int64_t row, int64_t column) {
    float sum = planted_bug == AXPBY_BUG_NO_GAMMA && p->operands ? -0.0f : p->gamma;
    if (planted_bug == AXPBY_BUG_ADDS_ZERO && sum == 0)
        sum = 0;
    for (int i = 0; i < p->operands; i++) {
        const bool swaps = planted_bug == AXPBY_BUG_FACTORS && p->operands == 2;
        const float factor = p->operand[swaps ? 1 - i : i].factor;
        const double v = load(p, &p->operand[i], row, column);
        if (planted_bug == AXPBY_BUG_DOUBLE)
            sum = (float)fma((double)factor, v, (double)sum);
        else if (planted_bug == AXPBY_BUG_TWO_ROUNDINGS)
            sum = (float)((double)factor * v) + sum;
        else
            sum = fmaf(factor, (float)v, sum);
    }
    return (double)sum;
}

static uint32_t rounded(enum gm_type type, double v) {
    const double least = type == GM_INT8 ? -128 : type == GM_UINT8 ? 0 : -0x1p31;
    const double most = type == GM_INT8 ? 127 : type == GM_UINT8 ? 255 : 0x1p31 - 1;
    if (type == GM_INT8 || type == GM_UINT8 || type == GM_INT32) {
        if (isnan(v))
            return 0;
        const double integer = planted_bug == AXPBY_BUG_CUTS ? trunc(v) : nearbyint(v);
        if (planted_bug == AXPBY_BUG_WRAPS && type == GM_INT8 && fabs(integer) < 0x1p30)
            return (uint32_t)(int32_t)integer & 0xff;
        return double_to_bits(type, fmin(fmax(integer, least), most));
    }
    const double limit = type == GM_E4M3 ? 448 : type == GM_E5M2 ? 57344 : INFINITY;
    if (fabs(v) > limit)
        return double_to_bits(type, planted_bug == AXPBY_BUG_OVERFLOWS ? NAN : copysign(limit, v));
    return double_to_bits(type, v);
}

void compute_axpby(const struct gm_kernel *kernel, const void *params) {
    const struct gm_axpby_params *p = params;
    const enum gm_type type = (enum gm_type)p->out_type;
    const int64_t bytes = gm_type_bytes(type), pitch = pitch_of(p, p->out_pitch, p->out_type);
    int64_t rows = p->rows;
    (void)kernel;
    if (p->row_count && planted_bug != AXPBY_BUG_COUNT) {
        const int32_t count = (int32_t)load_bits(at(p->row_count, 0), GM_INT32);
        rows = count < rows ? count : rows;
    }
    const int64_t written = p->columns + (planted_bug == AXPBY_BUG_COLUMN_AFTER) - (planted_bug == AXPBY_BUG_LOST_TAIL);
    for (int64_t row = 0; row < rows - (planted_bug == AXPBY_BUG_LOST_ROW); row++)
        for (int64_t column = 0; column < written; column++)
            store_bits(at(p->out, row * pitch + column * bytes), type,
                       column < p->columns ? rounded(type, sum_of(p, row, column)) : 1);
}
