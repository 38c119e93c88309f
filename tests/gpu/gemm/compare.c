/* SPDX-License-Identifier: Apache-2.0 */
/* What D shall be, and whether a downloaded D and the guard zone around it are that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

/* Small integers or, for NORMAL inputs, N(0, 1) rounded to C's type. */
double c_value(const struct gemm_case *gc, int64_t m, int64_t n) {
    const uint64_t index = (uint64_t)(m * gc->n + n);
    if (gc->inputs != NORMAL)
        return (double)((int)((hash64(opt.seed ^ 0xc, index) >> 32) % 17) - 8);
    return round_to(c_type_of(gc), hash_normal(opt.seed ^ 0xc, index));
}

double residual_value(const struct gemm_case *gc, int64_t m, int64_t n) {
    const uint64_t index = (uint64_t)(m * gc->n + n);
    if (gc->inputs != NORMAL)
        return (double)((int)((hash64(opt.seed ^ 0x4e5, index) >> 32) % 33) - 16);
    return round_to(gc->residual_type, hash_normal(opt.seed ^ 0x4e5, index));
}

double bias_value(const struct gemm_case *gc, int64_t index) {
    if (gc->inputs != NORMAL)
        return (double)((int)((hash64(opt.seed ^ 0xb, (uint64_t)index) >> 32) % 65) - 32);
    return round_to(gc->bias_type, hash_normal(opt.seed ^ 0xb, (uint64_t)index));
}

double scaling_value(const struct gemm_case *gc, const struct logical *logical, enum scaling scaling, int64_t index) {
    double sum = 0;
    if (scaling == A_ZEROS)
        return gc->zero_points ? (double)((int)(hash64(opt.seed ^ 0x2e05, (uint64_t)index) >> 32 & 7) - 3) : 0;
    if (scaling != B_SUMS)
        return sum_scale(gc, scaling == A_SCALES, index, 0);
    for (int64_t k = 0; k < gc->k; k++)
        sum += (double)logical->b[k * gc->n + index];
    return sum;
}

static double scale_of(const struct placed *placed, int64_t m, int64_t n) {
    const struct gemm_case *gc = placed->gc;
    if (has_scales_of_sums(gc)) /* they are in the sums already */
        return 1;
    return scaling_value(gc, placed->logical, A_SCALES, m) * scaling_value(gc, placed->logical, B_SCALES, n);
}

/* What a sum stands for. The largest numbers are infinite in fp32 before they are scaled. */
static double scaled(const struct placed *placed, int64_t m, int64_t n, double acc) {
    const struct gemm_case *gc = placed->gc;
    if (gc->zero_points)
        acc -= scaling_value(gc, placed->logical, A_ZEROS, m) * placed->column_sums[n];
    if (gc->inputs == SPECIAL)
        acc = (double)(float)acc;
    return acc * scale_of(placed, m, n);
}

/* c sqrt(K) eps relative to the sum's own size, which for N(0, 1) operands is sqrt(K). eps is that of truncation,
 * since tensor cores truncate as they add, but fp32 operands are multiplied and added with rounding; c = 8 covers the
 * largest of some 10^5 elements. A product of tf32x3 misses 2^-20 of itself. */
static double accumulation_error(const struct gemm_case *gc) {
    const int64_t k = gc->k;
    const enum gm_type ab_type = gc->ab_type;
    const double size = sqrt((double)k + 1);
    if (gc->inputs == POSITIVE) /* a share of the sum, which is 2 / pi of K; all of it where nothing is promised */
        return (gc->fast_accumulation ? 1 : 0x1p-9) * (double)k * 0.64;
    if (GM_TYPE_IS_FP8(
            ab_type)) /* of every 32 products a part in 2^13 of the sum so far, which holds 128 of them or all */
        return 0x1p-13 * ((double)k / 32 + 1) * 4 * (gc->fast_accumulation ? size : fmin(size, 12)) + 0x1p-21 * size;
    const bool rounds = ab_type == GM_FP32 || ab_type == GM_TF32X3; /* tensor cores add few of tf32x3 */
    return 8 * size * ((rounds ? 0x1p-24 : 0x1p-23) * size + (ab_type == GM_TF32X3 ? 0x1p-20 : 0));
}

