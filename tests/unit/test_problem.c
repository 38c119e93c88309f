/* SPDX-License-Identifier: Apache-2.0 */
/* Validation and defaults of a problem. */
#include "host/options.h"
#include "kernels.h"

#include <math.h>
#include <string.h>

static const struct gm_plan_options none = {.size = sizeof none};

START_TEST(zero_strides_mean_packed) {
    struct gm_gemm_problem p = normalized(problem_of(10, 20, 30));
    ck_assert_int_eq(p.lda, 30);
    ck_assert_int_eq(p.ldb, 30);
    ck_assert_int_eq(p.ldc, 20);
    ck_assert_int_eq(p.ldd, 20);
    p = problem_of(10, 20, 30);
    p.a_major = p.b_major = GM_MN_MAJOR;
    p = normalized(p);
    ck_assert_int_eq(p.lda, 10);
    ck_assert_int_eq(p.ldb, 20);
}
END_TEST

START_TEST(zero_alignments_mean_16) {
    const struct gm_gemm_problem p = normalized(problem_of(10, 20, 30));
    ck_assert_int_eq(p.a_align, 16);
    ck_assert_int_eq(p.b_align, 16);
    ck_assert_int_eq(p.d_align, 16);
}
END_TEST

START_TEST(empty_problems_are_legal) {
    const struct gm_gemm_problem p = normalized(problem_of(0, 0, 0));
    ck_assert_int_eq(p.lda, 1);
    ck_assert_int_eq(p.ldd, 1);
    const struct gm_operand a = gm_operand_a(&p);
    ck_assert_int_eq(gm_operand_bytes(&a), 0);
}
END_TEST

START_TEST(operands_span_from_their_first_byte_to_their_last) {
    struct gm_gemm_problem p = problem_of(10, 20, 30);
    p.lda = 100;
    p.ldd = 50;
    p.d_type = GM_FP32;
    p = normalized(p);
    const struct gm_operand a = gm_operand_a(&p), b = gm_operand_b(&p), d = gm_operand_d(&p);
    ck_assert_int_eq(gm_operand_bytes(&a), (9 * 100 + 30) * 2);
    ck_assert_int_eq(gm_operand_bytes(&b), 20 * 30 * 2);
    ck_assert_int_eq(gm_operand_bytes(&d), (9 * 50 + 20) * 4);
}
END_TEST

START_TEST(operands_beyond_4_gib_are_legal) {
    const struct gm_gemm_problem p = normalized(problem_of(INT32_MAX, 8, 65536));
    const struct gm_operand a = gm_operand_a(&p);
    ck_assert_int_eq(gm_operand_bytes(&a), INT64_C(2147483647) * 65536 * 2);
}
END_TEST

START_TEST(a_gate_halves_the_columns_of_d) {
    struct gm_gemm_problem p = problem_of(10, 20, 30);
    p.limit = p.up_offset = 3; /* without a gate they mean nothing */
    ck_assert(normalized(p).limit == 0 && normalized(p).up_offset == 0);
    p.gate = GM_GATE_PAIRS;
    p = normalized(p);
    ck_assert(p.limit == 3 && p.up_offset == 3 && p.sigmoid_factor == 1);
    ck_assert_int_eq(p.ldd, 10);
    ck_assert_int_eq(gm_operand_d(&p).columns, 10);
    ck_assert_int_eq(gm_operand_b(&p).rows, 20);
}
END_TEST

