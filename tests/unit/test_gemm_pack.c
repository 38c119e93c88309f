/* SPDX-License-Identifier: Apache-2.0 */
/* Operands packed once: which need it, how they lie then, and what is refused. */
#include "planned.h"

#include <string.h>

#define ADDRESS_PACKED UINT64_C(0x7c0000000000)

static const struct {
    enum gm_type type, d_type;
    int64_t elements; /* of 128 bytes */
} types[] = {{GM_BF16, GM_BF16, 64},   {GM_FP32, GM_FP32, 32},   {GM_TF32, GM_FP32, 32},
             {GM_INT8, GM_INT32, 128}, {GM_TF32X3, GM_FP32, 32}, {GM_FP16, GM_FP32, 64}};

static struct gm_gemm_problem packed_of(const struct gm_gemm_problem *problem, enum gm_gemm_operand operand,
                                        size_t *bytes) {
    struct gm_gemm_problem packed = {.size = sizeof packed};
    assert_ok(gm_gemm_packed(problem, operand, &packed, bytes));
    return packed;
}

/* K odd: K-major rows, and the turned ones of what wgmma takes K-major alone, have a pitch of K made whole. */
START_TEST(rows_become_whole_lines) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int layout = 0; layout < 4; layout++) {
            struct gm_gemm_problem p = problem_of(1001, 2003, 4095);
            size_t a_bytes = 0, b_bytes = 0;
            p.ab_type = types[i].type;
            p.d_type = types[i].d_type;
            p.a_major = layout & 1 ? GM_MN_MAJOR : GM_K_MAJOR;
            p.b_major = layout & 2 ? GM_MN_MAJOR : GM_K_MAJOR;
            const struct gm_gemm_problem a = packed_of(&p, GM_GEMM_A, &a_bytes);
            const struct gm_gemm_problem b = packed_of(&a, GM_GEMM_B, &b_bytes);
            const int turns = types[i].type >= GM_INT8;
            const int a_is_k = turns || p.a_major == GM_K_MAJOR, b_is_k = turns || p.b_major == GM_K_MAJOR;
            ck_assert_int_eq(b.a_major, a_is_k ? GM_K_MAJOR : GM_MN_MAJOR);
            ck_assert_int_eq(b.b_major, b_is_k ? GM_K_MAJOR : GM_MN_MAJOR);
            ck_assert_int_eq(b.lda, a_is_k ? 4096 : 1024);
            ck_assert_int_eq(b.ldb, b_is_k ? 4096 : (2002 / types[i].elements + 1) * types[i].elements);
            ck_assert_uint_eq(a_bytes, (size_t)((a_is_k ? 1001 : 4095) * b.lda * 128 / types[i].elements));
            ck_assert_uint_eq(b_bytes, (size_t)((b_is_k ? 2003 : 4095) * b.ldb * 128 / types[i].elements));
            ck_assert_int_eq(packed_of(&b, GM_GEMM_A, &a_bytes).lda, b.lda);
            ck_assert_uint_eq(a_bytes, 0);
        }
}
END_TEST

/* What was copied in every call is copied in none, and nothing needs a workspace. */
START_TEST(plans_of_packed_operands_are_one_launch) {
    static const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = (size_t)64 << 20};
    struct gm_gemm_problem p = problem_of(4096, 4096, 4095);
    size_t bytes = 0;
    gm_plan *plan = NULL;
    p.a_major = GM_MN_MAJOR;
    assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
    ck_assert_ptr_nonnull(plan->steps);
    gm_plan_destroy(plan);
    assert_ok(gm_gemm_packed(&p, GM_GEMM_B, &p, &bytes));
    ck_assert_uint_eq(bytes, (size_t)4096 * 4096 * 2);
    assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
    ck_assert_ptr_null(plan->steps);
    ck_assert_ptr_eq(plan->kernel->family, &gm_family_gemm_sm90);
    gm_plan_destroy(plan);
}
END_TEST

/* Addresses of less than 16 bytes, and rows of 16 that are no line. */
START_TEST(what_tma_takes_is_left_alone) {
    struct gm_gemm_problem p = problem_of(64, 4096, 4104);
    size_t bytes = 1;
    ck_assert_int_eq(packed_of(&p, GM_GEMM_B, &bytes).ldb, 0);
    ck_assert_uint_eq(bytes, 0);
    p.b_align = 2;
    ck_assert_int_eq(packed_of(&p, GM_GEMM_B, &bytes).b_align, 16);
    ck_assert_uint_eq(bytes, (size_t)4096 * 4160 * 2);
    p.n = 0;
    ck_assert_int_eq(packed_of(&p, GM_GEMM_B, &bytes).b_align, 2);
    ck_assert_uint_eq(bytes, 0);
}
END_TEST

START_TEST(matrices_of_a_batch_follow_each_other) {
    struct gm_gemm_problem p = problem_of(16, 33, 65);
    size_t bytes = 0;
    p.batch = 5;
    p.a_batch_stride = 16 * 65;
    p.b_batch_stride = 0;
    p.c_batch_stride = p.d_batch_stride = 16 * 33;
    const struct gm_gemm_problem a = packed_of(&p, GM_GEMM_A, &bytes);
    ck_assert_int_eq(a.a_batch_stride, 16 * 128);
    ck_assert_uint_eq(bytes, (size_t)5 * 16 * 128 * 2);
    const struct gm_gemm_problem b = packed_of(&p, GM_GEMM_B, &bytes);
    ck_assert_int_eq(b.b_batch_stride, 0);
    ck_assert_int_eq(b.a_batch_stride, 16 * 65);
    ck_assert_uint_eq(bytes, (size_t)33 * 128 * 2);
}
END_TEST