static bool is_random(enum inputs inputs) {
    return inputs == NORMAL || inputs == POSITIVE;
}

/* Whether y is exact, small integers and powers of 2 being all it is made of, or D is the sums. */
static bool is_exact(const struct gemm_case *gc) {
    return gc->d_type == GM_INT32 || (!is_random(gc->inputs) && gc->activation <= GM_ACT_RELU);
}

/* y, which D is the rounding of, and how far the kernel's may be off. */
static double made(const struct placed *placed, int64_t m, int64_t n, double acc, double *error) {
    const struct gemm_case *gc = placed->gc;
    const double alpha = placed->args.alpha ? *placed->args.alpha : 1;
    const double beta = placed->args.beta ? *placed->args.beta : 0;
    const double product = scaled(placed, m, n, acc) * alpha;
    const double c = beta != 0 ? beta * c_value(gc, m, n) : 0;
    const double bias = gc->bias ? bias_value(gc, gc->bias == GM_BIAS_N ? n : m) : 0;
    const double x = product + c + bias;
    const double value = activation_value(gc->activation, x) + (gc->residual ? residual_value(gc, m, n) : 0);
    const bool adds_exactly = !is_random(gc->inputs) || gc->ab_type == GM_INT8;
    *error = 0;
    if (gc->d_type == GM_INT32)
        return value;
    if (is_exact(gc))
        return (double)(float)value;
    if (!adds_exactly)
        *error = fabs(alpha) * scale_of(placed, m, n) * accumulation_error(gc);
    *error += 0x1p-22 * (fabs(product) + fabs(c) + fabs(bias));
    if (gc->activation > GM_ACT_RELU) /* 1.13 is the steepest slope; 2e-6 the functions' own error */
        *error = 1.13 * *error + 2e-6 * fabs(x);
    *error += gc->residual ? 0x1p-24 * (fabs(value) + *error) : 0;
    return value;
}

static double tolerance_of(const struct gemm_case *gc, double y, double error) {
    return is_exact(gc) ? 0 : error + half_ulp(gc->d_type, fabs(y) + error);
}

double expected(const struct placed *placed, int64_t m, int64_t n, double acc, double *tolerance) {
    double error;
    const double y = made(placed, m, n, acc, &error);
    *tolerance = tolerance_of(placed->gc, y, error);
    return y;
}

static double activated(const struct gemm_case *gc, double x) {
    const double factor = gc->sigmoid_factor > 0 ? (double)gc->sigmoid_factor : 1;
    return gc->activation == GM_ACT_SILU ? activation_value(GM_ACT_SILU, factor * x) / factor
                                         : activation_value(gc->activation, x);
}

/* The sum behind column c of A B, with its scales and bias. */
static double gate_sum(const struct placed *placed, int64_t m, const double *acc, int64_t c) {
    const struct gemm_case *gc = placed->gc;
    const double x = (double)gc->alpha * scaled(placed, m, c, acc[c]) + (gc->bias ? bias_value(gc, c) : 0);
    return gc->rounded_sums ? round_to(rounded_type(gc), x) : x;
}

/* How far the kernel's sum may be off. */
static double gate_error(const struct placed *placed, int64_t m, int64_t c, double x) {
    const struct gemm_case *gc = placed->gc;
    const double scale = fabs((double)gc->alpha) * scale_of(placed, m, c);
    double error = gc->inputs == NORMAL ? scale * accumulation_error(gc) + 0x1p-22 * fabs(x) : 0;
    if (gc->rounded_sums && (gc->inputs == NORMAL || gc->activation > GM_ACT_RELU))
        error += 2 * half_ulp(rounded_type(gc), fabs(x) + error);
    return error;
}

