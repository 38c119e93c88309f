/* SPDX-License-Identifier: Apache-2.0 */
/* gm_gemm_explain: every row answers, with the numbers and the smallest fix. */
#include "kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gm_kernel sm90_row = SM90_ROW("hopper", 1, bf16, tn, 128, 128, 64, 4, 1, 1, w2, 128);

static struct gm_device h200;

static void set_up(void) {
    h200 = device_of("h200");
}

static enum gm_reason ask(struct gm_gemm_problem p, const struct gm_plan_options *options) {
    return judge(&sm90_row, &h200, p, options).reason;
}

START_TEST(every_reason_has_its_own_name) {
    const int count = gm_reason_count();
    for (int i = 0; i < count; i++) {
        ck_assert_str_ne(gm_reason_name((enum gm_reason)i), "GM_REASON_UNKNOWN");
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(gm_reason_name((enum gm_reason)i), gm_reason_name((enum gm_reason)j));
    }
    ck_assert_str_eq(gm_reason_name(GM_ACCEPTED), "GM_ACCEPTED");
    ck_assert_str_eq(gm_reason_name(GM_REASON_STRIDE), "GM_REASON_STRIDE");
    ck_assert_str_eq(gm_reason_name(GM_REASON_DIVISION), "GM_REASON_DIVISION");
    ck_assert_str_eq(gm_reason_name(GM_REASON_EPILOGUE), "GM_REASON_EPILOGUE");
    ck_assert_str_eq(gm_reason_name(GM_REASON_BATCH), "GM_REASON_BATCH");
}
END_TEST

START_TEST(unknown_reasons_have_a_name_too) {
    ck_assert_str_eq(gm_reason_name((enum gm_reason)gm_reason_count()), "GM_REASON_UNKNOWN");
    ck_assert_str_eq(gm_reason_name((enum gm_reason) - 1), "GM_REASON_UNKNOWN");
}
END_TEST

START_TEST(a_stride_that_tma_cannot_take_names_the_padding) {
    struct gm_gemm_problem p = problem_of(512, 512, 1025);
    ck_assert_int_eq(ask(p, NULL), GM_REASON_STRIDE);
    ck_assert_str_eq(judged, "lda 1025 x 2 B = 2050 B is not a multiple of 16: TMA needs it; pad lda to 1032, "
                             "or an sm80 kernel takes it");
}
END_TEST

START_TEST(any_stride_and_alignment_of_d_is_taken) {
    struct gm_gemm_problem p = problem_of(512, 511, 1024);
    ck_assert_int_eq(ask(p, NULL), GM_ACCEPTED);
    p.ldd = INT64_C(1) << 40;
    ck_assert_int_eq(ask(p, NULL), GM_ACCEPTED);
    p.ldd = 512;
    p.d_align = 2;
    ck_assert_int_eq(ask(p, NULL), GM_ACCEPTED);
}
END_TEST

START_TEST(a_promise_under_16_bytes_is_named) {
    struct gm_gemm_problem p = problem_of(512, 512, 512);
    p.b_align = 8;
    ck_assert_int_eq(ask(p, NULL), GM_REASON_ALIGNMENT);
    assert_judged("b_align promises 8 bytes: TMA needs 16");
}
END_TEST

START_TEST(empty_k_and_huge_strides_are_named) {
    ck_assert_int_eq(ask(problem_of(512, 512, 0), NULL), GM_REASON_EMPTY_K);
    assert_judged("K = 0");
    struct gm_gemm_problem p = problem_of(512, 512, 512);
    p.lda = INT64_C(1) << 39;
    ck_assert_int_eq(ask(p, NULL), GM_REASON_SIZE);
    assert_judged("1099511627776 B is not under 2^40");
    p.lda -= 8;
    ck_assert_int_eq(ask(p, NULL), GM_ACCEPTED);
}
END_TEST

