/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a kernel of GEMM. */
#include "gemm/gemm_tests.h"

bool read_variant(size_t kernel, struct variant *variant) {
    *variant = (struct variant){{.size = sizeof variant->kernel}, {.size = sizeof variant->gemm}};
    return gm_kernel_get(kernel, &variant->kernel) == GM_OK && gm_gemm_kernel_get(kernel, &variant->gemm) == GM_OK;
}

bool uses_tma(const struct variant *variant) {
    return strcmp(variant->kernel.family, "gemm_sm90") == 0;
}

void set_pair(const struct variant *variant, int64_t turn, enum gm_type *a, enum gm_type *b) {
    const bool of_b = uses_tma(variant) ? variant->gemm.swap : turn % 2;
    if (variant->kernel.type != GM_E5M2)
        return;
    *a = of_b ? GM_E4M3 : GM_E5M2;
    *b = of_b ? GM_E5M2 : GM_E4M3;
}

/* Halves and pairs, and the gate's numbers, by turns of what cases differ in. */
static struct gemm_case fit_gate(const struct variant *variant, const struct gemm_case *gc) {
    struct gemm_case fit = *gc;
    const int turn = (int)((gc->m + gc->n + gc->k) % 4);
    if (!variant->gemm.gate)
        return fit;
    fit.n = (gc->n + 15) / 16 * 16;
    fit.d_pad -= gc->d_pad ? (8 - gc->n % 8) % 8 : 0;
    fit.d_type = d_type_of(variant);
    fit.gate = turn % 2 ? GM_GATE_PAIRS : GM_GATE_HALVES;
    /* Of a row as long as one box the simulator would take an up for the rest of its gate. */
    if (fit.gate == GM_GATE_PAIRS && gc->k <= 64 && gc->b_pad == 0 && !gc->exact)
        fit.b_pad = 8;
    fit.limit = turn == 2 ? 40 : 0;
    fit.up_offset = turn >= 2 ? 1 : 0;
    fit.sigmoid_factor = turn == 3 ? 1.5f : 0;
    fit.bias = gc->bias == GM_BIAS_M ? GM_BIAS_N : gc->bias;
    fit.beta = 0;
    fit.in_place = fit.c_is_nan = false;
    return fit;
}

/* ---- extended epilogues ------------------------------------------------------------------------------ */

/* What a case gets, by turns. A gate has no residual and no C; int8 has its scales from fit_type(). */
struct parts {
    bool residual, amax, scales, c_type, group;
    enum gm_type residual_type, d_type; /* d_type GM_BF16: as it is */
};

static const struct parts turns[] = {
    {.residual = true, .residual_type = GM_FP32},
    {.d_type = GM_E4M3, .amax = true},
    {.scales = true},
    {.d_type = GM_E4M3, .group = true},
    {.residual = true, .residual_type = GM_BF16, .amax = true, .scales = true},
    {.c_type = true, .amax = true},
    {.d_type = GM_INT8, .residual = true, .residual_type = GM_FP16},
    {.residual = true,
     .residual_type = GM_FP16,
     .amax = true,
     .scales = true,
     .c_type = true,
     .d_type = GM_E5M2,
     .group = true},
};

/* The numbers that cases differ in, whose sum is a turn; tiles are multiples of 8. */
static int turn_of(const struct gemm_case *gc) {
    const int64_t sizes = gc->m + 3 * gc->n + 5 * gc->k;
    return (int)((sizes + 2 * (int64_t)gc->d_type + gc->bias + gc->activation + 3 * (gc->beta != 0) + gc->inputs +
                  gc->d_offset + (gc->alpha != 1)) &
                 31);
}

/* Groups have scales where a tile has them whole and TMA stores D, whose columns are then whole chunks of 16. */
static void fit_groups(const struct variant *variant, struct gemm_case *gc) {
    const int width = variant->gemm.tile_n >> variant->gemm.gate, turn = turn_of(gc);
    if (!uses_tma(variant) || variant->gemm.swap || width % 128 || gc->k == 0)
        return;
    gc->out.scaling = GM_SCALE_GROUP;
    gc->out.group = turn % 2 ? 0 : 128;
    gc->out.format = (enum gm_scale_format)(turn / 8 % 3);
    gc->out.order = (enum gm_scale_order)(gc->m % 2);
    gc->out.scales_pad = gc->n % 3;
    gc->n = (gc->n + 31) / 32 * 32; /* of A B: with a gate D has 16 */
    gc->d_pad = gc->m % 2 ? 16 : 0;
    gc->d_offset = 0;
}

