/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of another type than an operation's input, 8 bits and their scales among them. */
#include "out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/out.h"

enum gm_type type_of_out(const struct out_case *oc, enum gm_type of) {
    return oc->has_type ? oc->type : of;
}

bool has_scales(const struct out_case *oc) {
    return oc->has_type && oc->type >= GM_E4M3 && oc->type <= GM_INT8;
}

static int64_t group_of(const struct out_case *oc) {
    return oc->group ? oc->group : 128;
}

const char *describe_out(const struct out_case *oc, char *text, size_t bytes) {
    static const char *const scalings[] = {"static", "amax-only", "row", "group", "block"};
    static const char *const formats[] = {"fp32", "power-of-2", "e8m0"};
    *text = 0;
    if (has_scales(oc))
        snprintf(text, bytes, " to %s %s%lld %s %s %s %s floor %g scale %g scales-pad %lld", gm_type_name(oc->type),
                 scalings[oc->scaling], (long long)group_of(oc), formats[oc->format],
                 oc->order ? "by-column" : "by-row", oc->division ? "reciprocal" : "division",
                 oc->rounding ? "early" : "late", (double)oc->floor, (double)oc->static_scale,
                 (long long)oc->scales_pad);
    else if (oc->has_type)
        snprintf(text, bytes, " to %s %s", gm_type_name(oc->type), oc->rounding ? "early" : "late");
    return text;
}

struct out_case random_out(struct draws *d) {
    static const enum gm_scaling scalings[] = {GM_SCALE_STATIC, GM_SCALE_ROW, GM_SCALE_GROUP, GM_SCALE_GROUP};
    static const int64_t groups[] = {0, 128, 64, 32};
    struct out_case oc = {.has_type = draw(d, 4) > 0, .type = (enum gm_type)draw(d, 6)};
    oc.rounding = (enum gm_rounding)draw(d, 2);
    oc.scaling = scalings[draw(d, 4)];
    oc.format = oc.scaling == GM_SCALE_STATIC ? GM_SCALE_FP32 : (enum gm_scale_format)draw(d, 3);
    oc.order = (enum gm_scale_order)draw(d, 2);
    oc.division = (enum gm_division)draw(d, 2);
    oc.group = groups[draw(d, 4)];
    oc.scales_pad = draw(d, 3);
    oc.floor = draw(d, 5) ? 0 : 0.25f;
    oc.static_scale = 0.03125f * (float)(1 + draw(d, 9));
    return oc;
}

/* ---- scales ------------------------------------------------------------------------------------------ */

static int64_t groups_of(const struct out_case *oc, int64_t columns) {
    return (columns + group_of(oc) - 1) / group_of(oc);
}

static bool is_turned(const struct out_case *oc) {
    return oc->scaling == GM_SCALE_ROW || oc->order == GM_SCALES_BY_COLUMN;
}

static int64_t scale_columns(const struct out_case *oc, int64_t rows, int64_t columns) {
    return oc->scaling == GM_SCALE_STATIC ? 1 : is_turned(oc) ? rows : groups_of(oc, columns);
}

int64_t scales_stride(const struct out_case *oc, int64_t rows, int64_t columns) {
    return has_scales(oc) && oc->scaling == GM_SCALE_GROUP ? scale_columns(oc, rows, columns) + oc->scales_pad : 0;
}

struct operand scales_operand(const struct out_case *oc, size_t argument, int64_t rows, int64_t columns,
                              double (*value)(const void *of, int64_t row, int64_t column)) {
    const int64_t across = scale_columns(oc, rows, columns);
    struct operand o = {.name = "scales", .argument = argument, .type = GM_FP32, .columns = across};
    if (oc->format == GM_SCALE_E8M0 && oc->scaling != GM_SCALE_STATIC)
        o.type = GM_UINT8;
    if (has_scales(oc))
        o.rows = oc->scaling != GM_SCALE_GROUP ? 1 : is_turned(oc) ? groups_of(oc, columns) : rows;
    o.stride = oc->scaling == GM_SCALE_GROUP ? across + oc->scales_pad : across;
    o.written = oc->scaling != GM_SCALE_STATIC;
    o.value = o.written ? NULL : value;
    return o;
}

/* ---- what they shall be ------------------------------------------------------------------------------ */

static double limit_of(enum gm_type type) {
    return type == GM_E4M3 ? 448 : type == GM_E5M2 ? 57344 : 127;
}

static float power_of_2(float scale) {
    int exponent;
    const float fraction = frexpf(scale, &exponent);
    return ldexpf(1, fraction == 0.5f ? exponent - 1 : exponent);
}

