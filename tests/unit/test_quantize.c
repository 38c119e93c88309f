/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisers on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/quantize/params.h"
#include "gristmill/quantize.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_quantize_problem rows_of(int64_t rows, int64_t columns, enum gm_scaling scaling) {
    return (struct gm_quantize_problem){
        .size = sizeof(struct gm_quantize_problem), .rows = rows, .columns = columns, .scaling = scaling};
}

static enum gm_status read_problem(const struct gm_quantize_problem *given, struct gm_quantize_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_quantize, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_e4m3_packed_and_aligned) {
    struct gm_quantize_problem p = rows_of(3, 300, GM_SCALE_GROUP), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.out_type == GM_E4M3 && read.group == 128 && read.scale_floor == 1e-10f / 448);
    ck_assert(read.x_stride == 300 && read.out_stride == 300 && read.scales_stride == 3);
    ck_assert(read.x_align == 16 && read.out_align == 16);
    p.scale_order = GM_SCALES_BY_COLUMN;
    p.group = 32;
    p.rows = 7;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.scales_stride == 7 && read.group == 32);
    p.scaling = GM_SCALE_BLOCK;
    p.rows = 129;
    p.scale_order = GM_SCALES_BY_ROW;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.scales_stride == 3 && read.group == 128 && read.scale_floor == 0x1p-126f);
    p.scale_order = GM_SCALES_BY_COLUMN;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.scales_stride == 2);
}
END_TEST

START_TEST(what_has_no_effect_is_forgotten) {
    struct gm_quantize_problem p = rows_of(3, 300, GM_SCALE_STATIC), read;
    p.scale_format = GM_SCALE_E8M0;
    p.scale_order = GM_SCALES_BY_COLUMN;
    p.scales_stride = 77;
    p.group = 64;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.scale_format == GM_SCALE_FP32 && read.scale_order == GM_SCALES_BY_ROW);
    ck_assert(read.scales_stride == 1 && read.group == 128);
    p.scaling = GM_SCALE_ROW;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.scale_format == GM_SCALE_E8M0 && read.scale_order == GM_SCALES_BY_ROW && read.scales_stride == 3);
    p.scaling = GM_SCALE_AMAX_ONLY;
    p.scale_format = GM_SCALE_POWER_OF_2;
    p.division = GM_DIVIDE_BY_RECIPROCAL;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.scale_format == GM_SCALE_POWER_OF_2 && read.division == GM_DIVIDE);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_quantize_problem, member), value, sizeof(((struct gm_quantize_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 536870912"),
    BAD(group, 16, "group is 16; it must be 128 (or 0), 64 or 32"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(out_type, 2, "out_type is 2; known values are 3 to 5"),
    BAD(scaling, 5, "scaling is 5; known values are 0 to 4"),
    BAD(scale_format, 3, "scale_format is 3"),
    BAD(scale_order, -1, "scale_order is -1"),
    BAD(division, 2, "division is 2"),
    BAD(x_stride, 63, "x_stride is 63; a row has 64 elements"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(x_align, 1, "x_align is 1; it must be 16 (or 0), 8, 4 or 2"),
    BAD(out_align, 3, "out_align is 3; it must be 16 (or 0), 8, 4, 2 or 1"),
    BAD(scale_floor, (int32_t)0xbf800000, "scale_floor is -1; it must be finite and 0 or more"),
    BAD(scale_floor, 0x7f800000, "scale_floor is inf"),
    BAD(scale_floor, 0x007fffff, "it must be 0 or 2^-126 and more"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_quantize_problem p = rows_of(8, 64, GM_SCALE_ROW), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(scales_have_sentences_of_their_own) {
    struct gm_quantize_problem p = rows_of(8, 300, GM_SCALE_GROUP), read;
    p.scales_stride = 2;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "scales_stride is 2; a row has 3 elements");
    p.scale_order = GM_SCALES_BY_COLUMN;
    p.scales_stride = 7;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "scales_stride is 7; a row has 8 elements");
    p = rows_of(8, 300, GM_SCALE_AMAX_ONLY);
    p.scale_format = GM_SCALE_E8M0;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "GM_SCALE_AMAX_ONLY has a float");
}
END_TEST

START_TEST(bytes_may_be_aligned_to_one) {
    struct gm_quantize_problem p = rows_of(8, 64, GM_SCALE_ROW), read;
    p.out_align = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.out_align, 1);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_quantize_problem p = rows_of(16, 4096, GM_SCALE_GROUP);
    char text[160];
    p.out_type = GM_E4M3, p.scale_format = GM_SCALE_E8M0, p.scale_order = GM_SCALES_BY_COLUMN;
    gm_problem_print(&gm_operation_quantize, &p, text, sizeof text);
    ck_assert_str_eq(text, "quantize bf16 e4m3 group e8m0 by_column 16 4096");
    p = rows_of(1, 100, GM_SCALE_STATIC);
    p.type = GM_FP32, p.out_type = GM_INT8;
    gm_problem_print(&gm_operation_quantize, &p, text, sizeof text);
    ck_assert_str_eq(text, "quantize fp32 int8 static fp32 by_row 1 100");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    static const double bytes_of_scales[] = {4, 4, 4 * 130, 4 * 130 * 3, 4 * 2 * 3};
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_BLOCK; scaling++) {
        struct gm_quantize_problem p = rows_of(130, 300, (enum gm_scaling)scaling);
        const struct gm_work work = gm_operation_quantize.work(&p);
        const double out = scaling == GM_SCALE_AMAX_ONLY ? 0 : 130 * 300;
        ck_assert(work.flops == 3 * 130 * 300);
        ck_assert(work.least_bytes == 2 * 130 * 300 + out + bytes_of_scales[scaling]);
    }
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_quantize_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_quantize_explain(&device, p, &options, all.candidates, all.count, &all.count));
    const struct gm_kernel *kernel = chosen_of(&all, "quantize", said, bytes);
    ck_assert_ptr_nonnull(kernel);
    return kernel;
}

