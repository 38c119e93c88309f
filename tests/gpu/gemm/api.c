/* SPDX-License-Identifier: Apache-2.0 */
/* Random problems through the public API under each arch mask: the planner chooses, nothing may be refused but
 * what TMA cannot take, and every result is checked like a row's. */
#include <string.h>

#include "gemm/gemm_tests.h"

/* Sizes of every residue modulo 16, from one element to a few tiles. */
static int64_t draw_size(struct draws *d, int64_t most) {
    const int64_t kind = draw(d, 16);
    if (kind == 0)
        return 1;
    if (kind < 4)
        return 1 + draw(d, 40);
    return kind < 6 ? 16 * (1 + draw(d, most / 16)) : 1 + draw(d, most);
}

static void draw_operands(struct draws *d, struct gemm_case *gc, bool tma) {
    const int64_t unit = tma ? 8 : 1, d_unit = tma && draw(d, 2) ? 8 : 1; /* TMA stores D, or need not */
    gc->a_pad = unit * draw(d, 9);
    gc->b_pad = unit * draw(d, 9);
    gc->c_pad = draw(d, 17);
    gc->d_pad = d_unit * draw(d, 9);
    if (tma) { /* round every row up to 16 bytes */
        gc->a_pad += (8 - (leading(gc, 'a') - gc->a_pad) % 8) % 8;
        gc->b_pad += (8 - (leading(gc, 'b') - gc->b_pad) % 8) % 8;
        gc->d_pad += d_unit == 8 ? (8 - gc->n % 8) % 8 : 0;
        gc->d_offset = d_unit == 8 ? 0 : (int)draw(d, 9);
    } else if (draw(d, 2)) {
        gc->a_offset = (int)draw(d, 9);
        gc->b_offset = (int)draw(d, 9);
        gc->c_offset = (int)draw(d, 9);
        gc->d_offset = (int)draw(d, 9);
    }
}

static void draw_epilogue(struct draws *d, struct gemm_case *gc) {
    static const float scales[] = {1, 1, 0.5f, -1, 2};
    gc->alpha = scales[draw(d, COUNT(scales))];
    if (draw(d, 3) == 0) {
        gc->beta = scales[draw(d, COUNT(scales))];
        gc->in_place = draw(d, 2);
    } else {
        gc->c_is_nan = draw(d, 8) == 0;
    }
    gc->bias = (enum gm_bias)(draw(d, 2) ? draw(d, 3) : 0);
    gc->bias_type = (enum gm_type)draw(d, 3);
    gc->bias_offset = (int)draw(d, 9);
    gc->activation = (enum gm_activation)(draw(d, 2) ? draw(d, 5) : 0);
}

static struct gemm_case random_case(struct draws *d) {
    const int64_t most = opt.quick ? 160 : 420;
    struct gemm_case gc = {.m = draw_size(d, most), .n = draw_size(d, most), .k = draw_size(d, most)};
    gc.ab_type = (enum gm_type)draw(d, 2);
    gc.d_type = (enum gm_type)draw(d, 3);
    gc.a_major = (enum gm_major)draw(d, 2);
    gc.b_major = (enum gm_major)draw(d, 2);
    gc.inputs = draw(d, 3) ? INTEGER : NORMAL;
    if (draw(d, 24) == 0)
        gc.k = 0;
    draw_operands(d, &gc, draw(d, 2));
    draw_epilogue(d, &gc);
    return gc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    const int count = opt.self_test ? 60 : opt.quick ? 40 : 600;
    struct buffers buffers = {0};
    for (int i = 0; i < count; i++) {
        struct draws d = {opt.seed ^ 0xf022 ^ (uint64_t)i << 32, 0};
        struct gemm_case gc = random_case(&d);
        if (i % 4 == 3 && test->mask != GM_ARCH_SM90)
            gc.ab_type = GM_FP32;
        if (i % 4 == 1)
            gc.ab_type = i % 8 == 1 ? GM_TF32 : GM_TF32X3;
        if (test->mask == GM_ARCH_SM90)
            gc.may_refuse = (i % 4 == 1 ? BIT(GM_REASON_LAYOUT) : 0) | BIT(GM_REASON_STRIDE) |
                            BIT(GM_REASON_ALIGNMENT) | BIT(GM_REASON_EMPTY_K) | BIT(GM_REASON_NO_IMAGE) |
                            BIT(GM_REASON_SMEM);
        if (!run_gemm(result, &gc, NULL, test->mask, &buffers) && !opt.verbose)
            break;
    }
    free_buffers(&buffers);
}