static float scale_from(float amax, float limit, float floor, int format) {
    if (isnan(amax))
        return NAN;
    const float scale = fmaxf(fminf(amax, 0x1.fffffep127f) / limit, floor);
    return format == SCALE_FP32 ? scale : power_of_2(scale);
}

static double scale_for(const struct out_case *oc, double amax) {
    const float limit = (float)limit_of(oc->type);
    const float least = oc->floor > 0 ? oc->floor : oc->scaling == GM_SCALE_GROUP ? 1e-10f / limit : 0x1p-126f;
    return (double)scale_from((float)amax, limit, least, (int)oc->format);
}

/* What a value may be. */
struct span {
    double low, high;
};

static struct span span_of(const struct out_case *oc, enum gm_type of, double value, double error) {
    struct span span = {value - error, value + error};
    if (oc->rounding == GM_ROUND_EARLY && of != GM_FP32 && of != oc->type)
        span = (struct span){round_to(of, span.low), round_to(of, span.high)};
    return span;
}

/* The scale of columns from the first to before the last. */
static struct span scale_span(const struct out_case *oc, enum gm_type of, const double *value, const double *error,
                              int64_t first, int64_t last) {
    struct span most = {0, 0};
    if (oc->scaling == GM_SCALE_STATIC)
        return (struct span){(double)oc->static_scale, (double)oc->static_scale};
    for (int64_t column = first; column < last; column++) {
        const struct span v = span_of(oc, of, value[column], error[column]);
        if (isnan(value[column]))
            return (struct span){NAN, NAN};
        const double high = fmax(fabs(v.low), fabs(v.high));
        const double low = v.low <= 0 && v.high >= 0 ? 0 : fmin(fabs(v.low), fabs(v.high));
        most = (struct span){fmax(most.low, low), fmax(most.high, high)};
    }
    return (struct span){scale_for(oc, most.low), scale_for(oc, most.high)};
}

static struct span scale_of_column(const struct out_case *oc, enum gm_type of, int64_t columns, const double *value,
                                   const double *error, int64_t column) {
    const int64_t wide = oc->scaling == GM_SCALE_GROUP ? group_of(oc) : columns, first = column / wide * wide;
    return scale_span(oc, of, value, error, first, first + wide < columns ? first + wide : columns);
}

int64_t row_of_scale(const struct out_case *oc, int64_t row, int64_t column) {
    return is_turned(oc) ? column : row;
}

void expect_scale(const struct out_case *oc, enum gm_type of, int64_t columns, const double *value, const double *error,
                  int64_t row, int64_t column, double *want, double *tolerance) {
    const int64_t group = oc->scaling == GM_SCALE_ROW ? 0 : is_turned(oc) ? row : column;
    struct span scale = scale_of_column(oc, of, columns, value, error, group * group_of(oc));
    if (oc->format == GM_SCALE_E8M0)
        scale =
            isnan(scale.low) ? (struct span){255, 255} : (struct span){ilogb(scale.low) + 127, ilogb(scale.high) + 127};
    *want = (scale.low + scale.high) / 2;
    *tolerance = isnan(scale.low) ? 0 : (scale.high - scale.low) / 2 * (1 + 0x1p-40); /* either end is right */
}

static double saturated(double q, double limit) {
    return q > limit ? limit : q < -limit ? -limit : q;
}

/* The reciprocal, rounded, adds less than a unit in the last place of fp32 and a half. */
static double slack(double q) {
    return isinf(q) ? 0 : fabs(q) * 0x1p-22;
}

static void expect_8_bits(const struct out_case *oc, const struct span *v, const struct span *scale, double *want,
                          double *error) {
    const double limit = limit_of(oc->type);
    const double ends[] = {v->low / scale->low, v->low / scale->high, v->high / scale->low, v->high / scale->high};
    struct span q = {INFINITY, -INFINITY};
    if (isnan(v->low) || isnan(scale->low)) {
        *want = oc->type == GM_INT8 ? 0 : NAN;
        *error = 0;
        return;
    }
    for (int i = 0; i < 4; i++)
        q = (struct span){fmin(q.low, ends[i]), fmax(q.high, ends[i])};
    const double low = saturated(q.low - slack(q.low), limit), high = saturated(q.high + slack(q.high), limit);
    const double most = fmax(fabs(low), fabs(high));
    *want = (low + high) / 2;
    *error = (high - low) / 2 + (oc->type == GM_INT8 ? 0.5 : half_ulp(oc->type, most));
}