/* Each entry breaks one field of a good problem. */
static void break_size(struct gm_gemm_problem *p) { p->size = 103; }
static void break_size_0(struct gm_gemm_problem *p) { p->size = 0; }
static void break_m(struct gm_gemm_problem *p) { p->m = -1; }
static void break_n(struct gm_gemm_problem *p) { p->n = INT64_C(1) << 31; }
static void break_k(struct gm_gemm_problem *p) { p->k = INT64_MIN; }
static void break_ab_type(struct gm_gemm_problem *p) { p->ab_type = GM_UINT8; }
static void break_has_b_type(struct gm_gemm_problem *p) { p->has_b_type = 2; }
static void pair_of(struct gm_gemm_problem *p, enum gm_type a, enum gm_type b) { p->ab_type = a, p->has_b_type = 1, p->b_type = b; }
static void two_of_e5m2(struct gm_gemm_problem *p) { p->ab_type = GM_E5M2; }
static void e5m2_by_e5m2(struct gm_gemm_problem *p) { pair_of(p, GM_E5M2, GM_E5M2); }
static void bf16_by_fp16(struct gm_gemm_problem *p) { pair_of(p, GM_BF16, GM_FP16); }
static void e4m3_by_int8(struct gm_gemm_problem *p) { pair_of(p, GM_E4M3, GM_INT8); }
static void e5m2_by_none(struct gm_gemm_problem *p) { pair_of(p, GM_E5M2, (enum gm_type)99); }
static void pair_sums(struct gm_gemm_problem *p) { pair_of(p, GM_E4M3, GM_E5M2), p->a_scales = GM_PER_GROUP, p->b_scales = GM_PER_BLOCK; }
static void pair_zeros(struct gm_gemm_problem *p) { pair_of(p, GM_E5M2, GM_E4M3), p->zero_points = 1; }
static void pair_batch(struct gm_gemm_problem *p) { pair_of(p, GM_E5M2, GM_E4M3), p->batch = 2, p->d_batch_stride = 1 << 20, p->a_scales = GM_PER_ROW; }
static void break_d_of_fp32(struct gm_gemm_problem *p) { p->ab_type = GM_FP32; }
static void break_d_of_tf32(struct gm_gemm_problem *p) { p->ab_type = GM_TF32; }
static void break_d_of_tf32x3(struct gm_gemm_problem *p) { p->ab_type = GM_TF32X3; }
static void int8_of(struct gm_gemm_problem *p) { p->ab_type = GM_INT8, p->d_type = GM_BF16; }
static void int8_k(struct gm_gemm_problem *p) { int8_of(p), p->k = p->lda = p->ldb = 131072; }
static void int8_k_zeros(struct gm_gemm_problem *p) { int8_of(p), p->zero_points = 1, p->k = p->lda = p->ldb = 65794; }
static void int8_zeros_2(struct gm_gemm_problem *p) { int8_of(p), p->zero_points = 2; }
static void int8_a_scales(struct gm_gemm_problem *p) { int8_of(p), p->a_scales = (enum gm_granularity)5; }
static void int8_b_scales(struct gm_gemm_problem *p) { int8_of(p), p->b_scales = (enum gm_granularity)-1; }
static void int32_scaled(struct gm_gemm_problem *p) { int8_of(p), p->d_type = GM_INT32, p->a_scales = GM_PER_ROW; }
static void int32_bias(struct gm_gemm_problem *p) { int8_of(p), p->d_type = GM_INT32, p->bias = GM_BIAS_N; }
static void int32_act(struct gm_gemm_problem *p) { int8_of(p), p->d_type = GM_INT32, p->activation = GM_ACT_RELU; }
static void fast_bf16(struct gm_gemm_problem *p) { p->fast_accumulation = 1; }
static void fast_2(struct gm_gemm_problem *p) { p->ab_type = GM_E4M3, p->fast_accumulation = 2; }
static void sums_of(struct gm_gemm_problem *p) { p->ab_type = GM_E4M3, p->a_scales = GM_PER_GROUP, p->b_scales = GM_PER_BLOCK; }
static void sums_of_bf16(struct gm_gemm_problem *p) { p->a_scales = GM_PER_GROUP, p->b_scales = GM_PER_BLOCK; }
static void sums_of_a(struct gm_gemm_problem *p) { sums_of(p), p->b_scales = GM_PER_NONE; }
static void sums_of_b(struct gm_gemm_problem *p) { sums_of(p), p->a_scales = GM_PER_NONE; }
static void sums_order(struct gm_gemm_problem *p) { sums_of(p), p->a_scale_order = (enum gm_scale_order)2; }
static void sums_b_order(struct gm_gemm_problem *p) { sums_of(p), p->b_scale_order = (enum gm_scale_order)-1; }
static void sums_stride(struct gm_gemm_problem *p) { sums_of(p), p->a_scale_order = GM_SCALES_BY_COLUMN, p->a_scales_stride = 15, p->k = p->lda = p->ldb = 256; }
static void sums_b_stride(struct gm_gemm_problem *p) { sums_of(p), p->b_scales_stride = -1; }
static void sums_format(struct gm_gemm_problem *p) { sums_of(p), p->a_scale_format = (enum gm_scale_format)3; }
static void sums_b_format(struct gm_gemm_problem *p) { sums_of(p), p->b_scale_format = (enum gm_scale_format)-1; }
static void sums_e8m0(struct gm_gemm_problem *p) { sums_of(p), p->a_scale_format = GM_SCALE_E8M0, p->k = p->lda = p->ldb = 272; }
static void sums_e8m0_stride(struct gm_gemm_problem *p) { sums_e8m0(p), p->a_scales_stride = 6; }
static void sums_batch(struct gm_gemm_problem *p) { sums_of(p), p->batch = 2, p->d_batch_stride = 1 << 20; }
static void fp8_zeros(struct gm_gemm_problem *p) { p->ab_type = GM_E4M3, p->zero_points = 1; }
static void fp8_batch(struct gm_gemm_problem *p) { p->ab_type = GM_E4M3, p->batch = 2, p->d_batch_stride = 1 << 20, p->a_scales = GM_PER_ROW; }
static void int8_batch(struct gm_gemm_problem *p) { int8_of(p), p->batch = 2, p->d_batch_stride = 1 << 20, p->b_scales = GM_PER_ROW; }
static void int8_batch_zeros(struct gm_gemm_problem *p) { int8_of(p), p->pointer_arrays = 1, p->zero_points = 1; }
static void bf16_zeros(struct gm_gemm_problem *p) { p->zero_points = 1; }
static void fp32_scaled(struct gm_gemm_problem *p) { p->ab_type = GM_FP32, p->d_type = GM_FP32, p->b_scales = GM_PER_TENSOR; }
static void tf32_amax(struct gm_gemm_problem *p) { p->ab_type = GM_TF32, p->d_type = GM_FP32, p->amax = 1; }
static void tf32x3_residual(struct gm_gemm_problem *p) { p->ab_type = GM_TF32X3, p->d_type = GM_FP32, p->residual = 1; }
static void int32_amax(struct gm_gemm_problem *p) { int8_of(p), p->d_type = GM_INT32, p->amax = 1; }
static void batch_of_2(struct gm_gemm_problem *p) { p->batch = 2, p->a_batch_stride = p->b_batch_stride = p->d_batch_stride = 1 << 20; }
static void batch_amax(struct gm_gemm_problem *p) { batch_of_2(p), p->amax = 1; }
static void batch_residual(struct gm_gemm_problem *p) { batch_of_2(p), p->residual = 1; }
static void batch_scaled(struct gm_gemm_problem *p) { batch_of_2(p), p->a_scales = GM_PER_TENSOR; }
static void batch_c_type(struct gm_gemm_problem *p) { batch_of_2(p), p->has_c_type = 1, p->c_type = GM_FP32; }
static void batch_bytes(struct gm_gemm_problem *p) { batch_of_2(p), p->d_type = GM_E4M3; }
static void arrays_amax(struct gm_gemm_problem *p) { p->pointer_arrays = 1, p->amax = 1; }
static void gate_residual(struct gm_gemm_problem *p) { p->gate = GM_GATE_HALVES, p->residual = 1; }
static void break_has_c_type(struct gm_gemm_problem *p) { p->has_c_type = 2; }
static void break_c_type(struct gm_gemm_problem *p) { p->has_c_type = 1, p->c_type = GM_E4M3; }
static void break_residual(struct gm_gemm_problem *p) { p->residual = -1; }
static void break_residual_type(struct gm_gemm_problem *p) { p->residual = 1, p->residual_type = GM_INT8; }
static void break_ldr(struct gm_gemm_problem *p) { p->residual = 1, p->ldr = 31; }
static void break_amax(struct gm_gemm_problem *p) { p->amax = 2; }
static void bytes_of(struct gm_gemm_problem *p) { p->d_type = GM_E4M3; }
static void bytes_amax_only(struct gm_gemm_problem *p) { bytes_of(p), p->d_scaling = GM_SCALE_AMAX_ONLY; }
static void bytes_block(struct gm_gemm_problem *p) { bytes_of(p), p->d_scaling = GM_SCALE_BLOCK; }
static void bytes_scaling(struct gm_gemm_problem *p) { bytes_of(p), p->d_scaling = (enum gm_scaling)5; }
static void bytes_format(struct gm_gemm_problem *p) { bytes_of(p), p->d_scale_format = (enum gm_scale_format)3; }
static void bytes_order(struct gm_gemm_problem *p) { bytes_of(p), p->d_scale_order = (enum gm_scale_order)2; }
static void bytes_division(struct gm_gemm_problem *p) { bytes_of(p), p->d_division = (enum gm_division)-1; }
static void bytes_floor(struct gm_gemm_problem *p) { bytes_of(p), p->d_scale_floor = 0x1p-130f; }
static void bytes_group(struct gm_gemm_problem *p) { bytes_of(p), p->d_scaling = GM_SCALE_GROUP, p->d_group = 96; }
static void bytes_stride(struct gm_gemm_problem *p) { bytes_of(p), p->d_scaling = GM_SCALE_GROUP, p->d_scale_order = GM_SCALES_BY_COLUMN, p->d_scales_stride = 15; }
static void bytes_align(struct gm_gemm_problem *p) { bytes_of(p), p->d_align = 3; }
static void int32_of_bf16(struct gm_gemm_problem *p) { p->d_type = GM_INT32; }
static void break_d_type(struct gm_gemm_problem *p) { p->d_type = (enum gm_type)7; }
static void break_a_major(struct gm_gemm_problem *p) { p->a_major = (enum gm_major)2; }
static void break_b_major(struct gm_gemm_problem *p) { p->b_major = (enum gm_major)-1; }
static void break_activation(struct gm_gemm_problem *p) { p->activation = (enum gm_activation)5; }
static void break_bias(struct gm_gemm_problem *p) { p->bias = (enum gm_bias)3; }
static void break_bias_type(struct gm_gemm_problem *p) { p->bias = GM_BIAS_M, p->bias_type = (enum gm_type)3; }
static void break_lda(struct gm_gemm_problem *p) { p->lda = p->k - 1; }
static void break_ldb(struct gm_gemm_problem *p) { p->b_major = GM_MN_MAJOR, p->ldb = p->n - 1; }
static void break_ldc(struct gm_gemm_problem *p) { p->ldc = -3; }
static void break_ldd(struct gm_gemm_problem *p) { p->ldd = 1; }
static void break_lda_huge(struct gm_gemm_problem *p) { p->lda = INT64_MAX / 2; }
static void break_ldd_huge(struct gm_gemm_problem *p) { p->ldd = INT64_C(1) << 60; }
static void break_a_align(struct gm_gemm_problem *p) { p->a_align = 3; }
static void break_b_align(struct gm_gemm_problem *p) { p->b_align = 32; }
static void break_d_align(struct gm_gemm_problem *p) { p->d_type = GM_FP32, p->d_align = 2; }
static void break_gate(struct gm_gemm_problem *p) { p->gate = (enum gm_gate)3; }
static void gate_odd_n(struct gm_gemm_problem *p) { p->gate = GM_GATE_PAIRS, p->n = 31; }
static void gate_bias_m(struct gm_gemm_problem *p) { p->gate = GM_GATE_HALVES, p->bias = GM_BIAS_M; }
static void gate_ldd(struct gm_gemm_problem *p) { p->gate = GM_GATE_HALVES, p->ldd = 15; }
static void gate_limit(struct gm_gemm_problem *p) { p->gate = GM_GATE_HALVES, p->limit = -1; }
static void gate_sigmoid(struct gm_gemm_problem *p) { p->gate = GM_GATE_HALVES, p->sigmoid_factor = NAN; }
static void gate_up_offset(struct gm_gemm_problem *p) { p->gate = GM_GATE_HALVES, p->up_offset = INFINITY; }

