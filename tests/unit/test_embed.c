/* SPDX-License-Identifier: Apache-2.0 */
/* embed on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/embed/params.h"
#include "gristmill/embed.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_embed_problem tokens_of(int64_t tokens, int64_t columns) {
    return (struct gm_embed_problem){
        .size = sizeof(struct gm_embed_problem), .tokens = tokens, .columns = columns, .vocabulary = 1000};
}

static enum gm_status read_problem(const struct gm_embed_problem *given, struct gm_embed_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_embed, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_aligned_and_no_scale) {
    const struct gm_embed_problem p = tokens_of(3, 100);
    struct gm_embed_problem read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.table_stride == 100 && read.out_stride == 100 && read.scale == 1);
    ck_assert(read.table_align == 16 && read.out_align == 16);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_embed_problem, member), value, sizeof(((struct gm_embed_problem *)0)->member), words}
    BAD(tokens, -1, "tokens is -1; it must be 0 to 2147483647"),
    BAD(columns, 0, "columns is 0; it must be 1 to 536870912"),
    BAD(vocabulary, 0, "vocabulary is 0; it must be 1 to 2147483647"),
    BAD(vocabulary, INT64_C(1) << 31, "vocabulary is 2147483648"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(int64_ids, 2, "int64_ids is 2; known values are 0 to 1"),
    BAD(scale, (int32_t)0xbf800000, "scale is -1; it must be finite and 0 or more"),
    BAD(scale, 0x7fc00000, "scale is nan"),
    BAD(table_stride, 63, "table_stride is 63; a row has 64 elements"),
    BAD(out_stride, INT64_C(1) << 62, "exceed 2^63 bytes"),
    BAD(table_align, 3, "table_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(out_align, 32, "out_align is 32"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_embed_problem p = tokens_of(8, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_embed_problem p = tokens_of(16, 4096);
    char text[160];
    gm_problem_print(&gm_operation_embed, &p, text, sizeof text);
    ck_assert_str_eq(text, "embed bf16 int32 16 4096 1000");
    p.type = GM_FP32, p.int64_ids = 1;
    gm_problem_print(&gm_operation_embed, &p, text, sizeof text);
    ck_assert_str_eq(text, "embed fp32 int64 16 4096 1000");
}
END_TEST

/* A row of the table is read once at least, however many tokens want it. */
START_TEST(bytes_and_operations_are_counted) {
    struct gm_embed_problem p = tokens_of(10, 100);
    p.scale = 1;
    struct gm_work work = gm_operation_embed.work(&p);
    ck_assert(work.flops == 0 && work.least_bytes == 2 * 2000 + 40);
    p.scale = 2, p.vocabulary = 4, p.int64_ids = 1;
    work = gm_operation_embed.work(&p);
    ck_assert(work.flops == 1000 && work.least_bytes == 2000 + 800 + 80);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_embed_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_embed_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "embed", said, bytes);
}