START_TEST(who_shares_a_scale_chooses_the_kernel) {
    static const int shares[] = {GM_SHARE_chunks, GM_SHARE_chunks, GM_SHARE_row, GM_SHARE_chunks, GM_SHARE_block};
    char said[1 << 15];
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_BLOCK; scaling++)
        for (int type = GM_BF16; type <= GM_FP32; type++) {
            struct gm_quantize_problem p = rows_of(64, 4096, (enum gm_scaling)scaling);
            p.type = (enum gm_type)type;
            const struct gm_kernel *kernel = chosen(&p, "h200", said, sizeof said);
            ck_assert_int_eq(kernel->columns[GM_QUANTIZE_SHARE], shares[scaling]);
            ck_assert_int_eq(kernel->columns[GM_QUANTIZE_VECTOR_BYTES], 16);
            ck_assert_int_eq(kernel->arch, GM_ARCH_SM90);
            ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
        }
    ck_assert_ptr_nonnull(strstr(said, "it takes rows"));
    ck_assert_ptr_nonnull(strstr(said, "it takes chunks, for scales of groups or of all"));
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    struct gm_quantize_problem p = rows_of(64, 4096, GM_SCALE_ROW);
    chosen(&p, "h200", said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "it takes blocks"));
}
END_TEST

START_TEST(many_elements_take_as_many_chunks_of_a_thread_as_dram_wants) {
    char said[1 << 15];
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_GROUP; scaling++) {
        struct gm_quantize_problem few = rows_of(1, 4096, (enum gm_scaling)scaling);
        struct gm_quantize_problem many = rows_of(16384, 4096, (enum gm_scaling)scaling);
        const struct gm_kernel *one = chosen(&few, "h200", said, sizeof said);
        const struct gm_kernel *other = chosen(&many, "h200", said, sizeof said);
        ck_assert_int_lt(one->columns[GM_QUANTIZE_VECTORS], other->columns[GM_QUANTIZE_VECTORS]);
    }
    struct gm_quantize_problem wide = rows_of(8192, 14336, GM_SCALE_ROW);
    ck_assert_int_eq(chosen(&wide, "h200", said, sizeof said)->columns[GM_QUANTIZE_VECTORS], 8);
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_quantize_problem p = rows_of(16, 4096, GM_SCALE_ROW);
    char said[1 << 15];
