/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/reduce/params.h"
#include "gristmill/reduce.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/random.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_reduce_problem of(enum gm_reduce_along along, int64_t rows, int64_t columns) {
    return (struct gm_reduce_problem){
        .size = sizeof(struct gm_reduce_problem), .rows = rows, .columns = columns, .along = along};
}

static enum gm_status read_problem(const struct gm_reduce_problem *given, struct gm_reduce_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_reduce, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 3, 100), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_stride == 100 && read.x_align == 16 && read.fp32_out == 0);
    p.fp32_out = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.fp32_out, 1);
    p.type = GM_FP32; /* which it is anyway */
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.fp32_out, 0);
    p.type = GM_BF16, p.reduction = GM_REDUCTION_ARGMIN; /* of indices */
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.fp32_out, 0);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_reduce_problem, member), value, sizeof(((struct gm_reduce_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, (INT64_C(1) << 30) + 1, "columns is 1073741825; it must be 0 to 1073741824"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(along, 3, "along is 3; known values are 0 to 2"),
    BAD(reduction, 7, "reduction is 7; known values are 0 to 6"),
    BAD(fp32_out, 2, "fp32_out is 2; known values are 0 to 1"),
    BAD(x_stride, 63, "x_stride is 63; a row has 64 elements"),
    BAD(x_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(x_align, 3, "x_align is 3; it must be 16 (or 0), 8, 4 or 2"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_reduce_problem p = of(GM_REDUCE_ALL, 8, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(extremes_of_nothing_are_refused) {
    static const int64_t sizes[][2] = {{5, 0}, {0, 5}, {0, 0}};
    for (int along = GM_REDUCE_COLUMNS; along <= GM_REDUCE_ALL; along++)
        for (int reduction = GM_REDUCTION_SUM; reduction <= GM_REDUCTION_ARGMIN; reduction++) {
            const int64_t *size = sizes[along];
            struct gm_reduce_problem p = of((enum gm_reduce_along)along, size[0], size[1]), read;
            p.reduction = (enum gm_reduction)reduction;
            if (reduction <= GM_REDUCTION_MEAN || reduction == GM_REDUCTION_L2)
                assert_ok(read_problem(&p, &read));
            else
                assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "is of no elements, which have none");
        }
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 0, 5), read; /* no result */
    p.reduction = GM_REDUCTION_MAX;
    assert_ok(read_problem(&p, &read));
    p = of(GM_REDUCE_ROWS, 0, 5);
    p.reduction = GM_REDUCTION_MAX;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "max along rows of 0 rows and 5 columns");
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 16, 4096);
    char text[160];
    gm_problem_print(&gm_operation_reduce, &p, text, sizeof text);
    ck_assert_str_eq(text, "reduce bf16 same sum columns 16 4096");
    p.type = GM_FP16, p.along = GM_REDUCE_ALL, p.reduction = GM_REDUCTION_L2, p.fp32_out = 1;
    gm_problem_print(&gm_operation_reduce, &p, text, sizeof text);
    ck_assert_str_eq(text, "reduce fp16 fp32 l2 all 16 4096");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 10, 100);
    struct gm_work work = gm_operation_reduce.work(&p);
    ck_assert(work.flops == 1000 && work.least_bytes == 2000 + 10 * 2);
    p.along = GM_REDUCE_ROWS, p.reduction = GM_REDUCTION_L2, p.fp32_out = 1;
    work = gm_operation_reduce.work(&p);
    ck_assert(work.flops == 2000 && work.least_bytes == 2000 + 100 * 4);
    p.reduction = GM_REDUCTION_ARGMAX;
    ck_assert(gm_operation_reduce.work(&p).least_bytes == 2000 + 100 * 4);
    p.along = GM_REDUCE_ALL;
    ck_assert(gm_operation_reduce.work(&p).least_bytes == 2000 + 8);
}
END_TEST

START_TEST(random_numbers_differ) {
    uint64_t numbers[100];
    for (int i = 0; i < 100; i++) {
        numbers[i] = gm_random_number();
        ck_assert(numbers[i] != 0 && numbers[i] != UINT64_MAX);
        for (int j = 0; j < i; j++)
            ck_assert(numbers[i] != numbers[j]);
    }
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_reduce_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = GM_REDUCE_WORKSPACE_BYTES};
    struct explained all = explained_room();
    assert_ok(gm_reduce_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "reduce", said, bytes);
}