START_TEST(type_layout_device_and_mask_are_named) {
    struct gm_gemm_problem p = problem_of(512, 512, 512);
    p.ab_type = GM_FP16;
    ck_assert_int_eq(ask(p, NULL), GM_REASON_TYPE);
    assert_judged("computes with bf16; the problem is fp16");
    p = problem_of(512, 512, 512);
    p.a_major = GM_MN_MAJOR;
    ck_assert_int_eq(ask(p, NULL), GM_REASON_LAYOUT);
    assert_judged("takes layout tn; the problem is nn");
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = GM_ARCH_SM80};
    ck_assert_int_eq(ask(problem_of(8, 8, 8), &options), GM_REASON_MASKED);
    assert_judged("sm90 is not in the arch mask 0x1");
    h200.smem_per_block_bytes = 101376;
    ck_assert_int_eq(ask(problem_of(8, 8, 8), NULL), GM_REASON_SMEM);
    assert_judged("needs 164944 bytes of shared memory per block; the device allows 101376");
    h200.cc_major = 10;
    ck_assert_int_eq(ask(problem_of(8, 8, 8), NULL), GM_REASON_NO_IMAGE);
    assert_judged("(sm_90a) does not run on compute capability 10.0");
}
END_TEST

START_TEST(accepted_and_not_named_rows_give_their_prediction) {
    ck_assert_int_eq(ask(problem_of(512, 512, 512), NULL), GM_ACCEPTED);
    assert_judged("predicted ");
    assert_judged("4 x 4 tiles, 132 at once");
    const struct gm_plan_options options = {.size = sizeof options, .kernel = "another"};
    ck_assert_int_eq(ask(problem_of(512, 512, 512), &options), GM_REASON_NOT_NAMED);
    assert_judged("another was asked for");
}
END_TEST

START_TEST(every_row_of_the_table_answers_and_one_is_chosen) {
    const size_t rows = gemm_count();
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    struct gm_gemm_problem p = problem_of(4096, 4096, 4096);
    size_t count = 0;
    int chosen = 0;
    assert_ok(gm_gemm_explain(&h200, &p, NULL, candidates, rows, &count));
    ck_assert_uint_eq(count, rows);
    for (size_t i = 0; i < rows; i++) {
        ck_assert_int_eq(candidates[i].kernel, (int)i);
        ck_assert_uint_gt(strlen(candidates[i].sentence), 8);
        ck_assert_uint_lt(strlen(candidates[i].sentence), sizeof candidates[i].sentence - 1);
        chosen += candidates[i].chosen;
        if (candidates[i].chosen)
            ck_assert_int_eq(candidates[i].reason, GM_ACCEPTED);
        ck_assert((candidates[i].predicted_us > 0) ==
                  (candidates[i].reason == GM_ACCEPTED || candidates[i].reason == GM_REASON_NOT_PRODUCTION));
    }
    ck_assert_int_eq(chosen, 1);
    free(candidates);
}
END_TEST

START_TEST(a_named_row_is_the_only_candidate) {
    const size_t rows = gemm_count();
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    struct gm_gemm_kernel_info info = {.size = sizeof info};
    assert_ok(gm_gemm_kernel_get(rows - 1, &info));
    const struct gm_plan_options options = {.size = sizeof options, .kernel = gm_kernels[rows - 1].name};
    struct gm_gemm_problem p = problem_of(256, 256, 256);
    p.ab_type = gm_kernels[rows - 1].type;
    p.a_major = info.a_major;
    p.b_major = info.b_major;
    size_t count = 0;
    assert_ok(gm_gemm_explain(&h200, &p, &options, candidates, rows, &count));
    for (size_t i = 0; i < rows; i++)
        ck_assert_int_eq(candidates[i].chosen, i == rows - 1);
    free(candidates);
}
END_TEST

