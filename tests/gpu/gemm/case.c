/* SPDX-License-Identifier: Apache-2.0 */
/* One GEMM: its operands laid out in device memory between NaN, its output between poison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

/* Bytes of NaN before and after each input. After an MN-major operand lie the rows that a tile of K would read. */
enum { BEFORE = 1024, ROWS_AFTER = 16, GUARD_ROWS = 3, RUN_BYTES = 256, TAIL_GUARD = 1024 };

static const char *layout_name(const struct gemm_case *gc) {
    static const char *names[] = {"tn", "tt", "nn", "nt"};
    return names[gc->a_major * 2 + gc->b_major];
}

/* " C fp16 residual bf16 ldr 80+3 amax from 3 to e4m3 row ..." */
static const char *describe_extension(const struct gemm_case *gc, char *text, size_t bytes) {
    char c[32] = "", residual[64] = "", amax[48] = "", out[160] = "";
    const struct out_case oc = out_of(gc);
    if (gc->has_c_type)
        snprintf(c, sizeof c, " C %s", gm_type_name(gc->c_type));
    if (gc->residual)
        snprintf(residual, sizeof residual, " residual%s %s ldr %lld+%d", gc->residual_in_place ? "=D" : "",
                 gm_type_name(gc->residual_type), (long long)leading(gc, 'r'), gc->r_offset);
    if (gc->amax)
        snprintf(amax, sizeof amax, " amax from %g", (double)gc->least_amax);
    snprintf(text, bytes, "%s%s%s%s", c, residual, amax, describe_out(&oc, out, sizeof out));
    return text;
}

void describe_gemm(const struct gemm_case *gc, char *text, size_t bytes) {
    static const char *acts[] = {"", " relu", " gelu-tanh", " gelu-erf", " silu"},
                      *biases[] = {"", " bias-n:", " bias-m:"};
    static const char *gates[] = {"", " halves", " pairs"};
    static const char *granularities[] = {"", " per tensor", " per row", " per group", " per block"};
    static const char *orders[] = {"", " by column"}, *formats[] = {"", " power of 2", " e8m0"};
    char scales[128] = "", extension[320] = "";
    if (is_of_8_bits(gc->ab_type) || gc->a_scales || gc->b_scales)
        snprintf(scales, sizeof scales, " scales%s%s%s+%d /%s%s%s+%d%s", granularities[gc->a_scales],
                 orders[gc->a_scale_order], formats[gc->a_scale_format], gc->a_scales_pad, granularities[gc->b_scales],
                 orders[gc->b_scale_order], formats[gc->b_scale_format], gc->b_scales_pad,
                 gc->zero_points ? " zeros" : "");
    const char *const fast = gc->fast_accumulation ? " fast" : "";
    static const char *inputs[] = {"integer", "normal", "special", "ones", "holed", "positive"};
    const bool is_pair = b_type_of(gc) != gc->ab_type;
    snprintf(
        text, bytes,
        "%lldx%lldx%lld %s%s%s>%s %s %s alpha %g beta %g%s%s%s%s%s%s%s%s lda %lld ldb %lld ldc %lld ldd %lld offsets "
        "%d,%d,%d,%d,%d%s",
        (long long)gc->m, (long long)gc->n, (long long)gc->k, gm_type_name(gc->ab_type), is_pair ? " " : "",
        is_pair ? gm_type_name(gc->b_type) : "", gm_type_name(gc->d_type), layout_name(gc), inputs[gc->inputs],
        gc->alpha, gc->beta, gc->in_place ? " C=D" : "", gc->c_is_nan ? " C=NaN" : "", biases[gc->bias],
        gc->bias ? gm_type_name(gc->bias_type) : "", acts[gc->activation], gates[gc->gate], scales, fast,
        (long long)leading(gc, 'a'), (long long)leading(gc, 'b'), (long long)leading(gc, 'c'),
        (long long)leading(gc, 'd'), gc->a_offset, gc->b_offset, gc->c_offset, gc->d_offset, gc->bias_offset,
        describe_extension(gc, extension, sizeof extension));
}