static int bytes_at_once(const struct gm_reduce_problem *p) {
    char said[1 << 14];
    return chosen(p, "h200", said, sizeof said)->columns[GM_REDUCE_VECTOR_BYTES];
}

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 16, 4096);
    char said[1 << 14];
    ck_assert_int_eq(bytes_at_once(&p), 16);
    p.x_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_REDUCE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x_align promises 8 bytes: it loads 16 at once"));
    p = of(GM_REDUCE_ROWS, 16, 4096);
    p.x_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_REDUCE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p.rows = 1; /* then nobody asks, */
    ck_assert_int_eq(bytes_at_once(&p), 16);
    p.along = GM_REDUCE_COLUMNS; /* unless the row is to be as it were among others */
    ck_assert_int_eq(bytes_at_once(&p), 2);
    p = of(GM_REDUCE_ALL, 16, 4099); /* packed: one row */
    ck_assert_int_eq(bytes_at_once(&p), 16);
    p.x_stride = 4104;
    ck_assert_int_eq(bytes_at_once(&p), 2);
}
END_TEST

/* The threads that share a row follow from its length alone. */
START_TEST(long_rows_have_more_threads) {
    char said[1 << 14];
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 64, 4097 * 8);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->threads, 1024);
    ck_assert_ptr_nonnull(strstr(said, "a row of 32776 columns is added up by 1024 threads; it has 256"));
    p.columns -= 8;
    ck_assert_ptr_nonnull(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_null(strstr(said, "is added up by"));
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const struct gm_reduce_args good = {.size = sizeof good,
                                           .x = ADDRESS_A,
                                           .out = ADDRESS_D,
                                           .workspace = ADDRESS_B,
                                           .workspace_bytes = GM_REDUCE_WORKSPACE_BYTES};

static gm_plan *plan_within(const struct gm_reduce_problem *p, size_t limit, const char *kernel) {
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = limit, .kernel = kernel};
    gm_plan *plan = NULL;
    assert_ok(gm_reduce_plan_create(context, p, &options, &plan));
    return plan;
}

