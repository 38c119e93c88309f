/* SPDX-License-Identifier: Apache-2.0 */
/* Execute's argument checks: every refusal, with no driver call made. */
#include "planned.h"

#include <string.h>

#define M 100
#define N 200
#define K 300

static gm_plan *plan;
static struct gm_gemm_args args;
static float one = 1;

/* An sm80 plan: it takes any stride. D is M x N bf16, bias along N fp32. */
static void set_up_with(int64_t ldd, int32_t align) {
    const struct gm_kernel *row = row_of(GM_ARCH_SM80) ? row_of(GM_ARCH_SM80) : &gm_kernels[0];
    struct gm_gemm_problem p = problem_for(row, M, N, K);
    p.lda = p.a_major == GM_K_MAJOR ? K + 4 : M + 4;
    p.ldd = ldd;
    p.bias = GM_BIAS_N;
    p.bias_type = GM_FP32;
    p.a_align = p.b_align = p.d_align = align;
    gm_plan_destroy(plan);
    plan = plan_for(row, &p);
    args = args_apart();
    fake_make_current(0);
    fake_clear_counts();
}

static void set_up(void) {
    planned_set_up();
    plan = NULL;
    set_up_with(0, 16);
}

static void tear_down(void) {
    gm_plan_destroy(plan);
    plan = NULL;
    planned_tear_down();
}

static enum gm_status execute(void) {
    enum gm_status status = gm_gemm_execute(plan, &args, NULL);
    ck_assert_msg(status == GM_OK || fake_calls() == 0, "%s after %d driver calls", gm_status_name(status),
                  fake_calls());
    return status;
}

START_TEST(null_arguments_are_refused) {
    assert_fails(gm_gemm_execute(NULL, &args, NULL), GM_ERROR_INVALID_ARGUMENT, "plan is NULL");
    assert_fails(gm_gemm_execute(plan, NULL, NULL), GM_ERROR_INVALID_ARGUMENT, "args is NULL");
    args.size = 4;
    assert_fails(execute(), GM_ERROR_SIZE, "args.size is 4");
    ck_assert_int_eq(fake_calls(), 0);
}
END_TEST

START_TEST(null_operands_are_named) {
    args.a = 0;
    assert_fails(execute(), GM_ERROR_INVALID_ARGUMENT, "a is NULL");
    args = args_apart(), args.b = 0;
    assert_fails(execute(), GM_ERROR_INVALID_ARGUMENT, "b is NULL");
    args = args_apart(), args.d = 0;
    assert_fails(execute(), GM_ERROR_INVALID_ARGUMENT, "d is NULL");
    args = args_apart(), args.bias = 0;
    assert_fails(execute(), GM_ERROR_INVALID_ARGUMENT, "bias is NULL");
    args = args_apart(), args.c = 0, args.beta = &one;
    assert_fails(execute(), GM_ERROR_INVALID_ARGUMENT, "c is NULL");
}
END_TEST

START_TEST(c_may_be_null_without_beta) {
    args.c = 0;
    assert_ok(execute());
}
END_TEST

START_TEST(pointers_keep_the_plans_promise) {
    args.a += 8;
    assert_fails(execute(), GM_ERROR_MISALIGNED, "a is 0x100000000008, not a multiple of 16 bytes");
    args = args_apart(), args.b += 2;
    assert_fails(execute(), GM_ERROR_MISALIGNED, "b is 0x200000000002");
    args = args_apart(), args.d += 4;
    assert_fails(execute(), GM_ERROR_MISALIGNED, "plan with a smaller align");
}
END_TEST

START_TEST(a_smaller_promise_takes_smaller_alignment) {
    if (!row_of(GM_ARCH_SM80))
        return;
    set_up_with(0, 2);
    args.a += 2, args.b += 4, args.d += 6;
    assert_ok(execute());
    fake_clear_counts();
    args.a += 1;
    assert_fails(execute(), GM_ERROR_MISALIGNED, "its element's size");
}
END_TEST

START_TEST(c_and_bias_need_their_elements_alignment) {
    args.bias += 2;
    assert_fails(execute(), GM_ERROR_MISALIGNED, "bias is 0x500000000002, not a multiple of 4");
    args = args_apart(), args.beta = &one, args.c += 1;
    assert_fails(execute(), GM_ERROR_MISALIGNED, "c is 0x300000000001, not a multiple of 2");
    args.c += 1;
    assert_ok(execute());
}
END_TEST

START_TEST(operands_past_the_end_of_the_address_space_are_refused) {
    args.b = UINT64_MAX - 15;
    assert_fails(execute(), GM_ERROR_INVALID_ARGUMENT, "passes 2^64");
}
END_TEST

START_TEST(an_output_over_an_input_is_refused) {
    args.a = ADDRESS_D;
    assert_fails(execute(), GM_ERROR_OVERLAP, "overlaps a");
    args = args_apart(), args.b = ADDRESS_D + (M * N * 2 - 16); /* the last bytes of D */
    assert_fails(execute(), GM_ERROR_OVERLAP, "overlaps b");
    args = args_apart(), args.d = ADDRESS_B + (K * N * 2 - 16);
    assert_fails(execute(), GM_ERROR_OVERLAP, "overlaps b");
    args = args_apart(), args.bias = ADDRESS_D + 64;
    assert_fails(execute(), GM_ERROR_OVERLAP, "overlaps bias");
}
END_TEST

