/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is
 * told. */
#include "common/attention_merge/params.h"
#include "gristmill/attention_merge.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <string.h>

static struct gm_attention_merge_problem heads_of(int64_t tokens, int64_t heads, int64_t head_dim) {
    return (struct gm_attention_merge_problem){
        .size = sizeof(struct gm_attention_merge_problem), .tokens = tokens, .heads = heads, .head_dim = head_dim};
}

static enum gm_status read_problem(const struct gm_attention_merge_problem *given,
                                   struct gm_attention_merge_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_attention_merge, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    const struct gm_attention_merge_problem p = heads_of(3, 5, 100);
    struct gm_attention_merge_problem read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.a_token_stride == 500 && read.a_head_stride == 100 && read.out_token_stride == 500);
    ck_assert(read.lse_a_token_stride == 5 && read.lse_a_head_stride == 1 && read.lse_token_stride == 5);
    ck_assert(read.a_align == 16 && read.b_align == 16 && read.out_align == 16);
    ck_assert(read.has_out_type == 0 && read.out_type == GM_BF16);
}
END_TEST

START_TEST(the_same_type_is_no_other_one) {
    struct gm_attention_merge_problem p = heads_of(3, 5, 100), read;
    p.type = p.out_type = GM_FP16;
    p.has_out_type = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.has_out_type == 0 && read.out_type == GM_FP16);
    p.out_type = GM_FP32;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.has_out_type == 1 && read.out_type == GM_FP32);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_attention_merge_problem, member), value,                                                       \
     sizeof(((struct gm_attention_merge_problem *)0)->member), words}
    BAD(tokens, -1, "tokens is -1; it must be 0 to 2147483647"),
    BAD(heads, 65537, "heads is 65537; it must be 0 to 65536"),
    BAD(head_dim, 0, "head_dim is 0; it must be 1 to 512"),
    BAD(head_dim, 513, "head_dim is 513"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(has_out_type, 2, "has_out_type is 2"),
    BAD(a_head_stride, 63, "a_head_stride is 63; what lies within it has 64 elements"),
    BAD(b_token_stride, -1, "b_token_stride is -1; it must be 0 or more"),
    BAD(out_token_stride, 100, "out_token_stride is 100; what lies within it has 256 elements"),
    BAD(lse_a_token_stride, 3, "lse_a_token_stride is 3; what lies within it has 4 elements"),
    BAD(lse_b_head_stride, INT64_C(1) << 62, "lse_b_head_stride is 4611686018427387904; 4 of it exceed 2^63 bytes"),
    BAD(lse_token_stride, -2, "lse_token_stride is -2"),
    BAD(a_align, 3, "a_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(b_align, 1, "b_align is 1"),
    BAD(out_align, 32, "out_align is 32"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_attention_merge_problem p = heads_of(8, 4, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(a_bad_type_of_out_has_its_sentence) {
    struct gm_attention_merge_problem p = heads_of(8, 4, 64), read;
    p.has_out_type = 1;
    p.out_type = GM_E4M3;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "out_type is 3; known values are 0 to 2");
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_attention_merge_problem p = heads_of(16, 32, 128);
    char text[160];
    gm_problem_print(&gm_operation_attention_merge, &p, text, sizeof text);
    ck_assert_str_eq(text, "attention_merge bf16 same 16 32 128");
    p.has_out_type = 1;
    p.out_type = GM_FP32;
    gm_problem_print(&gm_operation_attention_merge, &p, text, sizeof text);
    ck_assert_str_eq(text, "attention_merge bf16 fp32 16 32 128");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_attention_merge_problem p = heads_of(10, 4, 100);
    struct gm_work work = gm_operation_attention_merge.work(&p);
    ck_assert(work.flops == 12000 && work.least_bytes == 40 * (3 * 200 + 12));
    p.has_out_type = 1;
    p.out_type = GM_FP32;
    work = gm_operation_attention_merge.work(&p);
    ck_assert(work.least_bytes == 40 * (4 * 200 + 12));
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_attention_merge_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_attention_merge_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "attention_merge", said, bytes);
}

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_attention_merge_problem p = heads_of(16, 32, 128);
    char said[1 << 14];
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_MERGE_VECTOR_BYTES], 16);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&p, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "predicted "));
    p.a_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_MERGE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "a_align promises 8 bytes: it loads 16 at once"));
    p = heads_of(16, 32, 128);
    p.b_token_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_MERGE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "b_token_stride 4100 x 2 B = 8200 B is not a multiple of the 16"));
    p = heads_of(16, 32, 99);
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_MERGE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "a has 99 columns x 2 B = 198 B, which is not a multiple of the 16"));
}
END_TEST