static const struct {
    void (*apply)(struct gm_gemm_problem *);
    enum gm_status status;
    const char *words;
} breakages[] = {
    {break_size, GM_ERROR_SIZE, "problem.size"},
    {break_size_0, GM_ERROR_SIZE, "problem.size is 0"},
    {break_m, GM_ERROR_INVALID_ARGUMENT, "m is -1"},
    {break_n, GM_ERROR_INVALID_ARGUMENT, "n is 2147483648; it must be 0 to 2147483647"},
    {break_k, GM_ERROR_INVALID_ARGUMENT, "k is -9223372036854775808"},
    {break_ab_type, GM_ERROR_INVALID_ARGUMENT, "ab_type is 6; known values are 0 to 2, 3 (e4m3), 4 (e5m2)"},
    {break_has_b_type, GM_ERROR_INVALID_ARGUMENT, "has_b_type is 2"},
    {two_of_e5m2, GM_ERROR_INVALID_ARGUMENT, "A and B are e5m2: one of them is e4m3 (has_b_type and b_type say B's type)"},
    {e5m2_by_e5m2, GM_ERROR_INVALID_ARGUMENT, "A and B are e5m2: one of them is e4m3"},
    {bf16_by_fp16, GM_ERROR_INVALID_ARGUMENT, "b_type is 1 beside an A of bf16: B is of A's type, but for e4m3 (3) and e5m2 (4)"},
    {e4m3_by_int8, GM_ERROR_INVALID_ARGUMENT, "b_type is 5 beside an A of e4m3"},
    {e5m2_by_none, GM_ERROR_INVALID_ARGUMENT, "b_type is 99 beside an A of e5m2"},
    {pair_sums, GM_ERROR_INVALID_ARGUMENT, "scales of GM_PER_GROUP and GM_PER_BLOCK are of e4m3; A and B are e4m3 and e5m2"},
    {pair_zeros, GM_ERROR_INVALID_ARGUMENT, "zero_points are of int8"},
    {pair_batch, GM_ERROR_INVALID_ARGUMENT, "a batch takes scales of GM_PER_TENSOR"},
    {break_d_of_fp32, GM_ERROR_INVALID_ARGUMENT, "d_type is bf16: D of fp32 operands is fp32"},
    {int8_k, GM_ERROR_INVALID_ARGUMENT, "k is 131072: a sum may leave 32 bits above 131071"},
    {int8_k_zeros, GM_ERROR_INVALID_ARGUMENT, "k is 65794: a sum may leave 32 bits above 65793 with zero_points"},
    {int8_zeros_2, GM_ERROR_INVALID_ARGUMENT, "zero_points is 2"},
    {int8_a_scales, GM_ERROR_INVALID_ARGUMENT, "a_scales is 5"},
    {int8_b_scales, GM_ERROR_INVALID_ARGUMENT, "b_scales is -1"},
    {int32_scaled, GM_ERROR_INVALID_ARGUMENT, "D is int32, the sums themselves"},
    {int32_bias, GM_ERROR_INVALID_ARGUMENT, "D is int32, the sums themselves"},
    {int32_act, GM_ERROR_INVALID_ARGUMENT, "D is int32, the sums themselves"},
    {fast_bf16, GM_ERROR_INVALID_ARGUMENT, "fast_accumulation is of fp8; A and B are bf16"},
    {sums_of_bf16, GM_ERROR_INVALID_ARGUMENT, "scales of GM_PER_GROUP and GM_PER_BLOCK are of e4m3; A and B are bf16"},
    {sums_of_a, GM_ERROR_INVALID_ARGUMENT, "A has scales of each 128 of K and B none"},
    {sums_of_b, GM_ERROR_INVALID_ARGUMENT, "B has scales of each 128 of K and A none"},
    {sums_order, GM_ERROR_INVALID_ARGUMENT, "a_scale_order is 2"},
    {sums_b_order, GM_ERROR_INVALID_ARGUMENT, "b_scale_order is -1"},
    {sums_stride, GM_ERROR_INVALID_ARGUMENT, "a_scales_stride is 15; a row has 16 elements"},
    {sums_b_stride, GM_ERROR_INVALID_ARGUMENT, "b_scales_stride is -1"},
    {sums_format, GM_ERROR_INVALID_ARGUMENT, "a_scale_format is 3"},
    {sums_b_format, GM_ERROR_INVALID_ARGUMENT, "b_scale_format is -1"},
    {sums_e8m0, GM_ERROR_INVALID_ARGUMENT, "a_scales_stride is 3: kernels read ue8m0 by words of 4"},
    {sums_e8m0_stride, GM_ERROR_INVALID_ARGUMENT, "a_scales_stride is 6: kernels read ue8m0 by words of 4"},
    {sums_batch, GM_ERROR_INVALID_ARGUMENT, "a batch takes scales of GM_PER_TENSOR"},
    {fast_2, GM_ERROR_INVALID_ARGUMENT, "fast_accumulation is 2; it must be 0 or 1"},
    {fp8_zeros, GM_ERROR_INVALID_ARGUMENT, "zero_points are of int8; A and B are e4m3"},
    {fp8_batch, GM_ERROR_INVALID_ARGUMENT, "a batch takes scales of GM_PER_TENSOR"},
    {int8_batch, GM_ERROR_INVALID_ARGUMENT, "a batch takes scales of GM_PER_TENSOR"},
    {int8_batch_zeros, GM_ERROR_INVALID_ARGUMENT, "a batch takes scales of GM_PER_TENSOR"},
    {bf16_zeros, GM_ERROR_INVALID_ARGUMENT, "zero_points are of int8; A and B are bf16"},
    {fp32_scaled, GM_ERROR_INVALID_ARGUMENT, "an extended epilogue"},
    {tf32_amax, GM_ERROR_INVALID_ARGUMENT, "an extended epilogue"},
    {tf32x3_residual, GM_ERROR_INVALID_ARGUMENT, "an extended epilogue"},
    {int32_amax, GM_ERROR_INVALID_ARGUMENT, "an extended epilogue"},
    {batch_amax, GM_ERROR_INVALID_ARGUMENT, "a batch has no extended epilogue"},
    {batch_residual, GM_ERROR_INVALID_ARGUMENT, "a batch has no extended epilogue"},
    {batch_scaled, GM_ERROR_INVALID_ARGUMENT, "a batch has no extended epilogue"},
    {batch_c_type, GM_ERROR_INVALID_ARGUMENT, "a batch has no extended epilogue"},
    {batch_bytes, GM_ERROR_INVALID_ARGUMENT, "a batch has no extended epilogue"},
    {arrays_amax, GM_ERROR_INVALID_ARGUMENT, "a batch has no extended epilogue"},
    {gate_residual, GM_ERROR_INVALID_ARGUMENT, "there is no residual beside a gate"},
    {break_has_c_type, GM_ERROR_INVALID_ARGUMENT, "has_c_type is 2"},
    {break_c_type, GM_ERROR_INVALID_ARGUMENT, "c_type is 3"},
    {break_residual, GM_ERROR_INVALID_ARGUMENT, "residual is -1"},
    {break_residual_type, GM_ERROR_INVALID_ARGUMENT, "residual_type is 5"},
    {break_ldr, GM_ERROR_INVALID_ARGUMENT, "ldr is 31; a row has 32 elements"},
    {break_amax, GM_ERROR_INVALID_ARGUMENT, "amax is 2"},
    {bytes_amax_only, GM_ERROR_INVALID_ARGUMENT, "scaling is 1"},
    {bytes_block, GM_ERROR_INVALID_ARGUMENT, "scaling is 4"},
    {bytes_scaling, GM_ERROR_INVALID_ARGUMENT, "scaling is 5"},
    {bytes_format, GM_ERROR_INVALID_ARGUMENT, "scale_format is 3"},
    {bytes_order, GM_ERROR_INVALID_ARGUMENT, "scale_order is 2"},
    {bytes_division, GM_ERROR_INVALID_ARGUMENT, "division is -1"},
    {bytes_floor, GM_ERROR_INVALID_ARGUMENT, "scale_floor is"},
    {bytes_group, GM_ERROR_INVALID_ARGUMENT, "group is 96"},
    {bytes_stride, GM_ERROR_INVALID_ARGUMENT, "scales_stride is 15"},
    {bytes_align, GM_ERROR_INVALID_ARGUMENT, "d_align is 3"},
    {int32_of_bf16, GM_ERROR_INVALID_ARGUMENT, "d_type is 7"},
    {break_d_of_tf32, GM_ERROR_INVALID_ARGUMENT, "D of tf32 operands is fp32"},
    {break_d_of_tf32x3, GM_ERROR_INVALID_ARGUMENT, "D of tf32x3 operands is fp32"},
    {break_d_type, GM_ERROR_INVALID_ARGUMENT, "d_type is 7"},
    {break_a_major, GM_ERROR_INVALID_ARGUMENT, "a_major is 2"},
    {break_b_major, GM_ERROR_INVALID_ARGUMENT, "b_major is -1"},
    {break_activation, GM_ERROR_INVALID_ARGUMENT, "activation is 5"},
    {break_bias, GM_ERROR_INVALID_ARGUMENT, "bias is 3"},
    {break_bias_type, GM_ERROR_INVALID_ARGUMENT, "bias_type is 3"},
    {break_lda, GM_ERROR_INVALID_ARGUMENT, "lda is 63; a row has 64 elements"},
    {break_ldb, GM_ERROR_INVALID_ARGUMENT, "ldb is 31; a row has 32 elements"},
    {break_ldc, GM_ERROR_INVALID_ARGUMENT, "ldc is -3"},
    {break_ldd, GM_ERROR_INVALID_ARGUMENT, "ldd is 1; a row has 32 elements"},
    {break_lda_huge, GM_ERROR_INVALID_ARGUMENT, "exceed 2^63 bytes"},
    {break_ldd_huge, GM_ERROR_INVALID_ARGUMENT, "exceed 2^63 bytes"},
    {break_a_align, GM_ERROR_INVALID_ARGUMENT, "a_align is 3"},
    {break_b_align, GM_ERROR_INVALID_ARGUMENT, "b_align is 32"},
    {break_gate, GM_ERROR_INVALID_ARGUMENT, "gate is 3"},
    {gate_odd_n, GM_ERROR_INVALID_ARGUMENT, "n is 31: a gate takes gates and as many ups"},
    {gate_bias_m, GM_ERROR_INVALID_ARGUMENT, "the bias is along M"},
    {gate_ldd, GM_ERROR_INVALID_ARGUMENT, "ldd is 15; a row has 16 elements"},
    {gate_limit, GM_ERROR_INVALID_ARGUMENT, "limit is -1"},
    {gate_sigmoid, GM_ERROR_INVALID_ARGUMENT, "sigmoid_factor is"},
    {gate_up_offset, GM_ERROR_INVALID_ARGUMENT, "up_offset is inf"},
    {break_d_align, GM_ERROR_INVALID_ARGUMENT, "d_align is 2; an element has 4 bytes"},
};

