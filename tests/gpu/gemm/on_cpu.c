/* SPDX-License-Identifier: Apache-2.0 */
/* The GEMM of any row on the CPU, from the same parameter struct that the GPU kernel gets: its own arithmetic in
 * fp32, tile by tile in the raster's order, and the planted bugs. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/gemm_sm80/params.h"
#include "common/gemm_sm90/params.h"
#include "common/gemm_sm90/tile.h"
#include "gemm/gemm_tests.h"
#include "fake_driver.h"

/* One operand: elements of `type`, of which (outer, k) lies at base + outer * outer_bytes + k * k_bytes; outside its extent it is 0. Of gates
 * and ups, 8 of each by turns, an up lies up_bytes behind its gate, and the next 8 eight_bytes behind. */
struct source {
    uint64_t base;
    int64_t outer_bytes, k_bytes, outer, k, up_bytes, eight_bytes;
    enum gm_type type;
};

struct job {
    const struct variant *variant;
    struct gm_epilogue_params epilogue;
    struct gm_raster raster;
    struct source a, b;
    struct gm_gate_params gate;
    struct gm_scaling_params scaling; /* of int8, and of extended epilogues */
    struct gm_extension_params extension;
    struct gm_sum_scales a_scales, b_scales; /* of each 128 of K, where a kernel has them */
    bool gated, extended;
    int64_t m, n, k; /* extent of D and of the sum */
    int64_t sums_n;  /* columns of A B */
    uint64_t d;
    int64_t d_pitch;
    float *b_values, *acc; /* k x sums_n, m x sums_n */
    float *amax;           /* the largest |y| so far */
};

static float to_float(enum gm_type type, uint64_t address) {
    const float value =
        multiplied(type, (float)bits_to_double(type, load_bits((const uint8_t *)(uintptr_t)address, type)));
    const bool denormal = fabsf(value) < (type == GM_FP16 ? 0x1p-14f : 0x1p-126f);
    return planted_bug == BUG_FLUSHES_DENORMALS && denormal ? 0 : value;
}

static float element(const struct source *s, int64_t outer, int64_t k) {
    const bool inside = outer < s->outer && k < s->k + (planted_bug == BUG_OVER_READ);
    const int64_t row = s->up_bytes
                            ? outer / 16 * s->eight_bytes + outer / 8 % 2 * s->up_bytes + outer % 8 * s->outer_bytes
                            : outer * s->outer_bytes;
    return inside ? to_float(s->type, s->base + (uint64_t)(row + k * s->k_bytes)) : 0;
}

/* Eight columns at a time, which changes the order of no sum. */
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));
enum { EIGHT = 8 };

static void add_row_of_b(const struct job *job, int64_t m, int64_t k) {
    const float a = element(&job->a, m, k), *b = job->b_values + k * job->sums_n;
    float *acc = job->acc + m * job->sums_n;
    const int64_t whole = job->sums_n - job->sums_n % EIGHT;
    for (int64_t n = 0; n < whole; n += EIGHT)
        *(eight_floats *)(acc + n) += a * *(const eight_floats *)(b + n);
    for (int64_t n = whole; n < job->sums_n; n++)
        acc[n] += a * b[n];
}

static float sum_scale_at(const struct gm_sum_scales *s, int64_t row, int64_t sum) {
    const uint64_t at = s->values + (uint64_t)((row >> s->shift) * s->row_step + sum * s->sum_step);
    float scale;
    if (s->is_e8m0)
        return ldexpf(1, *(const uint8_t *)(uintptr_t)at - 127);
    memcpy(&scale, (const void *)(uintptr_t)at, sizeof scale);
    return scale;
}

/* The same with the scales of the sum that k belongs to, which are powers of 2. */
static void add_scaled_row_of_b(const struct job *job, int64_t m, int64_t k) {
    const float a = element(&job->a, m, k) * sum_scale_at(&job->a_scales, m, k / GM_SM90_SUM_K);
    for (int64_t n = 0; n < job->sums_n; n++)
        job->acc[m * job->sums_n + n] +=
            a * job->b_values[k * job->sums_n + n] * sum_scale_at(&job->b_scales, n, k / GM_SM90_SUM_K);
}