/* A chunk of 4 fp32 is 8 bytes of a narrow out, and one of 8 halves two stores of a wide one. */
START_TEST(outs_alignment_is_that_of_its_chunks) {
    struct gm_attention_merge_problem p = heads_of(16, 32, 128);
    char said[1 << 14];
    p.type = GM_FP32;
    p.has_out_type = 1;
    p.out_align = 8;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_MERGE_VECTOR_BYTES], 16);
    p.type = GM_BF16;
    p.out_type = GM_FP32;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_MERGE_VECTOR_BYTES], 2);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 8 bytes"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_attention_merge_problem p = heads_of(10, 4, 192);
    const struct gm_attention_merge_args args = {.size = sizeof args,
                                                 .a = ADDRESS_A,
                                                 .b = ADDRESS_B,
                                                 .lse_a = ADDRESS_C,
                                                 .lse_b = ADDRESS_C + 4096,
                                                 .out = ADDRESS_D};
    gm_plan *plan = NULL;
    p.a_head_stride = 256;
    p.lse_b_token_stride = 1;
    p.lse_b_head_stride = 10;
    assert_ok(gm_attention_merge_plan_create(context, &p, NULL, &plan));
    const struct gm_attention_merge_params *params = plan->params;
    ck_assert(params->a.token == 2048 && params->a.head == 512 && params->b.token == 1536 && params->b.head == 384);
    ck_assert(params->lse_a.token == 16 && params->lse_a.head == 4);
    ck_assert(params->lse_b.token == 4 && params->lse_b.head == 40);
    ck_assert(params->tokens == 10 && params->slab_tokens == 10 && params->heads.divisor == 4);
    ck_assert(params->head_chunks == 24 && params->lanes_log2 == 5 && params->parts == 1 &&
              params->out_type == GM_BF16);
    const int tokens = plan->kernel->columns[GM_ATTENTION_MERGE_TOKENS], groups = plan->kernel->threads / 32;
    ck_assert_uint_eq(plan->config.gridDimX, (unsigned)(((10 + tokens - 1) / tokens * 4 + groups - 1) / groups));
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_attention_merge_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(lanes_are_as_many_as_chunks_up_to_a_warp) {
    static const int64_t dims[][3] = {{8, 0, 1}, {16, 1, 1}, {80, 4, 1}, {128, 4, 1}, {264, 5, 2}, {512, 5, 2}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const struct gm_attention_merge_problem p = heads_of(10, 4, dims[i][0]);
        gm_plan *plan = NULL;
        assert_ok(gm_attention_merge_plan_create(context, &p, NULL, &plan));
        const struct gm_attention_merge_params *params = plan->params;
        ck_assert_int_eq(params->lanes_log2, (int)dims[i][1]);
        ck_assert_int_eq(params->parts, (int)dims[i][2]);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Twice the turns of a slab, and a CTA's, have a number of 32 bits. */
START_TEST(large_problems_come_in_slabs) {
    const struct gm_attention_merge_problem p = heads_of(INT32_MAX, 100, 8);
    gm_plan *plan = NULL;
    assert_ok(gm_attention_merge_plan_create(context, &p, NULL, &plan));
    const struct gm_attention_merge_params *params = plan->params;
    const int tokens = plan->kernel->columns[GM_ATTENTION_MERGE_TOKENS];
    const int64_t turns = (int64_t)params->slab_tokens / tokens * 100;
    ck_assert(params->slab_tokens % tokens == 0);
    ck_assert(turns <= GM_ATTENTION_MERGE_SLAB && turns > GM_ATTENTION_MERGE_SLAB - 100);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_attention_merge_args args = {.size = sizeof args,
                                                 .a = ADDRESS_A,
                                                 .b = ADDRESS_B,
                                                 .lse_a = ADDRESS_C,
                                                 .lse_b = ADDRESS_C,
                                                 .out = ADDRESS_D,
                                                 .lse = ADDRESS_BIAS};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_attention_merge)
            continue;
        struct gm_attention_merge_problem p = heads_of(1001, 6, 64);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_attention_merge_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_attention_merge_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 tokens of 4 heads of 64, 80 apart, but where the problem says more: nothing is launched where it is refused. */
static enum gm_status execute_of(struct gm_attention_merge_problem p, struct gm_attention_merge_args args) {
    gm_plan *plan = NULL;
    p.tokens = 10;
    p.heads = 4;
    p.head_dim = 64;
    p.a_head_stride = p.b_head_stride = 80;
    if (p.out_head_stride == 0)
        p.out_head_stride = 80;
    assert_ok(gm_attention_merge_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_attention_merge_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

static enum gm_status execute(struct gm_attention_merge_args args) {
    return execute_of((struct gm_attention_merge_problem){.size = sizeof(struct gm_attention_merge_problem)}, args);
}

static const struct gm_attention_merge_args good = {.size = sizeof good,
                                                    .a = ADDRESS_A,
                                                    .b = ADDRESS_B,
                                                    .lse_a = ADDRESS_C,
                                                    .lse_b = ADDRESS_C + 4096,
                                                    .out = ADDRESS_D,
                                                    .lse = ADDRESS_BIAS};

START_TEST(bad_pointers_are_refused_by_name) {
    struct gm_attention_merge_args args = good;
    assert_ok(execute(args));
    args.size = 63;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 63");
    args = good, args.a = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "a is NULL");
    args = good, args.b = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "b is NULL");
    args = good, args.lse_a = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "lse_a is NULL");
    args = good, args.lse_b = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "lse_b is NULL");
    args = good, args.out = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "out is NULL");
    args = good, args.lse = 0;
    assert_ok(execute(args));
    args = good, args.a += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.lse_a += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "lse_a");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "row_count");
}
END_TEST

