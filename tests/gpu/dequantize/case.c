/* SPDX-License-Identifier: Apache-2.0 */
/* One dequantize: its operands, and what out shall be, to the bit. */
#include <math.h>

#include "dequantize/dequantize_tests.h"

enum { BLOCK_SIDE = 128 };

static enum gm_type type_of(const struct dequantize_case *dc) {
    return dc->type ? dc->type : GM_E4M3;
}

void describe_dequantize(const struct dequantize_case *dc, char *text, size_t bytes) {
    static const char *const scalings[] = {"static", "amax-only", "row", "group", "block"};
    static const char *const formats[] = {"fp32", "power-of-2", "e8m0"};
    static const char *const inputs[] = {"ordinary", "any", "special", "one-scale"};
    char counted[32] = "";
    if (dc->counted)
        snprintf(counted, sizeof counted, " count %d", dc->count);
    snprintf(text, bytes, "%lld rows%s of %lld %s %s to %s %s%lld %s %s pads %lld,%lld,%lld starts %d,%d,%d",
             (long long)dc->rows, counted, (long long)dc->columns, gm_type_name(type_of(dc)), inputs[dc->inputs],
             gm_type_name(dc->out_type), scalings[dc->scaling], (long long)dc->group, formats[dc->format],
             dc->order ? "by-column" : "by-row", (long long)dc->x_pad, (long long)dc->out_pad,
             (long long)dc->scales_pad, dc->x_start, dc->out_start, dc->scales_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct dequantize_case *dc = of;
    const uint64_t random = hash64(opt.seed + dc->seed, (uint64_t)(row * dc->columns + column));
    const double x = bits_to_double(type_of(dc), (uint32_t)(random >> 8) & 0xff);
    return isfinite(x) || dc->inputs == DEQUANTIZE_ANY || dc->inputs == DEQUANTIZE_SPECIAL ? x : 1;
}

static bool is_byte(const struct dequantize_case *dc) {
    return dc->format == GM_SCALE_E8M0 && dc->scaling != GM_SCALE_STATIC;
}

/* As an operand has them: floats, or exponents plus 127. */
static double stored_scale(const struct dequantize_case *dc, int64_t down, int64_t across) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 0x1p-149, 0x1.fffffep127, -3};
    const uint64_t index = (uint64_t)(down * 1000003 + across), random = hash64(opt.seed + dc->seed + 0x5ca1e, index);
    const double normal = hash_normal(opt.seed + dc->seed + 1, index);
    if (dc->inputs == DEQUANTIZE_ONE_SCALE)
        return bits_to_double(GM_FP32, 0x3f3f3f3f);
    if (is_byte(dc) && dc->inputs == DEQUANTIZE_ORDINARY)
        return (double)(120 + random % 16);
    if (is_byte(dc)) /* NaN and the smallest among them, of any seed */
        return (down + across) % 4 == 0 ? 255 : (down + across) % 4 == 1 ? 0 : (double)(random >> 8 & 0xff);
    if (dc->inputs == DEQUANTIZE_SPECIAL && random % 2)
        return odd[(random >> 8) % COUNT(odd)];
    const double times = dc->times != 0 ? (double)dc->times : 1;
    const int exponent = dc->inputs == DEQUANTIZE_ORDINARY ? 0 : (int)((random >> 16) % 280) - 150;
    return (double)(float)ldexp(times * (1 + fabs(normal)), exponent);
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct dequantize_case *)of)->count;
}

/* ---- scales ------------------------------------------------------------------------------------------ */

static int64_t rows_of_scale(const struct dequantize_case *dc) {
    return dc->scaling == GM_SCALE_STATIC ? INT64_MAX : dc->scaling == GM_SCALE_BLOCK ? BLOCK_SIDE : 1;
}

static int64_t columns_of_scale(const struct dequantize_case *dc) {
    const int64_t group = dc->group ? dc->group : 128;
    return dc->scaling == GM_SCALE_GROUP ? group : dc->scaling == GM_SCALE_BLOCK ? BLOCK_SIDE : INT64_MAX;
}

static int64_t parts(int64_t all, int64_t part) {
    return all / part + (all % part != 0);
}

static bool is_turned(const struct dequantize_case *dc) {
    return dc->scaling == GM_SCALE_ROW || (dc->scaling >= GM_SCALE_GROUP && dc->order == GM_SCALES_BY_COLUMN);
}

static double scale_value(const void *of, int64_t row, int64_t column) {
    return is_turned(of) ? stored_scale(of, column, row) : stored_scale(of, row, column);
}