/* Sums of integers are spared: large ones would be caught by their bits, not by the bound. */
static void round_sums(const struct job *job, int64_t m) {
    float *acc = job->acc + m * job->sums_n;
    for (int64_t n = 0; n < job->sums_n; n++)
        if (acc[n] != rintf(acc[n]))
            acc[n] = (float)round_to(GM_FP16, acc[n]);
}

static void multiply(int64_t first, int64_t last, void *arg) {
    const struct job *job = arg;
    for (int64_t m = first; m < last; m++)
        for (int64_t k = 0; k < job->k; k++) {
            if (job->variant->gemm.sum_scales)
                add_scaled_row_of_b(job, m, k);
            else
                add_row_of_b(job, m, k);
            if (planted_bug == BUG_FP16_ACCUMULATION && k % 64 == 63)
                round_sums(job, m);
        }
}

static void read_b(int64_t first, int64_t last, void *arg) {
    const struct job *job = arg;
    for (int64_t k = first; k < last; k++)
        for (int64_t n = 0; n < job->sums_n; n++)
            job->b_values[k * job->sums_n + n] = element(&job->b, n, k);
}

/* ---- epilogue -------------------------------------------------------------------------------------- */

static float load(uint64_t base, int64_t index, int type) {
    const uint8_t *at = (const uint8_t *)(uintptr_t)base + index * gm_type_bytes((enum gm_type)type);
    return (float)bits_to_double((enum gm_type)type, load_bits(at, (enum gm_type)type));
}

static float activate(int activation, float x) {
    if (planted_bug == BUG_GELU_FORMS && (activation == GM_ACT_GELU_TANH || activation == GM_ACT_GELU_ERF))
        activation = GM_ACT_GELU_TANH + GM_ACT_GELU_ERF - activation;
    switch (activation) {
    case GM_ACT_RELU:
        return x > 0 ? x : 0;
    case GM_ACT_GELU_TANH:
        return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    case GM_ACT_GELU_ERF:
        return 0.5f * x * (1 + erff(0.70710678f * x));
    case GM_ACT_SILU:
        return x / (1 + expf(-x));
    default:
        return x;
    }
}

/* A sum of row m and column n of A B, times their scales. */
static float by_scales(const struct job *job, int64_t m, int64_t n, float x) {
    const struct gm_scaling_params *s = &job->scaling;
    const bool changed = planted_bug == BUG_SCALES_CHANGED && job->extended;
    const uint64_t rows = changed ? s->column_scales : s->row_scales;
    const uint64_t columns = changed ? s->row_scales : s->column_scales;
    x *= rows ? load(rows, m * (changed ? s->column_step : s->row_step), GM_FP32) : 1;
    return x * (columns ? load(columns, n * (changed ? s->row_step : s->column_step), GM_FP32) : 1);
}

static float gated(const struct job *job, int64_t m, int64_t n) {
    const struct gm_epilogue_params *e = &job->epilogue;
    const struct gm_gate_params *g = &job->gate;
    const float *acc = job->acc + m * job->sums_n + n / 8 * 16 + n % 8;
    const int64_t at = g->gate_step * n, up_at = at + g->up_first, limited = g->has_limit;
    float gate = e->alpha * by_scales(job, m, at, acc[0]);
    float up = e->alpha * by_scales(job, m, up_at, acc[8]);
    gate += e->bias_mode ? load(e->bias, at, e->bias_type) : 0;
    up += e->bias_mode ? load(e->bias, up_at, e->bias_type) : 0;
    gate = limited && gate > g->limit ? g->limit : gate;
    up = limited && up > g->limit ? g->limit : limited && up < -g->limit ? -g->limit : up;
    const float factor = g->silu_exponent / -0.72134752f;
    const float act =
        e->activation == GM_ACT_SILU ? activate(GM_ACT_SILU, factor * gate) / factor : activate(e->activation, gate);
    return act * (up + g->up_offset);
}

static float scaled(const struct job *job, int64_t m, int64_t n) {
    const struct gm_scaling_params *s = &job->scaling;
    float x = job->acc[m * job->n + n];
    if (s->row_zeros)
        x -= load(s->row_zeros, m, GM_INT32) * load(s->column_zeros, n, GM_INT32);
    return by_scales(job, m, n, x);
}

