/* SPDX-License-Identifier: Apache-2.0 */
/* What D shall be, and whether a downloaded D and the guard zone around it are that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

/* Small integers or, for NORMAL inputs, N(0, 1) rounded to D's type. */
double c_value(const struct gemm_case *gc, int64_t m, int64_t n) {
    const uint64_t index = (uint64_t)(m * gc->n + n);
    if (gc->inputs != NORMAL)
        return (double)((int)((hash64(opt.seed ^ 0xc, index) >> 32) % 17) - 8);
    return round_to(gc->d_type, hash_normal(opt.seed ^ 0xc, index));
}

double bias_value(const struct gemm_case *gc, int64_t index) {
    if (gc->inputs != NORMAL)
        return (double)((int)((hash64(opt.seed ^ 0xb, (uint64_t)index) >> 32) % 65) - 32);
    return round_to(gc->bias_type, hash_normal(opt.seed ^ 0xb, (uint64_t)index));
}

double scaling_value(const struct gemm_case *gc, const struct logical *logical, enum scaling scaling, int64_t index) {
    const enum gm_granularity scales = scaling == A_SCALES ? gc->a_scales : gc->b_scales;
    const uint64_t random = hash64(opt.seed ^ 0x5ca1e ^ scaling, (uint64_t)(scales == GM_PER_ROW ? index : 0)) >> 32;
    double sum = 0;
    if (scaling == A_ZEROS)
        return gc->zero_points ? (double)((int)(hash64(opt.seed ^ 0x2e05, (uint64_t)index) >> 32 & 7) - 3) : 0;
    if (scaling != B_SUMS)
        return scales == GM_PER_NONE ? 1 : ldexp(1, -(int)(random % 3));
    for (int64_t k = 0; k < gc->k; k++)
        sum += (double)logical->b[k * gc->n + index];
    return sum;
}

/* What int8's sum stands for. */
static double scaled(const struct placed *placed, int64_t m, int64_t n, double acc) {
    const struct gemm_case *gc = placed->gc;
    if (gc->ab_type != GM_INT8)
        return acc;
    if (gc->zero_points)
        acc -= scaling_value(gc, placed->logical, A_ZEROS, m) * placed->column_sums[n];
    return acc * scaling_value(gc, placed->logical, A_SCALES, m) * scaling_value(gc, placed->logical, B_SCALES, n);
}

/* c sqrt(K) eps relative to the sum's own size, which for N(0, 1) operands is sqrt(K). eps is that of truncation,
 * since tensor cores truncate as they add, but fp32 operands are multiplied and added with rounding; c = 8 covers the
 * largest of some 10^5 elements. A product of tf32x3 misses 2^-20 of itself. */
static double accumulation_error(int64_t k, enum gm_type ab_type) {
    const double size = sqrt((double)k + 1);
    const bool rounds = ab_type == GM_FP32 || ab_type == GM_TF32X3; /* tensor cores add few of tf32x3 */
    return 8 * size * ((rounds ? 0x1p-24 : 0x1p-23) * size + (ab_type == GM_TF32X3 ? 0x1p-20 : 0));
}

double expected(const struct placed *placed, int64_t m, int64_t n, double acc, double *tolerance) {
    const struct gemm_case *gc = placed->gc;
    const double beta = placed->args.beta ? *placed->args.beta : 0;
    const double product = scaled(placed, m, n, acc) * (placed->args.alpha ? *placed->args.alpha : 1);
    const double c = beta != 0 ? beta * c_value(gc, m, n) : 0;
    const double bias = gc->bias ? bias_value(gc, gc->bias == GM_BIAS_N ? n : m) : 0;
    const double x = product + c + bias, value = activation_value(gc->activation, x);
    *tolerance = 0;
    if (gc->d_type == GM_INT32)
        return value;
    if (gc->inputs == NORMAL || gc->activation > GM_ACT_RELU) {
        const double alpha = gc->alpha;
        const bool adds_exactly = gc->inputs != NORMAL || gc->ab_type == GM_INT8;
        double error = adds_exactly ? 0 : fabs(alpha) * accumulation_error(gc->k, gc->ab_type);
        error += 0x1p-22 * (fabs(product) + fabs(c) + fabs(bias));
        if (gc->activation > GM_ACT_RELU) /* 1.13 is the steepest slope; 2e-6 the functions' own error */
            error = 1.13 * error + 2e-6 * fabs(x);
        *tolerance = error + half_ulp(gc->d_type, fabs(value) + error);
    }
    return value;
}

static double activated(const struct gemm_case *gc, double x) {
    const double factor = gc->sigmoid_factor > 0 ? (double)gc->sigmoid_factor : 1;
    return gc->activation == GM_ACT_SILU ? activation_value(GM_ACT_SILU, factor * x) / factor
                                         : activation_value(gc->activation, x);
}

/* The sum behind column c of A B, with its bias. */
static double gate_sum(const struct gemm_case *gc, const double *acc, int64_t c) {
    const double x = (double)gc->alpha * acc[c] + (gc->bias ? bias_value(gc, c) : 0);
    return gc->rounded_sums ? round_to(gc->d_type, x) : x;
}

/* How far the kernel's sum may be off. */
static double gate_error(const struct gemm_case *gc, double x) {
    double error =
        gc->inputs == NORMAL ? fabs((double)gc->alpha) * accumulation_error(gc->k, gc->ab_type) + 0x1p-22 * fabs(x) : 0;
    if (gc->rounded_sums && (gc->inputs == NORMAL || gc->activation > GM_ACT_RELU))
        error += 2 * half_ulp(gc->d_type, fabs(x) + error);
    return error;
}

