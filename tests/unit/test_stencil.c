/* SPDX-License-Identifier: Apache-2.0 */
/* stencil on the host: what a problem may be, what is said of one that may not, how grids are cut into marches, what a
 * launch is told. */
#include "common/stencil/params.h"
#include "gristmill/stencil.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct gm_stencil_problem grid_of(enum gm_stencil_shape shape, int64_t width, int64_t height, int64_t depth) {
    return (struct gm_stencil_problem){.size = sizeof(struct gm_stencil_problem),
                                       .shape = shape,
                                       .width = width,
                                       .height = height,
                                       .depth = depth,
                                       .grids = 1};
}

static enum gm_status read_problem(const struct gm_stencil_problem *given, struct gm_stencil_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_stencil, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_7, 100, 7, 3), read;
    p.grids = 2;
    p.out_row_stride = 104;
    p.out_grid_stride = 3000;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_row_stride == 100 && read.x_plane_stride == 700 && read.x_grid_stride == 2100);
    ck_assert(read.out_row_stride == 104 && read.out_plane_stride == 728 && read.out_grid_stride == 3000);
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
    {offsetof(struct gm_stencil_problem, member), value, sizeof(((struct gm_stencil_problem *)0)->member), words}
    BAD(width, -1, "width is -1; it must be 0 to 1073741824"),
    BAD(height, INT64_C(1) << 31, "height is 2147483648"),
    BAD(depth, -1, "depth is -1"),
    BAD(grids, -1, "grids is -1"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(shape, 4, "shape is 4; known values are 0 to 3"),
    BAD(edge, 3, "edge is 3; known values are 0 to 2"),
    BAD(x_row_stride, 63, "x_row_stride is 63; what lies within it has 64 elements"),
    BAD(x_plane_stride, 511, "x_plane_stride is 511; what lies within it has 512 elements"),
    BAD(x_grid_stride, 2047, "x_grid_stride is 2047; what lies within it has 2048 elements"),
    BAD(out_row_stride, -1, "out_row_stride is -1"),
    BAD(out_plane_stride, 1, "out_plane_stride is 1"),
    BAD(out_grid_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(x_align, 3, "x_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(out_align, 1, "out_align is 1"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_BOX_27, 64, 8, 4), read;
    p.grids = 3;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(coefficients_of_taps_are_finite) {
    static const int points[] = {5, 9, 7, 27};
    for (int shape = GM_STENCIL_STAR_5; shape <= GM_STENCIL_BOX_27; shape++) {
        struct gm_stencil_problem p = grid_of((enum gm_stencil_shape)shape, 64, 8, 4), read;
        char words[40];
        for (int i = points[shape]; i < 27; i++)
            p.coefficients[i] = NAN;
        assert_ok(read_problem(&p, &read));
        p.coefficients[points[shape] - 1] = shape % 2 ? NAN : -INFINITY;
        snprintf(words, sizeof words, "coefficients[%d]", points[shape] - 1);
        assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, words);
    }
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_BOX_27, 4096, 1024, 7);
    char text[160];
    p.edge = GM_CONVOLUTION_WRAP;
    gm_problem_print(&gm_operation_stencil, &p, text, sizeof text);
    ck_assert_str_eq(text, "stencil bf16 box_27 wrap 4096 1024 7 1");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_7, 100, 10, 4);
    p.grids = 2;
    struct gm_work work = gm_operation_stencil.work(&p);
    ck_assert(work.flops == 2 * 8000 * 7 && work.least_bytes == 4 * 8000);
    p.type = GM_FP32;
    p.shape = GM_STENCIL_BOX_9;
    work = gm_operation_stencil.work(&p);
    ck_assert(work.flops == 2 * 8000 * 9 && work.least_bytes == 8 * 8000);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_stencil_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_stencil_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "stencil", said, bytes);
}

START_TEST(grids_are_cut_into_as_many_marches_as_run_at_once) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_7, 512, 512, 512);
    char said[1 << 14];
    p.type = GM_FP32;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_ptr_nonnull(strstr(said, "256 marches through 130 planes of 128 x 32 by boxes"));
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    p = grid_of(GM_STENCIL_STAR_7, 64, 64, 64);
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "128 marches through 3 planes"));
    p = grid_of(GM_STENCIL_STAR_7, 8192, 8192, 512);
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "16384 marches through 514 planes"));
    p = grid_of(GM_STENCIL_BOX_9, 8192, 8192, 2);
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "32768 marches through 1 planes"));
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_5, 4096, 64, 1);
    char said[1 << 14];
    p.x_align = 8;
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert(strstr(said, "by elements") && !strstr(said, "by boxes"));
    p.x_align = 16;
    p.x_row_stride = 4097;
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert(!strstr(said, "by boxes"));
    p.height = 1;
    p.edge = GM_CONVOLUTION_WRAP;
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "by boxes"));
}
END_TEST