static void fit_bytes(const struct variant *variant, struct gemm_case *gc, const struct parts *parts) {
    static const float scales[] = {0.25f, 2, 0.37f, 16};
    const int turn = turn_of(gc);
    gc->d_type = parts->d_type;
    gc->in_place = false; /* C has wider elements */
    gc->out.static_scale = scales[turn / 8 % 4];
    gc->out.division = (enum gm_division)(turn / 16 % 2);
    if (parts->group)
        fit_groups(variant, gc);
}

static void fit_residual(struct gemm_case *gc, enum gm_type type) {
    gc->residual = true;
    gc->residual_type = type;
    gc->residual_in_place =
        gm_type_bytes(type) == gm_type_bytes(gc->d_type) && gc->beta == 0 && !gc->in_place && (gc->m + gc->n) % 2 == 0;
    gc->r_pad = gc->d_pad + (gc->residual_in_place ? 0 : gc->m % 3 * 8);
    gc->r_offset = gc->d_offset;
}

static struct gemm_case extend(const struct variant *variant, const struct gemm_case *gc) {
    const struct parts *parts = &turns[turn_of(gc) % (int)COUNT(turns)];
    const bool gate = gc->gate != GM_GATE_NONE;
    struct gemm_case fit = *gc;
    if (fit.d_type == GM_INT32) /* fit_type()'s */
        fit.d_type = GM_BF16;
    if (parts->d_type != GM_BF16)
        fit_bytes(variant, &fit, parts);
    if (parts->residual && !gate)
        fit_residual(&fit, parts->residual_type);
    if (parts->scales && !is_of_8_bits(fit.ab_type)) {
        fit.a_scales = gc->m % 2 ? GM_PER_ROW : GM_PER_TENSOR;
        fit.b_scales = gc->k % 3 ? GM_PER_ROW : gc->k % 2 ? GM_PER_NONE : GM_PER_TENSOR;
    }
    if ((parts->c_type || fit.beta != 0) && !gate && !fit.in_place) {
        fit.has_c_type = true;
        fit.c_type = (enum gm_type)(is_quantised(&fit) ? gc->m % 3 : ((int)fit.d_type + 1 + gc->m % 2) % 3);
    }
    fit.amax = parts->amax || !is_extended(&fit);
    fit.least_amax = gc->m % 4 == 3 ? 0x1p20f : 0;
    return fit;
}

/* Each scale of each 128 of K in turn, in both orders and formats, with gaps between rows. Columns of one scale are of few kinds. */
static void fit_sum_scales(const struct variant *variant, struct gemm_case *gc) {
    static const enum gm_granularity of_one[] = {GM_PER_BLOCK, GM_PER_TENSOR},
                                     of_each[] = {GM_PER_GROUP, GM_PER_BLOCK, GM_PER_ROW, GM_PER_TENSOR};
    const int turn = turn_of(gc);
    gc->a_scales = of_each[turn / 2 % 4];
    gc->b_scales = variant->gemm.sum_scales == 1 ? of_one[turn % 2] : of_each[(turn + turn / 8) % 4];
    if (!has_scales_of_sums(gc))
        gc->a_scales = GM_PER_GROUP;
    gc->a_scale_order = gc->a_scales >= GM_PER_GROUP && gc->m % 2 ? GM_SCALES_BY_COLUMN : GM_SCALES_BY_ROW;
    gc->b_scale_order = gc->b_scales >= GM_PER_GROUP && turn / 4 % 2 ? GM_SCALES_BY_COLUMN : GM_SCALES_BY_ROW;
    gc->a_scale_format = gc->a_scales >= GM_PER_GROUP && gc->n % 3 == 1 ? GM_SCALE_E8M0 : GM_SCALE_FP32;
    gc->b_scale_format = gc->b_scales >= GM_PER_GROUP && turn % 3 == 1 ? GM_SCALE_E8M0 : GM_SCALE_FP32;
    gc->a_scales_pad = gc->n % 3;
    gc->b_scales_pad = gc->k % 2;
}

struct gemm_case fit_variant(const struct variant *variant, const struct gemm_case *gc) {
    struct gemm_case fit = fit_gate(variant, gc);
    set_pair(variant, gc->m + gc->n, &fit.ab_type, &fit.b_type);
    fit.fast_accumulation = variant->gemm.fast_accumulation;
    if (variant->gemm.sum_scales)
        fit_sum_scales(variant, &fit);
    return variant->gemm.extended ? extend(variant, &fit) : fit;
}

enum gm_type d_type_of(const struct variant *variant) {
    const enum gm_type type = variant->kernel.type;
    return is_of_8_bits(type) ? GM_BF16 : gm_type_bytes(type) == 4 ? GM_FP32 : type;
}

bool is_gemv(const struct variant *variant) {
    return strcmp(variant->kernel.family, "gemv") == 0;
}