START_TEST(every_bad_field_has_its_sentence) {
    struct gm_gemm_problem p = problem_of(16, 32, 64);
    struct gm_gemm_planned planned;
    breakages[_i].apply(&p);
    const struct gm_gemm_problem before = p;
    assert_fails(gm_problem_read(&gm_operation_gemm, &p, &none, &planned), breakages[_i].status, breakages[_i].words);
    ck_assert_mem_eq(&p, &before, sizeof p);
}
END_TEST

START_TEST(an_extended_epilogue_has_defaults) {
    struct gm_gemm_problem p = problem_of(10, 20, 30);
    p.residual_type = (enum gm_type)99, p.ldr = 3, p.d_scaling = (enum gm_scaling)77; /* of what is not asked for */
    p = normalized(p);
    ck_assert(p.c_type == GM_BF16 && p.ldr == 0 && p.d_scaling == 0 && p.d_group == 0 && !gm_gemm_is_extended(&p));
    p = problem_of(10, 20, 30);
    p.d_type = GM_E4M3, p.residual = 1;
    p = normalized(p);
    ck_assert(p.c_type == GM_BF16 && p.ldr == 20 && p.d_scaling == GM_SCALE_STATIC && gm_gemm_is_extended(&p));
    p = problem_of(10, 300, 30);
    p.ab_type = GM_INT8, p.d_type = GM_INT8, p.d_scaling = GM_SCALE_GROUP;
    p = normalized(p);
    ck_assert(p.c_type == GM_FP32 && p.d_group == 128 && p.d_scales_stride == 3 && p.d_scale_floor > 0);
    p = problem_of(10, 20, 30);
    p.has_c_type = 1, p.c_type = p.d_type;
    p = normalized(p);
    ck_assert(!gm_gemm_is_extended(&p)); /* as if nothing was said */
}
END_TEST

