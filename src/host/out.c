/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of another type than their operation's input, and of 8 bits with scales. */
#include "host/out.h"

#include "common/arith.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/types.h"

#include <inttypes.h>

const char *const gm_scale_format_words[] = {"fp32", "power_of_2", "e8m0", NULL};
const char *const gm_scale_order_words[] = {"by_row", "by_column", NULL};
const char *const gm_division_words[] = {"exact", "by_reciprocal", NULL};

/* ---- in one word ---------------------------------------------------------------------------------------- */

/* 0: the input's; then types, and types of 8 bits with each scaling. */
const char *const gm_out_words[] = {"same", "bf16",     "fp16",       "fp32", "e4m3",     "e4m3_row",   "e4m3_group",
                                    "e5m2", "e5m2_row", "e5m2_group", "int8", "int8_row", "int8_group", NULL};
enum { FIRST_TYPE = 1, FIRST_OF_8_BITS = 4 };
static const enum gm_scaling scalings[] = {GM_SCALE_STATIC, GM_SCALE_ROW, GM_SCALE_GROUP};
enum { SCALINGS = 3 };

int gm_out_has_8_bits(const struct gm_out *out) {
    return out->has_type && out->type >= GM_E4M3 && out->type <= GM_INT8;
}

int gm_out_bytes(const struct gm_out *out) {
    return gm_type_bytes(out->has_type ? out->type : out->of);
}

int64_t gm_out_word(const struct gm_out *out) {
    if (!out->has_type || out->type == out->of)
        return 0;
    if (!gm_out_has_8_bits(out))
        return FIRST_TYPE + (int64_t)out->type - GM_BF16;
    const int scaling = out->scaling == GM_SCALE_GROUP ? 2 : out->scaling == GM_SCALE_ROW;
    return FIRST_OF_8_BITS + SCALINGS * ((int64_t)out->type - GM_E4M3) + scaling;
}

void gm_out_set_word(struct gm_out *out, int64_t word) {
    out->has_type = word > 0;
    out->scaling = word < FIRST_OF_8_BITS ? GM_SCALE_STATIC : scalings[(word - FIRST_OF_8_BITS) % SCALINGS];
    if (word >= FIRST_OF_8_BITS)
        out->type = (enum gm_type)(GM_E4M3 + (word - FIRST_OF_8_BITS) / SCALINGS);
    else
        out->type = word > 0 ? (enum gm_type)(GM_BF16 + word - FIRST_TYPE) : GM_BF16;
}

/* ---- checks --------------------------------------------------------------------------------------------- */

float gm_out_limit(enum gm_type type) {
    return type == GM_E4M3 ? 448 : type == GM_E5M2 ? 57344 : 127;
}

float gm_usual_scale_floor(enum gm_type type, enum gm_scaling scaling) {
    return scaling == GM_SCALE_GROUP ? 1e-10f / gm_out_limit(type) : 0x1p-126f;
}

enum gm_status gm_check_scales(const struct gm_out *out) {
    enum gm_status status = gm_check_enum("scaling", (int)out->scaling, GM_SCALE_STATIC, GM_SCALE_BLOCK);
    if (status == GM_OK)
        status = gm_check_enum("scale_format", (int)out->scale_format, GM_SCALE_FP32, GM_SCALE_E8M0);
    if (status == GM_OK)
        status = gm_check_enum("scale_order", (int)out->scale_order, GM_SCALES_BY_ROW, GM_SCALES_BY_COLUMN);
    if (status == GM_OK)
        status = gm_check_enum("division", (int)out->division, GM_DIVIDE, GM_DIVIDE_BY_RECIPROCAL);
    if (status == GM_OK)
        status = gm_check_real("scale_floor", out->scale_floor, 0);
    if (status == GM_OK && out->scale_floor > 0 && out->scale_floor < 0x1p-126f)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "scale_floor is %g; it must be 0 or 2^-126 and more",
                       (double)out->scale_floor);
    return status;
}

enum gm_status gm_check_group(int64_t group) {
    if (group == 0 || group == 128 || group == 64 || group == 32)
        return GM_OK;
    return gm_fail(GM_ERROR_INVALID_ARGUMENT, "group is %" PRId64 "; it must be 128 (or 0), 64 or 32", group);
}

static enum gm_status check(const struct gm_out *out) {
    enum gm_status status = gm_check_enum("has_out_type", out->has_type, 0, 1);
    if (status == GM_OK && out->has_type)
        status = gm_check_enum("out_type", (int)out->type, GM_BF16, GM_INT8);
    if (status == GM_OK)
        status = gm_check_enum("out_rounding", (int)out->rounding, GM_ROUND_LATE, GM_ROUND_EARLY);
    if (status == GM_OK)
        status = gm_check_scales(out);
    if (status == GM_OK && gm_out_has_8_bits(out) &&
        (out->scaling == GM_SCALE_AMAX_ONLY || out->scaling == GM_SCALE_BLOCK))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "scaling is %d; a scale is static, or of a row or group",
                       (int)out->scaling);
    return status == GM_OK ? gm_check_group(out->group) : status;
}