/* y of a gate and an up, of row m of A B. Integers are exact until they are multiplied, in fp32. */
static double made_of_gate(const struct placed *placed, int64_t m, int64_t n, const double *acc, double *error) {
    const struct gemm_case *gc = placed->gc;
    const int64_t gate_at = gc->gate == GM_GATE_PAIRS ? 2 * n : n, step = gc->gate == GM_GATE_PAIRS ? 1 : gc->n / 2;
    const double limit = gc->limit > 0 ? (double)gc->limit : INFINITY;
    double gate = gate_sum(placed, m, acc, gate_at), up = gate_sum(placed, m, acc, gate_at + step);
    const double gate_off = gate_error(placed, m, gate_at, gate), up_off = gate_error(placed, m, gate_at + step, up);
    gate = gate > limit ? limit : gate;
    up = (up > limit ? limit : up < -limit ? -limit : up) + (double)gc->up_offset;
    const double act = activated(gc, gate);
    *error = 0;
    if (is_exact(gc))
        return (double)((float)act * (float)up);
    const double act_off = gc->activation > GM_ACT_RELU ? 1.13 * gate_off + 2e-6 * fabs(gate) : gate_off;
    *error = act_off * (fabs(up) + up_off) + fabs(act) * up_off + 0x1p-22 * fabs(act * up);
    return act * up;
}

/* ---- walking the region -------------------------------------------------------------------------- */

struct walk {
    const struct placed *placed;
    const uint8_t *region;
    uint8_t *row_bad, *scale_bad; /* flags of each row */
    double *low, *high;           /* between which the largest |y| of a row lies */
};

static const uint8_t *element(const struct walk *walk, int64_t m, int64_t n) {
    const struct placed *p = walk->placed;
    return walk->region + p->d_before + (size_t)(m * p->problem.ldd + n) * (size_t)gm_type_bytes(p->gc->d_type);
}

/* What a row shall be and how far off it may be: y, until round_row() has made D of it. */
struct row {
    double *want, *off;
};

static struct row new_row(const struct gemm_case *gc) {
    const size_t columns = (size_t)columns_of(gc) + 1;
    struct row row = {malloc(2 * columns * sizeof *row.want), NULL};
    if (!row.want)
        exit(2);
    row.off = row.want + columns;
    return row;
}

static void free_row(struct row *row) {
    free(row->want);
}

static void make_row(const struct walk *walk, int64_t m, struct row *row) {
    const struct placed *p = walk->placed;
    const double *acc = p->sums + m * p->gc->n;
    const int64_t columns = columns_of(p->gc);
    for (int64_t n = 0; n < columns; n++)
        row->want[n] = p->gc->gate ? made_of_gate(p, m, n, acc, &row->off[n]) : made(p, m, n, acc[n], &row->off[n]);
}

/* Exact y in 8 bits: the bytes that the rules say, not one of two neighbours. */
static void quantise_exactly(const struct gemm_case *gc, struct row *row) {
    const struct out_case oc = out_of(gc);
    const enum gm_type of = rounded_type(gc);
    const int64_t columns = columns_of(gc);
    struct gm_quantized_store store = store_of_out(&oc, of, 1, columns);
    float *v = calloc((size_t)columns + 1, sizeof *v), *scales = calloc((size_t)columns + 1, sizeof *scales);
    uint8_t *bytes = calloc((size_t)columns + 1, 1);
    if (!v || !scales || !bytes)
        exit(2);
    store.scale_across = sizeof *scales;
    scales[0] = oc.scaling == GM_SCALE_STATIC ? oc.static_scale : 0;
    for (int64_t n = 0; n < columns; n++)
        v[n] = (float)(gc->rounded_y ? round_to(of, row->want[n]) : row->want[n]);
    store_row(&store, (uint64_t)(uintptr_t)bytes, (uint64_t)(uintptr_t)scales, 0, columns, v, OUT_BUG_NONE);
    for (int64_t n = 0; n < columns; n++) {
        row->want[n] = bits_to_double(gc->d_type, bytes[n]);
        row->off[n] = 0;
    }
    free(v);
    free(scales);
    free(bytes);
}