void expect_out(const struct out_case *oc, enum gm_type of, int64_t columns, double *want, double *error) {
    const enum gm_type type = type_of_out(oc, of);
    const int64_t wide = has_scales(oc) && oc->scaling == GM_SCALE_GROUP ? group_of(oc) : columns;
    for (int64_t first = 0; first < columns; first += wide) {
        const int64_t last = first + wide < columns ? first + wide : columns;
        const struct span scale = has_scales(oc) ? scale_span(oc, of, want, error, first, last) : (struct span){1, 1};
        for (int64_t i = first; i < last; i++) {
            const struct span v = oc->has_type ? span_of(oc, of, want[i], error[i])
                                               : (struct span){want[i] - error[i], want[i] + error[i]};
            if (has_scales(oc)) {
                expect_8_bits(oc, &v, &scale, &want[i], &error[i]);
            } else if (isnan(want[i]) || isinf(want[i])) {
                error[i] = 0;
            } else if (error[i] != 0 || type == GM_FP32) {
                want[i] = (v.low + v.high) / 2;
                error[i] = (v.high - v.low) / 2;
                error[i] += error[i] == 0 ? 0 : half_ulp(type, fabs(want[i]) + error[i]);
            }
        }
    }
}

/* ---- on the CPU -------------------------------------------------------------------------------------- */

static uint8_t *at(uint64_t base, int64_t offset) {
    return (uint8_t *)(uintptr_t)(base + (uint64_t)offset);
}

static uint32_t round_one(const struct gm_quantized_store *store, float x, float scale, bool by_reciprocal) {
    const enum gm_type type = (enum gm_type)store->out_type;
    const double limit = (double)store->limit;
    int exponent;
    const float fraction = frexpf(scale, &exponent);
    const double product = ldexp((double)x * (double)(1 / fraction), -exponent);
    const double q = !(scale > 0) || !isfinite(scale) ? NAN : (double)(by_reciprocal ? (float)product : x / scale);
    if (isnan(q))
        return type == GM_INT8 ? 0 : 0x7f;
    return double_to_bits(type, saturated(q, limit));
}

static void store_scale(const struct gm_quantized_store *store, uint64_t scales, int64_t row, int64_t group,
                        float scale) {
    uint8_t *to = at(scales, row * store->scale_down + group * store->scale_across);
    if (store->scale_format == SCALE_E8M0)
        *to = isnan(scale) ? 255 : (uint8_t)(ilogbf(scale) + 127);
    else
        memcpy(to, &scale, sizeof scale);
}

void store_row(const struct gm_quantized_store *store, uint64_t out, uint64_t scales, int64_t row, int64_t columns,
               const float *v, enum out_bug bug) {
    const enum gm_type type = (enum gm_type)store->out_type;
    const int64_t wide = store->scaling == SCALE_GROUP ? INT64_C(1) << store->group_shift : columns;
    for (int64_t i = 0; i < columns && type <= GM_FP32; i++)
        store_bits(at(out, i * gm_type_bytes(type)), type, double_to_bits(type, (double)v[i]));
    for (int64_t first = 0; first < columns && type > GM_FP32; first += wide) {
        const int64_t last = first + wide < columns ? first + wide : columns;
        float amax = 0, scale;
        for (int64_t i = first; i < last; i++)
            amax = (isnan(v[i]) || isnan(amax)) && bug != OUT_BUG_DROPS_NAN ? NAN : fmaxf(amax, fabsf(v[i]));
        if (store->scaling == SCALE_STATIC)
            memcpy(&scale, at(scales, 0), sizeof scale);
        else
            scale = scale_from(amax, store->limit, store->scale_floor, store->scale_format);
        if (store->scaling != SCALE_STATIC && (first + wide < columns || bug != OUT_BUG_LOST_SCALE))
            store_scale(store, scales, row, first / wide, scale);
        for (int64_t i = first; i < last; i++)
            *at(out, i) = (uint8_t)round_one(store, v[i], scale, store->by_reciprocal);
    }
}

/* ---- two calls --------------------------------------------------------------------------------------- */

/* What an operand holds, packed or with the gaps between its rows. */
static bool read_operand(struct result *result, const struct placed_operands *placed, int number, uint8_t *to) {
    const struct operand *o = &placed->operands[number];
    CUdeviceptr address;
    memcpy(&address, (const char *)placed->args + o->argument, sizeof address);
    return o->rows == 0 ||
           check_cuda(result,
                      env.drv->cuMemcpyDtoH(to, address, (size_t)(o->rows * o->stride * gm_type_bytes(o->type))),
                      "copy");
}