#define BY(...) chosen(&p, "h200", said, sizeof said)->columns[GM_QUANTIZE_VECTOR_BYTES]
    p.x_align = 8;
    ck_assert_int_eq(BY(), 2);
    ck_assert_ptr_nonnull(strstr(said, "x_align promises 8 bytes: it loads 16 at once"));
    p = rows_of(16, 4096, GM_SCALE_ROW);
    p.out_align = 4;
    ck_assert_int_eq(BY(), 2);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 4 bytes: it loads 8 at once"));
    p.scaling = GM_SCALE_AMAX_ONLY; /* then nobody asks */
    ck_assert_int_eq(BY(), 16);
    p = rows_of(16, 4096, GM_SCALE_ROW);
    p.x_stride = 4100;
    ck_assert_int_eq(BY(), 2);
    ck_assert_ptr_nonnull(strstr(said, "x_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p.rows = 1; /* then there is no stride */
    ck_assert_int_eq(BY(), 16);
    p = rows_of(16, 4100, GM_SCALE_ROW);
    ck_assert_int_eq(BY(), 2);
    ck_assert_ptr_nonnull(strstr(said, "4100 columns are no multiple of the 8"));
    p = rows_of(16, 4096, GM_SCALE_BLOCK);
    p.out_align = 8;
    ck_assert_int_eq(BY(), 16);
    p.out_stride = 4100;
    ck_assert_int_eq(BY(), 2);
    ck_assert_ptr_nonnull(strstr(said, "out_stride 4100 x 1 B = 4100 B is not a multiple of the 8"));
#undef BY
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static void check_told(const struct gm_quantize_params *params, const struct gm_kernel *kernel, unsigned grid) {
    const int tile = kernel->threads * kernel->columns[GM_QUANTIZE_VECTORS];
    ck_assert(params->x_pitch == 1024 && params->out_pitch == 520 && params->rows == 10 && params->columns == 300);
    ck_assert(params->row_units.divisor == 5 * 8 && params->slab_rows == 10 && params->span_shift == 3);
    ck_assert(params->scale_down == 1 && params->scale_across == 12);
    ck_assert(params->scaling == SCALE_GROUP && params->scale_format == SCALE_E8M0);
    ck_assert(params->out_type == GM_E5M2 && params->by_reciprocal == 1);
    ck_assert(params->limit == 57344 && params->one_by_limit == 1 / 57344.0f && params->scale_floor == 0.5f);
    ck_assert_uint_eq(grid, (unsigned)((400 + tile - 1) / tile));
}

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_quantize_problem p = rows_of(10, 300, GM_SCALE_GROUP);
    const struct gm_quantize_args args = {
        .size = sizeof args, .x = ADDRESS_A, .out = ADDRESS_D, .scales = ADDRESS_B, .row_count = ADDRESS_C};
    gm_plan *plan = NULL;
    p.group = 64, p.x_stride = 512, p.out_stride = 520, p.scales_stride = 12, p.scale_floor = 0.5f;
    p.out_type = GM_E5M2, p.scale_format = GM_SCALE_E8M0, p.scale_order = GM_SCALES_BY_COLUMN;
    p.division = GM_DIVIDE_BY_RECIPROCAL;
    assert_ok(gm_quantize_plan_create(context, &p, NULL, &plan));
    check_told((const struct gm_quantize_params *)plan->params, plan->kernel, plan->config.gridDimX);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_quantize_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(scales_have_a_place_for_every_row_or_block) {
    struct gm_quantize_problem p = rows_of(300, 520, GM_SCALE_BLOCK);
    gm_plan *plan = NULL;
    p.scales_stride = 9;
    assert_ok(gm_quantize_plan_create(context, &p, NULL, &plan));
    const struct gm_quantize_params *params = plan->params;
    ck_assert(params->scale_down == 36 && params->scale_across == 4);
    ck_assert(params->row_units.divisor == 5 && params->slab_rows == 3 && plan->config.gridDimX == 15);
    gm_plan_destroy(plan);
    p.scaling = GM_SCALE_ROW;
    assert_ok(gm_quantize_plan_create(context, &p, NULL, &plan));
    params = plan->params;
    ck_assert(params->scale_down == 4 && plan->config.gridDimX == 300);
    gm_plan_destroy(plan);
}
END_TEST

/* Chunks, and blocks, of a slab are numbered with 31 bits. */
START_TEST(large_problems_come_in_slabs) {
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_BLOCK; scaling++) {
        struct gm_quantize_problem p = rows_of(INT32_MAX, 1 << 20, (enum gm_scaling)scaling);
        gm_plan *plan = NULL;
        assert_ok(gm_quantize_plan_create(context, &p, NULL, &plan));
        const struct gm_quantize_params *params = plan->params;
        const int64_t units = (int64_t)params->slab_rows * params->row_units.divisor;
        ck_assert(units <= INT32_MAX && units > INT32_MAX - (1 << 17));
        ck_assert_uint_le(plan->config.gridDimX, INT32_MAX);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    static const enum gm_scaling scalings[] = {GM_SCALE_STATIC, GM_SCALE_ROW, GM_SCALE_BLOCK};
    const struct gm_quantize_args args = {.size = sizeof args, .x = ADDRESS_A, .out = ADDRESS_D, .scales = ADDRESS_B};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_quantize)
            continue;
        struct gm_quantize_problem p = rows_of(1001, 64, scalings[kernel->columns[GM_QUANTIZE_SHARE]]);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_quantize_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_quantize_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.sharedMemBytes, (unsigned)kernel->threads / 32 * 8);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_quantize_args args, enum gm_scaling scaling) {
    struct gm_quantize_problem p = rows_of(10, 64, scaling);
    gm_plan *plan = NULL;
    p.x_stride = p.out_stride = 80;
    assert_ok(gm_quantize_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_quantize_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_quantize_args good = {.size = sizeof good, .x = ADDRESS_A, .out = ADDRESS_D, .scales = ADDRESS_B};
    struct gm_quantize_args args = good;
    args.size = 39;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_SIZE, "args.size is 39");
    args = good, args.x = 0;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.scales = 0;
    assert_fails(execute(args, GM_SCALE_STATIC), GM_ERROR_INVALID_ARGUMENT, "scales is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    assert_ok(execute(args, GM_SCALE_AMAX_ONLY));
    args = good, args.x += 8;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.scales += 2;
    assert_fails(execute(args, GM_SCALE_BLOCK), GM_ERROR_MISALIGNED, "scales");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_OVERLAP, "row_count");
    args = good, args.out = ADDRESS_A;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_OVERLAP, "x");
    args = good, args.scales = ADDRESS_A;
    assert_fails(execute(args, GM_SCALE_ROW), GM_ERROR_OVERLAP, "scales");
    assert_ok(execute(args, GM_SCALE_STATIC)); /* both are read */
    args = good, args.scales = ADDRESS_D;
    assert_fails(execute(args, GM_SCALE_STATIC), GM_ERROR_OVERLAP, "scales");
}
END_TEST

