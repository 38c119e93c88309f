/* SPDX-License-Identifier: Apache-2.0 */
/* convolution on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is
 * told. */
#include "common/convolution/params.h"
#include "gristmill/convolution.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_convolution_problem image_of(int64_t width, int64_t height, int64_t filter_width,
                                              int64_t filter_height) {
    return (struct gm_convolution_problem){.size = sizeof(struct gm_convolution_problem),
                                           .width = width,
                                           .height = height,
                                           .planes = 1,
                                           .filter_width = filter_width,
                                           .filter_height = filter_height};
}

static enum gm_status read_problem(const struct gm_convolution_problem *given, struct gm_convolution_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_convolution, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_convolution_problem p = image_of(100, 7, 3, 3), read;
    p.planes = 4;
    p.out_row_stride = 104;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_row_stride == 100 && read.x_plane_stride == 700);
    ck_assert(read.out_row_stride == 104 && read.out_plane_stride == 728);
    ck_assert(read.x_align == 16 && read.out_align == 16);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_convolution_problem, member), value, sizeof(((struct gm_convolution_problem *)0)->member),     \
     words}
    BAD(width, -1, "width is -1; it must be 0 to 1073741824"),
    BAD(height, INT64_C(1) << 31, "height is 2147483648"),
    BAD(planes, -1, "planes is -1"),
    BAD(filter_width, 0, "filter_width is 0; it must be 1 to 31"),
    BAD(filter_width, 32, "filter_width is 32"),
    BAD(filter_height, 0, "filter_height is 0; it must be 1 to 31"),
    BAD(filter_height, 32, "filter_height is 32"),
    BAD(shift_x, -3, "shift_x is -3; it must be -2 to 1"),
    BAD(shift_x, 2, "shift_x is 2"),
    BAD(shift_y, -3, "shift_y is -3; it must be -2 to 2"),
    BAD(shift_y, 3, "shift_y is 3"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(edge, 3, "edge is 3; known values are 0 to 2"),
    BAD(separable, 2, "separable is 2; known values are 0 to 1"),
    BAD(x_row_stride, 63, "x_row_stride is 63; what lies within it has 64 elements"),
    BAD(x_plane_stride, 511, "x_plane_stride is 511; what lies within it has 512 elements"),
    BAD(out_row_stride, -1, "out_row_stride is -1"),
    BAD(out_plane_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(x_align, 3, "x_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(out_align, 1, "out_align is 1"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_convolution_problem p = image_of(64, 8, 4, 5), read;
    p.planes = 3;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_convolution_problem p = image_of(4096, 1024, 7, 5);
    char text[160];
    p.edge = GM_CONVOLUTION_WRAP;
    p.separable = 1;
    gm_problem_print(&gm_operation_convolution, &p, text, sizeof text);
    ck_assert_str_eq(text, "convolution bf16 separable wrap 4096 1024 1 7 5");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_convolution_problem p = image_of(100, 10, 7, 5);
    struct gm_work work = gm_operation_convolution.work(&p);
    ck_assert(work.flops == 2 * 1000 * 35 && work.least_bytes == 4000 + 4 * 35);
    p.separable = 1;
    work = gm_operation_convolution.work(&p);
    ck_assert(work.flops == 2 * 1000 * 12 && work.least_bytes == 4000 + 4 * 12);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_convolution_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_convolution_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "convolution", said, bytes);
}

START_TEST(tiles_are_small_where_they_are_few) {
    struct gm_convolution_problem p = image_of(8192, 8192, 7, 7);
    char said[1 << 14];
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_CONVOLUTION_ROWS], 8);
    ck_assert_ptr_nonnull(strstr(said, "16384 tiles of 128 x 32 by boxes"));
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    p = image_of(256, 256, 7, 7);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_CONVOLUTION_ROWS], 2);
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_convolution_problem p = image_of(4096, 64, 3, 3);
    char said[1 << 14];
    p.x_align = 8;
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert(strstr(said, "by elements") && !strstr(said, "by boxes"));
    p.x_align = 16;
    p.x_row_stride = 4097;
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert(!strstr(said, "by boxes"));
    p.height = 1;
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "by boxes"));
}
END_TEST