/* The chosen row's layout: of M = 1 and packed operands, A MN-major. */
static void expect_layout(uint32_t flags, const char *kernel, enum gm_major a_major) {
    const size_t rows = gemm_count();
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    const struct gm_plan_options options = {.size = sizeof options, .flags = flags, .kernel = kernel};
    struct gm_gemm_problem p = problem_of(1, 256, 256);
    p.a_major = GM_MN_MAJOR;
    size_t count = 0, chosen = 0;
    assert_ok(gm_gemm_explain(&h200, &p, &options, candidates, rows, &count));
    for (size_t i = 0; i < rows; i++) {
        struct gm_gemm_kernel_info info = {.size = sizeof info};
        if (!candidates[i].chosen)
            continue;
        assert_ok(gm_gemm_kernel_get(i, &info));
        ck_assert_int_eq(info.a_major, a_major);
        chosen++;
    }
    ck_assert_uint_eq(chosen, 1);
    free(candidates);
}

START_TEST(a_packed_column_goes_to_kernels_for_rows) {
    struct gm_gemm_kernel_info info = {.size = sizeof info};
    expect_layout(0, NULL, GM_K_MAJOR);
    expect_layout(GM_PLAN_BATCH_INVARIANT, NULL, GM_MN_MAJOR); /* as for every other M */
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        assert_ok(gm_gemm_kernel_get(i, &info));
        if (row->arch == GM_ARCH_SM80 && row->type == GM_BF16 && info.b_major == GM_K_MAJOR && !info.extended)
            expect_layout(0, row->name, info.a_major); /* either, by name */
    }
}
END_TEST

/* The chosen candidate of this problem, and the first that is refused for this reason. */
static void explain_column(const struct gm_gemm_problem *p, const struct gm_plan_options *options,
                           enum gm_reason reason, struct gm_candidate *chosen, struct gm_candidate *refused) {
    const size_t rows = gemm_count();
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    size_t count = 0;
    assert_ok(gm_gemm_explain(&h200, p, options, candidates, rows, &count));
    memset(chosen, 0, sizeof *chosen);
    memset(refused, 0, sizeof *refused);
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].chosen)
            *chosen = candidates[i];
        if (candidates[i].reason == reason && !refused->sentence[0])
            *refused = candidates[i];
    }
    free(candidates);
}

START_TEST(a_column_of_d_is_planned_as_a_row) {
    const struct gm_plan_options model = {.size = sizeof model, .flags = GM_PLAN_MODEL_ONLY | GM_PLAN_CONSTANT_B};
    const struct gm_plan_options invariant = {.size = sizeof invariant, .flags = GM_PLAN_BATCH_INVARIANT};
    struct gm_gemm_problem column = problem_of(16384, 1, 4096), row = problem_of(1, 16384, 4096);
    struct gm_candidate chosen, other, refused;
    explain_column(&row, &model, GM_REASON_STRIDE, &other, &refused);
    explain_column(&column, &model, GM_REASON_STRIDE, &chosen, &refused);
    ck_assert_int_eq(chosen.kernel, other.kernel);
    ck_assert_double_eq(chosen.predicted_us, other.predicted_us);
    ck_assert_ptr_nonnull(strstr(chosen.sentence, " tiles of D^T = B^T A^T, "));
    ck_assert_ptr_null(strstr(other.sentence, "D^T"));
    column.lda = 4097; /* sentences name the caller's operands */
    explain_column(&column, &model, GM_REASON_STRIDE, &chosen, &refused);
    ck_assert_ptr_nonnull(strstr(refused.sentence, "pad lda to 4104"));
    column.lda = 0, column.b_align = 8;
    explain_column(&column, &model, GM_REASON_ALIGNMENT, &chosen, &refused);
    ck_assert_ptr_nonnull(strstr(refused.sentence, "b_align promises 8 bytes"));
    column.b_align = 0;
    explain_column(&column, &invariant, GM_REASON_STRIDE, &chosen, &refused); /* as for every other N */
    ck_assert_ptr_null(strstr(chosen.sentence, "D^T"));
    ck_assert_str_eq(refused.sentence, ""); /* TMA loads B, and need not store D */
    column.ldd = 8;                         /* apart in memory: there is no such row */
    explain_column(&column, &model, GM_REASON_STRIDE, &chosen, &refused);
    ck_assert_ptr_null(strstr(chosen.sentence, "D^T"));
}
END_TEST

