/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: strides that are legal, batches that are one product, tensor maps, and who answers. */
#include "planned.h"

#include <string.h>

#include "kernels.h"

#define BATCHED_SM90                                                                                                   \
    KERNEL_ROW("batched", gemm_sm90, SM90, 1, bf16, 168, "sm_90a", GM_LAYOUT_tn, 128, 128, 64, 6, 1, 1, ROLES_p2,      \
               GM_BATCH_batch, GM_EXTENDED_no, GM_FAST_no, GM_SCALES_no, 128)
#define BATCHED_SM80                                                                                                   \
    KERNEL_ROW("batched", gemm_sm80, SM80, 1, bf16, 128, "sm_80 sm_90 compute_80", GM_LAYOUT_tn, 64, 64, 64, 4, 2, 2,  \
               1, GM_BATCH_batch, GM_EXTENDED_no, GM_SMEM_MAP_xor)

/* Packed. */
static struct gm_gemm_problem batch_of(int64_t batch, int64_t m, int64_t n, int64_t k) {
    struct gm_gemm_problem p = problem_of(m, n, k);
    p.batch = batch;
    p.a_batch_stride = m * k;
    p.b_batch_stride = n * k;
    p.c_batch_stride = p.d_batch_stride = m * n;
    return p;
}

/* The heads of a token beside each other, in A and in D. */
static struct gm_gemm_problem heads_of(int64_t heads, int64_t tokens, int64_t n, int64_t k) {
    struct gm_gemm_problem p = batch_of(heads, tokens, n, k);
    p.lda = heads * k;
    p.ldc = p.ldd = heads * n;
    p.a_batch_stride = k;
    p.c_batch_stride = p.d_batch_stride = n;
    return p;
}

