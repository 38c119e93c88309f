/* SPDX-License-Identifier: Apache-2.0 */
/* What the conversions (execute_convert.c) and the arithmetic of 16-bit floats (execute_half.c) share. */
#ifndef SIM_CONVERT_H
#define SIM_CONVERT_H

#include "sim/execute/numbers.h"
#include "sim/machine/machine.h"

enum sim_float_type {
    SIM_TYPE_HALF,
    SIM_TYPE_BFLOAT16,
    SIM_TYPE_FLOAT,
    SIM_TYPE_DOUBLE,
    SIM_TYPE_TF32,
    SIM_TYPE_E4M3,
    SIM_TYPE_E5M2
};
const struct sim_format *sim_format_of(enum sim_float_type type);

/* The qualifiers of an instruction. */
struct sim_rules {
    enum sim_rounding rounding;
    bool flush;    /* .ftz: subnormal fp32 values become zeros of their sign */
    bool relu;     /* below 0 becomes 0, NaN stays */
    bool saturate; /* .sat: into [0, 1], NaN becomes 0 */
    bool finite;   /* .satfinite: infinities become the largest number */
};

/* Between the bits of a type and its value. */
double sim_number(enum sim_float_type type, uint64_t bits, bool flush);
uint64_t sim_number_bits(enum sim_float_type type, const struct sim_rules *rules, double value);

/* A lane of a source; lanes of `mask` of a destination, as many of their bits as its register has. */
uint64_t sim_lane_bits(const struct sim_warp *warp, const struct ptx_operand *operand, bool wide, int lane);
void sim_put_bits(struct sim_warp *warp, const struct ptx_operand *operand, const uint64_t bits[PTX_LANES],
                  uint32_t mask);

#endif