/* A program of an older version has a smaller struct, and keeps its size. */
START_TEST(a_smaller_struct_is_written_as_far_as_it_goes) {
    struct gm_gemm_problem p = problem_of(64, 64, 63), packed;
    size_t bytes = 0;
    memset(&packed, 0x55, sizeof packed);
    packed.size = p.size = 104;
    assert_ok(gm_gemm_packed(&p, GM_GEMM_B, &packed, &bytes));
    ck_assert_uint_eq(packed.size, 104);
    ck_assert_int_eq(packed.ldb, 64);
    ck_assert_int_eq(((const unsigned char *)&packed)[104], 0x55);
}
END_TEST

START_TEST(a_pack_is_one_launch) {
    struct gm_gemm_problem p = problem_of(64, 4096, 4095);
    fake_clear_counts();
    assert_ok(gm_gemm_pack(context, &p, GM_GEMM_B, ADDRESS_B, ADDRESS_PACKED, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 2); /* in vain first: no context is current */
}
END_TEST

START_TEST(bad_packing_is_refused) {
    struct gm_gemm_problem p = problem_of(64, 64, 63), packed = {.size = sizeof packed};
    const struct gm_gemm_problem good = problem_of(64, 64, 64);
    size_t bytes = 7;
    const enum gm_gemm_operand c = (enum gm_gemm_operand)2;
    fake_clear_counts();
    assert_fails(gm_gemm_packed(NULL, GM_GEMM_B, &packed, &bytes), GM_ERROR_INVALID_ARGUMENT, "problem is NULL");
    assert_fails(gm_gemm_packed(&p, GM_GEMM_B, NULL, &bytes), GM_ERROR_INVALID_ARGUMENT, "packed is NULL");
    assert_fails(gm_gemm_packed(&p, GM_GEMM_B, &packed, NULL), GM_ERROR_INVALID_ARGUMENT, "bytes is NULL");
    assert_fails(gm_gemm_packed(&p, c, &packed, &bytes), GM_ERROR_INVALID_ARGUMENT, "operand is 2");
    packed.size = 3;
    assert_fails(gm_gemm_packed(&p, GM_GEMM_B, &packed, &bytes), GM_ERROR_SIZE, "packed.size is 3");
    packed.size = sizeof packed;
    assert_fails(gm_gemm_pack(NULL, &p, GM_GEMM_B, ADDRESS_B, ADDRESS_PACKED, NULL), GM_ERROR_INVALID_ARGUMENT,
                 "context is NULL");
    assert_fails(gm_gemm_pack(context, &good, GM_GEMM_B, ADDRESS_B, ADDRESS_PACKED, NULL), GM_ERROR_INVALID_ARGUMENT,
                 "b lies as every kernel takes it");
    assert_fails(gm_gemm_pack(context, &p, GM_GEMM_A, ADDRESS_A, 0, NULL), GM_ERROR_INVALID_ARGUMENT, "out");
    assert_fails(gm_gemm_pack(context, &p, GM_GEMM_A, ADDRESS_A, ADDRESS_PACKED + 2, NULL), GM_ERROR_MISALIGNED, "out");
    assert_fails(gm_gemm_pack(context, &p, GM_GEMM_A, ADDRESS_A, ADDRESS_A, NULL), GM_ERROR_OVERLAP, "out");
    p.pointer_arrays = 1;
    assert_fails(gm_gemm_packed(&p, GM_GEMM_B, &packed, &bytes), GM_ERROR_INVALID_ARGUMENT, "pointer_arrays");
    p.pointer_arrays = 0;
    p.m = -1;
    assert_fails(gm_gemm_packed(&p, GM_GEMM_B, &packed, &bytes), GM_ERROR_INVALID_ARGUMENT, "m is -1");
    ck_assert_uint_eq(bytes, 7);
    ck_assert_int_eq(packed.m, 0);
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 0);
}
END_TEST

/* Columns of one element become lines of 128 bytes: 64 times the room, which 63 bits may not count. */
START_TEST(copies_beyond_all_memory_are_counted) {
    struct gm_gemm_problem p = problem_of(INT32_MAX, 1, 1);
    size_t bytes = 0;
    p.batch = 1 << 25;
    p.a_align = 2;
    p.a_batch_stride = INT32_MAX;
    p.c_batch_stride = p.d_batch_stride = INT32_MAX;
    packed_of(&p, GM_GEMM_A, &bytes);
    ck_assert_uint_eq(bytes, (size_t)1 << 62);
}
END_TEST

Suite *gemm_pack_suite(void) {
    Suite *suite = suite_create("gemm_pack");
    TCase *packing = tcase_create("packing");
    tcase_add_checked_fixture(packing, planned_set_up, planned_tear_down);
    tcase_add_test(packing, rows_become_whole_lines);
    tcase_add_test(packing, plans_of_packed_operands_are_one_launch);
    tcase_add_test(packing, what_tma_takes_is_left_alone);
    tcase_add_test(packing, matrices_of_a_batch_follow_each_other);
    tcase_add_test(packing, a_smaller_struct_is_written_as_far_as_it_goes);
    tcase_add_test(packing, a_pack_is_one_launch);
    tcase_add_test(packing, bad_packing_is_refused);
    tcase_add_test(packing, copies_beyond_all_memory_are_counted);
    suite_add_tcase(suite, packing);
    return suite;
}