START_TEST(a_null_problem_is_refused) {
    struct gm_gemm_planned planned;
    assert_fails(gm_problem_read(&gm_operation_gemm, NULL, &none, &planned), GM_ERROR_INVALID_ARGUMENT,
                 "problem is NULL");
}
END_TEST

START_TEST(a_packed_column_is_a_row) {
    struct gm_gemm_problem p = problem_of(1, 40, 72), q;
    p.a_major = p.b_major = GM_MN_MAJOR;
    q = normalized(p);
    struct gm_gemm_problem straight = gm_gemm_straight(&q);
    ck_assert_int_eq(straight.a_major, GM_K_MAJOR);
    ck_assert_int_eq(straight.lda, 72);
    ck_assert_int_eq(straight.b_major, GM_MN_MAJOR); /* 40 columns */
    ck_assert_int_eq(straight.ldb, 40);
    q.lda = 2; /* a column, but not packed */
    ck_assert_int_eq(gm_gemm_straight(&q).a_major, GM_MN_MAJOR);
    p = problem_of(40, 56, 1);
    q = normalized(p);
    straight = gm_gemm_straight(&q);
    ck_assert_int_eq(straight.a_major, GM_MN_MAJOR);
    ck_assert_int_eq(straight.lda, 40);
    ck_assert_int_eq(straight.b_major, GM_MN_MAJOR);
    ck_assert_int_eq(straight.ldb, 56);
    p = problem_of(1, 56, 1); /* one element: nothing to gain */
    q = normalized(p);
    ck_assert_int_eq(gm_gemm_straight(&q).a_major, GM_K_MAJOR);
}
END_TEST