START_TEST(a_kernel_by_name_takes_a_column_as_its_layout_wants_it) {
    struct gm_gemm_problem column = problem_of(4096, 1, 512); /* A MN-major: nn, and transposed tt */
    struct gm_gemm_kernel_info info = {.size = sizeof info};
    struct gm_candidate chosen, refused;
    column.a_major = GM_MN_MAJOR;
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const struct gm_plan_options options = {.size = sizeof options, .kernel = row->name};
        assert_ok(gm_gemm_kernel_get(i, &info));
        if (row->arch != GM_ARCH_SM80 || row->type != GM_BF16 || info.a_major == info.b_major || info.extended)
            continue;
        explain_column(&column, &options, GM_REASON_STRIDE, &chosen, &refused);
        ck_assert_msg(chosen.chosen && chosen.kernel == (int)i, "%s", row->name);
        ck_assert_int_eq(strstr(chosen.sentence, "D^T") != NULL, info.b_major == GM_MN_MAJOR);
    }
}
END_TEST

START_TEST(a_small_capacity_is_filled_and_not_passed) {
    struct gm_candidate candidates[2];
    memset(candidates, 0x5a, sizeof candidates);
    struct gm_gemm_problem p = problem_of(256, 256, 256);
    size_t count = 0;
    assert_ok(gm_gemm_explain(&h200, &p, NULL, candidates, 1, &count));
    ck_assert_uint_eq(count, gemm_count());
    ck_assert_int_eq(candidates[0].kernel, 0);
    ck_assert_int_eq(candidates[1].kernel, 0x5a5a5a5a);
    assert_ok(gm_gemm_explain(&h200, &p, NULL, NULL, 0, &count));
}
END_TEST

START_TEST(bad_arguments_are_refused) {
    struct gm_candidate candidate = {.kernel = 77};
    struct gm_gemm_problem p = problem_of(256, 256, 256);
    struct gm_plan_options options = {.size = sizeof options};
    size_t count = 5;
    assert_fails(gm_gemm_explain(NULL, &p, NULL, &candidate, 1, &count), GM_ERROR_INVALID_ARGUMENT, "device is NULL");
    assert_fails(gm_gemm_explain(&h200, NULL, NULL, &candidate, 1, &count), GM_ERROR_INVALID_ARGUMENT, "problem");
    assert_fails(gm_gemm_explain(&h200, &p, NULL, NULL, 1, &count), GM_ERROR_INVALID_ARGUMENT, "capacity of 1");
    assert_fails(gm_gemm_explain(&h200, &p, NULL, &candidate, 1, NULL), GM_ERROR_INVALID_ARGUMENT, "count");
    options.kernel = "gemm_sm75_int1";
    assert_fails(gm_gemm_explain(&h200, &p, &options, &candidate, 1, &count), GM_ERROR_UNKNOWN_KERNEL, "gemm_sm75");
    options.kernel = NULL, options.arch_mask = 4;
    assert_fails(gm_gemm_explain(&h200, &p, &options, &candidate, 1, &count), GM_ERROR_INVALID_ARGUMENT, "0x4");
    options.size = 3;
    assert_fails(gm_gemm_explain(&h200, &p, &options, &candidate, 1, &count), GM_ERROR_SIZE, "options.size is 3");
    h200.sm_count = 0;
    assert_fails(gm_gemm_explain(&h200, &p, NULL, &candidate, 1, &count), GM_ERROR_INVALID_ARGUMENT, "0 SMs");
    h200.size = 0;
    assert_fails(gm_gemm_explain(&h200, &p, NULL, &candidate, 1, &count), GM_ERROR_SIZE, "device.size");
    ck_assert_int_eq(candidate.kernel, 77);
    ck_assert_uint_eq(count, 5);
}
END_TEST

/* ---- devices made by hand -------------------------------------------------------------------------------- */