static int has_grid(enum gm_scaling scaling) {
    return scaling == GM_SCALE_GROUP || scaling == GM_SCALE_BLOCK;
}

void gm_forget_scales(enum gm_scaling scaling, enum gm_scale_format *format, enum gm_scale_order *order, int64_t *group,
                      int64_t *stride) {
    if (*group == 0 || scaling != GM_SCALE_GROUP)
        *group = 128;
    if (!has_grid(scaling)) {
        *order = GM_SCALES_BY_ROW;
        *stride = 0;
    }
    if (scaling == GM_SCALE_STATIC)
        *format = GM_SCALE_FP32;
}

static void forget(struct gm_out *out) {
    if (!out->has_type)
        out->type = out->of;
    out->has_type = 1;
    if (out->type == out->of || out->of == GM_FP32)
        out->rounding = GM_ROUND_LATE;
    if (!gm_out_has_8_bits(out)) {
        out->scaling = GM_SCALE_STATIC;
        out->division = GM_DIVIDE;
        out->scale_floor = 0x1p-126f;
    }
    gm_forget_scales(out->scaling, &out->scale_format, &out->scale_order, &out->group, &out->scales_stride);
    if (out->scale_floor == 0)
        out->scale_floor = gm_usual_scale_floor(out->type, out->scaling);
}

enum gm_status gm_out_normalize(struct gm_out *out) {
    const enum gm_status status = check(out);
    if (status != GM_OK)
        return status;
    forget(out);
    const struct gm_matrix scales = gm_out_scales(out);
    return gm_fill_stride("scales_stride", &out->scales_stride, scales.rows, scales.columns, scales.element_bytes);
}

/* ---- scales --------------------------------------------------------------------------------------------- */

static int scale_bytes(const struct gm_out *out) {
    return out->scale_format == GM_SCALE_E8M0 ? 1 : (int)sizeof(float);
}

/* Those of rows are one row. */
struct gm_matrix gm_scales_of(const struct gm_out *out) {
    const int bytes = scale_bytes(out), is_turned = has_grid(out->scaling) && out->scale_order == GM_SCALES_BY_COLUMN;
    int64_t down = 1, across = 1;
    if (out->scaling == GM_SCALE_ROW)
        across = out->rows;
    if (out->scaling == GM_SCALE_GROUP)
        down = out->rows, across = GM_CEIL_DIV(out->columns, out->group ? out->group : 128);
    if (out->scaling == GM_SCALE_BLOCK)
        down = GM_CEIL_DIV(out->rows, SCALE_BLOCK_SIDE), across = GM_CEIL_DIV(out->columns, SCALE_BLOCK_SIDE);
    return (struct gm_matrix){"scales", is_turned ? across : down, is_turned ? down : across, out->scales_stride, bytes,
                              bytes};
}

struct gm_matrix gm_out_scales(const struct gm_out *out) {
    struct gm_matrix scales = gm_scales_of(out);
    scales.rows = gm_out_has_8_bits(out) ? scales.rows : 0;
    return scales;
}

void gm_scale_pitches(const struct gm_out *out, int64_t *down, int64_t *across) {
    const int64_t bytes = scale_bytes(out), pitch = out->scales_stride * bytes;
    const int is_turned =
        out->scaling == GM_SCALE_ROW || (has_grid(out->scaling) && out->scale_order == GM_SCALES_BY_COLUMN);
    *down = is_turned ? bytes : pitch;
    *across = is_turned ? pitch : bytes;
}

/* A group that is a whole row is a row's scale, wherever that is stored. */
struct gm_quantized_store gm_out_store(const struct gm_out *out) {
    int64_t down, across;
    gm_scale_pitches(out, &down, &across);
    const int is_row = out->scaling == GM_SCALE_GROUP && out->columns <= out->group;
    return (struct gm_quantized_store){
        .scale_down = down,
        .scale_across = across,
        .scaling = is_row ? SCALE_ROW : (int32_t)out->scaling,
        .scale_format = (int32_t)out->scale_format,
        .out_type = (int32_t)out->type,
        .by_reciprocal = out->division == GM_DIVIDE_BY_RECIPROCAL,
        .limit = gm_out_limit(out->type),
        .one_by_limit = 1 / gm_out_limit(out->type),
        .scale_floor = out->scale_floor,
        .group_shift = out->group == 128  ? 7
                       : out->group == 64 ? 6
                                          : 5,
    };
}
