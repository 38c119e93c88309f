/* SPDX-License-Identifier: Apache-2.0 */
/* One RMSNorm: its inputs in device memory between NaN, what it writes between poison, and what it shall have written. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rms_norm/rms_norm_tests.h"

enum { GUARD_BYTES = 1024, BOUNDARY = 256 };

void describe_norm(const struct norm_case *nc, char *text, size_t bytes) {
    static const char *const inputs[] = {"integer", "normal", "positive", "special", "sign"};
    snprintf(
        text, bytes,
        "%lld rows of %lld %s%s%s %s sum %s normalized %s eps %g offset %g pads %lld,%lld,%lld starts %d,%d,%d,%d%s",
        (long long)nc->rows, (long long)nc->columns, gm_type_name(nc->type), nc->fp32_weight ? " fp32-weight" : "",
        nc->residual ? " residual" : "", inputs[nc->inputs], nc->sum_rounding ? "early" : "late",
        nc->normalized_rounding ? "early" : "late", nc->eps, nc->weight_offset, (long long)nc->x_pad,
        (long long)nc->residual_pad, (long long)nc->out_pad, nc->x_start, nc->residual_start, nc->weight_start,
        nc->out_start, nc->in_place ? " in place" : "");
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double rounded(enum gm_type type, double value) {
    return bits_to_double(type, double_to_bits(type, value));
}

static double drawn(const struct norm_case *nc, uint64_t stream, uint64_t index) {
    const uint64_t seed = (opt.seed + nc->seed) * 4 + stream;
    if (nc->inputs == INTEGERS || nc->inputs == SIGNS)
        return (double)((int)((hash64(seed, index) >> 32) % 9) - 4);
    return rounded(nc->type, hash_normal(seed, index) + (nc->inputs == POSITIVE ? 3 : 0));
}

/* Row r holds value r of a list, every one of its elements or the last of them. */
static double special(const struct norm_case *nc, int64_t row, int64_t column, double ordinary) {
    const double largest = nc->type == GM_FP16 ? 65504 : 0x1.fep127, least = nc->type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const bool is_last = column == nc->columns - 1;
    switch (row % 7) {
    case 0:
        return is_last ? NAN : ordinary;
    case 1:
        return is_last ? INFINITY : ordinary;
    case 2:
        return 0;
    case 3:
        return largest;
    case 4:
        return least;
    case 5:
        return is_last ? -largest : 0;
    default:
        return ordinary;
    }
}

/* `times` the magnitude of the row, of either sign. */
static double sign(const struct norm_case *nc, int64_t row, int64_t column, double times) {
    const bool is_negative = hash64(opt.seed + nc->seed, (uint64_t)(row * nc->columns + column)) & 1;
    return ldexp(is_negative ? -times : times, (int)(row % 9) - 4);
}

double norm_x(const struct norm_case *nc, int64_t row, int64_t column) {
    if (nc->inputs == SIGNS)
        return sign(nc, row, column, nc->residual ? 3 : 1);
    const double ordinary = drawn(nc, 0, (uint64_t)(row * nc->columns + column));
    return nc->inputs == SPECIAL_ROWS ? special(nc, row, column, ordinary) : ordinary;
}

double norm_residual(const struct norm_case *nc, int64_t row, int64_t column) {
    if (nc->inputs == SIGNS)
        return sign(nc, row, column, -2);
    return drawn(nc, 1, (uint64_t)(row * nc->columns + column));
}

double norm_weight(const struct norm_case *nc, int64_t column) {
    const double scale = nc->weight_scale != 0 ? (double)nc->weight_scale : 1;
    return rounded(nc->type, scale * drawn(nc, 2, (uint64_t)column));
}

/* ---- memory ------------------------------------------------------------------------------------------ */

/* Rows of `type` in NaN, or in what is there already. */
static void store_rows(uint8_t *start, const struct norm_case *nc, enum gm_type type, int64_t rows, int64_t stride,
                       double (*value)(const struct norm_case *, int64_t, int64_t)) {
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < nc->columns; column++)
            store_bits(start + (row * stride + column) * gm_type_bytes(type), type,
                       double_to_bits(type, value(nc, row, column)));
}

static double weight_of(const struct norm_case *nc, int64_t row, int64_t column) {
    (void)row;
    return norm_weight(nc, column);
}

static CUdeviceptr place_input(struct result *result, const struct norm_case *nc, struct arena *arena,
                               enum gm_type type, int64_t rows, int64_t stride, int start,
                               double (*value)(const struct norm_case *, int64_t, int64_t)) {
    const size_t before = GUARD_BYTES + (size_t)(start * gm_type_bytes(type));
    const size_t total = before + (size_t)(rows * stride * gm_type_bytes(type)) + GUARD_BYTES;
    uint8_t *image = malloc(total);
    if (!image)
        exit(2);
    memset(image, 0xff, total);
    store_rows(image + before, nc, type, rows, stride, value);
    const CUdeviceptr base = arena_take(result, arena, total);
    const bool ok = base && to_device(result, base, image, total);
    free(image);
    return ok ? base + before : 0;
}

