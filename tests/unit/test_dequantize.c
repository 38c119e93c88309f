/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/dequantize/params.h"
#include "host/choose.h"
#include "host/dequantize/dequantize.h"
#include "host/options.h"
#include "host/quantize/quantize.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_dequantize_problem rows_of(int64_t rows, int64_t columns, enum gm_scaling scaling) {
    return (struct gm_dequantize_problem){
        .size = sizeof(struct gm_dequantize_problem), .rows = rows, .columns = columns, .scaling = scaling};
}

static enum gm_status read_problem(const struct gm_dequantize_problem *given, struct gm_dequantize_planned *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_dequantize, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_e4m3_to_bf16_packed_and_aligned) {
    struct gm_dequantize_problem p = rows_of(3, 300, GM_SCALE_GROUP);
    struct gm_dequantize_planned read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_type == GM_E4M3 && read.problem.out_type == GM_BF16 && read.problem.group == 128);
    ck_assert(read.problem.x_stride == 300 && read.problem.out_stride == 300 && read.problem.scales_stride == 3);
    ck_assert(read.problem.x_align == 16 && read.problem.out_align == 16);
    p.type = GM_INT8;
    p.scale_order = GM_SCALES_BY_COLUMN;
    p.group = 32;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_type == GM_INT8 && read.problem.scales_stride == 3 && read.problem.group == 32);
    ck_assert(read.problem.type == GM_E4M3); /* of kernels */
    p.scaling = GM_SCALE_BLOCK;
    p.rows = 257;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.problem.scales_stride == 3 && read.problem.group == 128);
}
END_TEST

/* The same members find the same scales as in quantize. */
START_TEST(scales_lie_where_quantize_leaves_them) {
    for (int choice = 0; choice < 5 * 3 * 2; choice++) {
        const enum gm_scaling scaling = (enum gm_scaling)(choice % 5);
        if (scaling == GM_SCALE_AMAX_ONLY)
            continue;
        struct gm_dequantize_problem p = rows_of(130, 300, scaling);
        struct gm_quantize_problem q = {.size = sizeof q, .rows = 130, .columns = 300, .scaling = scaling}, read;
        const struct gm_plan_options none = {.size = sizeof none};
        struct gm_dequantize_planned planned;
        struct gm_matrix there[GM_QUANTIZE_MATRICES], back[GM_DEQUANTIZE_MATRICES];
        p.group = q.group = 64;
        p.scale_format = q.scale_format = (enum gm_scale_format)(choice / 5 % 3);
        p.scale_order = q.scale_order = (enum gm_scale_order)(choice / 15);
        assert_ok(gm_problem_read(&gm_operation_quantize, &q, &none, &read));
        assert_ok(read_problem(&p, &planned));
        gm_quantize_matrices(&read, there);
        gm_dequantize_matrices(&planned.problem, back);
        const struct gm_matrix *a = &there[GM_QUANTIZE_SCALES], *b = &back[GM_DEQUANTIZE_SCALES];
        ck_assert(a->rows == b->rows && a->columns == b->columns && a->stride == b->stride);
        ck_assert(a->element_bytes == b->element_bytes);
    }
}
END_TEST

