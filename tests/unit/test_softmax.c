/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/softmax/params.h"
#include "gristmill/softmax.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_softmax_problem rows_of(int64_t rows, int64_t columns) {
    return (struct gm_softmax_problem){.size = sizeof(struct gm_softmax_problem), .rows = rows, .columns = columns};
}

static enum gm_status read_problem(const struct gm_softmax_problem *given, struct gm_softmax_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_softmax, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_softmax_problem p = rows_of(3, 100), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.x_stride == 100 && read.out_stride == 100 && read.x_align == 16 && read.out_align == 16);
    ck_assert(read.temperature == 1 && read.cap == 0 && read.fp32_out == 0 && read.log == 0);
    p.fp32_out = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.fp32_out, 1);
    p.type = GM_FP32; /* it is that anyway */
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
    {offsetof(struct gm_softmax_problem, member), value, sizeof(((struct gm_softmax_problem *)0)->member), words}
    BAD(rows, -1, "rows is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 1073741824"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(fp32_out, 2, "fp32_out is 2"),
    BAD(log, -1, "log is -1"),
    BAD(cap, (int32_t)0xbf800000, "cap is -1; it must be finite and 0 or more"),
    BAD(cap, 0x7f800000, "cap is inf"),
    BAD(temperature, 0x7fc00000, "temperature is nan; it must be finite and 0 or more"),
    BAD(temperature, (int32_t)0xbf800000, "temperature is -1"),
    BAD(x_stride, 63, "x_stride is 63; a row has 64 elements"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(x_align, 3, "x_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(out_align, 32, "out_align is 32"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_softmax_problem p = rows_of(8, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_softmax_problem p = rows_of(16, 4096);
    char text[160];
    gm_problem_print(&gm_operation_softmax, &p, text, sizeof text);
    ck_assert_str_eq(text, "softmax bf16 same plain 0 16 4096");
    p.type = GM_FP16, p.fp32_out = 1, p.log = 1, p.cap = 29.5f;
    gm_problem_print(&gm_operation_softmax, &p, text, sizeof text);
    ck_assert_str_eq(text, "softmax fp16 fp32 log 29.5 16 4096");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_softmax_problem p = rows_of(10, 100);
    struct gm_work work = gm_operation_softmax.work(&p);
    ck_assert(work.flops == 6000 && work.least_bytes == 2 * 2000);
    p.cap = 30, p.fp32_out = 1;
    work = gm_operation_softmax.work(&p);
    ck_assert(work.flops == 14000 && work.least_bytes == 2000 + 4000);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_softmax_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_softmax_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "softmax", said, bytes);
}

static int column_of(const struct gm_softmax_problem *p, const char *model, int column) {
    char said[1 << 15];
    return chosen(p, model, said, sizeof said)->columns[column];
}

START_TEST(many_rows_take_fewer_threads_a_row_than_a_few) {
    const struct gm_softmax_problem few = rows_of(1, 4096), many = rows_of(16384, 4096);
    char said[1 << 15];
    ck_assert_int_gt(column_of(&few, "h200", GM_SOFTMAX_THREADS), column_of(&many, "h200", GM_SOFTMAX_THREADS));
    ck_assert_int_eq(chosen(&many, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&many, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
}
END_TEST

START_TEST(long_rows_are_shared_by_a_cluster_and_read_once) {
    const struct gm_softmax_problem longer = rows_of(512, 262144), longest = rows_of(512, 1 << 20);
    char said[1 << 15];
    ck_assert_int_eq(column_of(&longer, "h200", GM_SOFTMAX_ROW_CTAS), 8);
    ck_assert_int_eq(column_of(&longer, "h200", GM_SOFTMAX_PASSES), 1);
    ck_assert_int_eq(column_of(&longest, "h200", GM_SOFTMAX_PASSES), 3);
    ck_assert_int_eq(column_of(&longer, "a100", GM_SOFTMAX_PASSES), 3);
    chosen(&longest, "h200", said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "1048576 columns: its registers hold 262144"));
}
END_TEST

START_TEST(a_cap_goes_where_it_is) {
    struct gm_softmax_problem p = rows_of(4096, 16384);
    char said[1 << 15];
    p.cap = 30;
    ck_assert_int_le(column_of(&p, "h200", GM_SOFTMAX_VECTORS), 4);
    chosen(&p, "h200", said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "a cap: variants of 64 elements a thread have none"));
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_softmax_problem p = rows_of(16, 4096);
    char said[1 << 15];
    p.x_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_SOFTMAX_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x_align promises 8 bytes: it loads 16 at once"));
    p = rows_of(16, 4096);
    p.out_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_SOFTMAX_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p.fp32_out = 1;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_SOFTMAX_VECTOR_BYTES], 16);
    p = rows_of(1, 4096);
    p.out_stride = 4100; /* of one row */
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_SOFTMAX_VECTOR_BYTES], 16);
    p = rows_of(16, 4099);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_SOFTMAX_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "x has 4099 columns x 2 B = 8198 B, which is not a multiple of the 16"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_softmax_problem p = rows_of(10, 512);
    const struct gm_softmax_args args = {.size = sizeof args,
                                         .x = ADDRESS_A,
                                         .out = ADDRESS_D,
                                         .lse = ADDRESS_B,
                                         .temperatures = ADDRESS_C,
                                         .row_count = ADDRESS_BIAS};
    gm_plan *plan = NULL;
    p.x_stride = 1024, p.fp32_out = 1, p.log = 1, p.cap = 2, p.temperature = 0.5f;
    assert_ok(gm_softmax_plan_create(context, &p, NULL, &plan));
    const struct gm_softmax_params *params = plan->params;
    ck_assert(params->x_pitch == 2048 && params->out_pitch == 2048 && params->rows == 10 && params->columns == 512);
    ck_assert(params->cap == 2 && params->cap_exponent == -2.88539008f / 2 && params->temperature == 0.5f);
    ck_assert_int_eq(params->flags, GM_SOFTMAX_LOG | GM_SOFTMAX_WIDE_OUT | GM_SOFTMAX_CAPPED);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_softmax_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