static const struct field {
    const char *name;
    size_t at;
    int64_t least, most; /* of whole numbers; of a rate both are 0 */
} fields[] = {
#define WHOLE(field, least, most) {#field, offsetof(struct gm_device, field), least, most}
#define RATE(field)               {#field, offsetof(struct gm_device, field), 0, 0}
    WHOLE(cc_major, 1, 99),
    WHOLE(cc_minor, 0, 9),
    WHOLE(sm_count, 1, 65536),
    WHOLE(smem_per_block_bytes, 1, 1 << 24),
    WHOLE(smem_per_sm_bytes, 0, 1 << 24),
    WHOLE(max_threads_per_sm, 0, 65536),
    WHOLE(sm_clock_mhz, 0, 100000),
    WHOLE(l2_bytes, 0, INT64_C(1) << 50),
    WHOLE(memory_bytes, 0, INT64_C(1) << 50),
    RATE(dram_gbs),
    RATE(tensor_tflops),
};
#define FIELDS (sizeof fields / sizeof *fields)

static void set_whole(struct gm_device *device, const struct field *field, int64_t value) {
    const int32_t narrow = (int32_t)value;
    if (strstr(field->name, "l2_") || strstr(field->name, "memory_"))
        memcpy((char *)device + field->at, &value, sizeof value);
    else
        memcpy((char *)device + field->at, &narrow, sizeof narrow);
}

static void set_rate(struct gm_device *device, const struct field *field, double value) {
    memcpy((char *)device + field->at, &value, sizeof value);
}

static enum gm_status explain_on(const struct gm_device *device) {
    struct gm_gemm_problem p = problem_of(256, 256, 256);
    size_t count;
    return gm_gemm_explain(device, &p, NULL, NULL, 0, &count);
}

static void expect_bounds(const struct field *field, const struct gm_device *device) {
    char words[96];
    snprintf(words, sizeof words, "device.%s is ", field->name);
    assert_fails(explain_on(device), GM_ERROR_INVALID_ARGUMENT, words);
    ck_assert_ptr_null(gm_ledger_builtin(device));
}

START_TEST(a_field_beyond_its_bounds_is_named) {
    const struct field *field = &fields[_i];
    if (field->most == 0) {
        const double good[] = {0, 1e-3, 1, 1e6}, bad[] = {-1, 1e-308, 9e-4, 1.1e6, 1e308, INFINITY, -INFINITY, NAN};
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            set_rate(&h200, field, good[i]);
            assert_ok(explain_on(&h200));
        }
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            set_rate(&h200, field, bad[i]);
            expect_bounds(field, &h200);
        }
        return;
    }
    set_whole(&h200, field, field->least);
    assert_ok(explain_on(&h200));
    set_whole(&h200, field, field->most);
    assert_ok(explain_on(&h200));
    set_whole(&h200, field, -1);
    expect_bounds(field, &h200);
    set_whole(&h200, field, field->most + 1);
    expect_bounds(field, &h200);
    set_whole(&h200, field, field->most == INT64_C(1) << 50 ? INT64_MAX : 517787433);
    expect_bounds(field, &h200);
}
END_TEST

START_TEST(the_sentence_says_the_bounds) {
    h200.cc_major = 517787433;
    assert_fails(explain_on(&h200), GM_ERROR_INVALID_ARGUMENT, "device.cc_major is 517787433; it may be 0 to 99");
    h200 = device_of("h200");
    h200.dram_gbs = 1e-308;
    assert_fails(explain_on(&h200), GM_ERROR_INVALID_ARGUMENT,
                 "device.dram_gbs is 1e-308; it may be 0 (unknown) or 0.001 to 1e+06");
    memset(h200.name, 'x', sizeof h200.name);
    assert_fails(explain_on(&h200), GM_ERROR_INVALID_ARGUMENT, "device.name does not end within its 64 bytes");
}
END_TEST