static float residual_at(const struct job *job, int64_t m, int64_t n) {
    const struct gm_extension_params *x = &job->extension;
    return job->extended && x->residual ? load(x->residual, m * x->ldr + n, x->residual_type) : 0;
}

/* y, which D is made of. */
static float finish(const struct job *job, int64_t m, int64_t n) {
    const struct gm_epilogue_params *e = &job->epilogue;
    const bool inside = m >= 0 && n >= 0 && m < job->m && n < job->n;
    if (job->gated)
        return inside ? gated(job, m, n) : 0;
    const int c_type = job->extended && planted_bug != BUG_C_OF_D ? job->extension.c_type : e->d_type;
    float x = e->alpha * (inside ? scaled(job, m, n) : 0);
    if (inside && (e->beta != 0 || (planted_bug == BUG_BETA_ZERO_READS_C && e->c)))
        x += e->beta * load(e->c, m * e->ldc + n, c_type);
    if (inside && e->bias_mode) {
        const bool along_n = (e->bias_mode == GM_BIAS_N) != (planted_bug == BUG_SWAPPED_BIAS);
        const int64_t count = e->bias_mode == GM_BIAS_N ? job->n : job->m;
        x += load(e->bias, (along_n ? n : m) % count, e->bias_type);
    }
    if (!inside || planted_bug == BUG_EARLY_RESIDUAL)
        return activate(e->activation, x + (inside ? residual_at(job, m, n) : 0));
    return activate(e->activation, x) + residual_at(job, m, n);
}

static void watch(const struct job *job, int64_t m, int64_t n, float y) {
    const bool is_lost = planted_bug == BUG_LOST_AMAX && n + 1 == job->n;
    if (!job->extended || m < 0 || n < 0 || m >= job->m || n >= job->n || is_lost)
        return;
    if ((isnan(y) || isnan(*job->amax)) && planted_bug != BUG_AMAX_DROPS_NAN)
        *job->amax = NAN;
    else
        *job->amax = fmaxf(*job->amax, fabsf(y));
}

static void store(const struct job *job, int64_t m, int64_t n) {
    static atomic_uint unstable;
    const enum gm_type type = job->scaling.raw ? GM_INT32 : (enum gm_type)job->epilogue.d_type;
    const float value = finish(job, m, n);
    watch(job, m, n, value);
    uint32_t bits = double_to_bits(type, value);
    if (planted_bug == BUG_TRUNCATES && type == GM_BF16)
        memcpy(&bits, &value, 4), bits >>= 16;
    if (planted_bug == BUG_TRUNCATES && gm_type_bytes(job->variant->kernel.type) == 4) /* D has no other type */
        bits &= 0xffff0000;
    if (planted_bug == BUG_UNSTABLE && type == GM_FP32 && value != floorf(value) && m + n == 0 && unstable++ % 3 == 2)
        bits ^= 1; /* within every tolerance */
    store_bits((uint8_t *)(uintptr_t)job->d + m * job->d_pitch + n * gm_type_bytes(type), type, bits);
}

/* Columns of a row of D of 8 bits, which hold whole groups of it. */
static void store_bytes(const struct job *job, int64_t m, int64_t left, int64_t right) {
    const struct gm_quantized_store *store = &job->extension.store;
    const int64_t group = store->scaling == SCALE_GROUP ? left >> store->group_shift : 0;
    const uint64_t d = job->d + (uint64_t)(m * job->d_pitch + left);
    float *y = calloc((size_t)(right - left) + 1, sizeof *y);
    if (!y)
        exit(2);
    for (int64_t n = left; n < right; n++) {
        y[n - left] = finish(job, m, n);
        watch(job, m, n, y[n - left]);
    }
    store_row(store, d, store->scales + (uint64_t)(group * store->scale_across), m, right - left, y,
              planted_bug == BUG_LOST_SCALE && right == job->n ? OUT_BUG_LOST_SCALE
              : planted_bug == BUG_AMAX_DROPS_NAN              ? OUT_BUG_DROPS_NAN
                                                               : OUT_BUG_NONE);
    free(y);
}

static bool stores_bytes(const struct job *job) {
    return job->extended && job->epilogue.d_type >= GM_E4M3 && job->epilogue.d_type <= GM_INT8;
}