START_TEST(a_column_of_d_is_the_row_of_the_transposed_problem) {
    struct gm_gemm_problem p = problem_of(400, 1, 72), q;
    p.lda = 80;
    p.b_major = GM_MN_MAJOR;
    p.ldb = 3;
    p.a_align = 8;
    p.bias = GM_BIAS_M;
    q = normalized(p);
    ck_assert_int_eq(gm_gemm_is_column(&q), 1);
    const struct gm_gemm_problem t = gm_gemm_transposed(&q);
    ck_assert(t.m == 1 && t.n == 400 && t.k == 72);
    ck_assert(t.a_major == GM_MN_MAJOR && t.lda == 3 && t.a_align == 16);
    ck_assert(t.b_major == GM_K_MAJOR && t.ldb == 80 && t.b_align == 8);
    ck_assert(t.ldc == 400 && t.ldd == 400 && t.bias == GM_BIAS_N);
    q.bias = GM_BIAS_N;
    ck_assert_int_eq(gm_gemm_transposed(&q).bias, GM_BIAS_M);
    q.ldc = 2; /* neighbours in C and D both, or not at all */
    ck_assert_int_eq(gm_gemm_is_column(&q), 0);
    q.ldc = 1, q.ldd = 8;
    ck_assert_int_eq(gm_gemm_is_column(&q), 0);
    q.ldd = 1, q.m = 1;
    ck_assert_int_eq(gm_gemm_is_column(&q), 0);
    q.m = 400, q.a_major = GM_MN_MAJOR; /* A promises 8 bytes: it is loaded element by element, and stays A */
    ck_assert_int_eq(gm_gemm_is_column(&q), 0);
    q.a_align = 16, q.lda = 404;
    ck_assert_int_eq(gm_gemm_is_column(&q), 0);
    q.lda = 408;
    ck_assert_int_eq(gm_gemm_is_column(&q), 1);
}
END_TEST