static int64_t one_of(unsigned *seed, int64_t least, int64_t usual, int64_t most) {
    *seed = *seed * 1664525 + 1013904223;
    const unsigned which = *seed >> 28;
    return which < 5 ? least : which < 10 ? most : usual;
}

/* At the bounds, and at the sizes that a problem may have, no arithmetic overflows, which a sanitizer sees, and every
 * legal row has a time. */
START_TEST(devices_at_their_bounds_have_finite_predictions) {
    const size_t rows = gemm_count();
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    unsigned seed = 5;
    for (int round = 0; round < 2000; round++) {
        struct gm_device device = device_of("h200");
        for (size_t i = 0; i < FIELDS; i++) {
            int64_t usual = 0;
            memcpy(&usual, (char *)&device + fields[i].at, fields[i].most > INT32_MAX ? 8 : 4);
            if (fields[i].most)
                set_whole(&device, &fields[i], one_of(&seed, fields[i].least, usual, fields[i].most));
            else
                set_rate(&device, &fields[i], (double)one_of(&seed, 0, 1000, 1000000000) / 1e3);
        }
        device.cc_major = (int32_t)one_of(&seed, 8, 9, 99);
        struct gm_gemm_problem p = problem_of(one_of(&seed, 1, 100, INT32_MAX), one_of(&seed, 8, 4096, INT32_MAX - 7),
                                              one_of(&seed, 8, 4096, INT32_MAX - 7));
        const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = (size_t)64 << 20};
        size_t count = 0;
        if (gm_gemm_explain(&device, &p, &options, candidates, rows, &count) != GM_OK)
            ck_assert_ptr_nonnull(strstr(gm_last_error(), "exceed 2^63 bytes")); /* 2^31 rows of 2^31 elements */
        for (size_t i = 0; i < count; i++)
            if (candidates[i].reason == GM_ACCEPTED)
                ck_assert_msg(candidates[i].predicted_us > 0 && candidates[i].predicted_us < 1e30, "%s",
                              candidates[i].sentence);
    }
    free(candidates);
}
END_TEST

Suite *explain_suite(void) {
    Suite *suite = suite_create("explain");
    TCase *cases = tcase_create("sentences");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, every_reason_has_its_own_name);
    tcase_add_test(cases, unknown_reasons_have_a_name_too);
    tcase_add_test(cases, a_stride_that_tma_cannot_take_names_the_padding);
    tcase_add_test(cases, any_stride_and_alignment_of_d_is_taken);
    tcase_add_test(cases, a_promise_under_16_bytes_is_named);
    tcase_add_test(cases, empty_k_and_huge_strides_are_named);
    tcase_add_test(cases, type_layout_device_and_mask_are_named);
    tcase_add_test(cases, accepted_and_not_named_rows_give_their_prediction);
    tcase_add_test(cases, every_row_of_the_table_answers_and_one_is_chosen);
    tcase_add_test(cases, a_named_row_is_the_only_candidate);
    tcase_add_test(cases, a_packed_column_goes_to_kernels_for_rows);
    tcase_add_test(cases, a_column_of_d_is_planned_as_a_row);
    tcase_add_test(cases, a_kernel_by_name_takes_a_column_as_its_layout_wants_it);
    tcase_add_test(cases, a_small_capacity_is_filled_and_not_passed);
    tcase_add_test(cases, bad_arguments_are_refused);
    suite_add_tcase(suite, cases);
    TCase *devices = tcase_create("devices made by hand");
    tcase_add_checked_fixture(devices, set_up, NULL);
    tcase_add_loop_test(devices, a_field_beyond_its_bounds_is_named, 0, FIELDS);
    tcase_add_test(devices, the_sentence_says_the_bounds);
    suite_add_tcase(suite, devices);
    TCase *table = tcase_create("every row of the table");
    tcase_set_tags(table, "long"); /* minutes under valgrind */
    tcase_add_checked_fixture(table, set_up, NULL);
    tcase_add_test(table, devices_at_their_bounds_have_finite_predictions);
    suite_add_tcase(suite, table);
    return suite;
}