static void execute_once(const gm_plan *plan) {
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_reduce_execute(plan, &good, NULL));
    ck_assert_int_eq(fake_calls(), 1);
}

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 1000, 512);
    p.x_stride = 1024, p.reduction = GM_REDUCTION_MIN;
    gm_plan *plan = plan_within(&p, 0, NULL);
    const struct gm_reduce_params *params = plan->params;
    ck_assert(params->pitch == 2048 && params->rows == 1000 && params->columns == 512 && params->chunks == 64);
    ck_assert(params->along == REDUCE_COLUMNS && params->keeps == REDUCE_LARGEST && params->sign == -1);
    ck_assert(params->finish == REDUCE_AS_IT_IS && params->stored_as == REDUCE_TO_TYPE);
    ck_assert(params->group == 16 && params->parts == 1 && params->ready != 0);
    const int in_cta = plan->kernel->threads / 16;
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)((1000 + in_cta - 1) / in_cta));
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    execute_once(plan);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(each_reduction_is_told) {
    static const struct {
        int keeps, finish, stored_as, stored_as_of_all;
    } told[] = {
        [GM_REDUCTION_SUM] = {REDUCE_SUMS, REDUCE_AS_IT_IS, REDUCE_TO_TYPE, REDUCE_TO_TYPE},
        [GM_REDUCTION_MEAN] = {REDUCE_SUMS, REDUCE_MEAN, REDUCE_TO_TYPE, REDUCE_TO_TYPE},
        [GM_REDUCTION_MAX] = {REDUCE_LARGEST, REDUCE_AS_IT_IS, REDUCE_TO_TYPE, REDUCE_TO_TYPE},
        [GM_REDUCTION_MIN] = {REDUCE_LARGEST, REDUCE_AS_IT_IS, REDUCE_TO_TYPE, REDUCE_TO_TYPE},
        [GM_REDUCTION_L2] = {REDUCE_SQUARES, REDUCE_ROOT, REDUCE_TO_TYPE, REDUCE_TO_TYPE},
        [GM_REDUCTION_ARGMAX] = {REDUCE_PLACE, REDUCE_AS_IT_IS, REDUCE_TO_INT32, REDUCE_TO_INT64},
        [GM_REDUCTION_ARGMIN] = {REDUCE_PLACE, REDUCE_AS_IT_IS, REDUCE_TO_INT32, REDUCE_TO_INT64},
    };
    for (int reduction = 0; reduction <= GM_REDUCTION_ARGMIN; reduction++)
        for (int along = 0; along <= GM_REDUCE_ALL; along++) {
            struct gm_reduce_problem p = of((enum gm_reduce_along)along, 10, 64);
            p.reduction = (enum gm_reduction)reduction;
            gm_plan *plan = plan_within(&p, 0, NULL);
            const struct gm_reduce_params *params = plan->params;
            ck_assert_int_eq(params->keeps, told[reduction].keeps);
            ck_assert_int_eq(params->finish, told[reduction].finish);
            ck_assert_int_eq(params->stored_as,
                             along == GM_REDUCE_ALL ? told[reduction].stored_as_of_all : told[reduction].stored_as);
            ck_assert_int_eq(params->sign == -1, reduction == GM_REDUCTION_MIN || reduction == GM_REDUCTION_ARGMIN);
            gm_plan_destroy(plan);
        }
    struct gm_reduce_problem p = of(GM_REDUCE_ROWS, 10, 64);
    p.fp32_out = 1;
    gm_plan *plan = plan_within(&p, 0, NULL);
    ck_assert_int_eq(((const struct gm_reduce_params *)plan->params)->stored_as, REDUCE_TO_FP32);
    gm_plan_destroy(plan);
}
END_TEST