START_TEST(many_tokens_take_as_many_chunks_of_a_thread_as_dram_wants) {
    char said[1 << 14];
    const struct gm_embed_problem few = tokens_of(1, 4096), many = tokens_of(8192, 8192);
    ck_assert_int_eq(chosen(&few, "h200", said, sizeof said)->columns[GM_EMBED_VECTORS], 1);
    ck_assert_int_eq(chosen(&many, "h200", said, sizeof said)->columns[GM_EMBED_VECTORS], 4);
    ck_assert_int_eq(chosen(&many, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&many, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_embed_problem p = tokens_of(16, 4096);
    char said[1 << 14];
    p.table_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_EMBED_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "table_align promises 8 bytes: it loads 16 at once"));
    p = tokens_of(16, 4096);
    p.out_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_EMBED_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p = tokens_of(1, 4096);
    p.out_stride = 4100; /* of one row */
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_EMBED_VECTOR_BYTES], 16);
    p = tokens_of(16, 4099);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_EMBED_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out has 4099 columns x 2 B = 8198 B, which is not a multiple of the 16"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_embed_problem p = tokens_of(10, 512);
    const struct gm_embed_args args = {
        .size = sizeof args, .ids = ADDRESS_A, .table = ADDRESS_B, .out = ADDRESS_D, .row_count = ADDRESS_C};
    gm_plan *plan = NULL;
    p.table_stride = 1024;
    p.int64_ids = 1;
    p.scale = 2;
    assert_ok(gm_embed_plan_create(context, &p, NULL, &plan));
    const struct gm_embed_params *params = plan->params;
    ck_assert(params->table_pitch == 2048 && params->out_pitch == 1024 && params->tokens == 10);
    ck_assert(params->row_chunks.divisor == 64 && params->slab_rows == 10 && params->vocabulary == 1000);
    ck_assert(params->int64_ids == 1 && params->has_scale == 1 && params->scale == 2);
    const int tile = plan->kernel->threads * plan->kernel->columns[GM_EMBED_VECTORS];
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)((640 + tile - 1) / tile));
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_embed_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

/* Chunks of a slab are numbered with 31 bits. */
START_TEST(large_problems_come_in_slabs) {
    const struct gm_embed_problem p = tokens_of(INT32_MAX, 4096);
    gm_plan *plan = NULL;
    assert_ok(gm_embed_plan_create(context, &p, NULL, &plan));
    const struct gm_embed_params *params = plan->params;
    const int64_t chunks = (int64_t)params->slab_rows * params->row_chunks.divisor;
    ck_assert(chunks <= INT32_MAX && chunks > INT32_MAX - 512);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_embed_args args = {.size = sizeof args, .ids = ADDRESS_A, .table = ADDRESS_B, .out = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_embed)
            continue;
        struct gm_embed_problem p = tokens_of(1001, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_embed_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_embed_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 rows of 64 bf16, 80 apart: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_embed_args args, int int64_ids) {
    struct gm_embed_problem p = tokens_of(10, 64);
    gm_plan *plan = NULL;
    p.table_stride = p.out_stride = 80;
    p.int64_ids = int64_ids;
    assert_ok(gm_embed_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_embed_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_embed_args good = {.size = sizeof good, .ids = ADDRESS_A, .table = ADDRESS_B, .out = ADDRESS_D};
    struct gm_embed_args args = good;
    args.size = 47;
    assert_fails(execute(args, 0), GM_ERROR_SIZE, "args.size is 47");
    args = good, args.ids = 0;
    assert_fails(execute(args, 0), GM_ERROR_INVALID_ARGUMENT, "ids is NULL");
    args = good, args.table = 0;
    assert_fails(execute(args, 0), GM_ERROR_INVALID_ARGUMENT, "table is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args, 0), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.ids += 4;
    assert_ok(execute(args, 0));
    assert_fails(execute(args, 1), GM_ERROR_MISALIGNED, "ids is 0x100000000004, not a multiple of 8 bytes");
    args = good, args.table += 8;
    assert_fails(execute(args, 0), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args, 0), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.error_flag = ADDRESS_C + 2;
    assert_fails(execute(args, 0), GM_ERROR_MISALIGNED, "error_flag");
    args = good, args.error_flag = args.row_count = ADDRESS_C;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "error_flag");
    args = good, args.error_flag = ADDRESS_D;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "error_flag");
    args = good, args.out = ADDRESS_B;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "table");
    args = good, args.out = ADDRESS_A - 16;
    assert_fails(execute(args, 0), GM_ERROR_OVERLAP, "ids");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_embed_problem p = tokens_of(100000, 4096);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_embed_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_tokens_launch_nothing) {
    const struct gm_embed_problem p = tokens_of(0, 64);
    const struct gm_embed_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_embed(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *embed_suite(void) {
    Suite *suite = suite_create("embed");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_aligned_and_no_scale);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, many_tokens_take_as_many_chunks_of_a_thread_as_dram_wants);
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
