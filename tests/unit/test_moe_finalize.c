/* SPDX-License-Identifier: Apache-2.0 */
/* moe_finalize on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is
 * told. */
#include "common/moe_finalize/params.h"
#include "gristmill/moe_finalize.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_moe_finalize_problem tokens_of(int64_t tokens, int64_t columns, int64_t k) {
    return (struct gm_moe_finalize_problem){
        .size = sizeof(struct gm_moe_finalize_problem), .tokens = tokens, .columns = columns, .k = k, .x_rows = 1000};
}

static enum gm_status read_problem(const struct gm_moe_finalize_problem *given, struct gm_moe_finalize_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_moe_finalize, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    const struct gm_moe_finalize_problem p = tokens_of(3, 100, 2);
    struct gm_moe_finalize_problem read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_stride == 100 && read.residual_stride == 100 && read.out_stride == 100);
    ck_assert(read.x_align == 16 && read.residual_align == 16 && read.out_align == 16);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_moe_finalize_problem, member), value, sizeof(((struct gm_moe_finalize_problem *)0)->member),   \
     words}
    BAD(tokens, -1, "tokens is -1; it must be 0 to 1073741823"),
    BAD(tokens, INT64_C(1) << 30, "tokens is 1073741824"),
    BAD(columns, 0, "columns is 0; it must be 1 to 536870912"),
    BAD(k, 0, "k is 0; it must be 1 to 2147483647"),
    BAD(x_rows, 0, "x_rows is 0; it must be 1 to 2147483647"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(x_stride, 63, "x_stride is 63; a row has 64 elements"),
    BAD(residual_stride, -1, "residual_stride is -1"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(x_align, 3, "x_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(residual_align, 1, "residual_align is 1"),
    BAD(out_align, 32, "out_align is 32"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_moe_finalize_problem p = tokens_of(8, 64, 2), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_moe_finalize_problem p = tokens_of(16, 4096, 8);
    char text[160];
    gm_problem_print(&gm_operation_moe_finalize, &p, text, sizeof text);
    ck_assert_str_eq(text, "moe_finalize bf16 16 4096 8 1000");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    const struct gm_moe_finalize_problem p = tokens_of(10, 100, 4);
    const struct gm_work work = gm_operation_moe_finalize.work(&p);
    ck_assert(work.flops == 8000 && work.least_bytes == 10 * (5 * 200 + 32));
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_moe_finalize_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_moe_finalize_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "moe_finalize", said, bytes);
}

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_moe_finalize_problem p = tokens_of(16, 4096, 8);
    char said[1 << 14];
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_MOE_FINALIZE_VECTOR_BYTES], 16);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    p.x_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_MOE_FINALIZE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x_align promises 8 bytes: it loads 16 at once"));
    p = tokens_of(16, 4096, 8);
    p.residual_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_MOE_FINALIZE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "residual_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p = tokens_of(16, 4099, 8);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_MOE_FINALIZE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out has 4099 columns x 2 B = 8198 B, which is not a multiple of the 16"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_moe_finalize_problem p = tokens_of(10, 512, 4);
    const struct gm_moe_finalize_args args = {
        .size = sizeof args, .x = ADDRESS_A, .inverse = ADDRESS_B, .weights = ADDRESS_C, .out = ADDRESS_D};
    gm_plan *plan = NULL;
    p.x_stride = 1024;
    p.residual_stride = 768;
    assert_ok(gm_moe_finalize_plan_create(context, &p, NULL, &plan));
    const struct gm_moe_finalize_params *params = plan->params;
    ck_assert(params->x_pitch == 2048 && params->residual_pitch == 1536 && params->out_pitch == 1024);
    ck_assert(params->tokens == 10 && params->k == 4 && params->x_rows == 1000);
    ck_assert(params->row_chunks.divisor == 64 && params->slab_rows == 10);
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)((640 + plan->kernel->threads - 1) / plan->kernel->threads));
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_moe_finalize_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

/* Chunks of a slab are numbered with 31 bits. */
START_TEST(large_problems_come_in_slabs) {
    const struct gm_moe_finalize_problem p = tokens_of(INT32_MAX, 4096, 1);
    gm_plan *plan = NULL;
    assert_ok(gm_moe_finalize_plan_create(context, &p, NULL, &plan));
    const struct gm_moe_finalize_params *params = plan->params;
    const int64_t chunks = (int64_t)params->slab_rows * params->row_chunks.divisor;
    ck_assert(chunks <= INT32_MAX && chunks > INT32_MAX - 512);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_moe_finalize_args args = {
        .size = sizeof args, .x = ADDRESS_A, .inverse = ADDRESS_B, .weights = ADDRESS_C, .out = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_moe_finalize)
            continue;
        struct gm_moe_finalize_problem p = tokens_of(1001, 64, 6);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_moe_finalize_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_moe_finalize_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 tokens of 4 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_moe_finalize_args args) {
    struct gm_moe_finalize_problem p = tokens_of(10, 64, 4);
    gm_plan *plan = NULL;
    p.x_stride = p.residual_stride = p.out_stride = 80;
    assert_ok(gm_moe_finalize_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_moe_finalize_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_moe_finalize_args good = {.size = sizeof good,
                                              .x = ADDRESS_A,
                                              .inverse = ADDRESS_B,
                                              .weights = ADDRESS_C,
                                              .residual = ADDRESS_BIAS,
                                              .out = ADDRESS_D};
    struct gm_moe_finalize_args args = good;
    assert_ok(execute(args));
    args.size = 55;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 55");
    args = good, args.x = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.inverse = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "inverse is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.weights = args.residual = 0;
    assert_ok(execute(args));
    args = good, args.x += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.residual += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "residual");
    args = good, args.inverse += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "inverse");
    args = good, args.weights += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "weights");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.residual = ADDRESS_D;
    assert_ok(execute(args));
    args = good, args.residual = ADDRESS_D + 16;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "only residual = out with the same rows and row stride may");
    args = good, args.out = ADDRESS_A;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "x");
    args = good, args.out = ADDRESS_B - 16;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "inverse");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_moe_finalize_problem p = tokens_of(100000, 4096, 8);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_moe_finalize_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_tokens_launch_nothing) {
    const struct gm_moe_finalize_problem p = tokens_of(0, 64, 4);
    const struct gm_moe_finalize_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_moe_finalize(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *moe_finalize_suite(void) {
    Suite *suite = suite_create("moe_finalize");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, large_problems_come_in_slabs);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_tokens_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