static double scale_at(const struct dequantize_case *dc, int64_t row, int64_t column) {
    const double stored = stored_scale(dc, row / rows_of_scale(dc), column / columns_of_scale(dc));
    if (!is_byte(dc))
        return stored;
    return stored > 254 ? NAN : ldexp(1, (int)stored - 127);
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* The product is that of fp32, which is then rounded to the type. */
static double expected(const struct dequantize_case *dc, int64_t row, int64_t column) {
    return (double)(float)(x_value(dc, row, column) * scale_at(dc, row, column));
}

static bool is_asked(const struct dequantize_case *dc, int64_t row) {
    return !dc->counted || row < dc->count;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct dequantize_case *dc = placed->of;
    (void)operand;
    for (int64_t column = 0; column < dc->columns; column++) {
        e->want[column] = expected(dc, row, column);
        e->tolerance[column] = is_asked(dc, row) ? 0 : AS_BEFORE;
    }
}

bool compare_dequantize(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed_operands *placed = (const struct placed_operands *)call;
    const struct dequantize_case *dc = placed->of;
    const struct operand *o = &placed->operands[DEQUANTIZE_OUT];
    const int64_t bytes = gm_type_bytes(o->type);
    if (!compare_placed(result, call, region, what))
        return false;
    for (int64_t row = 0; row < dc->rows && is_asked(dc, row); row++)
        for (int64_t column = 0; column < dc->columns; column++) {
            const double want = expected(dc, row, column);
            const uint32_t bits = double_to_bits(o->type, want);
            const uint32_t got =
                load_bits(region + placed->at[DEQUANTIZE_OUT] + (row * o->stride + column) * bytes, o->type);
            if (isnan(want) || got == bits)
                continue;
            fail(result, "%s: out[%lld, %lld] is 0x%x, want 0x%x", what, (long long)row, (long long)column, got, bits);
            return false;
        }
    return true;
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_dequantize *placed, const struct dequantize_case *dc) {
    struct gm_dequantize_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t down = parts(dc->rows, rows_of_scale(dc)), across = parts(dc->columns, columns_of_scale(dc));
    const int64_t rows = is_turned(dc) ? across : down, columns = is_turned(dc) ? down : across;
#define ARGUMENT(member) offsetof(struct gm_dequantize_args, member)
    o[DEQUANTIZE_X] = (struct operand){"x",         ARGUMENT(x), type_of(dc), dc->rows,
                                       dc->columns, p->x_stride, dc->x_start, .value = x_value};
    o[DEQUANTIZE_OUT] = (struct operand){"out",       ARGUMENT(out), dc->out_type,  dc->rows,
                                         dc->columns, p->out_stride, dc->out_start, .written = true};
    o[DEQUANTIZE_SCALES] = (struct operand){"scales",
                                            ARGUMENT(scales),
                                            is_byte(dc) ? GM_UINT8 : GM_FP32,
                                            rows,
                                            columns,
                                            columns + (dc->scaling >= GM_SCALE_GROUP ? dc->scales_pad : 0),
                                            dc->scales_start,
                                            .value = scale_value};
    o[DEQUANTIZE_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, dc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    p->scales_stride = o[DEQUANTIZE_SCALES].stride;
}

bool place_dequantize(struct result *result, const struct dequantize_case *dc, struct operand_memory *memory,
                      struct placed_dequantize *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_dequantize){.args = {.size = sizeof placed->args}};
    struct gm_dequantize_problem *p = &placed->problem;
    *p = (struct gm_dequantize_problem){.size = sizeof *p,
                                        .rows = dc->rows,
                                        .columns = dc->columns,
                                        .group = dc->group,
                                        .type = dc->type,
                                        .out_type = dc->out_type,
                                        .scaling = dc->scaling,
                                        .scale_format = dc->format,
                                        .scale_order = dc->order,
                                        .x_stride = dc->columns + dc->x_pad,
                                        .out_stride = dc->columns + dc->out_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &dequantize_tests, .problem = p, .args = &placed->args},
        .of = dc,
        .args = &placed->args,
        .count = DEQUANTIZE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, dc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, DEQUANTIZE_X);
    p->out_align = alignment_of(&placed->placed, DEQUANTIZE_OUT);
    return true;
}

bool run_dequantize(struct result *result, const struct dequantize_case *dc, const char *kernel, uint32_t mask,
                    struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = dc->sm_budget};
    char what[320];
    struct placed_dequantize placed = {0};
    describe_dequantize(dc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_dequantize(result, dc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, dc->repeats, dc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