int64_t leading(const struct gemm_case *gc, char operand) {
    switch (operand) {
    case 'a':
        return (gc->a_major == GM_K_MAJOR ? gc->k : gc->m) + gc->a_pad;
    case 'b':
        return (gc->b_major == GM_K_MAJOR ? gc->k : gc->n) + gc->b_pad;
    case 'c':
        return columns_of(gc) + (gc->in_place ? gc->d_pad : gc->c_pad);
    case 'r':
        return columns_of(gc) + (gc->residual_in_place ? gc->d_pad : gc->r_pad);
    default:
        return columns_of(gc) + gc->d_pad;
    }
}

int64_t columns_of(const struct gemm_case *gc) {
    return gc->gate == GM_GATE_NONE ? gc->n : gc->n / 2;
}

bool is_of_8_bits(enum gm_type type) {
    return type == GM_INT8 || GM_TYPE_IS_FP8(type);
}

enum gm_type b_type_of(const struct gemm_case *gc) {
    return gc->b_type ? gc->b_type : gc->ab_type;
}

bool is_quantised(const struct gemm_case *gc) {
    return gc->d_type >= GM_E4M3 && gc->d_type <= GM_INT8;
}

enum gm_type rounded_type(const struct gemm_case *gc) {
    return !is_quantised(gc) ? gc->d_type : is_of_8_bits(gc->ab_type) ? GM_FP32 : gc->ab_type;
}

enum gm_type c_type_of(const struct gemm_case *gc) {
    return gc->has_c_type ? gc->c_type : rounded_type(gc); /* which is what it is beside a D of 8 bits, too */
}

struct out_case out_of(const struct gemm_case *gc) {
    struct out_case oc = gc->out;
    oc.has_type = is_quantised(gc);
    oc.type = gc->d_type;
    oc.rounding = gc->rounded_y ? GM_ROUND_EARLY : GM_ROUND_LATE;
    return oc;
}

bool is_extended(const struct gemm_case *gc) {
    return is_quantised(gc) || gc->residual || gc->amax || (gc->has_c_type && gc->c_type != gc->d_type) ||
           (!is_of_8_bits(gc->ab_type) && (gc->a_scales || gc->b_scales));
}

/* An image of device memory under construction: rows of `ld` elements at `start`. */
struct image {
    uint8_t *bytes;
    size_t start, total;
};

static struct image new_image(int64_t rows, int64_t ld, enum gm_type type, int offset, int fill) {
    struct image image = {.start = (size_t)(BEFORE + offset * gm_type_bytes(type))};
    image.total = image.start + (size_t)((rows + ROWS_AFTER) * ld * gm_type_bytes(type)) + BEFORE;
    image.bytes = malloc(image.total);
    if (!image.bytes) {
        fprintf(stderr, "gpu_tests: out of memory for an operand of %zu bytes\n", image.total);
        exit(2);
    }
    memset(image.bytes, fill, image.total);
    return image;
}

static CUdeviceptr upload(struct result *result, struct arena *arena, struct image *image, bool exact) {
    const CUdeviceptr base =
        exact ? arena_take_exactly(result, arena, image->total) : arena_take(result, arena, image->total);
    const bool ok = base && to_device(result, base, image->bytes, image->total);
    free(image->bytes);
    return ok ? base + image->start : 0;
}

/* Walks an operand's storage: outer is m of A or n of B. */
struct storing {
    const struct gemm_case *gc;
    const struct logical *logical;
    uint8_t *start;
    int64_t ld;
    bool is_a, k_major;
};

static void store_rows(int64_t first, int64_t last, void *arg) {
    const struct storing *s = arg;
    const int64_t k_size = s->gc->k, extent = s->is_a ? s->gc->m : s->gc->n;
    const int64_t columns = s->k_major ? k_size : extent;
    const enum gm_type type = s->is_a ? s->gc->ab_type : b_type_of(s->gc);
    for (int64_t row = first; row < last; row++)
        for (int64_t column = 0; column < columns; column++) {
            const int64_t outer = s->k_major ? row : column, k = s->k_major ? column : row;
            const float value = s->is_a ? s->logical->a[outer * k_size + k] : s->logical->b[k * extent + outer];
            store_bits(s->start + (row * s->ld + column) * gm_type_bytes(type), type, double_to_bits(type, value));
        }
}

