/* SPDX-License-Identifier: Apache-2.0 */
/* cvt with a floating format on either side, in its general form: every value goes through a double (which holds each
 * of fp16, bf16, fp32 and the 8-bit formats exactly), is rounded once, and is put into its register. The pairs that
 * kernels use most have rows of their own in instructions.def, without a branch. */
#include "sim/execute/convert.h"

#include <math.h>

#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"

/* ---- floating rows ----------------------------------------------------------------------------------------------- */

const struct sim_format *sim_format_of(enum sim_float_type type) {
    static const struct sim_format *const formats[] = {
        [SIM_TYPE_HALF] = &sim_format_half,   [SIM_TYPE_BFLOAT16] = &sim_format_bfloat16,
        [SIM_TYPE_FLOAT] = &sim_format_float, [SIM_TYPE_DOUBLE] = &sim_format_double,
        [SIM_TYPE_TF32] = &sim_format_tf32,   [SIM_TYPE_E4M3] = &sim_format_e4m3,
        [SIM_TYPE_E5M2] = &sim_format_e5m2};
    return formats[type];
}

double sim_number(enum sim_float_type type, uint64_t bits, bool flush) {
    switch (type) {
    case SIM_TYPE_HALF:
        return sim_half_to_float((uint16_t)bits);
    case SIM_TYPE_BFLOAT16:
        return sim_bfloat16_to_float((uint16_t)bits);
    case SIM_TYPE_DOUBLE:
        return sim_as_f64(bits);
    case SIM_TYPE_E4M3:
        return sim_e4m3_to_float((uint8_t)bits);
    case SIM_TYPE_E5M2:
        return sim_e5m2_to_float((uint8_t)bits);
    default:
        return sim_float_of(flush ? sim_flushed((uint32_t)bits) : (uint32_t)bits);
    }
}

uint64_t sim_number_bits(enum sim_float_type type, const struct sim_rules *rules, double value) {
    if (rules->saturate)
        value = value > 1 ? 1 : value > 0 ? value : 0; /* NaN becomes 0 */
    if (rules->relu && value <= 0)
        value = 0;
    if (type == SIM_TYPE_DOUBLE)
        return sim_bits_f64(value);
    const uint64_t bits = sim_round_double(sim_format_of(type), rules->rounding, rules->finite, value);
    return rules->flush && type == SIM_TYPE_FLOAT ? sim_flushed((uint32_t)bits) : bits;
}