START_TEST(more_marches_than_it_counts_are_refused) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_7, 1 << 30, 1 << 10, 1 << 9);
    char said[1 << 14];
    p.grids = 1 << 9;
    ck_assert_ptr_null(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "137438953472 marches through tiles of 128 x 32 are more than the 2^31 - 1"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const struct gm_stencil_args good = {.size = sizeof good, .x = ADDRESS_A, .out = ADDRESS_B};

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_7, 520, 100, 5);
    gm_plan *plan = NULL;
    p.grids = 3;
    p.x_row_stride = 528;
    for (int i = 0; i < 27; i++)
        p.coefficients[i] = (float)(i + 1);
    assert_ok(gm_stencil_plan_create(context, &p, NULL, &plan));
    const struct gm_stencil_params *params = plan->params;
    ck_assert(params->x_pitch == 1056 && params->x_plane == 105600 && params->x_grid == 528000);
    ck_assert(params->out_pitch == 1040 && params->out_plane == 104000 && params->out_grid == 520000);
    ck_assert(params->points == 7 && params->coefficients[6] == 7 && params->coefficients[7] == 0);
    ck_assert(params->boxes == 1 && params->vectors == 1);
    ck_assert_int_eq(params->steps, params->layer + 2);
    ck_assert_int_eq((int)params->layers.divisor, (5 + params->layer - 1) / params->layer);
    ck_assert(params->column_tiles.divisor == 5 && params->row_tiles.divisor == 4);
    ck_assert_int_eq(params->marches, (int)(5 * 4 * params->layers.divisor * 3));
    ck_assert_uint_le(plan->config.gridDimX, (unsigned)params->marches);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_stencil_execute(plan, &good, NULL));
    ck_assert_int_eq(fake_calls(), 2);
    ck_assert_int_eq(fake.count[FAKE_cuTensorMapReplaceAddress], 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(an_edge_is_an_index_before_and_one_behind) {
    static const struct gm_stencil_side want[] = {{7, -1, -1}, {7, 0, 6}, {7, 6, 0}};
    for (int edge = GM_CONVOLUTION_ZERO; edge <= GM_CONVOLUTION_WRAP; edge++) {
        struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_5, 64, 7, 1);
        gm_plan *plan = NULL;
        p.edge = (enum gm_convolution_edge)edge;
        assert_ok(gm_stencil_plan_create(context, &p, NULL, &plan));
        const struct gm_stencil_params *params = plan->params;
        ck_assert(memcmp(&params->rows, &want[edge], sizeof want[edge]) == 0);
        ck_assert_int_eq(params->boxes, 1);
        ck_assert_int_eq(params->steps, 1);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(out_is_stored_by_elements_where_it_is_not_aligned) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_7, 520, 100, 2);
    gm_plan *plan = NULL;
#define HAS_VECTORS(wanted)                                                                                            \
    do {                                                                                                               \
        assert_ok(gm_stencil_plan_create(context, &p, NULL, &plan));                                                   \
        ck_assert_int_eq(((const struct gm_stencil_params *)plan->params)->vectors, wanted);                           \
        gm_plan_destroy(plan);                                                                                         \
    } while (0)
    p.out_row_stride = 522;
    HAS_VECTORS(0);
    p.out_row_stride = 524;
    p.out_align = 8;
    HAS_VECTORS(1);
    p.out_plane_stride = 60002;
    HAS_VECTORS(0);
    p.out_plane_stride = 0;
    p.grids = 2;
    p.out_grid_stride = 120002;
    HAS_VECTORS(0);
    p.grids = 1;
    HAS_VECTORS(1);
    p.type = GM_FP32;
    HAS_VECTORS(0);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_stencil)
            continue;
        struct gm_stencil_problem p = grid_of(GM_STENCIL_BOX_27, 1000, 100, 31);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_stencil_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_stencil_execute(plan, &good, NULL));
        ck_assert_int_eq(fake_calls(), 1 + (kernel->arch == GM_ARCH_SM90));
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.sharedMemBytes, (unsigned)kernel->smem_bytes);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 2 grids of 3 planes of 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_stencil_args args) {
    struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_7, 64, 10, 3);
    gm_plan *plan = NULL;
    p.grids = 2;
    p.x_row_stride = p.out_row_stride = 80;
    assert_ok(gm_stencil_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_stencil_execute(plan, &args, NULL);
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    struct gm_stencil_args args = good;
    assert_ok(execute(args));
    args.size = 23;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 23");
    args = good, args.x = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.x += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.out += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "out");
    args = good, args.out = ADDRESS_A + 16;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "x");
    args = good, args.out = ADDRESS_A;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "x");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_stencil_problem p = grid_of(GM_STENCIL_STAR_5, 8192, 8192, 1);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_stencil_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 8);
    gm_plan_destroy(plan);
}
END_TEST

/* However many other planes or columns there were. */
START_TEST(empty_grids_launch_nothing) {
    const struct gm_stencil_problem p[] = {grid_of(GM_STENCIL_STAR_7, 64, 64, 0),
                                           grid_of(GM_STENCIL_STAR_7, 0, 64, 1 << 30),
                                           grid_of(GM_STENCIL_STAR_5, 1 << 30, 0, 1)};
    const struct gm_stencil_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        assert_ok(gm_stencil(context, &p[i], &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *stencil_suite(void) {
    Suite *suite = suite_create("stencil");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, coefficients_of_taps_are_finite);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, grids_are_cut_into_as_many_marches_as_run_at_once);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_test(choices, more_marches_than_it_counts_are_refused);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, an_edge_is_an_index_before_and_one_behind);
    tcase_add_test(launches, out_is_stored_by_elements_where_it_is_not_aligned);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, empty_grids_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