/* A grid has fewer than 2^31 CTAs. */
START_TEST(a_grid_of_clusters_is_no_larger_than_a_grid_may_be) {
    const struct gm_plan_options options = {.size = sizeof options,
                                            .kernel = "softmax_sm90_bf16_t256_r256_c8_v8x16_p1"};
    const struct gm_softmax_problem p = rows_of(INT32_MAX, 131072);
    gm_plan *plan = NULL;
    assert_ok(gm_softmax_plan_create(context, &p, &options, &plan));
    ck_assert_uint_eq(plan->config.gridDimX, INT32_MAX / 8 * 8u);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_softmax_args args = {.size = sizeof args, .x = ADDRESS_A, .out = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_softmax)
            continue;
        struct gm_softmax_problem p = rows_of(1001, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        const int together = kernel->threads / kernel->columns[GM_SOFTMAX_ROW_THREADS];
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_softmax_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_softmax_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.gridDimX,
                          (unsigned)((1000 / together + 1) * kernel->columns[GM_SOFTMAX_ROW_CTAS]));
        ck_assert_uint_eq(fake.launch.config.numAttrs, (kernel->arch == GM_ARCH_SM90) + (kernel->cluster_ctas > 1));
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_softmax_args args, int fp32_out) {
    struct gm_softmax_problem p = rows_of(10, 64);
    gm_plan *plan = NULL;
    p.fp32_out = fp32_out;
    p.x_stride = p.out_stride = 80;
    assert_ok(gm_softmax_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_softmax_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_softmax_args good = {.size = sizeof good, .x = ADDRESS_A, .out = ADDRESS_D};
    struct gm_softmax_args args = good;
    args.size = 47;
    assert_fails(execute(args, 0), GM_ERROR_SIZE, "args.size is 47");
    args = good, args.x = 0;
    assert_fails(execute(args, 0), GM_ERROR_INVALID_ARGUMENT, "x is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args, 0), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.x += 8;
    assert_fails(execute(args, 0), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.lse = ADDRESS_B + 2;
    assert_fails(execute(args, 0), GM_ERROR_MISALIGNED, "lse");
    args = good, args.temperatures = ADDRESS_B + 2;
    assert_fails(execute(args, 0), GM_ERROR_MISALIGNED, "temperatures");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args, 0), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.lse = ADDRESS_D;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "lse");
    args = good, args.lse = args.temperatures = ADDRESS_B;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "temperatures");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "row_count");
    args = good, args.out = ADDRESS_A;
    assert_ok(execute(args, 0));
    assert_fails(execute(args, 1), GM_ERROR_OVERLAP, "out");
    args = good, args.out = ADDRESS_A + 16;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "only x = out with the same rows and row stride may");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_softmax_problem p = rows_of(100000, 4096), wide = rows_of(1000, 262144);
    struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_softmax_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
    assert_ok(gm_softmax_plan_create(context, &wide, &options, &plan)); /* no cluster of 8 */
    ck_assert_int_eq(plan->kernel->columns[GM_SOFTMAX_PASSES], 3);
    gm_plan_destroy(plan);
    options.sm_budget = 16;
    assert_ok(gm_softmax_plan_create(context, &wide, &options, &plan));
    ck_assert(plan->config.gridDimX <= 16 * 2 && plan->config.gridDimX % plan->kernel->cluster_ctas == 0);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_rows_launch_nothing) {
    const struct gm_softmax_problem p = rows_of(0, 64);
    const struct gm_softmax_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_softmax(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *softmax_suite(void) {
    Suite *suite = suite_create("softmax");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, many_rows_take_fewer_threads_a_row_than_a_few);
    tcase_add_test(choices, long_rows_are_shared_by_a_cluster_and_read_once);
    tcase_add_test(choices, a_cap_goes_where_it_is);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, a_grid_of_clusters_is_no_larger_than_a_grid_may_be);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_rows_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