START_TEST(out_and_lse_may_be_in_place) {
    struct gm_attention_merge_args args = good;
    args.a = ADDRESS_D;
    args.lse = args.lse_b;
    assert_ok(execute(args));
    args.a = ADDRESS_A, args.b = ADDRESS_D;
    args.lse = args.lse_a;
    assert_ok(execute(args));
    args.b += 16;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "only b = out with the same rows and row stride may");
    args = good, args.lse = args.lse_a + 4;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "only lse_a = lse with the same rows and row stride may");
    args = good, args.lse = args.out;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "out");
    args = good, args.row_count = ADDRESS_BIAS;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
}
END_TEST

/* Packed either way, two operands are the same memory, but not each element at its own place. */
START_TEST(in_place_wants_equal_strides_and_types) {
    struct gm_attention_merge_problem p = {.size = sizeof p};
    struct gm_attention_merge_args args = good;
    args.a = args.out;
    p.has_out_type = 1;
    p.out_type = GM_FP16;
    assert_fails(execute_of(p, args), GM_ERROR_OVERLAP, "overlaps");
    p.has_out_type = 0;
    p.out_token_stride = 80;
    p.out_head_stride = 800;
    assert_fails(execute_of(p, args), GM_ERROR_OVERLAP, "overlaps");
    p.out_token_stride = p.out_head_stride = 0;
    p.lse_token_stride = 1;
    p.lse_head_stride = 10;
    args = good, args.lse = args.lse_a;
    assert_fails(execute_of(p, args), GM_ERROR_OVERLAP, "overlaps");
    p.lse_a_token_stride = 1;
    p.lse_a_head_stride = 10;
    assert_ok(execute_of(p, args));
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_attention_merge_problem p = heads_of(100000, 32, 128);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_attention_merge_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(nothing_launches_nothing) {
    const struct gm_attention_merge_problem no_tokens = heads_of(0, 4, 64), no_heads = heads_of(4, 0, 64);
    const struct gm_attention_merge_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_attention_merge(context, &no_tokens, &args, NULL));
    assert_ok(gm_attention_merge(context, &no_heads, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *attention_merge_suite(void) {
    Suite *suite = suite_create("attention_merge");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_test(problems, the_same_type_is_no_other_one);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, a_bad_type_of_out_has_its_sentence);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_test(choices, outs_alignment_is_that_of_its_chunks);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, lanes_are_as_many_as_chunks_up_to_a_warp);
    tcase_add_test(launches, large_problems_come_in_slabs);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, out_and_lse_may_be_in_place);
    tcase_add_test(launches, in_place_wants_equal_strides_and_types);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, nothing_launches_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