/* All parts together are everything, all CTAs run at once, and slots and flags are what the workspace has. */
START_TEST(parts_fill_the_device_and_the_workspace) {
    const enum gm_reduce_along alongs[] = {GM_REDUCE_ROWS, GM_REDUCE_ALL};
    for (int i = 0; i < 2; i++) {
        const struct gm_reduce_problem p = of(alongs[i], 8192, 8192);
        gm_plan *plan = plan_within(&p, GM_REDUCE_WORKSPACE_BYTES, NULL);
        const struct gm_reduce_params *params = plan->params;
        const int64_t length = i ? INT64_C(8192) * 8192 / 8 : 8192, tiles = i ? 1 : 8192 / 256;
        const size_t slot = i ? 16 : 32 * 64;
        ck_assert_int_gt(params->parts, 1);
        ck_assert(params->part_size * params->parts >= length && params->part_size * (params->parts - 1) < length);
        ck_assert_uint_eq(plan->config.gridDimX, (unsigned)(tiles * params->parts));
        ck_assert_int_le(plan->config.gridDimX * (unsigned)plan->kernel->threads, 1024 * plan->device.sm_count);
        ck_assert_uint_eq(gm_plan_workspace_bytes(plan), (size_t)(tiles * params->parts) * (slot + 8));
        execute_once(plan);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(less_workspace_makes_fewer_parts) {
    const struct gm_reduce_problem p = of(GM_REDUCE_ALL, 8192, 8192);
    for (size_t limit = 0; limit < 1000; limit += 23) {
        gm_plan *plan = plan_within(&p, limit, NULL);
        ck_assert_uint_le(gm_plan_workspace_bytes(plan), limit);
        ck_assert_int_eq(((const struct gm_reduce_params *)plan->params)->parts > 1, limit >= 48);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(no_plan_asks_for_more_workspace_than_the_header_says) {
    const int64_t widths[] = {1, 8, 64, 2048, 8192, 65536, 1 << 20};
    for (int type = GM_BF16; type <= GM_FP32; type++)
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
            for (int offset = 0; offset < 2; offset++) {
                struct gm_reduce_problem p = of(GM_REDUCE_ROWS, 1 << 20, widths[i]);
                p.type = (enum gm_type)type;
                p.x_stride = p.columns + offset;
                gm_plan *plan = plan_within(&p, SIZE_MAX, NULL);
                ck_assert_uint_le(gm_plan_workspace_bytes(plan), GM_REDUCE_WORKSPACE_BYTES);
                gm_plan_destroy(plan);
            }
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_reduce)
            continue;
        struct gm_reduce_problem p = of(GM_REDUCE_ROWS, 1001, 64);
        p.type = kernel->type;
        gm_plan *plan = plan_within(&p, GM_REDUCE_WORKSPACE_BYTES, kernel->name);
        execute_once(plan);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 4096 rows of 64 bf16, 80 apart, along rows: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_reduce_args args) {
    struct gm_reduce_problem p = of(GM_REDUCE_ROWS, 4096, 64);
    p.x_stride = 80;
    gm_plan *plan = plan_within(&p, GM_REDUCE_WORKSPACE_BYTES, NULL);
    ck_assert_uint_gt(gm_plan_workspace_bytes(plan), 0);
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_reduce_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    struct gm_reduce_args args = good;
    assert_ok(execute(args));
    args.size = 47;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 47");
    args = good, args.x = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.x += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.out += 2; /* of bf16 */
    assert_ok(execute(args));
    args.out += 1;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "out");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
    args = good, args.out = ADDRESS_A + 160;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "x");
    args = good, args.workspace = 0;
    assert_fails(execute(args), GM_ERROR_WORKSPACE, "the plan needs");
    args = good, args.workspace_bytes = 100;
    assert_fails(execute(args), GM_ERROR_WORKSPACE, "the workspace has 100 bytes");
    args = good, args.workspace += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "the workspace is at");
    args = good, args.workspace = ADDRESS_D - 16;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "overlaps out");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    for (int along = GM_REDUCE_COLUMNS; along <= GM_REDUCE_ALL; along++) {
        const struct gm_reduce_problem p = of((enum gm_reduce_along)along, 100000, 4096);
        const struct gm_plan_options options = {
            .size = sizeof options, .sm_budget = 2, .workspace_limit = GM_REDUCE_WORKSPACE_BYTES};
        gm_plan *plan = NULL;
        assert_ok(gm_reduce_plan_create(context, &p, &options, &plan));
        ck_assert_uint_le(plan->config.gridDimX, 2 * 4);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(no_results_launch_nothing) {
    const struct gm_reduce_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    struct gm_reduce_problem p = of(GM_REDUCE_COLUMNS, 0, 64);
    assert_ok(gm_reduce(context, &p, &args, NULL));
    p = of(GM_REDUCE_ROWS, 64, 0);
    assert_ok(gm_reduce(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

/* x may be anywhere then. */
START_TEST(results_of_nothing_are_launched) {
    const struct gm_reduce_args args = {.size = sizeof args, .out = ADDRESS_D};
    const struct gm_reduce_problem problems[] = {of(GM_REDUCE_COLUMNS, 64, 0), of(GM_REDUCE_ROWS, 0, 64),
                                                 of(GM_REDUCE_ALL, 0, 64), of(GM_REDUCE_ALL, 64, 0)};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        fake_make_current(0);
        const int launches = fake.count[FAKE_cuLaunchKernelEx];
        assert_ok(gm_reduce(context, &problems[i], &args, NULL));
        ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches + 1);
    }
}
END_TEST

Suite *reduce_suite(void) {
    Suite *suite = suite_create("reduce");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, extremes_of_nothing_are_refused);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(problems, random_numbers_differ);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_test(choices, long_rows_have_more_threads);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, each_reduction_is_told);
    tcase_add_test(launches, parts_fill_the_device_and_the_workspace);
    tcase_add_test(launches, less_workspace_makes_fewer_parts);
    tcase_add_test(launches, no_plan_asks_for_more_workspace_than_the_header_says);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_results_launch_nothing);
    tcase_add_test(launches, results_of_nothing_are_launched);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