static CUdeviceptr place_input(struct result *result, const struct placed *placed, struct arena *arena, bool is_a) {
    const struct gemm_case *gc = placed->gc;
    const bool k_major = (is_a ? gc->a_major : gc->b_major) == GM_K_MAJOR;
    const int64_t extent = is_a ? gc->m : gc->n, rows = k_major ? extent : gc->k;
    const int64_t ld = leading(gc, is_a ? 'a' : 'b');
    struct image image = new_image(rows, ld, gc->ab_type, is_a ? gc->a_offset : gc->b_offset, 0xff);
    if (gc->exact) {
        image.start = 0;
        image.total = (size_t)(((rows - 1) * ld + (k_major ? gc->k : extent)) * gm_type_bytes(gc->ab_type));
    }
    struct storing storing = {gc, placed->logical, image.bytes + image.start, ld, is_a, k_major};
    parallel_for(rows, 4.0 * (double)extent * (double)gc->k, store_rows, &storing);
    return upload(result, arena, &image, gc->exact);
}

static void store_c(const struct gemm_case *gc, uint8_t *start, int64_t ld) {
    const enum gm_type type = c_type_of(gc);
    const int64_t bytes = gm_type_bytes(type);
    for (int64_t m = 0; m < gc->m; m++)
        for (int64_t n = 0; n < columns_of(gc); n++) {
            const double value = gc->c_is_nan ? NAN : c_value(gc, m, n);
            store_bits(start + (m * ld + n) * bytes, type, double_to_bits(type, value));
        }
}

static void store_residual(const struct gemm_case *gc, uint8_t *start, int64_t ld) {
    const int64_t bytes = gm_type_bytes(gc->residual_type);
    for (int64_t m = 0; m < gc->m; m++)
        for (int64_t n = 0; n < columns_of(gc); n++)
            store_bits(start + (m * ld + n) * bytes, gc->residual_type,
                       double_to_bits(gc->residual_type, residual_value(gc, m, n)));
}

static bool place_c(struct result *result, struct placed *placed, struct arena *arena) {
    const struct gemm_case *gc = placed->gc;
    if (gc->in_place || (gc->beta == 0 && !gc->c_is_nan))
        return true;
    struct image image = new_image(gc->m, leading(gc, 'c'), c_type_of(gc), gc->c_offset, 0xff);
    store_c(gc, image.bytes + image.start, leading(gc, 'c'));
    placed->args.c = upload(result, arena, &image, false);
    return placed->args.c != 0;
}

static bool place_residual(struct result *result, struct placed *placed, struct arena *arena) {
    const struct gemm_case *gc = placed->gc;
    if (!gc->residual || gc->residual_in_place)
        return true;
    struct image image = new_image(gc->m, leading(gc, 'r'), gc->residual_type, gc->r_offset, 0xff);
    store_residual(gc, image.bytes + image.start, leading(gc, 'r'));
    placed->args.residual = upload(result, arena, &image, false);
    return placed->args.residual != 0;
}

static bool place_bias(struct result *result, struct placed *placed, struct arena *arena) {
    const struct gemm_case *gc = placed->gc;
    if (!gc->bias)
        return true;
    const int64_t count = gc->bias == GM_BIAS_N ? gc->n : gc->m, bytes = gm_type_bytes(gc->bias_type);
    struct image image = new_image(1, count, gc->bias_type, gc->bias_offset, 0xff);
    for (int64_t i = 0; i < count; i++)
        store_bits(image.bytes + image.start + i * bytes, gc->bias_type,
                   double_to_bits(gc->bias_type, bias_value(gc, i)));
    placed->args.bias = upload(result, arena, &image, false);
    return placed->args.bias != 0;
}

/* The sums of B's columns stay on the host for the comparison, too. */
static bool keep_column_sums(struct placed *placed) {
    static double *sums; /* of the case that was placed last */
    const struct gemm_case *gc = placed->gc;
    free(sums);
    sums = placed->column_sums = calloc((size_t)gc->n + 1, sizeof *sums);
    for (int64_t n = 0; n < gc->n && sums && gc->zero_points; n++)
        sums[n] = scaling_value(gc, placed->logical, B_SUMS, n);
    return sums;
}