START_TEST(neighbours_do_not_overlap) {
    args.b = ADDRESS_D + M * N * 2;
    assert_ok(execute());
    args = args_apart(), args.d = ADDRESS_B + K * N * 2;
    assert_ok(execute());
}
END_TEST

START_TEST(c_may_be_d_exactly) {
    args.c = args.d, args.beta = &one;
    assert_ok(execute());
    fake_clear_counts();
    args.c += 16;
    assert_fails(execute(), GM_ERROR_OVERLAP, "only c = d with ldc = ldd");
}
END_TEST

START_TEST(c_may_not_be_d_with_another_stride) {
    set_up_with(N + 8, 16);
    args.c = args.d, args.beta = &one;
    assert_fails(execute(), GM_ERROR_OVERLAP, "overlaps c");
}
END_TEST

START_TEST(c_is_not_looked_at_without_beta) {
    args.c = args.d + 1;
    assert_ok(execute());
}
END_TEST

/* C and D as two column ranges of one matrix. */
START_TEST(interleaved_rows_do_not_overlap) {
    const struct gm_kernel *row = row_of(GM_ARCH_SM80);
    if (!row)
        return;
    struct gm_gemm_problem p = problem_for(row, M, N, K);
    p.ldc = p.ldd = 2 * N;
    gm_plan_destroy(plan);
    plan = plan_for(row, &p);
    args.beta = &one;
    args.c = args.d + N * 2;
    assert_ok(execute());
    args.c = args.d - N * 2;
    assert_ok(execute());
    fake_clear_counts();
    args.c = args.d + N * 2 - 2;
    assert_fails(execute(), GM_ERROR_OVERLAP, "overlaps c");
    args.c = args.d + N * 2 + 2;
    assert_fails(execute(), GM_ERROR_OVERLAP, "overlaps c");
}
END_TEST

START_TEST(a_workspace_must_be_big_enough) {
    plan->workspace_bytes = 4096;
    assert_fails(execute(), GM_ERROR_WORKSPACE, "0 bytes at 0x0; the plan needs 4096");
    args.workspace = 0x600000000000;
    args.workspace_bytes = 4095;
    assert_fails(execute(), GM_ERROR_WORKSPACE, "4095 bytes");
    args.workspace_bytes = 4096;
    assert_ok(execute());
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 4096);
}
END_TEST

START_TEST(a_workspace_is_aligned_and_apart_from_the_operands) {
    plan->workspace_bytes = args.workspace_bytes = 4096;
    args.workspace = 0x600000000008;
    assert_fails(execute(), GM_ERROR_MISALIGNED, "0x600000000008, not a multiple of 16");
    args.workspace = UINT64_MAX - 4111;
    assert_ok(execute());
    fake_clear_counts();
    args.workspace = UINT64_MAX - 2047;
    assert_fails(execute(), GM_ERROR_INVALID_ARGUMENT, "passes 2^64");
    const struct {
        gm_device_ptr address;
        const char *words;
    } operands[] = {{args.a, "overlaps a"}, {args.b, "overlaps b"}, {args.d, "overlaps d"}};
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        args.workspace = operands[i].address;
        assert_fails(execute(), GM_ERROR_OVERLAP, operands[i].words);
        args.workspace = operands[i].address - 4080;
        assert_fails(execute(), GM_ERROR_OVERLAP, operands[i].words);
        args.workspace = operands[i].address - 4096;
        assert_ok(execute());
        fake_clear_counts();
    }
}
END_TEST

START_TEST(operands_are_not_looked_at_when_k_is_0) {
    const struct gm_kernel *row = row_of(GM_ARCH_SM80);
    if (!row)
        return;
    struct gm_gemm_problem p = problem_for(row, M, N, 0);
    gm_plan_destroy(plan);
    plan = plan_for(row, &p);
    args.a = args.b = 0;
    assert_ok(execute());
}
END_TEST

Suite *arguments_suite(void) {
    Suite *suite = suite_create("arguments");
    TCase *cases = tcase_create("checks of execute");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, null_arguments_are_refused);
    tcase_add_test(cases, null_operands_are_named);
    tcase_add_test(cases, c_may_be_null_without_beta);
    tcase_add_test(cases, pointers_keep_the_plans_promise);
    tcase_add_test(cases, a_smaller_promise_takes_smaller_alignment);
    tcase_add_test(cases, c_and_bias_need_their_elements_alignment);
    tcase_add_test(cases, operands_past_the_end_of_the_address_space_are_refused);
    tcase_add_test(cases, an_output_over_an_input_is_refused);
    tcase_add_test(cases, neighbours_do_not_overlap);
    tcase_add_test(cases, c_may_be_d_exactly);
    tcase_add_test(cases, c_may_not_be_d_with_another_stride);
    tcase_add_test(cases, c_is_not_looked_at_without_beta);
    tcase_add_test(cases, interleaved_rows_do_not_overlap);
    tcase_add_test(cases, a_workspace_must_be_big_enough);
    tcase_add_test(cases, a_workspace_is_aligned_and_apart_from_the_operands);
    tcase_add_test(cases, operands_are_not_looked_at_when_k_is_0);
    suite_add_tcase(suite, cases);
    return suite;
}