/* From y to D. */
static void round_row(const struct gemm_case *gc, struct row *row) {
    const struct out_case oc = out_of(gc);
    const int64_t columns = columns_of(gc);
    if (is_quantised(gc) && is_exact(gc)) {
        quantise_exactly(gc, row);
    } else if (is_quantised(gc)) {
        expect_out(&oc, rounded_type(gc), columns, row->want, row->off);
    } else {
        for (int64_t n = 0; n < columns; n++)
            row->off[n] = tolerance_of(gc, row->want[n], row->off[n]);
    }
}

static bool element_ok(const struct walk *walk, const struct row *row, int64_t m, int64_t n) {
    const enum gm_type type = walk->placed->gc->d_type;
    return bits_match(type, load_bits(element(walk, m, n), type), row->want[n], row->off[n]);
}

/* ---- scales of D --------------------------------------------------------------------------------- */

struct scale_at {
    int64_t row, column; /* of the operand of scales */
    double want, tolerance;
    uint32_t bits; /* what is there */
};

static int64_t groups_of(const struct gemm_case *gc) {
    const int64_t group = gc->out.group ? gc->out.group : 128;
    return gc->out.scaling == GM_SCALE_GROUP ? (columns_of(gc) + group - 1) / group : 1;
}

/* The scale of a group of row m of y. */
static struct scale_at scale_at(const struct walk *walk, const struct row *row, int64_t m, int64_t group) {
    const struct placed *p = walk->placed;
    const struct out_case oc = out_of(p->gc);
    const bool by_column = oc.scaling == GM_SCALE_ROW || oc.order == GM_SCALES_BY_COLUMN;
    struct scale_at s = {by_column ? group : m, by_column ? m : group, oc.static_scale, 0, 0};
    if (oc.scaling == GM_SCALE_STATIC)
        s.row = s.column = 0;
    else
        expect_scale(&oc, rounded_type(p->gc), columns_of(p->gc), row->want, row->off, s.row, s.column, &s.want,
                     &s.tolerance);
    const size_t at = (size_t)((s.row * p->scales.stride + s.column) * gm_type_bytes(p->scales.type));
    s.bits = load_bits(walk->region + p->scales_at + at, p->scales.type);
    return s;
}

static bool scale_ok(const struct walk *walk, const struct scale_at *s) {
    return bits_match(walk->placed->scales.type, s->bits, s->want, s->tolerance);
}

static bool scales_ok(const struct walk *walk, const struct row *row, int64_t m) {
    bool ok = true;
    for (int64_t group = 0; walk->placed->scales.rows && group < groups_of(walk->placed->gc) && ok; group++) {
        const struct scale_at s = scale_at(walk, row, m, group);
        ok = scale_ok(walk, &s);
    }
    return ok;
}

static void report_scale(struct result *result, const struct walk *walk, int64_t m, const char *what) {
    const enum gm_type type = walk->placed->scales.type;
    struct row row = new_row(walk->placed->gc);
    int64_t group = 0;
    make_row(walk, m, &row);
    struct scale_at s = scale_at(walk, &row, m, 0);
    while (scale_ok(walk, &s))
        s = scale_at(walk, &row, m, ++group);
    fail(result, "%s: d_scales[%lld, %lld] = %.9g (0x%x), want %.9g +- %.3g", what, (long long)s.row,
         (long long)s.column, bits_to_double(type, s.bits), s.bits, s.want, s.tolerance);
    free_row(&row);
}

/* ---- the largest size ---------------------------------------------------------------------------- */

/* Of a row of y. Where that may have been rounded, the rounded one's will do. */
static void watch(const struct walk *walk, const struct row *row, int64_t m) {
    const struct gemm_case *gc = walk->placed->gc;
    double low = 0, high = 0;
    for (int64_t n = 0; n < columns_of(gc); n++) {
        const double size = fabs(row->want[n]);
        if (isnan(size) || isnan(low)) {
            low = high = NAN;
            continue;
        }
        low = fmax(low, isinf(size) ? size : size - row->off[n]);
        high = fmax(high, isinf(size) ? size : size + row->off[n]);
    }
    if (gc->rounded_y && !isnan(low)) {
        low = fmin(low, round_to(rounded_type(gc), low));
        high = fmax(high, round_to(rounded_type(gc), high));
    }
    walk->low[m] = low;
    walk->high[m] = high;
}

