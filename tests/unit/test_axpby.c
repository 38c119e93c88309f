/* SPDX-License-Identifier: Apache-2.0 */
/* axpby on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/axpby/params.h"
#include "host/axpby/axpby.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <math.h>
#include <string.h>

static struct gm_axpby_problem rows_of(int64_t rows, int64_t columns) {
    return (struct gm_axpby_problem){.size = sizeof(struct gm_axpby_problem), .rows = rows, .columns = columns};
}

static enum gm_status read_problem(const struct gm_axpby_problem *given, struct gm_axpby_planned *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_axpby, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_a_packed_copy_of_bf16) {
    struct gm_axpby_problem p = rows_of(3, 300);
    struct gm_axpby_planned read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_type == GM_BF16 && read.problem.out_type == GM_BF16 && read.problem.terms == GM_AXPBY_X);
    ck_assert(read.problem.alpha == 1 && read.problem.gamma == 0);
    ck_assert(read.problem.x_stride == 300 && read.problem.out_stride == 300);
    ck_assert(read.problem.x_align == 16 && read.problem.out_align == 16);
    p.type = GM_UINT8;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_type == GM_UINT8 && read.problem.type == GM_FP32); /* of kernels */
}
END_TEST

START_TEST(what_has_no_effect_is_forgotten) {
    struct gm_axpby_problem p = rows_of(3, 300);
    struct gm_axpby_planned read;
    p.y_type = GM_INT32, p.beta = 7, p.y_stride = 1, p.y_align = 3;
    assert_ok(read_problem(&p, &read)); /* nobody asks for y */
    ck_assert(read.problem.y_type == GM_BF16 && read.problem.beta == 1);
    p.terms = GM_AXPBY_NEITHER;
    p.type = GM_INT8, p.out_type = GM_FP32, p.alpha = 7, p.x_stride = 1, p.x_align = 3;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_type == GM_FP32 && read.problem.alpha == 1);
    p.gamma = NAN; /* a fill */
    assert_ok(read_problem(&p, &read));
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_axpby_problem, member), value, sizeof(((struct gm_axpby_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 536870912"),
    BAD(type, 8, "type is 8; known values are 0 to 7"),
    BAD(y_type, -1, "y_type is -1; known values are 0 to 7"),
    BAD(out_type, 8, "out_type is 8"),
    BAD(terms, 3, "terms is 3; known values are 0 to 2"),
    BAD(alpha, 0x7f800000, "alpha is inf; it must be finite"),
    BAD(beta, 0x7fc00000, "beta is nan; it must be finite"),
    BAD(x_stride, 299, "x_stride is 299; a row has 300 elements"),
    BAD(y_stride, -1, "y_stride is -1"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(x_align, 3, "x_align is 3"),
    BAD(y_align, 1, "y_align is 1; it must be 16 (or 0), 8, 4 or 2"),
    BAD(out_align, 32, "out_align is 32"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_axpby_problem p = rows_of(8, 300);
    struct gm_axpby_planned read;
    p.terms = GM_AXPBY_X_AND_Y;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_axpby_problem p = rows_of(16, 4096);
    char text[160];
    p.type = GM_INT32, p.y_type = GM_UINT8, p.out_type = GM_E4M3, p.terms = GM_AXPBY_X_AND_Y;
    gm_problem_print(&gm_operation_axpby, &p, text, sizeof text);
    ck_assert_str_eq(text, "axpby int32 uint8 e4m3 x_and_y 16 4096");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_axpby_problem p = rows_of(10, 100);
    struct gm_work work = gm_operation_axpby.work(&p);
    ck_assert(work.flops == 2000 && work.least_bytes == 4000);
    p.terms = GM_AXPBY_X_AND_Y, p.y_type = GM_INT8, p.out_type = GM_FP32;
    work = gm_operation_axpby.work(&p);
    ck_assert(work.flops == 4000 && work.least_bytes == 7000);
    p.terms = GM_AXPBY_NEITHER;
    work = gm_operation_axpby.work(&p);
    ck_assert(work.flops == 0 && work.least_bytes == 4000);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_axpby_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_axpby_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "axpby", said, bytes);
}

static int elements(const struct gm_axpby_problem *p, char *said, size_t bytes) {
    return chosen(p, "h200", said, bytes)->columns[GM_AXPBY_ELEMENTS];
}

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_axpby_problem p = rows_of(16, 4096);
    char said[1 << 14];
    ck_assert_int_eq(elements(&p, said, sizeof said), 8);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    p.out_align = 8;
    ck_assert_int_eq(elements(&p, said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 8 bytes: it loads 16 at once"));
    p.type = GM_FP32; /* chunks of 4 */
    ck_assert_int_eq(elements(&p, said, sizeof said), 8);
    p = rows_of(16, 4096), p.y_stride = 4100, p.terms = GM_AXPBY_X_AND_Y;
    ck_assert_int_eq(elements(&p, said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "y_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p.terms = GM_AXPBY_X; /* then nobody asks */
    ck_assert_int_eq(elements(&p, said, sizeof said), 8);
    p = rows_of(16, 4099); /* packed: one row */
    ck_assert_int_eq(elements(&p, said, sizeof said), 8);
    p.x_stride = 4104;
    ck_assert_int_eq(elements(&p, said, sizeof said), 1);
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const struct gm_axpby_params *params_of(const struct gm_axpby_problem *p, gm_plan **plan) {
    assert_ok(gm_axpby_plan_create(context, p, NULL, plan));
    return (const struct gm_axpby_params *)(*plan)->params;
}

START_TEST(a_launch_is_told_what_to_add) {
    struct gm_axpby_problem p = rows_of(300, 512);
    gm_plan *plan = NULL;
    p.terms = GM_AXPBY_X_AND_Y, p.type = GM_E4M3, p.y_type = GM_FP16, p.out_type = GM_INT8;
    p.alpha = 2, p.beta = 3, p.x_stride = 1024;
    const struct gm_axpby_params *params = params_of(&p, &plan);
    ck_assert(params->operands == 2 && params->chunk == 8 && !params->is_packed && params->slab_rows == 300);
    ck_assert(params->operand[0].type == GM_FP16 && params->operand[0].factor == 3 && params->operand[0].pitch == 1024);
    ck_assert(params->operand[1].type == GM_E4M3 && params->operand[1].factor == 2 && params->operand[1].pitch == 1024);
    ck_assert(params->out_type == GM_INT8 && params->out_pitch == 512 && params->row_chunks.divisor == 64);
    ck_assert(params->gamma == 0 && signbit(params->gamma)); /* is not added */
    gm_plan_destroy(plan);
    p.terms = GM_AXPBY_X, p.out_type = GM_INT32, p.gamma = 5;
    params = params_of(&p, &plan);
    ck_assert(params->operands == 1 && params->chunk == 4 && params->gamma == 5);
    ck_assert(params->operand[0].type == GM_E4M3 && params->operand[0].factor == 2);
    gm_plan_destroy(plan);
    p.terms = GM_AXPBY_NEITHER, p.gamma = 0;
    params = params_of(&p, &plan);
    ck_assert(params->operands == 0 && params->is_packed && params->gamma == 0 && !signbit(params->gamma));
    gm_plan_destroy(plan);
}
END_TEST

/* Threads take more chunks as there are more than run at once, fewer of two operands. */
START_TEST(large_problems_take_more_chunks_and_slabs) {
    struct gm_axpby_problem p = rows_of(1, 4096);
    gm_plan *plan = NULL;
    const struct gm_axpby_params *params = params_of(&p, &plan);
    ck_assert_int_eq(params->taken, 1);
    ck_assert_uint_eq(plan->config.gridDimX, 4);
    gm_plan_destroy(plan);
    p = rows_of(INT32_MAX, 4096), p.out_stride = 4104;
    params = params_of(&p, &plan);
    const int64_t chunks = (int64_t)params->slab_rows * params->row_chunks.divisor;
    ck_assert(params->taken == 4 && chunks <= INT32_MAX && chunks > INT32_MAX - 512);
    gm_plan_destroy(plan);
    p.terms = GM_AXPBY_X_AND_Y;
    params = params_of(&p, &plan);
    ck_assert_int_eq(params->taken, 2);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_axpby_args args = {
        .size = sizeof args, .x = ADDRESS_A, .y = ADDRESS_B, .out = ADDRESS_D, .row_count = ADDRESS_C};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_axpby)
            continue;
        struct gm_axpby_problem p = rows_of(1001, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.terms = GM_AXPBY_X_AND_Y;
        assert_ok(gm_axpby_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_axpby_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.sharedMemBytes, (unsigned)kernel->smem_bytes);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64, 80 apart, y and out of bf16: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_axpby_args args, enum gm_axpby_terms terms, enum gm_type type) {
    struct gm_axpby_problem p = rows_of(10, 64);
    gm_plan *plan = NULL;
    p.terms = terms;
    p.type = type;
    p.x_stride = p.y_stride = p.out_stride = 80;
    assert_ok(gm_axpby_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_axpby_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const enum gm_axpby_terms both = GM_AXPBY_X_AND_Y;
    const struct gm_axpby_args good = {.size = sizeof good, .x = ADDRESS_A, .y = ADDRESS_B, .out = ADDRESS_D};
    struct gm_axpby_args args = good;
    assert_ok(execute(args, both, GM_INT8));
    args.size = 39;
    assert_fails(execute(args, both, GM_BF16), GM_ERROR_SIZE, "args.size is 39");
    args = good, args.y = 0;
    assert_fails(execute(args, both, GM_BF16), GM_ERROR_INVALID_ARGUMENT, "y is NULL");
    assert_ok(execute(args, GM_AXPBY_X, GM_BF16));
    args.x = 0;
    assert_fails(execute(args, GM_AXPBY_X, GM_BF16), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    assert_ok(execute(args, GM_AXPBY_NEITHER, GM_BF16));
    args.out = 0;
    assert_fails(execute(args, GM_AXPBY_NEITHER, GM_BF16), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.x += 8;
    assert_fails(execute(args, both, GM_BF16), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args, both, GM_BF16), GM_ERROR_OVERLAP, "row_count");
    args = good, args.out = ADDRESS_A;
    assert_ok(execute(args, both, GM_FP16)); /* in place, of another type */
    assert_fails(execute(args, both, GM_FP32), GM_ERROR_OVERLAP, "only x = out with the same rows and row stride may");
    args = good, args.out = ADDRESS_B;
    assert_ok(execute(args, both, GM_BF16));
    args = good, args.out = args.x = ADDRESS_B;
    assert_ok(execute(args, both, GM_BF16));
    args = good, args.out = ADDRESS_B + 16;
    assert_fails(execute(args, both, GM_BF16), GM_ERROR_OVERLAP, "only y = out with the same rows and row stride may");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_axpby_problem p = rows_of(100000, 4096);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_axpby_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_axpby_problem p = rows_of(0, 64);
    const struct gm_axpby_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_axpby(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *axpby_suite(void) {
    Suite *suite = suite_create("axpby");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_a_packed_copy_of_bf16);
    tcase_add_test(problems, what_has_no_effect_is_forgotten);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_to_add);
    tcase_add_test(launches, large_problems_take_more_chunks_and_slabs);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_rows_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