/* Row by row, as they lie in memory, between NaN. */
static CUdeviceptr place_scales(struct result *result, const struct gemm_case *gc, bool is_a, struct arena *arena) {
    const struct scales_layout lie = scales_layout_of(gc, is_a);
    const int bytes = gm_type_bytes(lie.type), offset = (int)(gc->n + is_a) % 3;
    struct image image = new_image(lie.rows, lie.stride, lie.type, offset * 4 / bytes, 0xff);
    for (int64_t i = 0; i < lie.rows * lie.columns; i++) {
        const int64_t row = i / lie.columns, column = i % lie.columns;
        const double scale = stored_scale(gc, is_a, row, column);
        store_bits(image.bytes + image.start + (row * lie.stride + column) * bytes, lie.type,
                   bytes == 1 ? (uint32_t)(ilogb(scale) + 127) : double_to_bits(GM_FP32, scale));
    }
    return upload(result, arena, &image, false);
}

static CUdeviceptr place_zeros(struct result *result, const struct placed *placed, enum scaling scaling, int64_t count,
                               struct arena *arena) {
    struct image image = new_image(1, count + 1, GM_INT32, (int)(placed->gc->n + scaling) % 3, 0xff);
    for (int64_t i = 0; i < count; i++) {
        const double value =
            scaling == B_SUMS ? placed->column_sums[i] : scaling_value(placed->gc, placed->logical, scaling, i);
        store_bits(image.bytes + image.start + i * 4, GM_INT32, double_to_bits(GM_INT32, value));
    }
    return upload(result, arena, &image, false);
}

static bool place_scaling(struct result *result, struct placed *placed, struct arena arenas[SCALINGS]) {
    const struct gemm_case *gc = placed->gc;
    struct gm_gemm_args *args = &placed->args;
    if (!keep_column_sums(placed))
        return false;
    placed->sums = scaled_sums(gc, placed->logical);
    args->a_scales = gc->a_scales ? place_scales(result, gc, true, &arenas[A_SCALES]) : 0;
    args->b_scales = gc->b_scales ? place_scales(result, gc, false, &arenas[B_SCALES]) : 0;
    args->a_zeros = gc->zero_points ? place_zeros(result, placed, A_ZEROS, gc->m, &arenas[A_ZEROS]) : 0;
    args->b_sums = gc->zero_points ? place_zeros(result, placed, B_SUMS, gc->n, &arenas[B_SUMS]) : 0;
    return (!gc->a_scales || args->a_scales) && (!gc->b_scales || args->b_scales) &&
           (!gc->zero_points || (args->a_zeros && args->b_sums));
}

/* C's values, or NaN, where C is D; the residual's where that is D; what amax holds before; a scale that is read. */
void gemm_fill_region(const struct call *call, uint8_t *region) {
    const struct placed *placed = (const struct placed *)call;
    const struct gemm_case *gc = placed->gc;
    if (gc->in_place)
        store_c(gc, region + placed->d_before, leading(gc, 'd'));
    if (gc->residual_in_place)
        store_residual(gc, region + placed->d_before, leading(gc, 'd'));
    if (gc->amax)
        memcpy(region + placed->amax_at, &gc->least_amax, sizeof gc->least_amax);
    if (placed->scales.rows && !placed->scales.written)
        memcpy(region + placed->scales_at, &gc->out.static_scale, sizeof gc->out.static_scale);
}

static size_t up_to_run(size_t bytes) {
    return (bytes + RUN_BYTES - 1) / RUN_BYTES * RUN_BYTES;
}