/* Packed operands of one column, which the planner takes for rows: M, N or K of 1, under every layout. */
static void run_columns(const struct test *test, struct result *result) {
    static const int64_t sizes[][3] = {{1, 136, 264}, {136, 1, 264}, {1, 1, 264},
                                       {136, 72, 1},  {1, 136, 1},   {1, 75, 133}};
    struct buffers buffers = {0};
    for (size_t i = 0; i < COUNT(sizes) * 4; i++) {
        struct gemm_case gc = {.m = sizes[i / 4][0],
                               .n = sizes[i / 4][1],
                               .k = sizes[i / 4][2],
                               .a_major = (enum gm_major)(i % 2),
                               .b_major = (enum gm_major)(i / 2 % 2),
                               .alpha = 1};
        if (test->mask == GM_ARCH_SM90)
            gc.may_refuse = BIT(GM_REASON_STRIDE) | BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM);
        run_gemm(result, &gc, NULL, test->mask, &buffers);
    }
    free_buffers(&buffers);
}

/* D of one packed column, which is planned as the row D^T = B^T A^T: every layout and bias, with C in its place or
 * apart, and A's and B's strides, offsets and types by turns. */
static void run_one_column(const struct test *test, struct result *result) {
    static const int64_t sizes[][2] = {{136, 264}, {75, 133}, {2, 8}, {264, 1}};
    struct buffers buffers = {0};
    for (int i = 0; i < (opt.quick ? 24 : 48); i++) {
        struct gemm_case gc = {.m = sizes[i / 12][0],
                               .n = 1,
                               .k = sizes[i / 12][1],
                               .ab_type = (enum gm_type)(i % 2),
                               .d_type = (enum gm_type)(i / 2 % 3),
                               .bias_type = GM_FP32,
                               .a_major = (enum gm_major)(i % 2),
                               .b_major = (enum gm_major)(i / 2 % 2),
                               .bias = (enum gm_bias)(i / 4 % 3),
                               .activation = i % 5 == 3 ? GM_ACT_RELU : GM_ACT_NONE,
                               .a_pad = i % 3 == 1 ? 8 : 0,
                               .b_pad = i % 4 == 1 ? 3 : 0,
                               .a_offset = i % 7 == 5,
                               .b_offset = i % 7 == 6 ? 4 : 0,
                               .alpha = 2,
                               .beta = i % 3 ? 0 : 1,
                               .in_place = i % 2 == 0};
        if (test->mask == GM_ARCH_SM90)
            gc.may_refuse =
                BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT) | BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM);
        run_gemm(result, &gc, NULL, test->mask, &buffers);
    }
    free_buffers(&buffers);
}

/* alpha = 0 is a factor like another: NaN and Inf of A make NaN of their rows of D, and all else leaves beta C. */
static void run_alpha_0(const struct test *test, struct result *result) {
    struct buffers buffers = {0};
    for (int i = 0; i < 6; i++) {
        const struct gemm_case gc = {.m = i % 2 ? 4 : 75,
                                     .n = 136,
                                     .k = 72,
                                     .ab_type = (enum gm_type)(i % 2),
                                     .d_type = (enum gm_type)(i % 3),
                                     .beta = i < 3 ? 1 : 0,
                                     .inputs = HOLED,
                                     .may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0};
        run_gemm(result, &gc, NULL, test->mask, &buffers);
    }
    free_buffers(&buffers);
}

/* Sizes of zero: nothing is launched for an empty D, and K = 0 leaves the epilogue. */
static void run_empty(const struct test *test, struct result *result) {
    static const struct {
        int64_t m, n, k;
        float beta;
    } sizes[] = {{0, 40, 24, 0}, {40, 0, 24, 1}, {40, 56, 0, 0}, {40, 56, 0, 1}, {0, 0, 0, 0}};
    struct buffers buffers = {0};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct gemm_case gc = {.m = sizes[i].m,
                               .n = sizes[i].n,
                               .k = sizes[i].k,
                               .alpha = 1,
                               .beta = sizes[i].beta,
                               .a_pad = 8,
                               .b_pad = 8,
                               .c_pad = 8,
                               .d_pad = 8,
                               .bias = GM_BIAS_N,
                               .bias_type = GM_FP32,
                               .activation = GM_ACT_RELU};
        run_gemm(result, &gc, NULL, test->mask, &buffers);
    }
    free_buffers(&buffers);
}

void add_gemm_api_tests(void) {
    add_test("api", "fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "fuzz_all", run_fuzz, -1, 0);
    add_test("api", "nan_in_a_stays_with_alpha_0_sm80", run_alpha_0, -1, GM_ARCH_SM80);
    add_test("api", "nan_in_a_stays_with_alpha_0_sm90", run_alpha_0, -1, GM_ARCH_SM90);
    add_test("api", "empty_sm80", run_empty, -1, GM_ARCH_SM80);
    add_test("api", "empty_all", run_empty, -1, 0);
    add_test("api", "columns_sm80", run_columns, -1, GM_ARCH_SM80);
    add_test("api", "columns_sm90", run_columns, -1, GM_ARCH_SM90);
    add_test("api", "columns_all", run_columns, -1, 0);
    add_test("api", "one_column_sm80", run_one_column, -1, GM_ARCH_SM80);
    add_test("api", "one_column_sm90", run_one_column, -1, GM_ARCH_SM90);
    add_test("api", "one_column_all", run_one_column, -1, 0);
}