/* All SMs at once, where the plan may use some, or where CTAs add their maximum to one number. */
START_TEST(a_budget_of_sms_limits_the_grid) {
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_BLOCK; scaling++) {
        const struct gm_quantize_problem p = rows_of(100000, 4096, (enum gm_scaling)scaling);
        const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
        gm_plan *plan = NULL;
        assert_ok(gm_quantize_plan_create(context, &p, &options, &plan));
        ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
        gm_plan_destroy(plan);
        assert_ok(gm_quantize_plan_create(context, &p, NULL, &plan));
        ck_assert_int_eq(plan->config.gridDimX <= 16u * (unsigned)context->device.sm_count,
                         scaling == GM_SCALE_AMAX_ONLY);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_quantize_problem p = rows_of(0, 64, GM_SCALE_BLOCK);
    const struct gm_quantize_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_quantize(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *quantize_suite(void) {
    Suite *suite = suite_create("quantize");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_e4m3_packed_and_aligned);
    tcase_add_test(problems, what_has_no_effect_is_forgotten);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, scales_have_sentences_of_their_own);
    tcase_add_test(problems, bytes_may_be_aligned_to_one);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, who_shares_a_scale_chooses_the_kernel);
    tcase_add_test(choices, many_elements_take_as_many_chunks_of_a_thread_as_dram_wants);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, scales_have_a_place_for_every_row_or_block);
    tcase_add_test(launches, large_problems_come_in_slabs);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_rows_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