static void store_tile(const struct job *job, int64_t tile_m, int64_t tile_n) {
    const int64_t top = tile_m * job->variant->gemm.tile_m, width = job->variant->gemm.tile_n >> job->gated,
                  left = tile_n * width;
    int64_t bottom = top + job->variant->gemm.tile_m, right = left + width;
    bottom = bottom < job->m ? bottom : job->m - (planted_bug == BUG_LOST_ROW) + (planted_bug == BUG_ROW_AFTER);
    right = right < job->n ? right : job->n + (planted_bug == BUG_COLUMN_AFTER);
    for (int64_t m = top; m < bottom && left < right && stores_bytes(job); m++)
        store_bytes(job, m, left, right);
    if (stores_bytes(job))
        return;
    for (int64_t m = top - (planted_bug == BUG_ROW_BEFORE && top == 0); m < bottom; m++)
        for (int64_t n = left - (planted_bug == BUG_COLUMN_BEFORE && left == 0); n < right; n++)
            store(job, m, n);
}

/* common/gemm/raster.cuh says the order. */
static void walk_tiles(const struct job *job) {
    const struct gm_raster *r = &job->raster;
    const int cm = job->variant->gemm.cluster_m, cn = job->variant->gemm.cluster_n;
    const int major = r->along_n ? r->tiles_n : r->tiles_m, minor = r->along_n ? r->tiles_m : r->tiles_n;
    const int tiles = r->tiles_m * r->tiles_n; /* whatever the grid */
    for (int linear = 0; linear < tiles - (planted_bug == BUG_LOST_WAVE); linear++) {
        const int group = linear / (r->group * minor), first = group * r->group;
        const int rows = r->group < major - first ? r->group : major - first;
        const int within = linear - first * minor, column = within / rows, row = first + within - column * rows;
        for (int rank = 0; rank < cm * cn; rank++)
            store_tile(job, (int64_t)(r->along_n ? column : row) * cm + rank % cm,
                       (int64_t)(r->along_n ? row : column) * cn + rank / cm);
    }
}

/* ---- parameters ------------------------------------------------------------------------------------ */

static struct source source_of_map(const struct gm_tensor_map *tensor_map, enum gm_major major, enum gm_type type) {
    const int bytes = gm_type_bytes(type);
    struct fake_map map;
    memcpy(&map, tensor_map->bytes, sizeof map);
    const int64_t stride = (int64_t)map.strides[0], inner = (int64_t)map.dims[0], outer = (int64_t)map.dims[1];
    return major == GM_K_MAJOR ? (struct source){map.address, stride, bytes, outer, inner, .type = type}
                               : (struct source){map.address, bytes, stride, inner, outer, .type = type};
}

static struct source source_of_pointer(uint64_t base, int64_t ld, enum gm_major major, int64_t outer, int64_t k,
                                       enum gm_type type) {
    const int bytes = gm_type_bytes(type);
    return major == GM_K_MAJOR ? (struct source){base, ld * bytes, bytes, outer, k, .type = type}
                               : (struct source){base, bytes, ld * bytes, outer, k, .type = type};
}

/* D as the epilogue has it. */
static void read_d(struct job *job) {
    job->n = job->epilogue.n;
    job->m = job->epilogue.m;
    job->d = job->epilogue.d;
    job->d_pitch = job->epilogue.ldd * gm_type_bytes((enum gm_type)job->epilogue.d_type);
}

/* D as TMA has it, where TMA stores it. */
static void read_map_of_d(struct job *job, const struct gm_tensor_map *map) {
    struct fake_map d;
    memcpy(&d, map->bytes, sizeof d);
    job->n = (int64_t)d.dims[0];
    job->m = (int64_t)d.dims[1];
    job->d = d.address;
    job->d_pitch = (int64_t)d.strides[0];
}

/* B's map of gates and ups. */
static void read_gate(struct job *job, const struct gm_gemm_sm90_params *params) {
    struct fake_map map;
    memcpy(&map, &params->b, sizeof map);
    job->gated = true;
    job->gate = params->gate;
    job->b.outer = job->sums_n = 2 * job->n;
    job->b.up_bytes = (int64_t)map.strides[1];
    job->b.eight_bytes = (int64_t)map.strides[2];
}