/* The residual, and out, which may be x: what the call finds there. */
void fill_norm_region(const struct call *call, uint8_t *region) {
    const struct placed_norm *placed = (const struct placed_norm *)call;
    const struct norm_case *nc = placed->nc;
    if (nc->residual)
        store_rows(region + placed->residual_at, nc, nc->type, nc->rows, placed->problem.residual_stride,
                   norm_residual);
    if (nc->in_place)
        store_rows(region + placed->out_at, nc, nc->type, nc->rows, placed->problem.out_stride, norm_x);
}

static size_t round_up(size_t bytes) {
    return (bytes + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
}

static bool place_region(struct result *result, struct placed_norm *placed, struct norm_buffers *buffers) {
    const struct norm_case *nc = placed->nc;
    const size_t bytes = (size_t)gm_type_bytes(nc->type);
    const size_t residual_bytes = (size_t)(nc->rows * placed->problem.residual_stride) * bytes;
    placed->residual_at = GUARD_BYTES + (size_t)nc->residual_start * bytes;
    placed->out_at = round_up(placed->residual_at + (nc->residual ? residual_bytes : 0) + GUARD_BYTES) +
                     (size_t)nc->out_start * bytes;
    placed->call.region_bytes = placed->out_at + (size_t)(nc->rows * placed->problem.out_stride) * bytes + GUARD_BYTES;
    placed->call.region = arena_take(result, &buffers->region, placed->call.region_bytes);
    placed->args.out = placed->call.region + placed->out_at;
    placed->args.residual = nc->residual ? placed->call.region + placed->residual_at : 0;
    return placed->call.region && poison_output(result, &placed->call);
}

static int32_t alignment(CUdeviceptr pointer) {
    return pointer % 16 == 0 ? 16 : pointer % 8 == 0 ? 8 : pointer % 4 == 0 ? 4 : 2;
}

bool place_norm(struct result *result, const struct norm_case *nc, struct norm_buffers *buffers,
                struct placed_norm *placed) {
    *placed = (struct placed_norm){.call = {.operation = &rms_norm_tests,
                                            .problem = &placed->problem,
                                            .args = &placed->args,
                                            .in_place = nc->in_place || nc->residual},
                                   .nc = nc,
                                   .args = {.size = sizeof placed->args}};
    struct gm_rms_norm_problem *p = &placed->problem;
    *p = (struct gm_rms_norm_problem){.size = sizeof *p,
                                      .rows = nc->rows,
                                      .columns = nc->columns,
                                      .type = nc->type,
                                      .fp32_weight = nc->fp32_weight,
                                      .residual = nc->residual,
                                      .eps = nc->eps,
                                      .weight_offset = nc->weight_offset,
                                      .sum_rounding = nc->sum_rounding,
                                      .normalized_rounding = nc->normalized_rounding,
                                      .x_stride = nc->columns + (nc->in_place ? nc->out_pad : nc->x_pad),
                                      .residual_stride = nc->columns + nc->residual_pad,
                                      .out_stride = nc->columns + nc->out_pad};
    const enum gm_type weight_type = nc->fp32_weight ? GM_FP32 : nc->type;
    placed->args.weight =
        place_input(result, nc, &buffers->weight, weight_type, 1, nc->columns, nc->weight_start, weight_of);
    placed->args.x =
        nc->in_place ? 1 : place_input(result, nc, &buffers->x, nc->type, nc->rows, p->x_stride, nc->x_start, norm_x);
    if (!placed->args.x || !placed->args.weight || !place_region(result, placed, buffers))
        return false;
    if (nc->in_place)
        placed->args.x = placed->args.out;
    p->x_align = alignment(placed->args.x);
    p->residual_align = nc->residual ? alignment(placed->args.residual) : 16;
    p->weight_align = alignment(placed->args.weight);
    p->out_align = alignment(placed->args.out);
    return true;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* One row: what is normalised, and the factor. The sum overflows and underflows as fp32 does. */
struct reference {
    double *s;
    double scale, error; /* relative, of the scale */
};

static double sum_of(const struct norm_case *nc, int64_t row, int64_t column) {
    const double x = norm_x(nc, row, column);
    if (!nc->residual)
        return x;
    const double sum = (float)(x + norm_residual(nc, row, column));
    return nc->sum_rounding == GM_ROUND_EARLY ? rounded(nc->type, sum) : sum;
}

static void refer(const struct norm_case *nc, int64_t row, struct reference *reference) {
    double squares = 0;
    for (int64_t column = 0; column < nc->columns; column++) {
        reference->s[column] = sum_of(nc, row, column);
        squares += (double)(float)(reference->s[column] * reference->s[column]);
    }
    if (squares > FLT_MAX)
        squares = INFINITY;
    reference->scale = 1 / sqrt(squares / (double)nc->columns + (double)nc->eps);
    /* A thread adds columns / 32 squares at most, the lanes and warps 10 more; a root halves the error. */
    reference->error = 0x1p-21 + ((double)nc->columns / 32 + 16) * 0x1p-25;
}

static double expected(const struct norm_case *nc, const struct reference *reference, int64_t column,
                       double *tolerance) {
    const double factor = (double)(float)(norm_weight(nc, column) + (double)nc->weight_offset);
    const double exact = reference->s[column] * reference->scale;
    const double y = nc->normalized_rounding == GM_ROUND_EARLY ? rounded(nc->type, exact) : exact;
    const double out = y * factor;
    double error = fabs(out) * (reference->error + 0x1p-22);
    if (nc->normalized_rounding == GM_ROUND_EARLY) /* a value near a tie is rounded the other way */
        error += 2 * half_ulp(nc->type, fabs(exact)) * fabs(factor);
    const bool is_exact = !isfinite(error) || (nc->inputs == SIGNS && nc->type != GM_FP32);
    *tolerance = is_exact ? 0 : error + half_ulp(nc->type, fabs(out) + error);
    return out;
}

/* False where a row of out, or of the residual, is wrong; the first time in words. */
static bool check_row(struct result *result, const struct placed_norm *placed, const uint8_t *region, int64_t row,
                      struct reference *reference, const char *what) {
    const struct norm_case *nc = placed->nc;
    const int64_t bytes = gm_type_bytes(nc->type);
    refer(nc, row, reference);
    for (int64_t column = 0; column < nc->columns; column++) {
        const uint8_t *at = region + placed->out_at + (row * placed->problem.out_stride + column) * bytes;
        const uint8_t *sum = region + placed->residual_at + (row * placed->problem.residual_stride + column) * bytes;
        const uint32_t bits = load_bits(at, nc->type);
        double tolerance;
        const double want = expected(nc, reference, column, &tolerance);
        if (!bits_match(nc->type, bits, want, tolerance)) {
            fail(result, "%s: out[%lld, %lld] = %.9g (0x%x%s), want %.9g +- %.3g", what, (long long)row,
                 (long long)column, bits_to_double(nc->type, bits), bits,
                 memcmp(at, "\x99\x99\x99\x99", (size_t)bytes) == 0 ? ", never written" : "", want, tolerance);
            return false;
        }
        if (nc->residual && !bits_match(nc->type, load_bits(sum, nc->type), reference->s[column], 0)) {
            fail(result, "%s: residual[%lld, %lld] = %.9g, want %.9g", what, (long long)row, (long long)column,
                 bits_to_double(nc->type, load_bits(sum, nc->type)), rounded(nc->type, reference->s[column]));
            return false;
        }
    }
    return true;
}

/* Bytes beside rows are poison still. */
static bool guards_ok(struct result *result, const struct placed_norm *placed, const uint8_t *region,
                      const char *what) {
    const struct norm_case *nc = placed->nc;
    const size_t bytes = (size_t)gm_type_bytes(nc->type), row_bytes = (size_t)nc->columns * bytes;
    const size_t starts[] = {placed->residual_at, placed->out_at};
    const size_t pitches[] = {(size_t)placed->problem.residual_stride * bytes,
                              (size_t)placed->problem.out_stride * bytes};
    for (size_t at = 0; at < placed->call.region_bytes; at++) {
        bool inside = false;
        for (int i = nc->residual ? 0 : 1; i < 2; i++)
            inside |= at >= starts[i] && at < starts[i] + (size_t)nc->rows * pitches[i] &&
                      (at - starts[i]) % pitches[i] < row_bytes;
        if (!inside && region[at] != POISON) {
            fail(result, "%s: wrote beside the rows: byte 0x%02x at %lld bytes from out's start", what, region[at],
                 (long long)at - (long long)placed->out_at);
            return false;
        }
    }
    return true;
}

bool compare_norm(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed_norm *placed = (const struct placed_norm *)call;
    struct reference reference = {.s = malloc((size_t)placed->nc->columns * sizeof(double))};
    bool ok = reference.s && guards_ok(result, placed, region, what);
    for (int64_t row = 0; row < placed->nc->rows && ok; row++)
        ok = check_row(result, placed, region, row, &reference, what);
    free(reference.s);
    return ok;
}

bool run_norm(struct result *result, const struct norm_case *nc, const char *kernel, uint32_t mask,
              struct norm_buffers *buffers) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = nc->sm_budget};
    char what[320];
    struct placed_norm placed;
    describe_norm(nc, what, sizeof what);
    heartbeat(what);
    return place_norm(result, nc, buffers, &placed) &&
           run_call(result, &placed.call, &options, nc->repeats, nc->may_refuse, what);
}

void free_norm(struct norm_buffers *buffers) {
    arena_free(&buffers->x);
    arena_free(&buffers->weight);
    arena_free(&buffers->region);
}