START_TEST(bias_type_is_read_only_with_a_bias) {
    struct gm_gemm_problem p = problem_of(16, 32, 64);
    p.bias_type = (enum gm_type)9;
    normalized(p);
}
END_TEST

Suite *problem_suite(void) {
    Suite *suite = suite_create("problem");
    TCase *cases = tcase_create("validation");
    tcase_add_test(cases, zero_strides_mean_packed);
    tcase_add_test(cases, zero_alignments_mean_16);
    tcase_add_test(cases, empty_problems_are_legal);
    tcase_add_test(cases, operands_span_from_their_first_byte_to_their_last);
    tcase_add_test(cases, operands_beyond_4_gib_are_legal);
    tcase_add_test(cases, a_gate_halves_the_columns_of_d);
    tcase_add_loop_test(cases, every_bad_field_has_its_sentence, 0, (int)(sizeof breakages / sizeof *breakages));
    tcase_add_test(cases, an_extended_epilogue_has_defaults);
    tcase_add_test(cases, a_null_problem_is_refused);
    tcase_add_test(cases, a_packed_column_is_a_row);
    tcase_add_test(cases, a_column_of_d_is_the_row_of_the_transposed_problem);
    tcase_add_test(cases, bias_type_is_read_only_with_a_bias);
    suite_add_tcase(suite, cases);
    return suite;
}
