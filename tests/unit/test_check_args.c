/* SPDX-License-Identifier: Apache-2.0 */
/* Execute's argument checks: every refusal, with no driver call made; then of ranges that no operation has yet. */
#include "host/check_args.h"
#include "planned.h"

#include <string.h>

#define M 100
#define N 200
#define K 300

static gm_plan *plan;
static struct gm_gemm_args args;
static float one = 1;
static const float two = 2;

/* An sm80 plan: it takes any stride. D is M x N bf16, bias along N fp32. */
static void set_up_with(int64_t ldd, int32_t align) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm80) ? row_of(&gm_family_gemm_sm80) : &gm_kernels[0];
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
    if (!row_of(&gm_family_gemm_sm80))
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

/* Scales and zeros are operands as the others are; sums of s32 take no factors. */
START_TEST(scales_are_operands) {
    gm_plan *int8 = NULL;
    struct gm_gemm_problem p = problem_of(64, 64, 64);
    struct gm_gemm_args scaled = {.size = sizeof scaled, .a = ADDRESS_A, .b = ADDRESS_B, .d = ADDRESS_D};
    p.ab_type = GM_INT8;
    p.a_scales = GM_PER_ROW, p.b_scales = GM_PER_TENSOR, p.zero_points = 1;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &int8));
    gm_device_ptr *const pointers[] = {&scaled.a_scales, &scaled.b_scales, &scaled.a_zeros, &scaled.b_sums};
    static const char *const names[] = {"a_scales is NULL", "b_scales is NULL", "a_zeros is NULL", "b_sums is NULL"};
    for (int i = 0; i < 4; i++) {
        assert_fails(gm_gemm_execute(int8, &scaled, NULL), GM_ERROR_INVALID_ARGUMENT, names[i]);
        *pointers[i] = ADDRESS_BIAS + (gm_device_ptr)i * 4096 + 2;
        assert_fails(gm_gemm_execute(int8, &scaled, NULL), GM_ERROR_MISALIGNED, "not a multiple of 4");
        *pointers[i] += 2;
    }
    assert_ok(gm_gemm_execute(int8, &scaled, NULL));
    scaled.a_scales = ADDRESS_D;
    assert_fails(gm_gemm_execute(int8, &scaled, NULL), GM_ERROR_OVERLAP, "a_scales");
    gm_plan_destroy(int8);
    p.a_scales = p.b_scales = GM_PER_NONE, p.zero_points = 0, p.d_type = GM_INT32;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &int8));
    scaled =
        (struct gm_gemm_args){.size = sizeof scaled, .a = ADDRESS_A, .b = ADDRESS_B, .d = ADDRESS_D, .alpha = &two};
    assert_fails(gm_gemm_execute(int8, &scaled, NULL), GM_ERROR_INVALID_ARGUMENT, "D of int32 is the sums");
    scaled.alpha = NULL, scaled.c = ADDRESS_C, scaled.beta = &one;
    assert_fails(gm_gemm_execute(int8, &scaled, NULL), GM_ERROR_INVALID_ARGUMENT, "D of int32 is the sums");
    gm_plan_destroy(int8);
}
END_TEST

/* The residual, amax and D's scales are operands, too; only the residual may be D. */
START_TEST(parts_of_an_extended_epilogue_are_operands) {
    gm_plan *extended = NULL;
    struct gm_gemm_problem p = problem_of(64, 64, 64);
    struct gm_gemm_args a = {.size = sizeof a, .a = ADDRESS_A, .b = ADDRESS_B, .d = ADDRESS_D};
    p.d_type = GM_E4M3, p.residual = 1, p.amax = 1, p.a_scales = GM_PER_ROW, p.ldr = 72;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &extended));
    gm_device_ptr *const pointers[] = {&a.a_scales, &a.residual, &a.amax, &a.d_scales};
    static const char *const names[] = {"a_scales is NULL", "residual is NULL", "amax is NULL", "d_scales is NULL"};
    static const char *const overlaps[] = {"a_scales", "residual", "amax", "d_scales"};
    for (int i = 0; i < 4; i++) {
        assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_INVALID_ARGUMENT, names[i]);
        *pointers[i] = ADDRESS_RESIDUAL + (gm_device_ptr)i * 65536 + 1;
        assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_MISALIGNED, "not a multiple of");
        *pointers[i] -= 1;
    }
    assert_ok(gm_gemm_execute(extended, &a, NULL));
    for (int i = 0; i < 4; i++) {
        const gm_device_ptr apart = *pointers[i];
        *pointers[i] = ADDRESS_D + 64;
        assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_OVERLAP, overlaps[i]);
        *pointers[i] = apart;
    }
    a.amax = a.d_scales; /* written over what is read */
    assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_OVERLAP, "amax");
    gm_plan_destroy(extended);
}
END_TEST