/* Behind D: amax, and D's scales, each at no round address. */
static void lay_out_tail(struct placed *placed) {
    const struct gemm_case *gc = placed->gc;
    const struct out_case oc = out_of(gc);
    size_t end = up_to_run(placed->d_end);
    placed->scales = scales_operand(&oc, 0, gc->m, columns_of(gc), NULL);
    if (gc->amax) {
        placed->amax_at = end + TAIL_GUARD + (size_t)((gc->m + gc->n) % 5 * 4);
        end = up_to_run(placed->amax_at + sizeof(float)) + TAIL_GUARD;
    }
    if (placed->scales.rows) {
        const size_t bytes = (size_t)gm_type_bytes(placed->scales.type);
        placed->scales_at = end + TAIL_GUARD + (size_t)(gc->m % 3) * bytes;
        end = up_to_run(placed->scales_at + (size_t)(placed->scales.rows * placed->scales.stride) * bytes) + TAIL_GUARD;
    }
    placed->call.region_bytes = gc->amax || placed->scales.rows ? end : placed->d_end;
    placed->call.in_place |= gc->residual_in_place || gc->amax || (placed->scales.rows && !placed->scales.written);
}

static bool place_d(struct result *result, struct placed *placed, struct arena *arena) {
    const struct gemm_case *gc = placed->gc;
    const int64_t bytes = gm_type_bytes(gc->d_type), ldd = leading(gc, 'd');
    placed->d_before = (size_t)((GUARD_ROWS * ldd * bytes + RUN_BYTES) / RUN_BYTES * RUN_BYTES + gc->d_offset * bytes);
    placed->d_end = placed->d_before + (size_t)((gc->m + GUARD_ROWS) * ldd * bytes) + RUN_BYTES;
    lay_out_tail(placed);
    placed->call.region = arena_take(result, arena, placed->call.region_bytes);
    placed->args.d = placed->call.region + placed->d_before;
    if (gc->in_place)
        placed->args.c = placed->args.d;
    if (gc->residual_in_place)
        placed->args.residual = placed->args.d;
    placed->args.amax = gc->amax ? placed->call.region + placed->amax_at : 0;
    placed->args.d_scales = placed->scales.rows ? placed->call.region + placed->scales_at : 0;
    return placed->call.region && poison_output(result, &placed->call);
}

int32_t pointer_alignment(CUdeviceptr pointer) {
    return pointer % 16 == 0 ? 16 : pointer % 8 == 0 ? 8 : pointer % 4 == 0 ? 4 : pointer % 2 == 0 ? 2 : 1;
}

static void fill_problem(struct placed *placed) {
    const struct gemm_case *gc = placed->gc;
    const struct out_case oc = out_of(gc);
    placed->problem = (struct gm_gemm_problem){.size = sizeof placed->problem,
                                               .m = gc->m,
                                               .n = gc->n,
                                               .k = gc->k,
                                               .ab_type = gc->ab_type,
                                               .has_b_type = b_type_of(gc) != gc->ab_type,
                                               .b_type = gc->b_type,
                                               .d_type = gc->d_type,
                                               .a_major = gc->a_major,
                                               .b_major = gc->b_major,
                                               .lda = leading(gc, 'a'),
                                               .ldb = leading(gc, 'b'),
                                               .ldc = leading(gc, 'c'),
                                               .ldd = leading(gc, 'd'),
                                               .activation = gc->activation,
                                               .gate = gc->gate,
                                               .limit = gc->limit,
                                               .sigmoid_factor = gc->sigmoid_factor,
                                               .up_offset = gc->up_offset,
                                               .bias = gc->bias,
                                               .bias_type = gc->bias_type,
                                               .a_scales = gc->a_scales,
                                               .b_scales = gc->b_scales,
                                               .zero_points = gc->zero_points,
                                               .fast_accumulation = gc->fast_accumulation,
                                               .a_scale_order = gc->a_scale_order,
                                               .b_scale_order = gc->b_scale_order,
                                               .a_scale_format = gc->a_scale_format,
                                               .b_scale_format = gc->b_scale_format,
                                               .a_scales_stride = scales_layout_of(gc, true).stride,
                                               .b_scales_stride = scales_layout_of(gc, false).stride,
                                               .a_align = pointer_alignment(placed->args.a),
                                               .b_align = pointer_alignment(placed->args.b),
                                               .d_align = pointer_alignment(placed->args.d),
                                               .has_c_type = gc->has_c_type,
                                               .c_type = gc->c_type,
                                               .residual = gc->residual,
                                               .residual_type = gc->residual_type,
                                               .ldr = gc->residual ? leading(gc, 'r') : 0,
                                               .amax = gc->amax,
                                               .d_scaling = gc->out.scaling,
                                               .d_scale_format = gc->out.format,
                                               .d_scale_order = gc->out.order,
                                               .d_division = gc->out.division,
                                               .d_group = gc->out.group,
                                               .d_scale_floor = gc->out.floor,
                                               .d_scales_stride = scales_stride(&oc, gc->m, columns_of(gc))};
}