START_TEST(what_has_no_effect_is_forgotten) {
    struct gm_dequantize_problem p = rows_of(3, 300, GM_SCALE_STATIC);
    struct gm_dequantize_planned read;
    p.scale_format = GM_SCALE_E8M0;
    p.scale_order = GM_SCALES_BY_COLUMN;
    p.scales_stride = 77;
    p.group = 64;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.problem.scale_format == GM_SCALE_FP32 && read.problem.scale_order == GM_SCALES_BY_ROW);
    ck_assert(read.problem.scales_stride == 1 && read.problem.group == 128);
    p.scaling = GM_SCALE_ROW;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.problem.scale_format == GM_SCALE_E8M0 && read.problem.scales_stride == 3);
    p.scale_format = GM_SCALE_POWER_OF_2;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.problem.scale_format == GM_SCALE_FP32); /* a float, too */
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_dequantize_problem, member), value, sizeof(((struct gm_dequantize_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 536870912"),
    BAD(type, 2, "type is 2; known values are 3 to 5"),
    BAD(type, 6, "type is 6; known values are 3 to 5"),
    BAD(out_type, 3, "out_type is 3; known values are 0 to 2"),
    BAD(scaling, 5, "scaling is 5; known values are 0 to 4"),
    BAD(scaling, 1, "scaling is 1, GM_SCALE_AMAX_ONLY; the scale that it makes is one of GM_SCALE_STATIC"),
    BAD(scale_format, 3, "scale_format is 3"),
    BAD(scale_order, -1, "scale_order is -1"),
    BAD(group, 100, "group is 100; it must be 128 (or 0), 64 or 32"),
    BAD(x_stride, 299, "x_stride is 299; a row has 300 elements"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(scales_stride, 2, "scales_stride is 2; a row has 3 elements"),
    BAD(x_align, 3, "x_align is 3"),
    BAD(out_align, 1, "out_align is 1; it must be 16 (or 0), 8, 4 or 2"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_dequantize_problem p = rows_of(8, 300, GM_SCALE_GROUP);
    struct gm_dequantize_planned read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_dequantize_problem p = rows_of(16, 4096, GM_SCALE_GROUP);
    char text[160];
    p.type = GM_E5M2, p.out_type = GM_FP32, p.scale_format = GM_SCALE_E8M0, p.scale_order = GM_SCALES_BY_COLUMN;
    gm_problem_print(&gm_operation_dequantize, &p, text, sizeof text);
    ck_assert_str_eq(text, "dequantize e5m2 fp32 group e8m0 by_column 16 4096");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    static const double bytes_of_scales[] = {4, 0, 4 * 130, 4 * 130 * 3, 4 * 2 * 3};
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_BLOCK; scaling++) {
        const struct gm_dequantize_problem p = rows_of(130, 300, (enum gm_scaling)scaling);
        const struct gm_work work = gm_operation_dequantize.work(&p);
        if (scaling != GM_SCALE_AMAX_ONLY)
            ck_assert(work.least_bytes == 3 * 130 * 300 + bytes_of_scales[scaling] && work.flops == 130 * 300);
    }
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_dequantize_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_dequantize_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "dequantize", said, bytes);
}

static int elements(const struct gm_dequantize_problem *p, char *said, size_t bytes) {
    return chosen(p, "h200", said, bytes)->columns[GM_DEQUANTIZE_ELEMENTS];
}

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_dequantize_problem p = rows_of(16, 4096, GM_SCALE_GROUP);
    char said[1 << 14];
    ck_assert_int_eq(elements(&p, said, sizeof said), 8);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    p.out_align = 8;
    ck_assert_int_eq(elements(&p, said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 8 bytes: it loads 16 at once"));
    p = rows_of(16, 4096, GM_SCALE_GROUP), p.x_align = 4;
    ck_assert_int_eq(elements(&p, said, sizeof said), 1);
    p.out_type = GM_FP32; /* four of them are a chunk */
    ck_assert_int_eq(elements(&p, said, sizeof said), 8);
    p = rows_of(16, 4099, GM_SCALE_STATIC); /* packed: one row */
    ck_assert_int_eq(elements(&p, said, sizeof said), 8);
    p.scaling = GM_SCALE_ROW;
    ck_assert_int_eq(elements(&p, said, sizeof said), 1);
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const struct gm_dequantize_params *params_of(const struct gm_dequantize_problem *p, gm_plan **plan) {
    assert_ok(gm_dequantize_plan_create(context, p, NULL, plan));
    return (const struct gm_dequantize_params *)(*plan)->params;
}

START_TEST(a_launch_is_told_where_scales_are) {
    struct gm_dequantize_problem p = rows_of(300, 512, GM_SCALE_GROUP);
    gm_plan *plan = NULL;
    const struct gm_dequantize_params *params = params_of(&p, &plan);
    ck_assert(params->x_pitch == 512 && params->out_pitch == 1024 && params->rows == 300 && params->chunk == 8);
    ck_assert(params->row_chunks.divisor == 64 && params->slab_rows == 300 && !params->is_packed);
    ck_assert(params->scale_down == 16 && params->scale_across == 4 && params->row_shift == 0);
    ck_assert(params->column_shift == 7 && params->x_type == GM_E4M3 && params->out_type == GM_BF16);
    gm_plan_destroy(plan);
    p.scaling = GM_SCALE_BLOCK, p.scale_order = GM_SCALES_BY_COLUMN, p.scale_format = GM_SCALE_E8M0;
    p.out_type = GM_FP32, p.type = GM_E5M2;
    params = params_of(&p, &plan);
    ck_assert(params->scale_down == 1 && params->scale_across == 3 && params->is_e8m0 && params->chunk == 4);
    ck_assert(params->row_shift == 7 && params->column_shift == 7 && params->x_type == GM_E5M2);
    gm_plan_destroy(plan);
    p.scaling = GM_SCALE_ROW, p.scale_format = GM_SCALE_FP32;
    params = params_of(&p, &plan);
    ck_assert(params->scale_down == 4 && params->scale_across == 0 && params->row_shift == 0);
    gm_plan_destroy(plan);
    p.scaling = GM_SCALE_STATIC;
    params = params_of(&p, &plan);
    ck_assert(params->scale_down == 0 && params->scale_across == 0 && params->is_packed);
    gm_plan_destroy(plan);
}
END_TEST

/* Threads take more chunks as there are more than run at once. */
START_TEST(large_problems_take_more_chunks_and_slabs) {
    struct gm_dequantize_problem p = rows_of(1, 4096, GM_SCALE_ROW);
    gm_plan *plan = NULL;
    const struct gm_dequantize_params *params = params_of(&p, &plan);
    ck_assert_int_eq(params->taken, 1);
    ck_assert_uint_eq(plan->config.gridDimX, 4);
    gm_plan_destroy(plan);
    p = rows_of(INT32_MAX, 4096, GM_SCALE_ROW);
    params = params_of(&p, &plan);
    const int64_t chunks = (int64_t)params->slab_rows * params->row_chunks.divisor;
    ck_assert(params->taken == 4 && chunks <= INT32_MAX && chunks > INT32_MAX - 512);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_dequantize_args args = {
        .size = sizeof args, .x = ADDRESS_A, .scales = ADDRESS_B, .out = ADDRESS_D, .row_count = ADDRESS_C};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_dequantize)
            continue;
        const struct gm_dequantize_problem p = rows_of(1001, 64, GM_SCALE_GROUP);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        assert_ok(gm_dequantize_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_dequantize_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_dequantize_args args) {
    const struct gm_dequantize_problem p = rows_of(10, 64, GM_SCALE_ROW);
    gm_plan *plan = NULL;
    assert_ok(gm_dequantize_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_dequantize_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_dequantize_args good = {.size = sizeof good, .x = ADDRESS_A, .scales = ADDRESS_B, .out = ADDRESS_D};
    struct gm_dequantize_args args = good;
    assert_ok(execute(args));
    args.size = 39;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 39");
    args = good, args.x = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.scales = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "scales is NULL");
    args = good, args.out += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.scales += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 4 bytes");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
    args = good, args.out = ADDRESS_A;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "overlaps");
    args = good, args.out = ADDRESS_B;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "scales");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_dequantize_problem p = rows_of(100000, 4096, GM_SCALE_GROUP);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_dequantize_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_dequantize_problem p = rows_of(0, 64, GM_SCALE_BLOCK);
    const struct gm_dequantize_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_dequantize(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *dequantize_suite(void) {
    Suite *suite = suite_create("dequantize");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_e4m3_to_bf16_packed_and_aligned);
    tcase_add_test(problems, scales_lie_where_quantize_leaves_them);
    tcase_add_test(problems, what_has_no_effect_is_forgotten);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_where_scales_are);
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