/* Scales of groups of K, by column, and of blocks: to their last byte, and no further. */
START_TEST(scales_of_sums_are_operands_as_they_lie) {
    gm_plan *plan_of_sums = NULL;
    struct gm_gemm_problem p = problem_of(200, 304, 400);
    struct gm_gemm_args a = {.size = sizeof a, .a = ADDRESS_A, .b = ADDRESS_B, .d = ADDRESS_D};
    p.ab_type = GM_E4M3, p.a_scales = GM_PER_GROUP, p.b_scales = GM_PER_BLOCK;
    p.a_scale_order = GM_SCALES_BY_COLUMN, p.a_scales_stride = 208;
    const int64_t a_bytes = (3 * 208 + 200) * 4, b_bytes = (2 * 4 + 4) * 4;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &plan_of_sums));
    assert_fails(gm_gemm_execute(plan_of_sums, &a, NULL), GM_ERROR_INVALID_ARGUMENT, "a_scales is NULL");
    a.a_scales = ADDRESS_D - (gm_device_ptr)a_bytes + 4;
    assert_fails(gm_gemm_execute(plan_of_sums, &a, NULL), GM_ERROR_INVALID_ARGUMENT, "b_scales is NULL");
    a.b_scales = ADDRESS_B_SCALES;
    assert_fails(gm_gemm_execute(plan_of_sums, &a, NULL), GM_ERROR_OVERLAP, "a_scales");
    a.a_scales -= 4;
    assert_ok(gm_gemm_execute(plan_of_sums, &a, NULL));
    a.b_scales = ADDRESS_D - (gm_device_ptr)b_bytes + 4;
    assert_fails(gm_gemm_execute(plan_of_sums, &a, NULL), GM_ERROR_OVERLAP, "b_scales");
    a.b_scales += 2;
    assert_fails(gm_gemm_execute(plan_of_sums, &a, NULL), GM_ERROR_MISALIGNED, "b_scales");
    gm_plan_destroy(plan_of_sums);
}
END_TEST

/* Words of ue8m0, the last of which may be more than the scales in it. */
START_TEST(scales_of_one_byte_are_operands_to_their_last_word) {
    gm_plan *plan_of_sums = NULL;
    struct gm_gemm_problem p = problem_of(200, 304, 400);
    p.ab_type = GM_E4M3, p.a_scales = GM_PER_GROUP, p.b_scales = GM_PER_BLOCK;
    p.a_scale_format = p.b_scale_format = GM_SCALE_E8M0, p.b_scale_order = GM_SCALES_BY_COLUMN, p.b_scales_stride = 8;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &plan_of_sums));
    struct gm_gemm_args a = {.size = sizeof a, .a = ADDRESS_A, .b = ADDRESS_B, .d = ADDRESS_D};
    a.a_scales = ADDRESS_A_SCALES, a.b_scales = ADDRESS_D - (3 * 8 + 4) + 4; /* 3 blocks along N */
    assert_fails(gm_gemm_execute(plan_of_sums, &a, NULL), GM_ERROR_OVERLAP, "b_scales");
    a.b_scales -= 2;
    assert_fails(gm_gemm_execute(plan_of_sums, &a, NULL), GM_ERROR_MISALIGNED, "b_scales");
    a.b_scales -= 2;
    assert_ok(gm_gemm_execute(plan_of_sums, &a, NULL));
    gm_plan_destroy(plan_of_sums);
}
END_TEST

START_TEST(a_residual_may_be_d_exactly) {
    gm_plan *extended = NULL;
    struct gm_gemm_problem p = problem_of(64, 64, 64);
    struct gm_gemm_args a = args_apart();
    p.residual = 1, p.ldd = 72, p.ldr = 72;
    a.residual = a.d;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &extended));
    assert_ok(gm_gemm_execute(extended, &a, NULL));
    a.beta = &one; /* then C alone may be D */
    assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_OVERLAP, "residual");
    a.residual = ADDRESS_RESIDUAL, a.c = a.d;
    p.ldc = 72;
    gm_plan_destroy(extended);
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &extended));
    assert_ok(gm_gemm_execute(extended, &a, NULL));
    a.beta = NULL, a.residual = a.d + 16;
    assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_OVERLAP, "residual");
    gm_plan_destroy(extended);
    p.ldr = 80, a.residual = a.d;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &extended));
    assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_OVERLAP, "residual");
    gm_plan_destroy(extended);
    p.ldr = 72, p.residual_type = GM_FP32;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &extended));
    assert_fails(gm_gemm_execute(extended, &a, NULL), GM_ERROR_OVERLAP, "residual");
    gm_plan_destroy(extended);
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
    assert_fails(execute(), GM_ERROR_OVERLAP, "only c = d with the same rows and row stride may");
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
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm80);
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
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm80);
    if (!row)
        return;
    struct gm_gemm_problem p = problem_for(row, M, N, 0);
    gm_plan_destroy(plan);
    plan = plan_for(row, &p);
    args.a = args.b = 0;
    assert_ok(execute());
}
END_TEST