static bool amax_ok(struct result *result, const struct walk *walk, const char *what) {
    const struct gemm_case *gc = walk->placed->gc;
    double low = (double)gc->least_amax, high = low;
    if (!gc->amax)
        return true;
    for (int64_t m = 0; m < gc->m; m++) {
        const bool is_nan = isnan(low) || isnan(walk->low[m]);
        low = is_nan ? NAN : fmax(low, walk->low[m]);
        high = is_nan ? NAN : fmax(high, walk->high[m]);
    }
    const double got = bits_to_double(GM_FP32, load_bits(walk->region + walk->placed->amax_at, GM_FP32));
    if (isnan(low) ? isnan(got) : got >= (double)(float)low && got <= (double)(float)high)
        return true;
    fail(result, "%s: amax is %.9g, want %.9g to %.9g", what, got, low, high);
    return false;
}

/* ---- D ------------------------------------------------------------------------------------------- */

static void check_rows(int64_t first, int64_t last, void *arg) {
    const struct walk *walk = arg;
    const struct gemm_case *gc = walk->placed->gc;
    const int64_t columns = columns_of(gc);
    struct row row = new_row(gc);
    for (int64_t m = first; m < last; m++) {
        make_row(walk, m, &row);
        if (gc->amax)
            watch(walk, &row, m);
        walk->scale_bad[m] = !scales_ok(walk, &row, m);
        round_row(gc, &row);
        for (int64_t n = 0; n < columns && !walk->row_bad[m]; n++)
            walk->row_bad[m] = !element_ok(walk, &row, m, n);
    }
    free_row(&row);
}

static void print_map(const struct walk *walk, struct row *row, int64_t m, int64_t n) {
    const int64_t rows = walk->placed->gc->m, columns = columns_of(walk->placed->gc);
    const int64_t top = m > 8 ? m - 8 : 0, left = n > 16 ? n - 16 : 0;
    printf("      rows %lld.., columns %lld.. (x = wrong)\n", (long long)top, (long long)left);
    for (int64_t i = top; i < rows && i < top + 32; i++) {
        printf("      ");
        make_row(walk, i, row);
        round_row(walk->placed->gc, row);
        for (int64_t j = left; j < columns && j < left + 80; j++)
            putchar(element_ok(walk, row, i, j) ? '.' : 'x');
        putchar('\n');
    }
}

static void report_element(struct result *result, const struct walk *walk, int64_t m, const char *what) {
    const struct placed *p = walk->placed;
    const enum gm_type type = p->gc->d_type;
    struct row row = new_row(p->gc);
    int64_t n = 0, bad_rows = 0;
    make_row(walk, m, &row);
    round_row(p->gc, &row);
    while (element_ok(walk, &row, m, n))
        n++;
    for (int64_t i = 0; i < p->gc->m; i++)
        bad_rows += walk->row_bad[i];
    const double want = row.want[n];
    const uint32_t bits = load_bits(element(walk, m, n), type);
    const bool unwritten = memcmp(element(walk, m, n), "\x99\x99\x99\x99", (size_t)gm_type_bytes(type)) == 0;
    fail(result, "%s: D[%lld, %lld] = %.9g (0x%x%s), want %.9g (0x%x) +- %.3g; %lld of %lld rows differ", what,
         (long long)m, (long long)n, bits_to_double(type, bits), bits, unwritten ? ", never written" : "", want,
         double_to_bits(type, want), row.off[n], (long long)bad_rows, (long long)p->gc->m);
    if (opt.verbose && !opt.silent)
        print_map(walk, &row, m, n);
    free_row(&row);
}