bool read_out(struct result *result, const struct placed_operands *placed, uint32_t mask, int out_number,
              int scales_number, uint8_t *out, uint8_t *scales) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    const struct call *call = &placed->call;
    gm_plan *plan = NULL;
    const bool ok = check_ok(result, call->operation->plan(env.context, call->problem, &options, &plan), "plan") &&
                    check_ok(result, call->operation->execute(plan, call->args, env.stream), "execute") &&
                    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "synchronize") &&
                    read_operand(result, placed, out_number, out) &&
                    read_operand(result, placed, scales_number, scales);
    gm_plan_destroy(plan);
    return ok;
}

void begin_two_calls(struct two_calls *calls) {
    uint8_t *const room = calloc(4, TWO_CALLS_ROOM);
    if (!room)
        exit(2);
    *calls = (struct two_calls){room, room + TWO_CALLS_ROOM, room + 2 * TWO_CALLS_ROOM, room + 3 * TWO_CALLS_ROOM};
}

void end_two_calls(struct two_calls *calls) {
    free(calls->norm);
}

/* NaN has any bits. */
static bool same_scales(const struct out_case *oc, const uint8_t *got, const uint8_t *want) {
    if (oc->format == GM_SCALE_E8M0)
        return memcmp(got, want, TWO_CALLS_ROOM) == 0;
    for (size_t i = 0; i < TWO_CALLS_ROOM; i += 4)
        if (!bits_match(GM_FP32, load_bits(got + i, GM_FP32), bits_to_double(GM_FP32, load_bits(want + i, GM_FP32)), 0))
            return false;
    return true;
}

struct gm_quantized_store store_of_out(const struct out_case *oc, enum gm_type of, int64_t rows, int64_t columns) {
    struct gm_out out = {.rows = rows,
                         .columns = columns,
                         .type = oc->type,
                         .of = of,
                         .has_type = 1,
                         .scaling = oc->scaling,
                         .scale_format = oc->format,
                         .scale_order = oc->order,
                         .division = oc->division,
                         .group = oc->group,
                         .scale_floor = oc->floor};
    if (gm_out_normalize(&out) != GM_OK)
        exit(2);
    return gm_out_store(&out);
}

/* A row of what is quantised; false where both norms are not of one. */
static bool take_row(struct result *result, const struct two_calls *calls, const struct out_case *oc, enum gm_type of,
                     int64_t row, int64_t columns, float *v, const char *what) {
    for (int64_t i = 0; i < columns; i++) {
        const int64_t at = row * columns + i;
        const uint32_t bits = load_bits(calls->norm + at * gm_type_bytes(of), of);
        const double wide = bits_to_double(GM_FP32, load_bits(calls->wide + at * 4, GM_FP32));
        if (!bits_match(of, bits, wide, 0)) {
            fail(result, "%s: out[%lld][%lld] is %g in fp32, %g in x's type", what, (long long)row, (long long)i, wide,
                 bits_to_double(of, bits));
            return false;
        }
        v[i] = (float)(oc->rounding == GM_ROUND_EARLY ? bits_to_double(of, bits) : wide);
    }
    return true;
}

bool check_two_calls_made(struct result *result, const struct two_calls *calls, const struct out_case *oc,
                          enum gm_type of, int64_t rows, int64_t columns, const char *what) {
    const struct gm_quantized_store store = store_of_out(oc, of, rows, columns);
    struct two_calls want;
    float *v = calloc((size_t)columns, sizeof *v);
    bool ok = v != NULL;
    begin_two_calls(&want);
    if (oc->scaling == GM_SCALE_STATIC)
        memcpy(want.scales, calls->scales, sizeof(float));
    for (int64_t row = 0; row < rows && ok; row++) {
        ok = take_row(result, calls, oc, of, row, columns, v, what);
        store_row(&store, (uint64_t)(uintptr_t)(want.out + row * columns), (uint64_t)(uintptr_t)want.scales, row,
                  columns, v, OUT_BUG_NONE);
    }
    const bool same_bytes = ok && memcmp(calls->out, want.out, (size_t)(rows * columns)) == 0;
    if (ok && !(same_bytes && same_scales(oc, calls->scales, want.scales))) {
        fail(result, "%s: %s are not those of two calls", what, same_bytes ? "scales" : "bytes");
        ok = false;
    }
    result->cases++;
    end_two_calls(&want);
    free(v);
    return ok;
}