static void assert_refused(struct gm_gemm_problem p, const char *words) {
    ck_assert_int_eq(gm_gemm_normalize(&p), GM_ERROR_INVALID_ARGUMENT);
    ck_assert_msg(strstr(gm_last_error(), words) != NULL, "\"%s\" lacks \"%s\"", gm_last_error(), words);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(of_one_product_batch_strides_mean_nothing) {
    struct gm_gemm_problem p = batch_of(0, 10, 20, 30);
    p.bias_batch_stride = -1;
    p = normalized(p);
    ck_assert_int_eq(p.batch, 1);
    ck_assert(p.a_batch_stride == 0 && p.d_batch_stride == 0 && p.bias_batch_stride == 0);
}
END_TEST

START_TEST(matrices_of_d_lie_behind_or_beside_each_other) {
    struct gm_gemm_problem p = batch_of(7, 10, 24, 30);
    normalized(p);
    normalized(heads_of(7, 10, 24, 30));
    p.d_batch_stride = 239;
    assert_refused(p, "d_batch_stride is 239: the matrices of D overlap; each of them has 240 elements");
    p.d_batch_stride = 0;
    assert_refused(p, "the matrices of D overlap");
    p = heads_of(7, 10, 24, 30);
    p.ldd -= 1;
    assert_refused(p, "or 24 of a row of ldd 167");
    p = batch_of(7, 1, 24, 30); /* of one row each */
    normalized(p);
    p.m = 0; /* of none */
    p.d_batch_stride = 0;
    normalized(p);
}
END_TEST

START_TEST(strides_that_are_no_strides_are_refused) {
    struct gm_gemm_problem p = batch_of(3, 10, 24, 30);
    p.a_batch_stride = -8;
    assert_refused(p, "a_batch_stride is -8; it must be 0 or more");
    p = batch_of(3, 10, 24, 30);
    p.b_batch_stride = INT64_MAX / 4;
    assert_refused(p, "3 matrices of it exceed 2^63 bytes");
    p = batch_of(-1, 10, 24, 30);
    assert_refused(p, "batch is -1");
    p = batch_of(3, 10, 24, 30);
    p.pointer_arrays = 2;
    assert_refused(p, "pointer_arrays is 2; it must be 0 or 1");
    p.pointer_arrays = 1;
    p.gate = GM_GATE_PAIRS;
    assert_refused(p, "a gate is not of matrices in pointer_arrays");
}
END_TEST

/* ---- one product ---------------------------------------------------------------------------------------- */

static struct gm_gemm_problem folded(struct gm_gemm_problem p) {
    p = normalized(p);
    return gm_gemm_folded(&p);
}

START_TEST(rows_that_go_on_are_one_product) {
    struct gm_gemm_problem p = batch_of(7, 10, 24, 32);
    ck_assert_int_eq(folded(p).batch, 7); /* every matrix has its own B */
    p.b_batch_stride = 0;
    ck_assert_int_eq(folded(p).batch, 1);
    ck_assert_int_eq(folded(p).m, 70);
    p.a_batch_stride += 32;
    ck_assert_int_eq(folded(p).batch, 7);
    p = batch_of(7, 1, 24, 32);
    p.b_batch_stride = 0;
    p.a_batch_stride = 100; /* one row each: any distance is a row's */
    p.d_batch_stride = p.c_batch_stride = 48;
    ck_assert_int_eq(folded(p).m, 7);
    ck_assert_int_eq(folded(p).lda, 100);
    ck_assert_int_eq(folded(p).ldd, 48);
    p.c_batch_stride = 0; /* one row of C for all of D's */
    ck_assert_int_eq(folded(p).batch, 7);
}
END_TEST

START_TEST(columns_that_go_on_are_one_product) {
    struct gm_gemm_problem p = batch_of(7, 10, 24, 32);
    p.a_batch_stride = 0;
    ck_assert_int_eq(folded(p).batch, 7); /* D's matrices lie behind each other */
    p.ldc = p.ldd = 7 * 24;
    p.c_batch_stride = p.d_batch_stride = 24;
    ck_assert_int_eq(folded(p).batch, 1);
    ck_assert_int_eq(folded(p).n, 168);
    p.bias = GM_BIAS_N;
    p.bias_type = GM_FP32;
    ck_assert_int_eq(folded(p).batch, 7);
    p.bias_batch_stride = 24;
    ck_assert_int_eq(folded(p).n, 168);
}
END_TEST

/* ---- who answers ---------------------------------------------------------------------------------------- */

START_TEST(kernels_without_a_b_take_no_batch) {
    const struct gm_kernel batched = BATCHED_SM90, plain = SM90(128, 128, 6, 1, 1, p2);
    const struct gm_device h200 = device_of("h200");
    const struct gm_plan_options named = {.size = sizeof named, .kernel = "batched"};
    ck_assert_int_eq(judge(&batched, &h200, batch_of(9, 256, 256, 128), NULL).reason, GM_ACCEPTED);
    assert_judged("9 matrices of 2 x 2 tiles");
    ck_assert_int_eq(judge(&plain, &h200, batch_of(9, 256, 256, 128), NULL).reason, GM_REASON_BATCH);
    assert_judged("a batch of 9");
    ck_assert_int_eq(judge(&batched, &h200, problem_of(256, 256, 128), NULL).reason, GM_REASON_BATCH);
    ck_assert_int_eq(judge(&batched, &h200, problem_of(256, 256, 128), &named).reason, GM_ACCEPTED);
}
END_TEST

START_TEST(tma_steps_16_bytes_from_matrix_to_matrix) {
    const struct gm_kernel sm90 = BATCHED_SM90, sm80 = BATCHED_SM80;
    const struct gm_device h200 = device_of("h200");
    struct gm_gemm_problem p = batch_of(9, 256, 256, 128);
    p.a_batch_stride += 4;
    ck_assert_int_eq(judge(&sm90, &h200, p, NULL).reason, GM_REASON_STRIDE);
    assert_judged("a_batch_stride 32772");
    ck_assert_int_eq(judge(&sm80, &h200, p, NULL).reason, GM_ACCEPTED);
    p = batch_of(9, 256, 256, 128);
    p.b_batch_stride = INT64_C(1) << 40;
    ck_assert_int_eq(judge(&sm90, &h200, p, NULL).reason, GM_REASON_SIZE);
    p = batch_of(9, 256, 256, 128);
    p.pointer_arrays = 1;
    ck_assert_int_eq(judge(&sm90, &h200, p, NULL).reason, GM_REASON_BATCH);
    ck_assert_int_eq(judge(&sm80, &h200, p, NULL).reason, GM_ACCEPTED);
    p = batch_of(1 << 29, 256, 64, 64);
    ck_assert_int_eq(judge(&sm80, &h200, p, NULL).reason, GM_REASON_SIZE);
    assert_judged("tiles of 536870912 matrices are more than 2^30");
}
END_TEST

START_TEST(maps_step_from_matrix_to_matrix) {
    const struct gm_kernel row = BATCHED_SM90;
    const struct gm_gemm_variant v = gm_gemm_variant(&row);
    struct gm_gemm_problem p = heads_of(6, 300, 128, 64);
    p.b_batch_stride = 0;
    p = normalized(p);
    const struct gm_gemm_maps maps = gm_gemm_sm90_maps(&v, &p);
    char sentence[160];
    ck_assert_uint_eq(maps.a.rank, 3);
    ck_assert_uint_eq(maps.a.dims[2], 6);
    ck_assert_uint_eq(maps.a.strides[0], 6 * 128);
    ck_assert_uint_eq(maps.a.strides[1], 128); /* less than a row's */
    ck_assert_uint_eq(maps.a_tail.strides[1], 128);
    ck_assert_uint_eq(maps.b.dims[2], 1); /* one for all */
    ck_assert_uint_eq(maps.d.strides[1], 256);
    ck_assert_msg(gm_tensor_map_check(&maps.a, sentence, sizeof sentence), "%s", sentence);
    ck_assert_msg(gm_tensor_map_check(&maps.b, sentence, sizeof sentence), "%s", sentence);
}
END_TEST

/* ---- a call --------------------------------------------------------------------------------------------- */

START_TEST(one_c_for_all_is_not_d) {
    static const float one = 1;
    struct gm_gemm_problem p = batch_of(9, 256, 256, 128);
    struct gm_gemm_args args = {
        .size = sizeof args, .a = 0x10000000, .b = 0x20000000, .c = 0x30000000, .d = 0x30000000, .beta = &one};
    gm_plan *plan = NULL;
    ck_assert_int_eq(gm_gemm_plan_create(context, &p, NULL, &plan), GM_OK);
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_OK);
    gm_plan_destroy(plan);
    p.c_batch_stride = 0;
    ck_assert_int_eq(gm_gemm_plan_create(context, &p, NULL, &plan), GM_OK);
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_ERROR_OVERLAP);
    args.c = 0x40000000;
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_OK);
    args.a = args.d + (9 * 256 * 256 - 1) * 2 / 16 * 16; /* D's last bytes */
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_ERROR_OVERLAP);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(arrays_of_pointers_are_8_bytes_each) {
    struct gm_gemm_problem p = batch_of(9, 256, 256, 128);
    struct gm_gemm_args args = {
        .size = sizeof args, .a = 0x10000000, .b = 0x10000048, .d = 0x10000090, .left_out = 0x100000d8};
    gm_plan *plan = NULL;
    p.pointer_arrays = 1;
    ck_assert_int_eq(gm_gemm_plan_create(context, &p, NULL, &plan), GM_OK);
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_OK);
    args.left_out = 0x100000d4; /* D's last pointer */
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_ERROR_OVERLAP);
    args.left_out = 0;
    args.b += 4;
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_ERROR_MISALIGNED);
    args.b = 0;
    ck_assert_int_eq(gm_gemm_execute(plan, &args, NULL), GM_ERROR_INVALID_ARGUMENT);
    gm_plan_destroy(plan);
}
END_TEST

Suite *gemm_batch_suite(void) {
    Suite *suite = suite_create("gemm_batch");
    TCase *problem = tcase_create("a problem"), *call = tcase_create("a call");
    tcase_add_test(problem, of_one_product_batch_strides_mean_nothing);
    tcase_add_test(problem, matrices_of_d_lie_behind_or_beside_each_other);
    tcase_add_test(problem, strides_that_are_no_strides_are_refused);
    tcase_add_test(problem, rows_that_go_on_are_one_product);
    tcase_add_test(problem, columns_that_go_on_are_one_product);
    tcase_add_test(problem, kernels_without_a_b_take_no_batch);
    tcase_add_test(problem, tma_steps_16_bytes_from_matrix_to_matrix);
    tcase_add_test(problem, maps_step_from_matrix_to_matrix);
    tcase_add_checked_fixture(call, planned_set_up, planned_tear_down);
    tcase_add_test(call, one_c_for_all_is_not_d);
    tcase_add_test(call, arrays_of_pointers_are_8_bytes_each);
    suite_add_tcase(suite, problem);
    suite_add_tcase(suite, call);
    return suite;
}