/* The caller's names and sizes, also where the planned problem has A and B change places. */
START_TEST(a_gemms_ranges_are_its_operands) {
    static const char *const names[] = {"a", "b", "c", "bias", "d"};
    struct gm_range ranges[GM_RANGES_MAX];
    struct gm_workspace workspace = {.needed = 7};
    struct gm_gemm_problem column = problem_of(M, 1, K);
    column.bias = GM_BIAS_M;
    args.beta = &one, args.workspace = 0x600000000000, args.workspace_bytes = 99;
    gm_plan_destroy(plan);
    plan = NULL;
    assert_ok(gm_gemm_plan_create(context, &column, NULL, &plan));
    ck_assert_int_eq(gm_operation_gemm.ranges(plan->problem, &args, ranges, &workspace), 5);
    const gm_device_ptr addresses[] = {ADDRESS_A, ADDRESS_B, ADDRESS_C, ADDRESS_BIAS, ADDRESS_D};
    const int64_t bytes[] = {M * K * 2, K * 2, M * 2, M * 2, M * 2};
    for (int i = 0; i < 5; i++) {
        const struct gm_range *r = &ranges[i];
        ck_assert_str_eq(r->name, names[i]);
        ck_assert_uint_eq(r->address, addresses[i]);
        ck_assert_int_eq((r->rows - 1) * r->pitch_bytes + r->row_bytes, bytes[i]);
        ck_assert_int_eq(r->written, i == 4);
        ck_assert_int_eq(r->may_equal, i == 4 ? 2 : -1);
        ck_assert_int_eq(r->element_bytes, 2);
    }
    ck_assert(workspace.address == args.workspace && workspace.bytes == 99 && workspace.needed == 7);
}
END_TEST

/* ---- ranges of any operation ------------------------------------------------------------------------------ */

enum { READ, OUT, OTHER_OUT, RANGES };
static struct gm_range ranges[RANGES];
static struct gm_workspace workspace;

/* 8 rows of 64 bytes, 256 apart. */
static void set_up_ranges(void) {
    static const char *const names[] = {"x", "y", "z"};
    for (int i = 0; i < RANGES; i++)
        ranges[i] = (struct gm_range){names[i], 0x10000 * (uint64_t)(i + 1), 8, 64, 256, 16, 2, i != READ, -1};
    workspace = (struct gm_workspace){0};
}

static enum gm_status check(void) {
    return gm_check_args(ranges, RANGES, &workspace);
}

START_TEST(two_written_ranges_are_apart) {
    assert_ok(check());
    ranges[OTHER_OUT].address = ranges[OUT].address;
    assert_fails(check(), GM_ERROR_OVERLAP, "z (0x20000, 1856 bytes) overlaps y (0x20000, 1856 bytes)");
    ranges[OTHER_OUT].address = ranges[OUT].address + 64; /* between its rows */
    assert_ok(check());
    ranges[OTHER_OUT].address += 144;
    assert_fails(check(), GM_ERROR_OVERLAP, "overlaps y");
    ranges[OTHER_OUT].address -= 16; /* up to the next one */
    assert_ok(check());
    ranges[OTHER_OUT].pitch_bytes = 512; /* rows that do not keep beside each other */
    assert_fails(check(), GM_ERROR_OVERLAP, "overlaps y");
}
END_TEST

START_TEST(what_is_only_read_may_overlap) {
    ranges[OUT].written = 0;
    ranges[OUT].address = ranges[READ].address + 16;
    assert_ok(check());
    ranges[OTHER_OUT].address = ranges[READ].address;
    assert_fails(check(), GM_ERROR_OVERLAP, "z (0x10000, 1856 bytes) overlaps x");
}
END_TEST