void sim_put_bits(struct sim_warp *warp, const struct ptx_operand *operand, const uint64_t bits[PTX_LANES],
                  uint32_t mask) {
    if (operand->kind != PTX_OPERAND_REGISTER)
        return;
    if (operand->bits == 64) {
        sim_blend_64(SIM_ROW_64(warp, operand), bits, mask);
        return;
    }
    uint32_t low[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        low[lane] = operand->bits == 16 ? (uint16_t)bits[lane] : (uint32_t)bits[lane];
    sim_blend_32(SIM_ROW_32(warp, operand), low, mask);
}

uint64_t sim_lane_bits(const struct sim_warp *warp, const struct ptx_operand *operand, bool wide, int lane) {
    return wide ? SIM_SOURCE_64(warp, operand)[lane] : SIM_SOURCE_32(warp, operand)[lane];
}

/* ---- between floating formats ------------------------------------------------------------------------------------ */

/* choice of {.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi}: the direction; whether it is to an integral value. */
static enum sim_rounding direction_of(uint8_t choice) {
    static const enum sim_rounding directions[] = {SIM_NEAREST_EVEN, SIM_TOWARDS_ZERO, SIM_DOWN, SIM_UP};
    return choice ? directions[(choice - 1) % 4] : SIM_NEAREST_EVEN;
}

static double integral(double value, enum sim_rounding direction) {
    switch (direction) {
    case SIM_TOWARDS_ZERO:
        return trunc(value);
    case SIM_DOWN:
        return floor(value);
    case SIM_UP:
        return ceil(value);
    default:
        return rint(value);
    }
}

/* Types by the choices of {.f16|.bf16|.f32|.f64}. */
static const enum sim_float_type float_types[] = {SIM_TYPE_FLOAT, SIM_TYPE_HALF, SIM_TYPE_BFLOAT16, SIM_TYPE_FLOAT,
                                                  SIM_TYPE_DOUBLE};

/* cvt[.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi][.ftz][.relu][.sat|.satfinite]{.f16|.bf16|.f32|.f64}{the same} */
enum sim_next sim_do_convert_float(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    const enum sim_float_type to = float_types[i->choice[4]], from = float_types[i->choice[5]];
    const struct sim_rules rules = {.rounding = direction_of(i->choice[0]),
                                    .flush = i->choice[1],
                                    .relu = i->choice[2],
                                    .saturate = i->choice[3] == 1,
                                    .finite = i->choice[3] == 2};
    uint64_t bits[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++) {
        double value =
            sim_number(from, sim_lane_bits(warp, &i->operand[1], from == SIM_TYPE_DOUBLE, lane), rules.flush);
        if (i->choice[0] > 4)
            value = integral(value, rules.rounding);
        bits[lane] = sim_number_bits(to, &rules, value);
    }
    sim_put_bits(warp, &i->operand[0], bits, mask);
    (void)path;
    return SIM_NEXT;
}

/* cvt{.rna|.rn|.rz}[.relu][.satfinite].tf32.f32 */
enum sim_next sim_do_convert_tf32(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    static const enum sim_rounding roundings[] = {SIM_NEAREST_AWAY, SIM_NEAREST_AWAY, SIM_NEAREST_EVEN,
                                                  SIM_TOWARDS_ZERO};
    const struct sim_rules rules = {.rounding = roundings[i->choice[0]], .relu = i->choice[1], .finite = i->choice[2]};
    uint64_t bits[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        bits[lane] = sim_number_bits(SIM_TYPE_TF32, &rules,
                                     sim_float_of((uint32_t)sim_lane_bits(warp, &i->operand[1], false, lane)));
    sim_put_bits(warp, &i->operand[0], bits, mask);
    (void)path;
    return SIM_NEXT;
}

/* ---- pairs in a register: the first source becomes the upper half ------------------------------------------------ */

static void pack_pair(struct sim_warp *warp, const struct ptx_instruction *i, enum sim_float_type type,
                      const struct sim_rules *rules, uint32_t mask) {
    const int width = type == SIM_TYPE_HALF || type == SIM_TYPE_BFLOAT16 ? 16 : 8;
    const uint32_t *const high = SIM_SOURCE_32(warp, &i->operand[1]), *const low = SIM_SOURCE_32(warp, &i->operand[2]);
    uint64_t bits[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        bits[lane] = sim_number_bits(type, rules, sim_float_of(high[lane])) << width |
                     sim_number_bits(type, rules, sim_float_of(low[lane]));
    sim_put_bits(warp, &i->operand[0], bits, mask);
}

/* cvt{.rn|.rz}[.relu][.satfinite]{.f16x2|.bf16x2}.f32 */
enum sim_next sim_do_convert_pair16(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                    uint32_t mask) {
    const struct sim_rules rules = {
        .rounding = direction_of(i->choice[0]), .relu = i->choice[1], .finite = i->choice[2]};
    pack_pair(warp, i, i->choice[3] == 1 ? SIM_TYPE_HALF : SIM_TYPE_BFLOAT16, &rules, mask);
    (void)path;
    return SIM_NEXT;
}

/* cvt.rn.satfinite[.relu]{.e4m3x2|.e5m2x2}.f32 */
enum sim_next sim_do_convert_pair8(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    const struct sim_rules rules = {.relu = i->choice[0], .finite = true};
    pack_pair(warp, i, i->choice[1] == 1 ? SIM_TYPE_E4M3 : SIM_TYPE_E5M2, &rules, mask);
    (void)path;
    return SIM_NEXT;
}

static void convert_halves(struct sim_warp *warp, const struct ptx_instruction *i, enum sim_float_type to,
                           enum sim_float_type from, const struct sim_rules *rules, uint32_t mask) {
    const int to_width = to == SIM_TYPE_HALF ? 16 : 8, from_width = from == SIM_TYPE_HALF ? 16 : 8;
    const uint32_t *const source = SIM_SOURCE_32(warp, &i->operand[1]);
    uint64_t bits[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        bits[lane] = sim_number_bits(to, rules, sim_number(from, source[lane] >> from_width, false)) << to_width |
                     sim_number_bits(to, rules, sim_number(from, source[lane], false));
    sim_put_bits(warp, &i->operand[0], bits, mask);
}

/* cvt.rn.satfinite[.relu]{.e4m3x2|.e5m2x2}.f16x2 */
enum sim_next sim_do_convert_halves_to_8(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                         uint32_t mask) {
    const struct sim_rules rules = {.relu = i->choice[0], .finite = true};
    convert_halves(warp, i, i->choice[1] == 1 ? SIM_TYPE_E4M3 : SIM_TYPE_E5M2, SIM_TYPE_HALF, &rules, mask);
    (void)path;
    return SIM_NEXT;
}

/* cvt.rn[.relu].f16x2{.e4m3x2|.e5m2x2} */
enum sim_next sim_do_convert_8_to_halves(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                         uint32_t mask) {
    const struct sim_rules rules = {.relu = i->choice[0]};
    convert_halves(warp, i, SIM_TYPE_HALF, i->choice[1] == 1 ? SIM_TYPE_E4M3 : SIM_TYPE_E5M2, &rules, mask);
    (void)path;
    return SIM_NEXT;
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

/* choice of {.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64}, 1 .. 8 */
static int integer_bits(uint8_t choice) {
    return 8 << (choice - 1) / 2;
}
static bool integer_signed(uint8_t choice) {
    return choice % 2 == 0;
}

/* Out of range becomes the nearest end. NaN becomes 0, or just the top bit where a side has 64 bits. */
static uint64_t integer_of(double value, int bits, bool is_signed, bool wide_nan) {
    const uint64_t top = UINT64_C(1) << (bits - 1);
    const double limit = is_signed ? (double)top : 2 * (double)top;
    if (value != value)
        return wide_nan ? is_signed ? ~(top - 1) : top : 0;
    if (is_signed)
        return value >= limit ? top - 1 : value <= -limit ? ~(top - 1) : (uint64_t)(int64_t)value;
    return value >= limit ? top - 1 + top : value <= 0 ? 0 : (uint64_t)value;
}

/* cvt{.rni|.rzi|.rmi|.rpi}[.ftz][.sat]{integer}{.f16|.bf16|.f32|.f64} */
enum sim_next sim_do_convert_to_integer(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                        uint32_t mask) {
    const enum sim_float_type from = float_types[i->choice[4]];
    const int width = integer_bits(i->choice[3]);
    const bool is_signed = integer_signed(i->choice[3]);
    uint64_t bits[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++) {
        const double value =
            sim_number(from, sim_lane_bits(warp, &i->operand[1], from == SIM_TYPE_DOUBLE, lane), i->choice[1]);
        bits[lane] = integer_of(integral(value, direction_of(i->choice[0])), width, is_signed,
                                from == SIM_TYPE_DOUBLE || width == 64);
    }
    sim_put_bits(warp, &i->operand[0], bits, mask);
    (void)path;
    return SIM_NEXT;
}

/* cvt{.rn|.rz|.rm|.rp}[.ftz][.sat]{.f16|.bf16|.f32|.f64}{integer} */
enum sim_next sim_do_convert_from_integer(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                          uint32_t mask) {
    const enum sim_float_type to = float_types[i->choice[3]];
    const struct sim_format *const format = sim_format_of(to);
    const int unused = 64 - integer_bits(i->choice[4]);
    const struct sim_rules saturate = {.saturate = i->choice[2]};
    uint64_t bits[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++) {
        const uint64_t raw = sim_lane_bits(warp, &i->operand[1], unused == 0, lane) << unused;
        const bool negative = integer_signed(i->choice[4]) && raw >> 63;
        const uint64_t value = negative ? (uint64_t)((int64_t)raw >> unused) : raw >> unused;
        bits[lane] = sim_round(format, direction_of(i->choice[0]), false, negative, negative ? 0 - value : value, 0);
        if (saturate.saturate)
            bits[lane] = sim_number_bits(to, &saturate, sim_number(to, bits[lane], false));
    }
    sim_put_bits(warp, &i->operand[0], bits, mask);
    (void)path;
    return SIM_NEXT;
}