/* Integers are exact until they are multiplied, in fp32. */
double expected_gated(const struct gemm_case *gc, const double *acc, int64_t n, double *tolerance) {
    const int64_t gate_at = gc->gate == GM_GATE_PAIRS ? 2 * n : n, step = gc->gate == GM_GATE_PAIRS ? 1 : gc->n / 2;
    const double limit = gc->limit > 0 ? (double)gc->limit : INFINITY;
    double gate = gate_sum(gc, acc, gate_at), up = gate_sum(gc, acc, gate_at + step);
    const double gate_off = gate_error(gc, gate), up_off = gate_error(gc, up);
    gate = gate > limit ? limit : gate;
    up = (up > limit ? limit : up < -limit ? -limit : up) + (double)gc->up_offset;
    const double act = activated(gc, gate);
    *tolerance = 0;
    if (gc->inputs != NORMAL && gc->activation <= GM_ACT_RELU)
        return (double)((float)act * (float)up);
    const double act_off = gc->activation > GM_ACT_RELU ? 1.13 * gate_off + 2e-6 * fabs(gate) : gate_off;
    const double error = act_off * (fabs(up) + up_off) + fabs(act) * up_off + 0x1p-22 * fabs(act * up);
    *tolerance = error + half_ulp(gc->d_type, fabs(act * up) + error);
    return act * up;
}

/* ---- walking the region -------------------------------------------------------------------------- */

struct walk {
    const struct placed *placed;
    const uint8_t *region;
    uint8_t *row_bad; /* one flag per row */
};

static const uint8_t *element(const struct walk *walk, int64_t m, int64_t n) {
    const struct placed *p = walk->placed;
    return walk->region + p->d_before + (size_t)(m * p->problem.ldd + n) * (size_t)gm_type_bytes(p->gc->d_type);
}

static double wanted(const struct walk *walk, int64_t m, int64_t n, double *tolerance) {
    const struct gemm_case *gc = walk->placed->gc;
    const double *acc = walk->placed->logical->acc + m * gc->n;
    return gc->gate ? expected_gated(gc, acc, n, tolerance) : expected(walk->placed, m, n, acc[n], tolerance);
}

static bool element_ok(const struct walk *walk, int64_t m, int64_t n) {
    double tolerance;
    const double want = wanted(walk, m, n, &tolerance);
    const enum gm_type type = walk->placed->gc->d_type;
    return bits_match(type, load_bits(element(walk, m, n), type), want, tolerance);
}

static void check_rows(int64_t first, int64_t last, void *arg) {
    const struct walk *walk = arg;
    const int64_t columns = columns_of(walk->placed->gc);
    for (int64_t m = first; m < last; m++)
        for (int64_t n = 0; n < columns && !walk->row_bad[m]; n++)
            walk->row_bad[m] = !element_ok(walk, m, n);
}

static void print_map(const struct walk *walk, int64_t m, int64_t n) {
    const int64_t rows = walk->placed->gc->m, columns = columns_of(walk->placed->gc);
    const int64_t top = m > 8 ? m - 8 : 0, left = n > 16 ? n - 16 : 0;
    printf("      rows %lld.., columns %lld.. (x = wrong)\n", (long long)top, (long long)left);
    for (int64_t i = top; i < rows && i < top + 32; i++) {
        printf("      ");
        for (int64_t j = left; j < columns && j < left + 80; j++)
            putchar(element_ok(walk, i, j) ? '.' : 'x');
        putchar('\n');
    }
}

static void report_element(struct result *result, const struct walk *walk, int64_t m, const char *what) {
    const struct placed *p = walk->placed;
    const enum gm_type type = p->gc->d_type;
    int64_t n = 0, bad_rows = 0;
    while (element_ok(walk, m, n))
        n++;
    for (int64_t i = 0; i < p->gc->m; i++)
        bad_rows += walk->row_bad[i];
    double tolerance;
    const double want = wanted(walk, m, n, &tolerance);
    const uint32_t bits = load_bits(element(walk, m, n), type);
    const bool unwritten = memcmp(element(walk, m, n), "\x99\x99\x99\x99", (size_t)gm_type_bytes(type)) == 0;
    fail(result, "%s: D[%lld, %lld] = %.9g (0x%x%s), want %.9g (0x%x) +- %.3g; %lld of %lld rows differ", what,
         (long long)m, (long long)n, bits_to_double(type, bits), bits, unwritten ? ", never written" : "", want,
         double_to_bits(type, want), tolerance, (long long)bad_rows, (long long)p->gc->m);
    if (opt.verbose && !opt.silent)
        print_map(walk, m, n);
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
    bool ok = guard_ok(result, walk, 0, p->gc->m ? p->d_before : p->call.region_bytes, what);
    for (int64_t m = 0; m < p->gc->m && ok; m++) {
        const size_t row = p->d_before + (size_t)m * pitch;
        ok = guard_ok(result, walk, row + used, m + 1 < p->gc->m ? row + pitch : p->call.region_bytes, what);
    }
    return ok;
}

bool gemm_compare(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed *placed = (const struct placed *)call;
    const int64_t rows = placed->gc->m;
    const struct walk walk = {placed, region, calloc((size_t)rows + 1, 1)};
    parallel_for(rows, 10.0 * (double)rows * (double)placed->gc->n, check_rows, (void *)&walk);
    int64_t m = 0;
    while (m < rows && !walk.row_bad[m])
        m++;
    if (m < rows)
        report_element(result, &walk, m, what);
    const bool ok = guards_ok(result, &walk, what) && m == rows;
    free(walk.row_bad);
    return ok;
}