/* Declared on either side, and for that pair alone; the same memory has the same rows. */
START_TEST(ranges_that_may_be_equal_are_so_or_apart) {
    static const int declared[][2] = {{READ, OUT}, {OUT, READ}};
    for (int i = 0; i < 2; i++) {
        set_up_ranges();
        ranges[declared[i][0]].may_equal = declared[i][1];
        ranges[OUT].address = ranges[READ].address;
        assert_ok(check());
        ranges[OUT].address += 16;
        assert_fails(check(), GM_ERROR_OVERLAP, "; only x = y with the same rows and row stride may");
        ranges[OUT].address -= 16, ranges[OUT].pitch_bytes = 128;
        assert_fails(check(), GM_ERROR_OVERLAP, "; only x = y");
        ranges[OUT].pitch_bytes = 256, ranges[OUT].row_bytes = 32; /* such as narrower elements */
        assert_fails(check(), GM_ERROR_OVERLAP, "; only x = y");
        ranges[OUT].row_bytes = 64, ranges[OTHER_OUT].address = ranges[READ].address;
        assert_fails(check(), GM_ERROR_OVERLAP, "z (0x10000, 1856 bytes) overlaps x (0x10000, 1856 bytes)");
        ck_assert_ptr_null(strstr(gm_last_error(), "only"));
    }
    set_up_ranges();
    ranges[OTHER_OUT].may_equal = OUT; /* both are written */
    ranges[OTHER_OUT].address = ranges[OUT].address;
    assert_ok(check());
}
END_TEST

/* A single row has no stride. */
START_TEST(single_rows_without_a_stride_are_compared) {
    for (int i = 0; i < RANGES; i++)
        ranges[i].rows = 1, ranges[i].pitch_bytes = 0;
    assert_ok(check());
    ranges[OUT].address = ranges[READ].address + 48;
    assert_fails(check(), GM_ERROR_OVERLAP, "y (0x10030, 64 bytes) overlaps x (0x10000, 64 bytes)");
    ranges[OUT].address = ranges[READ].address + 64;
    assert_ok(check());
}
END_TEST

START_TEST(ranges_without_rows_or_bytes_are_not_checked) {
    ranges[READ].rows = 0, ranges[READ].address = 0;
    ranges[OUT].row_bytes = 0, ranges[OUT].address = 1;
    assert_ok(check());
    ranges[READ].address = ranges[OTHER_OUT].address + 1;
    assert_ok(check());
    ranges[OTHER_OUT].address = 0;
    assert_fails(check(), GM_ERROR_INVALID_ARGUMENT, "z is NULL");
    workspace = (struct gm_workspace){ranges[READ].address & ~UINT64_C(15), 64, 64};
    ranges[OTHER_OUT].address = 0x90000;
    assert_ok(check()); /* of the workspace either */
}
END_TEST

START_TEST(the_first_fault_of_a_call_is_said) {
    ranges[READ].address = 0;
    ranges[OTHER_OUT].address = ranges[OUT].address;
    workspace.needed = 1;
    assert_fails(check(), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    ranges[READ].address = 0x10000;
    assert_fails(check(), GM_ERROR_OVERLAP, "overlaps y");
    ranges[OTHER_OUT].address = 0x30000;
    assert_fails(check(), GM_ERROR_WORKSPACE, "the plan needs 1");
    ck_assert_int_eq(gm_check_args(ranges, 0, &(struct gm_workspace){0}), GM_OK);
}
END_TEST

Suite *check_args_suite(void) {
    Suite *suite = suite_create("check_args");
    TCase *cases = tcase_create("checks of execute");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, null_arguments_are_refused);
    tcase_add_test(cases, null_operands_are_named);
    tcase_add_test(cases, c_may_be_null_without_beta);
    tcase_add_test(cases, pointers_keep_the_plans_promise);
    tcase_add_test(cases, a_smaller_promise_takes_smaller_alignment);
    tcase_add_test(cases, c_and_bias_need_their_elements_alignment);
    tcase_add_test(cases, scales_are_operands);
    tcase_add_test(cases, parts_of_an_extended_epilogue_are_operands);
    tcase_add_test(cases, scales_of_sums_are_operands_as_they_lie);
    tcase_add_test(cases, scales_of_one_byte_are_operands_to_their_last_word);
    tcase_add_test(cases, a_residual_may_be_d_exactly);
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
    tcase_add_test(cases, a_gemms_ranges_are_its_operands);
    suite_add_tcase(suite, cases);
    TCase *generic = tcase_create("ranges");
    tcase_add_checked_fixture(generic, set_up_ranges, NULL);
    tcase_add_test(generic, two_written_ranges_are_apart);
    tcase_add_test(generic, what_is_only_read_may_overlap);
    tcase_add_test(generic, ranges_that_may_be_equal_are_so_or_apart);
    tcase_add_test(generic, single_rows_without_a_stride_are_compared);
    tcase_add_test(generic, ranges_without_rows_or_bytes_are_not_checked);
    tcase_add_test(generic, the_first_fault_of_a_call_is_said);
    suite_add_tcase(suite, generic);
    return suite;
}