static void read_sm90(struct job *job, const struct gm_gemm_sm90_extended_params *all) {
    const struct gm_gemm_sm90_params *params = &all->gemm;
    job->epilogue = params->epilogue;
    job->extension = all->extension;
    job->scaling = params->scaling;
    job->a_scales = params->a_sum_scales;
    job->b_scales = params->b_sum_scales;
    read_d(job);
    if (params->plain == GM_SM90_BY_TMA)
        read_map_of_d(job, &params->d);
    job->raster = params->raster;
    enum gm_type a_type = job->variant->kernel.type, b_type = a_type;
    set_pair(job->variant, 0, &a_type, &b_type);
    job->a = source_of_map(&params->a, job->variant->gemm.a_major, a_type);
    job->b = source_of_map(&params->b, job->variant->gemm.b_major, b_type);
    job->k = (int64_t)params->k_blocks * job->variant->gemm.tile_k;
    if (job->variant->gemm.gate) {
        read_gate(job, params);
        return;
    }
    if (params->plain && !job->extended) { /* then the kernel looks at nothing of the epilogue but alpha */
        job->epilogue.beta = planted_bug == BUG_BETA_ZERO_READS_C ? params->epilogue.beta : 0;
        job->epilogue.bias_mode = GM_BIAS_NONE;
        job->epilogue.activation = GM_ACT_NONE;
    }
}

static void read_sm80(struct job *job, const struct gm_gemm_sm80_extended_params *all) {
    const struct gm_gemm_sm80_params *params = &all->gemm;
    job->epilogue = params->epilogue;
    job->extension = all->extension;
    job->scaling = params->scaling;
    job->raster = params->raster;
    read_d(job);
    job->k = params->k + (planted_bug == BUG_OVER_READ);
    enum gm_type a_type = job->variant->kernel.type, b_type = a_type;
    set_pair(job->variant, params->b_is_e5m2, &a_type, &b_type);
    job->a = source_of_pointer(params->a, params->lda, job->variant->gemm.a_major, job->m, params->k, a_type);
    job->b = source_of_pointer(params->b, params->ldb, job->variant->gemm.b_major, job->n, params->k, b_type);
}

static void store_amax(uint64_t to, float amax) {
    float *const at = (float *)(uintptr_t)to;
    *at = isnan(amax) || isnan(*at) ? NAN : fmaxf(amax, *at);
}

void gemm_compute(const struct gm_kernel *kernel, const void *params) {
    struct variant variant;
    if (!read_variant((size_t)(kernel - gm_kernels), &variant))
        exit(2);
    float amax = 0;
    struct job job = {.variant = &variant, .extended = variant.gemm.extended, .amax = &amax};
    struct gm_gemm_sm90_extended_params sm90 = {0};
    struct gm_gemm_sm80_extended_params sm80 = {0};
    if (uses_tma(&variant))
        read_sm90(&job, memcpy(&sm90, params, job.extended ? sizeof sm90 : sizeof sm90.gemm));
    else
        read_sm80(&job, memcpy(&sm80, params, job.extended ? sizeof sm80 : sizeof sm80.gemm));
    if (!job.gated)
        job.sums_n = job.n;
    const int64_t exact = job.a.k; /* without the zeros that fill the last step of K */
    if (planted_bug == BUG_MISSED_TAIL)
        job.k = exact - exact % variant.gemm.tile_k;
    else if (planted_bug != BUG_OVER_READ)
        job.k = exact < job.k ? exact : job.k;
    job.b_values = malloc((size_t)(job.k * job.sums_n + 1) * sizeof(float));
    job.acc = calloc((size_t)(job.m * job.sums_n + 1), sizeof(float));
    if (!job.b_values || !job.acc)
        exit(2);
    parallel_for(job.k, 20.0 * (double)job.k * (double)job.sums_n, read_b, &job);
    parallel_for(job.m, (double)job.m * (double)job.sums_n * (double)job.k, multiply, &job);
    walk_tiles(&job);
    if (job.extended && job.extension.amax)
        store_amax(job.extension.amax, amax);
    free(job.b_values);
    free(job.acc);
}