START_TEST(more_tiles_than_it_counts_are_refused) {
    struct gm_convolution_problem p = image_of(1 << 30, 1 << 10, 3, 3);
    char said[1 << 14];
    p.planes = 1 << 9;
    ck_assert_ptr_null(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "137438953472 tiles of 128 x 32 are more than the 2^31 - 1 that it counts"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const struct gm_convolution_args good = {
    .size = sizeof good, .x = ADDRESS_A, .filter = ADDRESS_B, .filter_y = ADDRESS_C, .out = ADDRESS_D};

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_convolution_problem p = image_of(520, 100, 5, 4);
    gm_plan *plan = NULL;
    p.planes = 3;
    p.edge = GM_CONVOLUTION_CLAMP;
    p.shift_y = 1;
    p.x_row_stride = 528;
    assert_ok(gm_convolution_plan_create(context, &p, NULL, &plan));
    const struct gm_convolution_params *params = plan->params;
    ck_assert(params->x_pitch == 1056 && params->x_plane == 105600);
    ck_assert(params->out_pitch == 1040 && params->out_plane == 104000);
    ck_assert(params->width == 520 && params->height == 100);
    ck_assert(params->filter_width == 5 && params->filter_height == 4);
    ck_assert(params->origin_x == 8 && params->lead == 6 && params->origin_y == 3);
    ck_assert(params->edge == GM_CONVOLUTION_CLAMP && params->separable == 0);
    ck_assert(params->boxes == 1 && params->vectors == 1 && params->pitch == 144);
    ck_assert(params->column_tiles.divisor == 5);
    ck_assert_int_eq(params->tiles, (int)(5 * params->row_tiles.divisor * 3));
    ck_assert_uint_le(plan->config.gridDimX, (unsigned)params->tiles);
    ck_assert_uint_lt(plan->config.sharedMemBytes, (unsigned)plan->kernel->smem_bytes);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_convolution_execute(plan, &good, NULL));
    ck_assert_int_eq(fake_calls(), 2);
    ck_assert_int_eq(fake.count[FAKE_cuTensorMapReplaceAddress], 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(out_is_stored_by_elements_where_it_is_not_aligned) {
    struct gm_convolution_problem p = image_of(520, 100, 3, 3);
    gm_plan *plan = NULL;
    p.out_row_stride = 522;
    assert_ok(gm_convolution_plan_create(context, &p, NULL, &plan));
    ck_assert_int_eq(((const struct gm_convolution_params *)plan->params)->vectors, 0);
    gm_plan_destroy(plan);
    p.out_row_stride = 524;
    p.out_align = 8;
    assert_ok(gm_convolution_plan_create(context, &p, NULL, &plan));
    ck_assert_int_eq(((const struct gm_convolution_params *)plan->params)->vectors, 1);
    gm_plan_destroy(plan);
    p.type = GM_FP32;
    assert_ok(gm_convolution_plan_create(context, &p, NULL, &plan));
    ck_assert_int_eq(((const struct gm_convolution_params *)plan->params)->vectors, 0);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_convolution)
            continue;
        struct gm_convolution_problem p = image_of(1000, 100, 31, 31);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_convolution_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_convolution_execute(plan, &good, NULL));
        ck_assert_int_eq(fake_calls(), 1 + (kernel->arch == GM_ARCH_SM90));
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.sharedMemBytes, (unsigned)kernel->smem_bytes);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 2 planes of 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_convolution_args args, int separable) {
    struct gm_convolution_problem p = image_of(64, 10, 4, 4);
    gm_plan *plan = NULL;
    p.planes = 2;
    p.separable = separable;
    p.x_row_stride = p.out_row_stride = 80;
    assert_ok(gm_convolution_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_convolution_execute(plan, &args, NULL);
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    struct gm_convolution_args args = good;
    assert_ok(execute(args, 1));
    args.size = 39;
    assert_fails(execute(args, 1), GM_ERROR_SIZE, "args.size is 39");
    args = good, args.x = 0;
    assert_fails(execute(args, 1), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.filter = 0;
    assert_fails(execute(args, 1), GM_ERROR_INVALID_ARGUMENT, "filter is NULL");
    args = good, args.filter_y = 0;
    assert_fails(execute(args, 1), GM_ERROR_INVALID_ARGUMENT, "filter_y is NULL");
    assert_ok(execute(args, 0));
    args = good, args.out = 0;
    assert_fails(execute(args, 1), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.x += 8;
    assert_fails(execute(args, 1), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.filter += 2;
    assert_fails(execute(args, 1), GM_ERROR_MISALIGNED, "filter");
    args = good, args.out = ADDRESS_A + 16;
    assert_fails(execute(args, 1), GM_ERROR_OVERLAP, "x");
    args = good, args.out = ADDRESS_A;
    assert_fails(execute(args, 1), GM_ERROR_OVERLAP, "x");
    args = good, args.filter_y = ADDRESS_D + 16;
    assert_fails(execute(args, 1), GM_ERROR_OVERLAP, "filter_y");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_convolution_problem p = image_of(8192, 8192, 3, 3);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_convolution_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_convolution_problem p = image_of(64, 0, 3, 3);
    const struct gm_convolution_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_convolution(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *convolution_suite(void) {
    Suite *suite = suite_create("convolution");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, tiles_are_small_where_they_are_few);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_test(choices, more_tiles_than_it_counts_are_refused);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, out_is_stored_by_elements_where_it_is_not_aligned);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_rows_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