bool place_gemm(struct result *result, const struct gemm_case *gc, struct buffers *buffers, struct placed *placed) {
    *placed = (struct placed){.call = {.operation = &gemm_tests,
                                       .problem = &placed->problem,
                                       .args = &placed->args,
                                       .in_place = gc->in_place},
                              .gc = gc,
                              .args = {.size = sizeof placed->args}};
    placed->logical = logical_operands(gc->m, gc->n, gc->k, gc->inputs, gc->ab_type, b_type_of(gc));
    if (gc->alpha != 1)
        placed->args.alpha = &gc->alpha;
    if (gc->beta != 0 || gc->c_is_nan)
        placed->args.beta = &gc->beta;
    placed->args.a = place_input(result, placed, &buffers->a, true);
    placed->args.b = place_input(result, placed, &buffers->b, false);
    placed->problem.ldd = leading(gc, 'd');
    if (!placed->args.a || !placed->args.b || !place_c(result, placed, &buffers->c) ||
        !place_residual(result, placed, &buffers->residual) || !place_bias(result, placed, &buffers->bias) ||
        !place_scaling(result, placed, buffers->scaling) || !place_d(result, placed, &buffers->d))
        return false;
    fill_problem(placed);
    return true;
}

int row_unit(enum gm_type type) {
    return is_of_8_bits(type) ? 16 : 8;
}

int copied_elements(enum gm_type type) {
    return is_of_8_bits(type) ? 4 : 1;
}

int64_t pad_row(enum gm_type type, int64_t elements) {
    const int64_t unit = row_unit(type);
    return (unit - elements % unit) % unit;
}

struct gemm_case fit_type(const struct gemm_case *gc) {
    struct gemm_case fit = *gc;
    const int turn = (int)((gc->m + gc->n + gc->k) % 8);
    const bool plain = gc->alpha == 1 && gc->beta == 0 && !gc->bias && !gc->activation && !gc->c_is_nan;
    if (gm_type_bytes(gc->ab_type) == 4)
        fit.d_type = GM_FP32;
    if (gc->ab_type == GM_E4M3 && gc->inputs == HOLED) /* it has no infinity */
        fit.inputs = INTEGER;
    if (!is_of_8_bits(gc->ab_type) || has_scales_of_sums(gc))
        return fit;
    if (gc->ab_type == GM_INT8 && plain && turn % 2 && !is_extended(gc)) {
        fit.d_type = GM_INT32;
        return fit;
    }
    fit.a_scales = (enum gm_granularity)(2 - turn / 2 % 3);
    fit.b_scales = (enum gm_granularity)(2 - turn % 3);
    fit.zero_points = gc->ab_type == GM_INT8 && (turn == 4 || turn == 6);
    return fit;
}

bool run_gemm(struct result *result, const struct gemm_case *wanted, const char *kernel, uint32_t mask,
              struct buffers *buffers) {
    const struct gemm_case taken = fit_type(wanted), *const gc = &taken;
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel, .arch_mask = mask};
    char what[600];
    struct placed placed;
    describe_gemm(gc, what, sizeof what);
    heartbeat(what);
    return place_gemm(result, gc, buffers, &placed) &&
           run_call(result, &placed.call, &options, gc->repeats, gc->may_refuse, what);
}

void free_buffers(struct buffers *buffers) {
    struct arena *const arenas[] = {&buffers->a, &buffers->b,    &buffers->c,
                                    &buffers->d, &buffers->bias, &buffers->residual};
    for (size_t i = 0; i < COUNT(arenas); i++)
        arena_free(arenas[i]);
    for (int i = 0; i < SCALINGS; i++)
        arena_free(&buffers->scaling[i]);
}