/* The bytes from `at` to `end` must still be poison; else says on which side of D they lie. */
static bool guard_ok(struct result *result, const struct walk *walk, size_t at, size_t end, const char *what) {
    while (at < end && walk->region[at] == POISON)
        at++;
    if (at >= end)
        return true;
    const struct placed *p = walk->placed;
    const int64_t bytes = gm_type_bytes(p->gc->d_type), ldd = p->problem.ldd;
    const int64_t offset = ((int64_t)at - (int64_t)p->d_before) / bytes - ((int64_t)at < (int64_t)p->d_before);
    int64_t row = (offset >= 0 ? offset : offset - ldd + 1) / ldd, column = offset - row * ldd;
    const char *side = row < 0 ? "above" : row >= p->gc->m ? "below" : "right of";
    if (column >= columns_of(p->gc) + (ldd - columns_of(p->gc) + 1) / 2 && row + 1 < p->gc->m && row + 1 >= 0) {
        side = "left of";
        row += 1;
        column -= ldd;
    }
    fail(result, "%s: wrote %s D: byte 0x%02x at row %lld, column %lld", what, side, walk->region[at], (long long)row,
         (long long)column);
    return false;
}

static bool guards_ok(struct result *result, const struct walk *walk, const char *what) {
    const struct placed *p = walk->placed;
    const size_t bytes = (size_t)gm_type_bytes(p->gc->d_type);
    const size_t pitch = (size_t)p->problem.ldd * bytes, used = (size_t)columns_of(p->gc) * bytes;
    bool ok = guard_ok(result, walk, 0, p->gc->m ? p->d_before : p->d_end, what);
    for (int64_t m = 0; m < p->gc->m && ok; m++) {
        const size_t row = p->d_before + (size_t)m * pitch;
        ok = guard_ok(result, walk, row + used, m + 1 < p->gc->m ? row + pitch : p->d_end, what);
    }
    return ok;
}

/* Whether a byte behind D is of amax or of a scale. */
static bool is_in_tail(const struct placed *p, size_t at) {
    const size_t bytes = p->scales.rows ? (size_t)gm_type_bytes(p->scales.type) : 1;
    const size_t pitch = (size_t)p->scales.stride * bytes, rows = (size_t)p->scales.rows;
    const bool is_scale = p->scales.rows && at >= p->scales_at && at < p->scales_at + rows * pitch;
    return (p->gc->amax && at >= p->amax_at && at < p->amax_at + sizeof(float)) ||
           (is_scale && (at - p->scales_at) % pitch < (size_t)p->scales.columns * bytes);
}

static bool tail_ok(struct result *result, const struct walk *walk, const char *what) {
    const struct placed *p = walk->placed;
    size_t at = p->d_end;
    while (at < p->call.region_bytes && (walk->region[at] == POISON || is_in_tail(p, at)))
        at++;
    if (at < p->call.region_bytes)
        fail(result, "%s: wrote beside amax or d_scales: byte 0x%02x, %lld bytes from amax, %lld from d_scales", what,
             walk->region[at], (long long)at - (long long)p->amax_at, (long long)at - (long long)p->scales_at);
    return at >= p->call.region_bytes;
}

static int64_t first_of(const uint8_t *flags, int64_t rows) {
    int64_t m = 0;
    while (m < rows && !flags[m])
        m++;
    return m;
}

bool gemm_compare(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed *placed = (const struct placed *)call;
    const int64_t rows = placed->gc->m;
    uint8_t *flags = calloc((size_t)rows + 1, 2);
    double *sizes = calloc((size_t)rows + 1, 2 * sizeof *sizes);
    if (!flags || !sizes)
        exit(2);
    const struct walk walk = {placed, region, flags, flags + rows, sizes, sizes + rows};
    if (columns_of(placed->gc) > 0)
        parallel_for(rows, 10.0 * (double)rows * (double)placed->gc->n, check_rows, (void *)&walk);
    const int64_t m = first_of(walk.row_bad, rows), scale = first_of(walk.scale_bad, rows);
    if (m < rows)
        report_element(result, &walk, m, what);
    else if (scale < rows)
        report_scale(result, &walk, scale, what);
    const bool ok = guards_ok(result, &walk, what) && tail_ok(result, &walk, what) && m == rows && scale == rows &&
                    amax_ok(result, &walk, what);
    free(flags);
    free(sizes);
    return ok;
}
